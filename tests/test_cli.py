"""The command line answers, and turns mistakes of users into one line."""

import os
import re
import subprocess
import sys
from html import escape
from pathlib import Path

import pytest

from workbench import __version__, cli, trace
from workbench.backends.registry import backend_names
from workbench.commands import demo
from workbench.errors import BackendError
from workbench.pipeline import compile_graph
from workbench.planning.cost import ESTIMATE

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(autouse=True)
def cache_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "cache"))


def test_version_is_printed(capsys):
    with pytest.raises(SystemExit) as end:
        cli.main(["--version"])
    assert end.value.code == 0
    assert capsys.readouterr().out == f"stencil-workbench {__version__}\n"


@pytest.mark.parametrize("arguments", [["--no-such-option"], ["no-such-command"], ["cache"], ["cache", "burn"]])
def test_a_command_line_without_sense_is_refused(arguments, capsys):
    with pytest.raises(SystemExit) as end:
        cli.main(arguments)
    assert end.value.code == 2
    assert capsys.readouterr().err.startswith("usage: workbench")


def test_a_list_of_numbers_that_is_none_is_named(capsys):
    with pytest.raises(SystemExit) as end:
        cli.main(["cuda-check", "--dims", "x"])
    assert end.value.code == 2
    assert "'x' is no list of whole numbers such as 1,2,3" in capsys.readouterr().err


def test_without_a_command_help_is_printed(capsys):
    assert cli.main([]) == 0
    out = capsys.readouterr().out
    assert "workbench doctor --measure" in out
    assert all(command in out for command in ("demo", "doctor", "cache"))


@pytest.mark.parametrize("command", sorted(cli._COMMANDS))
def test_help_of_a_command_says_what_it_does_and_explains_each_option(command, capsys):
    with pytest.raises(SystemExit) as end:
        cli.main([command, "--help"])
    assert end.value.code == 0
    out = capsys.readouterr().out
    assert re.search(r"^[A-Z].+\.$", out.partition("\n\n")[2].partition("\n\n")[0], re.DOTALL)  # below the usage
    entries = re.findall(r"^  (\S.*(?:\n {3,}\S.*)*)", out.partition("options:\n")[2], re.MULTILINE)
    assert entries
    assert [entry for entry in entries if not re.search(r"\s{2,}\S", entry)] == []


@pytest.mark.parametrize("command", ["demo", "compile"])
def test_help_names_every_backend(command, capsys):
    with pytest.raises(SystemExit):
        cli.main([command, "--help"])
    words = set(re.findall(r"[\w-]+", capsys.readouterr().out))
    assert {"auto", *backend_names()} - words <= ({"reference"} if command == "compile" else set())  # it has no text


def test_every_command_that_is_parsed_runs(capsys):
    cli.main([])
    assert set(re.findall(r"^    ([a-z][\w-]*)", capsys.readouterr().out, re.MULTILINE)) == set(cli._COMMANDS)


def test_the_demo_runs_and_writes_its_report(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(demo, "_SPEED_SECONDS", 0.01)
    monkeypatch.setattr(demo, "_FULL", demo.Effort(200, (8, 37, 64, 256), 4096))
    report = tmp_path / "new folder" / "demo.html"
    assert cli.main(["demo", "--backend", "reference", "--report", str(report)]) == 0
    out = capsys.readouterr().out
    fluctuations = [float(text) for text in re.findall(r"fluctuates by (\S+) in 200 steps", out)]
    assert len(fluctuations) == 4
    assert max(fluctuations) < 1e-13
    assert "reference (asked for)" in out
    assert re.search(r"\d [kMG]?cells/s", out)
    assert str(report) in out
    page = report.read_text(encoding="utf-8")
    assert page.count("<svg") == 2
    assert escape(demo.WAVE) in page
    assert f"(Table 2), at dt = dx / c: {escape(demo.PAPER_WAVE.splitlines()[-1])}" in page


def test_the_demo_says_which_backends_are_missing(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(demo, "_missing", lambda: ("openmp: no compiler. Install one: sudo apt install g++",))
    monkeypatch.setattr(demo, "_SPEED_SECONDS", 0.01)
    monkeypatch.setattr(demo, "_FULL", demo.Effort(40, (8,), 4096))
    assert cli.main(["demo", "--backend", "reference", "--report", str(tmp_path / "r.html")]) == 0
    assert "sudo apt install g++" in capsys.readouterr().out
    assert "sudo apt install g++" in (tmp_path / "r.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(("schedule", "row"), [("stepwise", "bandwidth"), ("diamond", "schedule")])
def test_only_single_steps_raise_the_measured_bandwidth(schedule, row, monkeypatch):
    """Steps in tiles move fewer bytes than the plan counts: what they seem to move is no figure of the machine."""
    monkeypatch.setattr(demo, "_SPEED_SECONDS", 0.01)
    monkeypatch.setattr(demo, "ensure_figures", lambda: None)
    noted = []
    monkeypatch.setattr(demo, "note_rate", lambda moved, rate: noted.append(rate) or ESTIMATE)
    wave = trace(demo.WAVE, 1, name="wave").with_choices(schedule=schedule)
    compiled = compile_graph(wave.graph, wave.choices, "openmp")
    rows = dict(demo._speed(compiled, wave, "openmp", 1 << 14))
    assert set(rows) == {"speed", row}
    assert len(noted) == (schedule == "stepwise")


def test_without_a_compiler_the_demo_ends_well(tmp_path):
    # In a process of its own: this one may have found the compiler already.
    environment = {**os.environ, "WORKBENCH_CXX": "no-such-compiler", "PYTHONPATH": str(ROOT)}
    text = (
        "import sys; from workbench import cli; from workbench.commands import demo\n"
        "demo._SPEED_SECONDS, demo._FULL = 0.01, demo.Effort(40, (8,), 4096)\n"
        "sys.exit(cli.main(['demo', '--report', sys.argv[1]]))\n"
    )
    command = [sys.executable, "-c", text, str(tmp_path / "r.html")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    # auto takes the reference, or the GPU where there is one
    assert re.search(r"^  backend +(reference \(.*no openmp: |cuda \()", done.stdout, re.MULTILINE)
    assert re.search(r"^  not used +openmp: .*Install a compiler: ", done.stdout, re.MULTILINE | re.DOTALL)
    assert (tmp_path / "r.html").exists()


@pytest.mark.parametrize(("backend", "said"), [("auto", True), ("reference", False)])
def test_a_script_without_a_compiler_says_that_the_interpreter_runs(backend, said):
    environment = {
        **os.environ,
        "WORKBENCH_CXX": "no-such-compiler",
        "PYTHONPATH": str(ROOT),
        "CUDA_VISIBLE_DEVICES": "",
    }
    text = (
        "import numpy as np, workbench as wb\n"
        "machine = wb.trace('u = field(\"u\")\\nu.next = u + 1')\n"
        f"for _ in range(3): machine.simulate(u=np.zeros(3), backend={backend!r}).run(1)\n"
    )
    done = subprocess.run([sys.executable, "-c", text], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("InterpreterWarning: this runs on the reference interpreter") == said
    assert ("no-such-compiler is not on the path" in done.stderr and "Install a compiler: " in done.stderr) == said


def test_the_doctor_says_what_works(capsys):
    assert cli.main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^reference +works$", out, re.MULTILINE)
    for label in ("workbench", "system", "threads", "compiler", "CUDA text", "cache", "figures", "libraries"):
        assert re.search(rf"^{label} +\S", out, re.MULTILINE), label
    assert "workbench doctor --measure" in out


@pytest.mark.parametrize(("value", "said"), [("1", "on: every graph and plan"), ("0", "off; WORKBENCH_CHECK=1")])
def test_the_doctor_says_whether_plans_are_verified(value, said, monkeypatch, capsys):
    monkeypatch.setenv("WORKBENCH_CHECK", value)
    assert cli.main(["doctor"]) == 0
    assert f"checks      {said}" in capsys.readouterr().out


def test_the_doctor_names_the_one_command(monkeypatch, capsys):
    monkeypatch.setenv("WORKBENCH_CXX", "no-such-compiler")
    assert cli.main(["doctor"]) == 0
    assert re.search(r"^ +install one: \S+ ", capsys.readouterr().out, re.MULTILINE)


def test_the_cache_is_counted_and_cleared(capsys, tmp_path):
    assert cli.main(["cache", "info"]) == 0
    assert str(tmp_path / "cache") in capsys.readouterr().out
    assert cli.main(["cache", "clear"]) == 0
    assert "removed 0 builds" in capsys.readouterr().out


def test_an_error_of_the_user_has_no_traceback(capsys):
    assert cli.main(["demo", "--backend", "tpu"]) == 1
    captured = capsys.readouterr()
    assert "workbench: there is no backend 'tpu'" in captured.err
    assert "Traceback" not in captured.out + captured.err


@pytest.mark.parametrize(
    ("error", "status", "text"),
    [
        (BackendError("it is broken", advice="Mend it."), 1, "workbench: it is broken\nMend it.\n"),
        (PermissionError(13, "Permission denied", "/nowhere"), 1, "workbench: /nowhere: Permission denied\n"),
        (KeyboardInterrupt(), 130, "workbench: interrupted\n"),
    ],
)
def test_what_goes_wrong_becomes_an_exit_status(error, status, text, monkeypatch, capsys):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(demo, "run_demo", fail)
    assert cli.main(["demo"]) == status
    assert capsys.readouterr().err == text
