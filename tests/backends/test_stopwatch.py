"""Seconds of launches: every one is timed, shares add up, threads and bits do not matter."""

import time

import numpy as np
import pytest

from tests.backends.cell_plans import cell_plan
from tests.programs.wave import TEXT as WAVE
from workbench.backends.base import MarchRequest
from workbench.backends.openmp import OpenmpBackend
from workbench.backends.stopwatch import Stopwatch
from workbench.codegen.laps import Lap, number_laps, variants

BACKEND = OpenmpBackend()
PLAN = cell_plan(WAVE, 1)


def march(threads, **request):
    instance = BACKEND.compile(PLAN).instantiate((50_000,), threads)
    instance.write_field("u", np.sin(np.arange(50_000.0)))
    begin = time.perf_counter()
    instance.march(MarchRequest("step", 40, **request))
    return instance, time.perf_counter() - begin


@pytest.mark.parametrize("threads", [1, 2])
def test_every_launch_is_timed(threads):
    instance, seconds = march(threads, observe_last=False)
    times = instance.launch_times()
    step = PLAN.main.plain
    assert [(t.launch, t.member) for t in times] == [
        (number, member) for number, launch in enumerate(step.launches) for member in launch.members
    ]
    assert {(t.kernel, t.observed, t.steps) for t in times} == {("step", False, 40)}
    assert all(t.seconds >= 0 for t in times)
    assert 0 < sum(t.seconds for t in times) * 40 <= seconds
    loops = [t.seconds for t in times if step.launches[t.launch].kind == "subkernel"]
    assert min(loops) > 0


def test_observed_steps_are_timed_apart():
    instance, _ = march(1, observe_every=10)
    times = instance.launch_times()
    assert {(t.observed, t.steps) for t in times} == {(False, 36), (True, 4)}
    observed = [t for t in times if t.observed]
    assert "finisher" in {PLAN.main.observed.launches[t.launch].kind for t in observed}


def test_short_steps_are_timed_now_and_then():
    instance = BACKEND.compile(PLAN).instantiate((8,), 1)
    instance.march(MarchRequest("step", 10, observe_last=False))
    instance.march(MarchRequest("step", 1600, observe_last=False))
    assert {t.steps for t in instance.launch_times()} == {10 + 100}


def test_nothing_is_claimed_before_the_first_step():
    assert BACKEND.compile(PLAN).instantiate((8,)).launch_times() == ()


def test_members_share_the_time_by_the_clock():
    watch = Stopwatch(PLAN, 2)
    number = {lap: index for index, lap in enumerate(number_laps(PLAN))}
    launch = next(k for k, each in enumerate(PLAN.main.plain.launches) if len(each.members) == 2)
    kind = PLAN.main.plain.launches[launch].kind
    watch.timed[0, 0] = 2
    watch.laps[0, number[Lap("step", False, launch, kind)]] = 8.0
    for thread, member, seconds in ((0, 0, 1.0), (1, 0, 2.0), (1, 1, 1.0)):
        watch.laps[thread, number[Lap("step", False, launch, kind, member)]] = seconds
    shared = {t.member: t.seconds for t in watch.times() if t.launch == launch}
    assert shared == {0: 3.0, 1: 1.0}


def test_numbers_stand_for_different_things():
    laps = number_laps(PLAN)
    assert len(set(laps)) == len(laps)
    assert {lap.observed for lap in laps} == {observed for observed, _ in variants(PLAN.main)} == {False, True}
