"""Every solver is reached from the package without an import of its own."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import workbench

FOLDER = Path(workbench.__file__).parent / "solvers"


def test_every_solver_is_listed_and_described():
    files = [*FOLDER.glob("*.py"), *FOLDER.glob("*/__init__.py")]
    names = {path.parent.name if path.stem == "__init__" else path.stem: path.read_text("utf-8") for path in files}
    assert set(workbench.solvers.NAMES) <= set(names)
    solvers = {
        name for name, text in names.items() if re.search(r"^def machine\(|import .*\bmachine\b", text, re.MULTILINE)
    }
    assert len(solvers) > 8
    assert solvers <= set(workbench.solvers.NAMES), "add these to NAMES and to the docstring of workbench/solvers"
    assert {name for name in workbench.solvers.NAMES if f"`{name}`" not in workbench.solvers.__doc__} == set()


def test_a_fresh_process_reaches_a_solver():
    code = "import workbench as wb; print(wb.solvers.heat.machine(dim=1).name)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=FOLDER.parent.parent)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "heat"


def test_an_unknown_solver_is_named():
    with pytest.raises(AttributeError, match="has no 'magic'"):
        workbench.solvers.magic  # noqa: B018
