"""Progress: nothing for short runs, one line for long ones, and another listener where somebody wants one."""

import sys

import numpy as np
import pytest

import workbench as wb
from workbench.events import Progress, RunEnded
from workbench.run import progress


class Clock:
    """A clock that the test turns."""

    now = 0.0

    def perf_counter(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    return clock


@pytest.mark.parametrize(("terminal", "patience"), [(True, 1.0), (False, 10.0)])
def test_line_appears_when_a_run_is_long(clock, capsys, monkeypatch, terminal, patience):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    line = progress.ProgressLine()
    line(Progress("wave", 10, 100, patience - 0.1, 10.0))
    clock.now = patience - 0.01
    line(Progress("wave", 20, 100, patience - 0.01, 10.0))
    assert capsys.readouterr().err == ""
    clock.now = patience + 0.01
    line(Progress("wave", 30, 100, patience + 0.01, 10.0))
    line(RunEnded("wave", 100, 12.0, "done"))
    assert "wave: step 30 of 100, 10 steps/s, 7 s left" in capsys.readouterr().err


def test_words_without_an_end_or_a_rate():
    assert progress.in_words(Progress("wave", 30, None, 1.0, 30.0)) == "wave: step 30, 30 steps/s"
    assert progress.in_words(Progress("wave", 0, 9, 0.0, 0.0)) == "wave: step 0 of 9, 0 steps/s"
    told = progress.in_words(Progress("wave", 30, 90, 1.0, 30.0, paused=True))
    assert told == "wave: step 30 of 90, paused: press Play in its view to let it go on"
    assert progress.in_words(Progress("wave", 30, None, 1.0, 12_345.6)) == "wave: step 30, 12,346 steps/s"
    assert [progress.in_digits(value, 3) for value in (8.333, 999.4, 999.6, 1e6)] == [
        "8.33",
        "999",
        "1,000",
        "1,000,000",
    ]


def test_another_listener_may_take_over():
    events = []
    progress.set_listener_factory(lambda: events.append)
    try:
        wb.trace('u = field("u")\nu.next = u + 1').simulate(u=np.zeros(3), backend="reference").run(2)
    finally:
        progress.set_listener_factory(None)
    assert isinstance(events[-1], RunEnded)
    assert isinstance(progress.new_listener(), progress.ProgressLine)
