"""When a running program is measured, and what counts."""

from types import SimpleNamespace

import pytest

from workbench.backends.base import LaunchTime
from workbench.planning.choices import Choices
from workbench.run.timing import StepTime, timed
from workbench.run.watching import Watches


def step_time(steps, seconds, *launches):
    return StepTime(Choices(), "openmp", (8,), steps, seconds, launches)


def launch(number, seconds, steps):
    return LaunchTime("step", False, number, 0, seconds, steps)


def test_the_steps_before_do_not_count():
    earlier = step_time(10, 5.0, launch(0, 3.0, 10), launch(1, 2.0, 10))
    later = step_time(40, 2.0, launch(0, 1.5, 40), launch(1, 2.0, 10), launch(2, 7.0, 3))
    fresh = later.since(earlier)
    assert (fresh.steps, fresh.seconds) == (30, pytest.approx(1.0))
    assert [each.seconds for each in fresh.launches] == [pytest.approx(1.0), 2.0, 7.0]
    assert [each.steps for each in fresh.launches] == [30, 10, 3]


def test_a_mean_that_is_rounded_gives_no_time_below_zero():
    assert step_time(20, 0.5 - 1e-17).since(step_time(19, 0.5 * 20 / 19 + 1e-9)).seconds == 0.0


class Run:
    """A state whose program has run for some time, and a clock that goes on while it runs."""

    extents = (8,)
    instance = SimpleNamespace(launch_times=tuple)

    def __init__(self):
        self.compiled, self.asked = self.program(), Choices()
        self.watches = Watches()
        self.march_steps, self.march_seconds, self.now = 0, 0.0, 100.0

    @staticmethod
    def program():
        return SimpleNamespace(plan=SimpleNamespace(choices=Choices()), selection=SimpleNamespace(name="openmp"))

    @property
    def measured_step_seconds(self):
        return self.march_seconds / self.march_steps if self.march_steps else None

    def march(self, steps, seconds):
        self.march_steps += steps
        self.march_seconds += seconds
        self.now += seconds
        self.watches.tell()

    def timed(self, told, once=False):
        return timed(self, told, once=once, clock=lambda: self.now)


def test_a_figure_is_the_median_of_the_last_second():
    run, heard = Run(), []
    stop = run.timed(heard.append)
    run.march(1, 0.3)  # the first step touches its memory for the first time
    for _ in range(20):
        run.march(1000, 0.05)
    run.march(1000, 0.25)  # somebody else wanted the processor
    (figure,) = heard
    assert figure.seconds == pytest.approx(5e-5)
    assert figure.spread == pytest.approx(0.0)
    for _ in range(200):
        run.march(1000, 0.08)
    assert [time.seconds for time in heard[1:]] == pytest.approx([8e-5, 8e-5])
    assert heard[1].steps == heard[1].steps
    stop()
    run.march(10**6, 1000.0)
    assert len(heard) == 3


def test_a_figure_that_spreads_is_told_later_and_says_so():
    run, heard = Run(), []
    run.timed(heard.append)
    for _ in range(36):
        run.march(10, 0.04)
        run.march(10, 0.06)
    assert heard == []
    for _ in range(10):
        run.march(10, 0.04)
        run.march(10, 0.06)
    (figure,) = heard
    assert 4e-3 <= figure.seconds <= 6e-3
    assert figure.spread == pytest.approx(1e-3)


def test_long_steps_are_measured_by_a_few_of_them():
    run, heard = Run(), []
    run.timed(heard.append)
    run.march(1, 3.0)
    run.march(1, 2.0)
    assert heard == []
    run.march(1, 2.0)
    assert heard[0].seconds == 2.0


def test_short_steps_are_taken_together():
    run, heard = Run(), []
    run.timed(heard.append)
    for _ in range(2000):
        run.march(1, 1e-3 if run.march_steps % 2 else 2e-3)
    assert heard[0].seconds == pytest.approx(1.5e-3, rel=0.1)
    assert heard[0].spread < 2e-4


def test_once_is_once():
    run, heard = Run(), []
    run.timed(heard.append, once=True)
    for _ in range(200):
        run.march(400, 0.05)
    assert len(heard) == 1
    assert not run.watches._all


def test_another_program_is_not_measured():
    run, heard = Run(), []
    run.timed(heard.append)
    run.march(4, 0.05)
    run.compiled = run.program()
    for _ in range(200):
        run.march(400, 0.05)
    assert heard == []
    assert not run.watches._all
