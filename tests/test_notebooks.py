"""The course notebooks run top to bottom without a GPU and are kept without outputs."""

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def test_there_are_notebooks():
    assert len(NOTEBOOKS) >= 3


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(path, tmp_path):
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]),
        "IPYTHONDIR": str(tmp_path / "ipython"),
        "WORKBENCH_CACHE": str(tmp_path / "cache"),
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    }
    options = ("--nbmake", "--nbmake-timeout=600", "-q", "-n0", "-p", "no:cacheprovider")
    command = [sys.executable, "-m", "pytest", *options, str(path)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert "1 passed" in done.stdout


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_stripped(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert len(code) > 5
    assert not [cell.source for cell in code if cell.outputs or cell.execution_count]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_axes_of_every_picture_have_names(path):
    code = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    for source in code:
        if "plt.subplots" in source:
            assert "xlabel=" in source
            assert "ylabel=" in source
