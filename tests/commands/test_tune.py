"""The command tune: the report's example from the file to the optimum, log and report."""

import csv
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from workbench.cli import main

EXAMPLE = Path(__file__).parents[1] / "tuning" / "laplace3d"
FIVE_LOOPS = Path(__file__).parents[1] / "tuning" / "airfoil"


@pytest.fixture(scope="module")
def tuned(tmp_path_factory):
    """The report's laplace3d with programs in C: 48 combinations, of which 8 do not compile."""
    folder = tmp_path_factory.mktemp("laplace3d")
    for path in EXAMPLE.iterdir():
        shutil.copy(path, folder)
    assert main(["tune", str(folder / "laplace3d.conf"), "--report", str(folder / "report.html")]) == 0
    return folder


def test_example_leaves_a_log_of_all_tests(tuned):
    rows = list(csv.DictReader((tuned / "laplace3d.csv").open()))
    assert len(rows) == 48
    assert [row["test"] for row in rows] == [str(number) for number in range(1, 49)]
    for row in rows:
        too_large = int(row["BLOCK_X"]) * int(row["BLOCK_Y"]) > 512
        assert row["status"] == ("compile" if too_large else "success")
        assert bool(row["overall"]) is not too_large
        if row["overall"]:
            assert float(row["overall"]) == min(float(row["score 1"]), float(row["score 2"]))


def test_example_leaves_no_programs(tuned):
    assert {path.name for path in tuned.iterdir()} == {
        *(path.name for path in EXAMPLE.iterdir()),
        "laplace3d.csv",
        "report.html",
    }


def test_report_shows_optimum_and_failures(tuned):
    best = min(
        (row for row in csv.DictReader((tuned / "laplace3d.csv").open()) if row["overall"]),
        key=lambda row: float(row["overall"]),
    )
    page = (tuned / "report.html").read_text()
    optimum = f"IMPLEMENTATION = {best['IMPLEMENTATION']}\nBLOCK_X = {best['BLOCK_X']}\nBLOCK_Y = {best['BLOCK_Y']}"
    assert optimum in page
    assert page.count("more than 512 threads in a block") == 8
    assert page.count("<svg") == 1


def test_five_loops_on_threads_take_65_tests_of_625(tmp_path, capsys):
    """The report's airfoil on a CPU: the best number of threads, and for each the best partition of each loop."""
    shutil.copytree(FIVE_LOOPS, tmp_path, dirs_exist_ok=True)
    assert main(["tune", str(tmp_path / "airfoil.conf")]) == 0
    said = capsys.readouterr().out
    assert "after 65 tests of 625 combinations, 0 failed" in said
    rows = list(csv.DictReader((tmp_path / "airfoil.csv").open()))
    names = ("OMP_NUM_THREADS", *(f"OP_PART_SIZE_{loop}" for loop in (1, 2, 3)))
    tests = {tuple(row[name] for name in names): float(row["overall"]) for row in rows}
    assert len(tests) == len(rows) == 65
    best = min(tests, key=tests.get)
    assert "\n".join(f"{name} = {value}" for name, value in zip(names, best, strict=True)) in said
    alone = [{valuation[at] for valuation in tests if valuation[0] == best[0]} for at in (1, 2, 3)]
    assert [len(values) for values in alone] == [5, 5, 5]
    said = [
        subprocess.run(
            ["./airfoil", *parts], cwd=tmp_path, env={"OMP_NUM_THREADS": threads}, capture_output=True, check=True
        )
        for threads, *parts in (("1", "64", "64", "64"), ("3", "1024", "256", "128"))
    ]
    assert said[0].stdout == said[1].stdout  # how loops are shared out moves no bit
    assert float(said[0].stdout) > 0


def test_without_a_file_the_self_test_runs(capsys):
    assert main(["tune"]) == 0
    assert "{A, B, {C, D}, {E, F}}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "status", "words"),
    [
        ("[variables]\nvariables = {A, {}}\n", 1, "is no tree of variables"),
        ("[variables]\nvariables = A\n[values]\nA = 1\n[testing]\ntest = false\n", 1, "1 test ran and none passed"),
    ],
)
def test_what_cannot_be_tuned_is_an_error(tmp_path, capsys, text, status, words):
    (tmp_path / "t.conf").write_text(text)
    assert main(["tune", str(tmp_path / "t.conf")]) == status
    assert words in capsys.readouterr().err


def test_missing_file_is_an_error(tmp_path, capsys):
    assert main(["tune", str(tmp_path / "none.conf")]) == 1
    assert "none.conf" in capsys.readouterr().err


def test_file_with_the_mark_of_utf_8_is_read(tmp_path):
    text = "[variables]\r\nvariables = A\r\n[values]\r\nA = 1\r\n[testing]\r\ntest = true\r\n"
    (tmp_path / "t.conf").write_bytes(text.encode("utf-8-sig"))
    assert main(["tune", str(tmp_path / "t.conf")]) == 0


def test_file_in_another_encoding_is_refused(tmp_path, capsys):
    (tmp_path / "t.conf").write_bytes("; für 1 Lauf\n[variables]\nvariables = A\n".encode("latin-1"))
    assert main(["tune", str(tmp_path / "t.conf")]) == 1
    assert "Save it as UTF-8" in capsys.readouterr().err


def test_problem_of_the_autotuning_methodology_is_tuned(tmp_path, capsys):
    """A T1 file has the values and the conditions; what breaks one is not run."""
    parameters = [{"Name": "x", "Values": "[1, 2, 4, 8]"}, {"Name": "y", "Values": "[1, 2, 3]"}]
    space = {"TuningParameters": parameters, "Conditions": [{"Expression": "x * y <= 8"}]}
    problem = {"ConfigurationSpace": space, "KernelSpecification": {"KernelName": "copy"}}
    (tmp_path / "copy.json").write_text(json.dumps(problem))
    (tmp_path / "t.conf").write_text(
        "[variables]\nspace = copy.json\n[testing]\n"
        "evaluation = echo %x% %y% >> ran; echo $((10 * %x% + %y%))\noptimal = max\n"
    )
    assert main(["tune", str(tmp_path / "t.conf")]) == 0
    printed = capsys.readouterr().out
    assert "optimum 81 after 9 tests of 12 combinations, 0 failed\nx = 8\ny = 1" in printed
    ran = [tuple(map(int, line.split())) for line in (tmp_path / "ran").read_text().splitlines()]
    assert sorted(ran) == [(x, y) for x in (1, 2, 4, 8) for y in (1, 2, 3) if x * y <= 8]
