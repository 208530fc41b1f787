"""The general tuner: real commands, failures of every kind, repeats, logs that survive."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from workbench.errors import TuningError
from workbench.tuning import general
from workbench.tuning.configuration import parse_configuration
from workbench.tuning.general import Tuner, fill
from workbench.tuning.log import Log, read_log


def setting(folder, testing, variables="{A, {B}}", values="A = 1, 2\nB = 1, 2, 3"):
    return parse_configuration(
        f"[variables]\nvariables = {variables}\n[values]\n{values}\n[testing]\n{testing}", folder
    )


def statuses(tuned):
    return {test.valuation: test.status for test in tuned.tests}


def test_score_is_the_last_line_and_the_commands_run_in_their_folder(tmp_path):
    made = setting(tmp_path, "compiler = echo %A% > made_%%ID%%\nevaluation = cat made_%%ID%%; expr %A% '*' %B%; echo")
    tuned = Tuner(made).run()
    assert tuned.optimum.valuation == ("1", "1")
    assert tuned.optimum_lines() == "A = 1\nB = 1"
    assert tuned.combinations == len(tuned.tests) == 6
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"made_{number}" for number in range(1, 7)]


def test_maximum_of_a_figure_of_merit(tmp_path):
    made = setting(tmp_path, "evaluation = expr %A% '*' %B%\noptimal = max")
    assert Tuner(made).run().optimum.valuation == ("2", "3")


def test_time_by_the_wall_clock(tmp_path):
    made = setting(tmp_path, "test = sleep 0.%A%\nrepeat = 2", "A", "A = 3, 05")
    tuned = Tuner(made).run()
    assert tuned.optimum.valuation == ("05",)
    assert all(score >= 0.05 for test in tuned.tests for score in test.scores)


@pytest.mark.parametrize(("overall", "expected"), [("min", 1), ("max", 9), ("med", 2), ("avg", 4)])
def test_repeats_are_made_one_score(tmp_path, overall, expected):
    """A file counts the runs: scores 1, 2, 9."""
    count = "n=$(cat n 2>/dev/null || echo 0); echo $((n + 1)) > n; set -- 1 2 9; shift $n; echo $1"
    made = setting(tmp_path, f"evaluation = {count}\nrepeat = 3\noverall = {overall}", "A", "A = 1")
    (test,) = Tuner(made).run().tests
    assert test.scores == (1, 2, 9)
    assert test.overall == expected


KINDS = """
case $1 in
    exit) echo bad; exit 3 ;;
    hang) sleep 60 ;;
    crash) kill -SEGV $$ ;;
    words) echo no number; exit 0 ;;
    nan) echo nan; exit 0 ;;
esac
echo 5
"""


def test_every_kind_of_failure_is_recorded_and_ignored(tmp_path):
    (tmp_path / "kinds").write_text(KINDS)
    testing = "compiler = test %A% != compile || { echo oops; exit 1; }\nevaluation = sh kinds %A%\ntimeout = 1.5"
    tuned = Tuner(setting(tmp_path, testing, "A", "A = compile, exit, hang, crash, words, nan, good")).run()
    assert statuses(tuned) == {
        ("compile",): "compile",
        ("exit",): "runtime",
        ("hang",): "timeout",
        ("crash",): "runtime",
        ("words",): "score",
        ("nan",): "score",
        ("good",): "success",
    }
    tails = {test.valuation[0]: test.tail for test in tuned.tests}
    assert (tails["compile"], tails["exit"]) == ("oops", "bad")
    assert tails["hang"] == "it ran longer than its timeout of 1.5 s"
    assert tails["words"] == "the last line is no finite number: no number"
    assert tuned.optimum.valuation == ("good",)


def test_command_that_prints_without_end_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(general, "_MOST_PRINTED", 1 << 20)
    tuned = Tuner(setting(tmp_path, "evaluation = [ %A% = 2 ] || yes; echo 5", "A", "A = 1, 2")).run()
    assert statuses(tuned) == {("1",): "runtime", ("2",): "success"}
    assert tuned.tests[0].tail.endswith("it printed more than 1.05 MB")


def test_timeout_makes_no_score_coarser(tmp_path, monkeypatch):
    """Python waits in naps of up to 50 ms where it is given a timeout, and each would be part of the score."""
    timeouts, wait = [], subprocess.Popen.wait

    def spied(process, timeout=None):
        if isinstance(process.args, str):  # a command's shell
            timeouts.append(timeout)
        return wait(process, timeout)

    monkeypatch.setattr(subprocess.Popen, "wait", spied)
    Tuner(setting(tmp_path, "test = true\ntimeout = 60", "A", "A = 1")).run()
    assert timeouts == [None]


def test_all_failed_is_no_optimum(tmp_path):
    tuned = Tuner(setting(tmp_path, "test = false")).run()
    assert tuned.optimum is None
    assert tuned.optimum_lines() == ""


def test_failed_clean_up_is_told_and_the_score_kept(tmp_path):
    (test,) = Tuner(setting(tmp_path, "evaluation = echo 4\ncleanup = false", "A", "A = 1")).run().tests
    assert (test.overall, test.clean) == (4, False)


def test_clean_up_follows_a_failed_test(tmp_path):
    made = setting(tmp_path, "compiler = touch left\ntest = false\ncleanup = rm left", "A", "A = 1")
    Tuner(made).run()
    assert not (tmp_path / "left").exists()


def test_parallel_tests_run_at_the_same_time(tmp_path):
    """Each waits for a file that the other writes, so one after the other would not end."""
    wait = "i=0; while [ ! -e here_$((3 - %A%)) ]; do sleep 0.02; i=$((i+1)); [ $i -lt 1000 ] || exit 1; done"
    made = setting(tmp_path, f"compiler = touch here_%A%\ntest = {wait}\nparallel = 2", "A", "A = 1, 2")
    assert set(statuses(Tuner(made).run()).values()) == {"success"}


def test_numbers_of_tests_count_from_one_in_order(tmp_path):
    heard = []
    Tuner(setting(tmp_path, "evaluation = echo %%ID%%\nparallel = 3"), heard.append).run()
    assert [test.number for test in heard] == list(range(1, 7))
    assert [test.overall for test in heard] == [1, 2, 3, 4, 5, 6]


def test_placeholders():
    assert fill("x_%%ID%%.o -D%A%=%AB% 100% %%", 7, {"A": "1", "AB": "2"}) == "x_7.o -D1=2 100% %%"


def test_log_is_whole_after_a_kill_and_is_gone_on_with(tmp_path):
    """A tuner killed in the middle of a test; the next one runs only what is missing."""
    (tmp_path / "t.conf").write_text(
        "[variables]\nvariables = A\n[values]\nA = 1, 2, 3, 4\n[testing]\n"
        "evaluation = echo %A% >> ran; [ %A% != 3 ] || [ -e go ] || sleep 60; echo %A%\nlog = t.csv\n"
    )
    command = [sys.executable, "-m", "workbench", "tune", "t.conf"]
    log = tmp_path / "t.csv"
    process = subprocess.Popen(command, cwd=tmp_path, start_new_session=True, stdout=subprocess.DEVNULL)
    ran = tmp_path / "ran"
    deadline = time.monotonic() + 60
    while not (ran.exists() and "3" in ran.read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    rows = log.read_text().splitlines()
    assert rows == ["test,A,score 1,overall,status", "1,1,1.0,1.0,success", "2,2,2.0,2.0,success"]
    (tmp_path / "go").touch()
    done = subprocess.run([*command, "--resume"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "A = 1" in done.stdout
    assert ran.read_text().split() == ["1", "2", "3", "3", "4"]
    assert len(log.read_text().splitlines()) == 5


def test_log_of_other_variables_is_refused(tmp_path):
    made = setting(tmp_path, "test = true")
    path = tmp_path / "log.csv"
    with Log(path, made) as log:
        log.add(Tuner(setting(tmp_path, "test = true", "A, B")).run().tests[0])
    assert len(read_log(path, made)) == 1
    with pytest.raises(TuningError, match="has other columns"):
        read_log(path, setting(tmp_path, "test = true", "A", "A = 1"))


def test_torn_last_row_of_a_log_is_left_out(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("test,A,B,score 1,overall,status\n1,1,1,0.5,0.5,success\n2,1,2,0.25,0.2")
    assert set(read_log(path, setting(tmp_path, "test = true"))) == {("1", "1")}


def test_log_has_tests_of_values_that_were_taken_out(tmp_path):
    """They stay in the file and count no more; before, going on ended in an error of Python's."""
    path, log = tmp_path / "log.csv", setting(tmp_path, "evaluation = echo %B%")
    with Log(path, log) as written:
        Tuner(log, written.add).run()
    fewer = setting(tmp_path, "evaluation = echo %B%", values="A = 1, 2\nB = 3")
    known = read_log(path, fewer)
    assert set(known) == {("1", "3"), ("2", "3")}
    assert Tuner(fewer, known=known).run().optimum.valuation == ("1", "3")


def test_damaged_row_of_a_log_is_named(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("test,A,B,score 1,overall,status\n1,1,1,0.5,0.5,success\n2,1,2,fast,0.5,success\n")
    with pytest.raises(TuningError, match=r"row 3 of the log .*log.csv: could not convert string to float: 'fast'"):
        read_log(path, setting(tmp_path, "test = true"))


@pytest.mark.parametrize("append", [False, True])
def test_log_of_a_tuning_that_runs_is_left_to_it(tmp_path, append):
    path, made = tmp_path / "log.csv", setting(tmp_path, "evaluation = echo 2")
    with Log(path, made) as log:
        Tuner(made, log.add).run()
        with pytest.raises(TuningError, match="another tuning writes the log"):
            Log(path, made, append=append)
        assert len(read_log(path, made)) == 6
    Log(path, made, append=append)
    assert len(read_log(path, made)) == (6 if append else 0)


def test_rows_after_a_torn_one_are_whole(tmp_path):
    path, made = tmp_path / "log.csv", setting(tmp_path, "evaluation = echo 2")
    path.write_text("test,A,B,score 1,overall,status\n1,1,1,0.5,0.5,success\n2,1,2,0.25,0.2")
    with Log(path, made, append=True) as log:
        Tuner(made, log.add, known=read_log(path, made)).run()
    assert len(read_log(path, made)) == 6


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_log_on_a_full_disk_is_named(tmp_path):
    with pytest.raises(TuningError, match="the log /dev/full cannot be written: No space left"):
        Log(Path("/dev/full"), setting(tmp_path, "test = true"))


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_interrupt_ends_the_commands(tmp_path, name):
    """A shell with a child of its own: both end with the tuner."""
    number = getattr(signal, name)
    (tmp_path / "t.conf").write_text(
        "[variables]\nvariables = A\n[values]\nA = 1, 2\n[testing]\n"
        "evaluation = [ %A% = 1 ] || { echo $$ > pid; sleep 61; }; echo 7\nlog = t.csv\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "workbench", "tune", "t.conf"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # nohup and "&" of a shell ignore some
    )
    pid = tmp_path / "pid"
    deadline = time.monotonic() + 60
    while not (pid.exists() and pid.read_text().strip()) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(number)
    printed, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted" in said
    assert "interrupted after 1 test; the best so far has 7:\nA = 1\nlog: t.csv; --resume goes on with it" in printed
    assert not Path(f"/proc/{pid.read_text().strip()}").exists()
