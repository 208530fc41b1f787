"""Which tests stay together when several workers share them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.kit.sharing import unit_of

ROOT = Path(__file__).resolve().parent.parent
TWO = "".join(f"def test_{name}(worker_id):\n    print('in', worker_id)\n" for name in ("one", "other"))


def test_a_file_stays_together_and_so_do_all_studies():
    assert unit_of("tests/graph/test_text.py::test_a[b::c]") == "tests/graph/test_text.py"
    assert unit_of("tests/tuning/test_study.py::test_a") == unit_of("tests/tuning/test_wisdom.py::test_b")
    assert unit_of("tests/tuning/test_study.py::test_a") != unit_of("tests/views/study/test_summary.py::test_b")


def test_workers_obey(tmp_path):
    """Two files of studies run in one worker, though there are two workers."""
    tests = tmp_path / "tests"
    shutil.copytree(ROOT / "tests" / "kit", tests / "kit")
    for name in ("tests/conftest.py", "tests/long_cases.txt", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path / name)
    (tests / "tuning").mkdir()
    for name in ("tuning/test_first.py", "tuning/test_second.py", "test_third.py"):
        (tests / name).write_text(TWO)
    command = [sys.executable, "-m", "pytest", "-n", "2", "--dist", "loadfile", "-q", "-rP"]
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}:{ROOT}"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    ran = [line for line in done.stdout.splitlines() if line.startswith("in gw")]
    assert sorted(map(ran.count, set(ran))) == [2, 4]
