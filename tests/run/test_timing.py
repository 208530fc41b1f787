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
    """A state whose program has run for some time."""

    extents = (8,)
    instance = SimpleNamespace(launch_times=tuple)

    def __init__(self):
        self.compiled = self.program()
        self.watches = Watches()
        self.march_steps, self.march_seconds = 0, 0.0

    @staticmethod
    def program():
        return SimpleNamespace(plan=SimpleNamespace(choices=Choices()), selection=SimpleNamespace(name="openmp"))

    @property
    def measured_step_seconds(self):
        return self.march_seconds / self.march_steps if self.march_steps else None

    def march(self, steps, seconds):
        self.march_steps += steps
        self.march_seconds += seconds
        self.watches.tell()


def test_each_measurement_is_of_the_steps_since_the_one_before():
    run, heard = Run(), []
    stop = timed(run, lambda time: heard.append((time.steps, pytest.approx(time.seconds))), once=False)
    for steps, seconds in ((1, 0.05), (1, 0.15), (2, 0.1), (6, 0.5), (50, 2.5), (0, 10.0), (1, 1.0)):
        run.march(steps, seconds)
    assert heard == [(2, 0.1), (8, 0.075), (50, 0.05), (1, 11.0)]
    stop()
    run.march(1000, 1000.0)
    assert len(heard) == 4


def test_once_is_once():
    run, heard = Run(), []
    timed(run, heard.append, once=True)
    run.march(4, 0.2)
    run.march(400, 20.0)
    assert [time.steps for time in heard] == [4]
    assert not run.watches._all


def test_another_program_is_not_measured():
    run, heard = Run(), []
    timed(run, heard.append, once=False)
    run.march(4, 0.05)
    run.compiled = run.program()
    run.march(400, 20.0)
    assert heard == []
    assert not run.watches._all
