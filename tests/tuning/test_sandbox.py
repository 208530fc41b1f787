"""Sandboxes: a worker that ends without an answer is followed by another one, once for each candidate."""

import subprocess
import sys

import pytest

from workbench.errors import BackendError, TuningError
from workbench.tuning import worker
from workbench.tuning.sandbox import Sandbox
from workbench.tuning.setup import Setup

SETUP = Setup("", "openmp", (8,), (8,), 1)
WORKER = """
import json, os, pathlib, sys
sys.stdin.readline()
print(json.dumps({"phenotype": "p"}), flush=True)
assert sys.stdin.readline() == "go\\n"
count = pathlib.Path(sys.argv[1])
count.write_text(count.read_text() + "x" if count.exists() else "x")
if len(count.read_text()) <= int(sys.argv[2]):
    os._exit(1)
fields = {"status": "success", "samples": [0.5], "loops": [], "beside": []}
print(json.dumps({"outcome": fields}), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def started(monkeypatch, tmp_path):
    """A sandbox whose first so many workers end in the middle; and the file that counts them."""
    real = subprocess.Popen
    made = []

    def make(killed):
        command = [sys.executable, "-c", WORKER, str(tmp_path / "count"), str(killed)]
        monkeypatch.setattr(subprocess, "Popen", lambda _, **options: real(command, **options))
        made.append(Sandbox(SETUP))
        return made[-1]

    yield make
    for sandbox in made:
        sandbox.close()


def evaluated(sandbox):
    """The outcome of one candidate, and how often somebody was asked whether its phenotype is known."""
    asked = []
    outcome, _ = sandbox.evaluate(
        "{}", samples=1, against="", best=1.0, timeout=60, within=60, known=lambda name: bool(asked.append(name))
    )
    return outcome, asked


@pytest.mark.parametrize(("killed", "status"), [(0, "success"), (1, "success"), (2, "runtime")])
def test_candidate_is_tried_by_a_second_worker_and_by_no_third(started, killed, status):
    """Asked again whether its own phenotype is known, a study would wait for itself."""
    outcome, asked = evaluated(started(killed))
    assert outcome.status == status
    assert asked == ["p"]
    assert (outcome.tail == "the worker process ended") is (status == "runtime")


def test_race_is_not_repeated(started, tmp_path):
    with pytest.raises(TuningError, match="broke off: the worker process ended"):
        started(1).race(["{}"], rounds=1, timeout=60, within=60)
    assert (tmp_path / "count").read_text() == "x"


def test_a_worker_imports_for_its_children_what_takes_long(monkeypatch):
    asked = []

    class Backend:
        def load_library(self):
            asked.append("import")
            raise BackendError("CuPy cannot be imported: ImportError: no")

    monkeypatch.setattr(worker, "get_backend", {"cuda": Backend(), "openmp": object()}.__getitem__)
    worker._load_library("openmp")
    assert asked == []
    worker._load_library("cuda")  # a child that needs it says what is wrong
    assert asked == ["import"]
