"""Leaving: a march that is to stop at once leaves the step that is under way, and nobody can tell that it had begun."""

import os
import random
import signal
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

import workbench as wb
from tests.kit.random_tileable import HEAT, LEAPING, RINGED, STAGED, WATCHED, WAVE
from tests.kit.waiting import PATIENCE
from workbench.backends.base import Condition, MarchRequest, StopFlag
from workbench.backends.openmp import OpenmpBackend
from workbench.errors import StencilError
from workbench.pipeline import plan_for
from workbench.solvers import hydro

IN_STAGES = """
time = scalar("time")
u = field("u", boundary="periodic")
a = manifest(u + 0.1 * (u[+1, 0] + u[-2, 0] + u[0, +1] + u[0, -1] - 4 * u))
b = extend(a, "periodic")
u.next = b + 0.1 * (b[+1, 0] + b[-1, 0] + b[0, +1] + b[0, -2] - 4 * b) + 0.001 * time * u
time.next = time + 0.125
"""
MACHINES = {
    "heat": (wb.trace(HEAT, name="cell", dim=2), {}),
    "diagnostic": (wb.trace(WATCHED, name="cell", dim=2), {}),
    "stages": (wb.trace(STAGED, name="cell", dim=2), {}),
    "stages together": (wb.trace(IN_STAGES, name="cell", dim=2), {"stages": True}),
    "time step": (hydro.machine(2), {}),
}
TILED = {
    name: (wb.trace(text, name="cell", dim=2), {"schedule": "diamond"})
    for name, text in {"wave": WAVE, "heat": HEAT, "stages": STAGED, "time": RINGED, "diagnostic": WATCHED}.items()
}
SLOW = "u = field('u', boundary=constant(0.0))\nv = u[+1, 0]\n" + "v = sqrt(1.0 + 0.5 * v * v)\n" * 60 + "u.next = v\n"
OUTSIDE = SLOW.replace("v = u[+1, 0]\n", "v = gather(u, index(0) - 1, index(1))\n", 1)
LARGE = (3000, 1000)  # three blocks of one thread


def compiled(machine, changes):
    choices = replace(machine.choices, plan=machine.choices.plan.changed(**changes))
    return OpenmpBackend().compile(plan_for(machine.graph, choices, "openmp"))


def start_of(instance):
    """Numbers that are a density, a small momentum and an energy in the solver of a gas."""
    rng, fields = np.random.default_rng(5), instance.plan.graph.fields
    for number, static in enumerate(fields):
        values = (number in (0, len(fields) - 1)) + 0.1 * rng.random(instance.extents)
        instance.write_field(static.name, values.astype(static.type.numpy))


def state_of(instance):
    values = [instance.read_field(s.name).tobytes() for s in instance.plan.graph.fields]
    return [*values, *(instance.read_global(s.name) for s in instance.plan.graph.scalars)]


def asked_at_once():
    """Only a step that is left takes notice of it."""
    stop = StopFlag()
    stop.words[1] = 1
    return stop


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_a_step_is_left_as_if_it_had_not_begun(name, threads):
    program = compiled(*MACHINES[name])
    one, other = (program.instantiate((37, 50), threads) for _ in range(2))
    for instance in (one, other):
        start_of(instance)
        instance.march(MarchRequest("step", 3))
    one._stopwatch.sample = 1  # each step is timed
    before, times = state_of(one), one.launch_times()
    result = one.march(MarchRequest("step", 4, first_step=3, stop=asked_at_once()))
    assert (result.steps, result.ended, result.diagnostics_current) == (0, "stopped", False)
    assert state_of(one) == before
    assert one.launch_times() == times
    for instance in (one, other):
        instance.march(MarchRequest("step", 4, first_step=3))
    assert state_of(one) == state_of(other)


@pytest.mark.parametrize("name", [*MACHINES, *(f"{name} in tiles" for name in TILED)])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_a_run_that_is_left_again_and_again_has_the_bits_of_one_that_is_not(name, threads):
    """Wherever in a step that is: the flag is set after any time."""
    chosen = MACHINES[name] if name in MACHINES else TILED[name.removesuffix(" in tiles")]
    every = 3 if name in MACHINES else 200  # several bands of tiles
    program, rng, done, left = compiled(*chosen), random.Random(threads), 0, 0
    one, other = (program.instantiate((97, 50), threads) for _ in range(2))
    other.tiles = tuple(None for _ in other.tiles)  # one step after the other
    for instance in (one, other):
        start_of(instance)
    while left < 12:
        stop = StopFlag()
        timer = threading.Timer(rng.uniform(0.0, 0.004), stop.words.__setitem__, (1, 1))
        timer.start()
        requests = [MarchRequest("step", 10**7, done, observe_every=every, stop=stop)]
        results = [one.march(requests[0])]
        timer.join()
        left += results[0].ended == "stopped"
        done += results[0].steps
        requests.append(MarchRequest("step", results[0].steps, requests[0].first_step, every, observe_last=False))
        results.append(other.march(requests[1]))
        assert results[0].observed_steps.tolist() == results[1].observed_steps.tolist()
        assert [a.tobytes() for a in results[0].observed] == [b.tobytes() for b in results[1].observed]
        assert state_of(one)[: len(one.plan.graph.fields)] == state_of(other)[: len(one.plan.graph.fields)]
        assert state_of(one) == state_of(other)


@pytest.mark.parametrize("name", TILED)
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_steps_in_tiles_that_are_left_count_and_are_ended_when_somebody_looks(name, threads):
    program = compiled(*TILED[name])
    one, two, other = (program.instantiate((37, 50), threads) for _ in range(3))
    other.tiles = tuple(None for _ in other.tiles)  # one step after the other
    for instance in (one, two, other):
        start_of(instance)
        instance.march(MarchRequest("step", 3, observe_last=False))
        instance._paces[-1] = 1e-6
    results = [each.march(MarchRequest("step", 100, 3, stop=asked_at_once())) for each in (one, two)]
    steps = results[0].steps
    assert (results[0].ended, steps) == ("stopped", one._last.march.paused)
    assert steps > 1
    assert results[1].steps == steps
    numbers = [[each.read_global(s.name) for s in each.plan.graph.scalars] for each in (one, two)]
    assert two._last.march.paused, "numbers are known without the rest"
    other.march(MarchRequest("step", steps, 3, observe_last=False))
    assert numbers == [[other.read_global(s.name) for s in other.plan.graph.scalars]] * 2
    assert state_of(one) == state_of(other)
    assert not one._last.march.paused
    for each in (two, other):  # goes on without a look, with another param
        for param in each.plan.graph.params:
            each.write_global(param.name, 0.05)
        each.march(MarchRequest("step", 5, 3 + steps))
    assert state_of(two) == state_of(other)


def test_a_condition_that_holds_after_steps_that_are_left_has_ended_the_run():
    program = compiled(*TILED["time"])
    instance = program.instantiate((37, 50), 2)
    instance.march(MarchRequest("step", 3, observe_last=False))
    instance._paces[-1] = 1e-6
    until = (Condition("time", ">=", 4.0),)
    result = instance.march(MarchRequest("step", 100, 3, until=until, stop=asked_at_once()))
    assert (result.steps, result.ended, instance.read_global("time")) == (5, "until", 4.0)
    assert instance._last.march.paused == 5


def test_a_step_that_updates_a_field_where_it_lies_is_ended():
    program = compiled(wb.trace(LEAPING, name="cell", dim=2), {})
    one, other = (program.instantiate((37, 50), 2) for _ in range(2))
    for instance in (one, other):
        start_of(instance)
    result = one.march(MarchRequest("step", 3, stop=asked_at_once()))
    other.march(MarchRequest("step", 3))
    assert (result.steps, result.ended) == (3, "done")
    assert state_of(one) == state_of(other)


def midway(instance, act):
    """Call `act` from another thread when a march has begun to write the array that no field has."""
    (free,) = {slot.index for slot in instance.plan.array_slots if not slot.field}
    cells = instance._by_address[int(instance._slots[free])].cells
    before, over = cells[: 1 << 20].copy(), threading.Event()

    def watch():
        while not over.is_set():
            if not np.array_equal(cells[: 1 << 20], before):
                act()
                return
            time.sleep(0.001)

    watcher = threading.Thread(target=watch)
    watcher.start()
    return lambda: (over.set(), watcher.join())


def test_indices_outside_of_a_step_that_is_left_are_no_error():
    """They are when the step is done."""
    instance, begin = compiled(wb.trace(OUTSIDE, name="cell", dim=2), {}).instantiate(LARGE, 1), time.monotonic()
    start_of(instance)
    before = instance.read_field("u")
    while True:
        stop = StopFlag()
        over = midway(instance, lambda flag=stop: flag.words.__setitem__(1, 1))
        try:
            if instance.march(MarchRequest("step", 1, stop=stop)).ended == "stopped":
                break
        except StencilError:
            assert not np.array_equal(instance.read_field("u"), before), "the step that is left is told of"
        finally:
            over()
        assert time.monotonic() - begin < PATIENCE
        instance.write_field("u", before)
    assert np.array_equal(instance.read_field("u"), before)
    with pytest.raises(StencilError, match="outside"):
        instance.march(MarchRequest("step", 1))


def test_one_thread_leaves_a_chain_between_two_planes():
    """It has one tile of all planes; the flag is set in the step's first one."""
    text = SLOW.replace("u.next = v", "w = manifest(v)\nu.next = w[+1, 0] + w[-1, 0]")
    program = compiled(wb.trace(text, name="cell", dim=2), {})
    assert program.plan.main.plain.chains
    instance, begin = program.instantiate(LARGE, 1), time.monotonic()
    start_of(instance)
    before, ended = instance.read_field("u"), ""
    while ended != "stopped":
        assert time.monotonic() - begin < PATIENCE
        stop = StopFlag()
        over = midway(instance, lambda flag=stop: flag.words.__setitem__(1, 1))
        ended = instance.march(MarchRequest("step", 1, stop=stop)).ended
        over()
        if ended != "stopped":
            instance.write_field("u", before)
    assert np.array_equal(instance.read_field("u"), before)


def test_an_interrupt_does_not_wait_for_the_end_of_a_step():
    begin = time.monotonic()
    while True:
        simulation = wb.trace(SLOW, dim=2).simulate(u=np.ones(LARGE), backend="openmp", threads=1, schedule="stepwise")
        over = midway(simulation._state.instance, lambda: os.kill(os.getpid(), signal.SIGINT))
        try:
            simulation.run(1)
        except KeyboardInterrupt:
            if simulation.steps == 0:
                break
        finally:
            over()
        assert time.monotonic() - begin < PATIENCE
    assert (simulation.u == 1.0).all()
    right = wb.trace(SLOW, dim=2).simulate(u=np.ones(LARGE), backend="openmp", threads=2, schedule="stepwise")
    assert np.array_equal(simulation.run(2).u, right.run(2).u)
