"""Every solver is reached from the package without an import of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

import workbench

FOLDER = Path(workbench.__file__).parent / "solvers"


def test_every_solver_is_listed():
    files = {p.stem for p in FOLDER.glob("*.py")} | {p.name for p in FOLDER.iterdir() if (p / "__init__.py").exists()}
    assert set(workbench.solvers.NAMES) <= files
    assert {name for name in files if hasattr(getattr(workbench.solvers, name, None), "machine")} <= set(
        workbench.solvers.NAMES
    )


def test_a_fresh_process_reaches_a_solver():
    code = "import workbench as wb; print(wb.solvers.heat.machine(dim=1).name)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=FOLDER.parent.parent)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "heat"


def test_an_unknown_solver_is_named():
    with pytest.raises(AttributeError, match="has no 'magic'"):
        workbench.solvers.magic  # noqa: B018
