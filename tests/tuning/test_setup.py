"""Setups: their folders, of which those of killed processes are removed, and what the row of the backend decides."""

import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from workbench.backends import registry
from workbench.tuning import tune
from workbench.tuning.setup import Setup, new_folder

HOLDER = """
from workbench.tuning.setup import new_folder
print(new_folder()[0], flush=True)
input()
"""


def test_folders_of_killed_processes_are_removed(monkeypatch, tmp_path):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    holder = subprocess.Popen([sys.executable, "-c", HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    theirs = Path(holder.stdout.readline().strip())
    (theirs / "field-u.npy").touch()
    ours, remove = new_folder()
    assert set(tmp_path.iterdir()) == {theirs, Path(ours)}
    holder.send_signal(signal.SIGKILL)
    holder.communicate()
    later, remove_later = new_folder()
    assert set(tmp_path.iterdir()) == {Path(ours), Path(later)}
    remove()
    remove_later()
    assert list(tmp_path.iterdir()) == []


def test_the_row_of_a_backend_says_where_it_is_measured_and_whether_few_cells_are_compared(monkeypatch):
    row = registry.BackendRow("other-sim", "", "", "", device="other", is_simulator=True)
    monkeypatch.setattr(registry, "BACKENDS", (*registry.BACKENDS, row))
    devices = {"openmp": "cpu", "cuda": "cuda", "cuda-sim": "cpu", "other-sim": "other"}
    assert {name: Setup("", name, (8,), (8,), 1).device for name in devices} == devices
    for dim in (1, 2, 3):
        usual, few = tune.checked_extents(dim, "openmp"), tune.checked_extents(dim, "cuda-sim")
        assert tune.checked_extents(dim, "cuda") == usual != few == tune.checked_extents(dim, "other-sim")
