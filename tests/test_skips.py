"""The rule about skips, tried on a small suite of its own."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent

SUITE = {
    "test_expected.py": "import pytest\ndef test_it(): pytest.skip('no CUDA device: driver not found')\n",
    "test_unexpected.py": "import pytest\ndef test_it(): pytest.skip('not today')\n",
    "test_module.py": "import pytest\npytest.importorskip('no_such_module_at_all')\n",
    "test_known.py": "import pytest\n@pytest.mark.xfail(strict=True)\ndef test_it(): assert False\n",
}


def run_suite(folder, names, ci):
    (folder / "tests" / "kit").mkdir(parents=True)
    for name in ("conftest.py", "kit/proofs.py", "kit/skips.py", "kit/times.py", "long_cases.txt"):
        shutil.copy(HERE / name, folder / "tests" / name)
    for name in names:
        (folder / "tests" / name).write_text(SUITE[name])
    environment = {**os.environ, "WORKBENCH_CI": ci, "PYTHONPATH": str(folder)}
    environment.pop("PYTEST_ADDOPTS", None)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "--import-mode=importlib",
        "-q",
    ]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize("name", ["test_expected.py", "test_known.py"])
def test_expected_skip_passes(tmp_path, name):
    assert run_suite(tmp_path, [name], ci="1").returncode == 0


@pytest.mark.parametrize("name", ["test_unexpected.py", "test_module.py"])
def test_unexpected_skip_fails_in_ci_only(tmp_path, name):
    (tmp_path / "ci").mkdir()
    (tmp_path / "desk").mkdir()
    refused = run_suite(tmp_path / "ci", [name, "test_known.py"], ci="1")
    assert refused.returncode != 0
    assert "unexpected skip" in refused.stdout
    assert run_suite(tmp_path / "desk", [name, "test_known.py"], ci="").returncode == 0


def test_no_test_hides_behind_a_library_that_make_test_installs():
    extras = tomllib.loads((HERE.parent / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    installed = {re.match(r"[\w-]+", line)[0] for line in extras["test"]} | {"IPython", "PIL"}  # of ipykernel, bokeh
    called = re.compile(r"importorskip\(.(\w+)")
    hidden = {path.relative_to(HERE).as_posix(): called.findall(path.read_text()) for path in HERE.rglob("test_*.py")}
    assert {name: found for name, found in hidden.items() if installed & set(found)} == {}
