"""Ctrl-C reaches tests that send it, also in a background job of a shell, which begins with Ctrl-C ignored."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = """
import signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
import tests.conftest
signal.raise_signal(signal.SIGINT)
"""


def test_settings_of_tests_end_that_ctrl_c_is_ignored():
    done = subprocess.run([sys.executable, "-c", SCRIPT], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode != 0
    assert "KeyboardInterrupt" in done.stderr
