"""`%%tune` and `%tune` in a shell: a configuration in a cell runs in the background and can be looked at."""

import csv

import pytest

from workbench.notebook.completion import tune_completions
from workbench.tuning.general_study import GeneralStudy

CELL = """%%tune blocks --folder {folder}
[variables]
variables = {{{{A}}, {{B}}}}
[values]
A = 1, 2, 3
B = 4, 5
[testing]
evaluation = {command}
optimal = max
log = blocks.csv
"""
SCORED = "[ %A% != 3 ] && echo $((10 * %A% + %B%))"


def cell(folder, command=SCORED):
    return CELL.format(folder=folder, command=command)


def begun(shell, text):
    ran = shell.run(text)
    assert ran.error is None, ran.error
    return shell.ip.user_ns["blocks"], ran


def test_cell_is_tuned_in_the_background(loaded, tmp_path):
    study, ran = begun(loaded, cell(tmp_path))
    assert isinstance(study, GeneralStudy)
    assert study.wait(60).state == "done"
    assert study.optimum.valuation == ("2", "5")
    assert study.optimum.score == 25
    assert study.tuned.optimum_lines() == "A = 2\nB = 5"
    statuses = {test.valuation[0]: test.status for test in study.tests}
    assert statuses == {"1": "success", "2": "success", "3": "runtime"}
    assert len(list(csv.reader((tmp_path / "blocks.csv").open()))) == 1 + len(study.tests)
    (output,) = ran.outputs
    assert "tuning of blocks" in output.data["text/plain"]


def test_name_alone_shows_the_tests_above_their_values(loaded, tmp_path):
    study, _ = begun(loaded, cell(tmp_path))
    study.wait(60)
    (output,) = loaded.run("display(blocks)").outputs
    assert "done, 4 tests of 6 combinations" in output.data["text/plain"]
    assert "failed: 1 runtime" in output.data["text/plain"]
    assert "best: test" in output.data["text/plain"]
    assert "A = 2, B = 5" in output.data["text/plain"]
    assert "image/png" in output.data


def test_brute_force_tests_every_combination(loaded, tmp_path):
    study, _ = begun(loaded, cell(tmp_path).replace("--folder", "--brute-force --folder"))
    assert len(study.wait(60).tests) == 6


def test_toml_has_the_same_names(loaded, tmp_path):
    text = f"%%tune blocks --toml --folder {tmp_path}\n" + '[variables]\nvariables = "A"\n[values]\nA = [1, 2]\n'
    study, _ = begun(loaded, text + '[testing]\nevaluation = "echo %A%"\n')
    assert study.wait(60).optimum.valuation == ("1",)


def test_stop_breaks_off_what_runs_and_resume_goes_on(loaded, tmp_path):
    """The second test sleeps for ever until there is a file: it is not among the tests, and runs when resumed."""
    slow = f"[ %A% = 1 ] || [ -e {tmp_path}/go ] || sleep 600; echo %A%"
    study, _ = begun(loaded, cell(tmp_path, slow))
    heard = []
    study.listen(lambda one: heard.append(len(one.tests)))
    while len(study.tests) < 1:
        study.wait(0.05)
    assert study.stop().wait(60).state == "stopped"
    kept = len(study.tests)
    assert kept == len(list(csv.reader((tmp_path / "blocks.csv").open()))) - 1
    assert {test.status for test in study.tests} == {"success"}
    (tmp_path / "go").touch()
    again, _ = begun(loaded, cell(tmp_path, slow).replace("--folder", "--resume --folder"))
    assert again.wait(60).state == "done"
    assert again.tests[:kept] == study.tests
    assert len({test.valuation for test in again.tests}) == len(again.tests) > kept


def test_pause_tests_nothing_more_until_resume(loaded, tmp_path):
    """The first test waits for a file."""
    study, _ = begun(loaded, cell(tmp_path, "while [ ! -e go ]; do sleep 0.05; done; echo %A%"))
    study.pause()
    assert study.state == "paused"
    (tmp_path / "go").touch()
    while not study.tests:
        study.wait(0.05)
    study.wait(0.5)
    assert len(study.tests) == 1
    assert study.resume().wait(60).state == "done"
    assert len(study.tests) == 4


def test_stop_cleans_up(loaded, tmp_path):
    text = cell(tmp_path, "touch left began; sleep 600").replace("[testing]", "[testing]\ncleanup = rm left")
    study, _ = begun(loaded, text)
    while not (tmp_path / "began").exists():
        study.wait(0.05)
    assert study.stop().wait(60).state == "stopped"
    assert study.tests == ()
    assert not (tmp_path / "left").exists()


def test_cell_that_runs_again_ends_the_tuning_before(loaded, tmp_path):
    first, _ = begun(loaded, cell(tmp_path, "sleep 600"))
    second, _ = begun(loaded, cell(tmp_path))
    assert first.state == "stopped"
    assert second.wait(60).state == "done"


def test_variable_that_no_command_has_is_noted(loaded, tmp_path):
    study, ran = begun(loaded, cell(tmp_path, "echo %A%"))
    study.wait(60)
    assert "no command has %B%" in ran.text


@pytest.mark.parametrize(
    ("line", "body", "cause"),
    [
        ("%%tune", "x", "a name is missing. Write it behind the magic: %%tune"),
        ("%%tune list", "x", "which the tuning would hide"),
        ("%%tune t --folder /nowhere/at/all", "x", "there is no folder"),
        ("%%tune t", "[variables]\nvariables = A\n[values]\nA = 1\n[testing]\ntest = true\nrepeat = x\n", "line 8"),
        ("%%tune t --resume", "[variables]\nvariables = A\n[values]\nA = 1\n[testing]\ntest = true\n", "no log"),
        ("%%tune t", "[variables]\nvariables = A\n[values]\nA = 1\n[testing]\ntest = true\nlog = no/t.csv\n", "cannot"),
    ],
)
def test_what_makes_no_sense_is_refused_and_binds_nothing(loaded, line, body, cause):
    ran = loaded.run(f"{line}\n{body}")
    assert cause in str(ran.error)
    assert "t" not in loaded.names


def test_error_shows_the_line_of_the_cell(loaded):
    ran = loaded.run("%%tune t\n[variables]\nvariables = A\n[values]\nA = 1\n[testing]\ntest = true\nrepeat = x\n")
    assert "repeat = x" in str(ran.error).splitlines()[1]


def test_line_magic_is_the_self_test(loaded):
    said = loaded.run("%tune").text
    assert "in 63 tests" in said
    assert "in 216 tests" in said
    assert "NOT EQUAL" not in said
    assert "Write %%tune NAME" in str(loaded.run("%tune blocks").error)


def test_help_has_an_example(loaded):
    assert "%%tune blocks" in loaded.run("%tune --help").text


@pytest.mark.parametrize(
    ("before", "token", "expected"),
    [
        ("%%tune blocks --f", "--f", ("--folder",)),
        ("%%tune blocks --folder x --", "--", ("--toml", "--resume", "--brute-force", "--help")),
        ("%%tune blocks --folder --", "--", ()),
        ("%%tune blocks ", "", ()),
    ],
)
def test_options_complete(before, token, expected):
    assert tune_completions(before, token) == expected
