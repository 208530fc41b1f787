"""The folder of a setup: what a killed process has left is removed, what another one uses is not."""

import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from workbench.tuning.setup import new_folder

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
