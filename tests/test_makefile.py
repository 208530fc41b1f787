"""Targets of the Makefile that must keep a promise, tried with tools that do nothing in a folder of their own."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SAYING = {  # what the tools print when all is well
    "ruff": 'case "$*" in *show-files*) echo x.py;; *format*) echo "3 files already formatted";; esac',
    "mypy": 'echo "Success: no issues found in 3 source files"',
    "lint-imports": 'echo "Analyzed 3 files"',
    "python": 'echo "1 passed"',
}


@pytest.fixture
def folder(tmp_path):
    shutil.copy(ROOT / "Makefile", tmp_path)
    for name in ("workbench", "tests", "labextension/src", "labextension/style"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "tools" / "bin").mkdir(parents=True)
    for name, text in SAYING.items():
        tool(tmp_path, name, text)
    return tmp_path


def tool(folder, name, text):
    file = folder / "tools" / "bin" / name
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)


def make(folder, *words):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    command = ["make", "--no-print-directory", "VENV=tools", *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def test_check_passes_where_every_gate_does(folder):
    done = make(folder, "check")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "all gates passed"


def test_check_runs_every_gate_and_names_those_that_failed(folder):
    tool(folder, "ruff", 'case "$*" in *show-files*) echo x.py;; *) echo "would reformat x.py"; exit 1;; esac')
    tool(folder, "lint-imports", 'echo "Analyzed 3 files"; exit 1')
    done = make(folder, "check")
    assert done.returncode != 0
    assert done.stdout.splitlines()[-1] == "failed: check-style check-format check-imports"
    assert "Success: no issues found in 3 source files" in done.stdout
    assert "1 passed" in done.stdout


def test_processes_of_a_target_keep_their_bytecode(folder, monkeypatch):
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    tool(folder, "python", 'echo "${PYTHONDONTWRITEBYTECODE-bytecode} $*"')
    assert "bytecode -m pytest" in make(folder, "test").stdout


def test_proof_sample_says_first_and_last_how_to_repeat_it(folder):
    tool(folder, "python", 'echo "$*"; exit 1')
    done = make(folder, "proof-sample")
    first, ran, last = done.stdout.splitlines()
    assert done.returncode != 0
    assert first == last
    seed = first.removeprefix("to repeat: make proof-sample SEED=")
    assert int(seed) > 10**9
    assert f"--proof-seed {seed}" in ran
    assert f"--proof-seed {seed}" in make(folder, "proof-sample", f"SEED={seed}").stdout


def test_coursework_gets_what_is_missing_and_keeps_what_is_there(folder):
    notebooks, mine = folder / "notebooks", folder / "coursework"
    (notebooks / "data").mkdir(parents=True)
    (notebooks / "data" / "study.xz").write_text("recorded")
    for name in ("00-quickstart", "01-first-steps"):
        (notebooks / f"{name}.ipynb").write_text("as published")
    assert make(folder, "coursework").stdout.count("copied") == 3
    (mine / "00-quickstart.ipynb").write_text("with my answers")
    (mine / "notes.txt").write_text("mine")
    (notebooks / "00-quickstart.ipynb").write_text("as published later")
    (notebooks / "02-new.ipynb").write_text("new")
    assert make(folder, "coursework").stdout.split() == ["copied", "coursework/02-new.ipynb"]
    assert make(folder, "clean").returncode == 0
    assert {str(file.relative_to(mine)): file.read_text() for file in mine.rglob("*") if file.is_file()} == {
        "00-quickstart.ipynb": "with my answers",
        "01-first-steps.ipynb": "as published",
        "02-new.ipynb": "new",
        "data/study.xz": "recorded",
        "notes.txt": "mine",
    }
    assert "coursework/" in (ROOT / ".gitignore").read_text().splitlines()


def test_lab_opens_the_copy_of_the_quickstart(folder):
    (folder / "notebooks").mkdir()
    (folder / "notebooks" / "00-quickstart.ipynb").write_text("as published")
    tool(folder, "python", 'pwd; echo "$*"')
    place, words = make(folder, "lab").stdout.splitlines()[-2:]
    assert Path(place) == folder / "coursework"
    assert words.split()[-1] == "--LabApp.default_url=/lab/tree/00-quickstart.ipynb"


def test_one_cupy_replaces_the_other(folder):
    tools = folder / ".venv" / "bin"
    tools.mkdir(parents=True)
    (tools / "python").write_text('#!/bin/sh\necho "$*"\n')
    (tools / "python").chmod(0o755)
    (folder / "pyproject.toml").write_text("")
    for extra in ("cuda", "cuda12", "cuda", "cuda"):
        done = make(folder, "gpu", "VENV=.venv", f"CUDA={extra}")
        assert done.returncode == 0, done.stdout + done.stderr
    done = make(folder, "gpu", "VENV=.venv", "CUDA=cuda12")
    said = [line for line in done.stdout.splitlines() if line.startswith("-m ")]
    assert said[0] == "-m pip --quiet --quiet uninstall --yes cupy-cuda12x cupy-cuda13x"
    assert said[1].endswith("--editable .[test,cuda12]")
    assert said[2] == "-m tests.backends.gpu_report artefacts/gpu-report.txt"
    again = make(folder, "gpu", "VENV=.venv", "CUDA=cuda12")
    assert "pip" not in again.stdout
