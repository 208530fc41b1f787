"""A run in the background: what an interrupt of the one who waits for it does."""

import os
import signal
import threading

import pytest

from tests.kit.waiting import wait_for
from workbench.tuning.background_run import BackgroundTask


class Work(BackgroundTask):
    """Waits until it may end, and is stopped then if somebody asked for it."""

    def __init__(self):
        super().__init__("running")
        self.may_end = threading.Event()
        self._start(self._work, "work")

    def interrupted(self):
        """Wait, and be interrupted meanwhile."""
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        self.wait(60)

    def _work(self):
        self.may_end.wait(60)
        return "stopped" if self._stop.is_set() else "done"


def test_a_run_that_was_waited_for_until_an_interrupt_still_runs():
    """A thread whose `join` is interrupted counts as ended (Python issue 45274): `wait` came back at once then."""
    work = Work()
    with pytest.raises(KeyboardInterrupt) as caught:
        work.interrupted()
    assert caught.value.__notes__ == ["It stops after what is under way. Its results stay."]
    assert work.running
    assert work.wait(0.01).state == "stopping"
    assert work.pause().resume().state == "stopping"
    work.may_end.set()
    assert work.stop().wait(60).state == "stopped"
    wait_for(lambda: not work.running)


def test_a_run_that_fails_is_over_and_tells_why():
    failing = BackgroundTask("running")
    failing._start(lambda: 1 // 0, "failing")
    with pytest.raises(ZeroDivisionError):
        failing.wait(60)
    assert (failing.state, failing.running) == ("failed", False)
