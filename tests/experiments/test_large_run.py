"""Two million cells in three dimensions take the memory that the plan predicts."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from workbench.errors import StencilError
from workbench.experiments import large_run

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("options", [(), ("--dim", "2", "--cells", "1448", "--dtype", "f32")], ids=["128^3", "1448^2"])
def test_two_million_cells_take_what_was_predicted(options):
    """In a fresh process, because memory that was given back earlier would not be seen to grow."""
    command = [sys.executable, "-m", "workbench", "large-run", "--steps", "2", "--backend", "openmp", *options]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    print(done.stdout, done.stderr)
    assert done.returncode == 0
    assert "predicted" in done.stdout


def test_a_wrong_prediction_fails(monkeypatch):
    monkeypatch.setattr(large_run, "memory_of", lambda plan, extents, backend: 1 << 30)
    run = large_run.measure_large_run(1, 1000, backend="reference")
    assert not run.passed
    assert "FAILED" in str(run)


def test_a_system_without_proc_is_named(monkeypatch):
    monkeypatch.setattr(large_run, "Path", lambda name: Path("/no/such/file"))
    with pytest.raises(StencilError, match="resident memory is unknown"):
        large_run.resident_bytes()
