"""schedule="diamond": several steps in tiles have the bits of one step after the other."""

import random
import subprocess
import time
from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest

from tests.kit.optimised import optimised
from tests.kit.random_tileable import (
    ANALYTIC,
    BENT,
    BOTH_SIDES,
    FACES,
    HEAT,
    LATE,
    LEAPING,
    RINGED,
    SHARED,
    SKEWED,
    STAGED,
    TIMED,
    TURNING,
    UNLIKE,
    WATCHED,
    WAVE,
)
from tests.run.tiled import machine, planned, program, start_of, state_of, with_tiles
from workbench.backends.base import Condition, MarchRequest
from workbench.errors import PlanError
from workbench.graph.side_rules import Wall
from workbench.planning.choices import TilingChoices
from workbench.planning.schedules.ghosts import sides_of
from workbench.planning.schedules.locality import tile_sizes

EXTENTS = {1: ((2,), (7,), (64,), (201,)), 2: ((3, 5), (16, 40), (37, 23)), 3: ((5, 4, 6), (6, 17, 9), (12, 24, 10))}
CASES = [(text, dim) for text in (WAVE, HEAT, TURNING) for dim in (1, 2, 3)]
CASES += [(WATCHED, 2), (ANALYTIC, 2), (STAGED, 2), (RINGED, 1), (RINGED, 3), (TIMED, 1), (SHARED, 1)]
CASES += [(BOTH_SIDES, 2), (LEAPING, 3), (SKEWED, 2)]
PROOFS = [pytest.param(*case, marks=pytest.mark.proof) for case in ((FACES, 2), (BENT, 2), (UNLIKE, 1), (LATE, 1))]
QUICK = [(TURNING, 1), (TURNING, 3), (WATCHED, 2), (ANALYTIC, 2), (BOTH_SIDES, 2), (RINGED, 1), (RINGED, 3)]
QUICK += [(TIMED, 1), (SHARED, 1), (LEAPING, 3), (SKEWED, 2), (FACES, 2), (BENT, 2), (LATE, 1)]


@cache
def quick_programs():
    """Compiled together and without optimisation."""
    plans = [planned(*case) for case in QUICK]
    return dict(zip(QUICK, optimised("openmp", "0").compile_many(plans), strict=True))


def tiled(instance, choices):
    """The instance with tiles of other sizes, chosen when it runs."""
    kernel = instance.plan.main
    number = instance.plan.kernels.index(kernel)
    sizes = list(instance.tiles)
    sizes[number] = choices
    instance.tiles = tuple(sizes)


def ending(instance, rng):
    """In half of the marches of those that have a time: soon, after some whole step."""
    if "time" not in [s.name for s in instance.plan.graph.scalars] or rng.random() < 0.5:
        return ()
    return (Condition("time", ">=", instance.read_global("time") + rng.choice((0.9, 2.5, 4.0))),)


def sizes_of(instance, rng):
    widths = tuple(rng.choice((0, 1, 3, 8, 21)) for _ in instance.extents)
    choices = TilingChoices("diamond", rng.choice((2, 3, 5, 8, 13, 40)), widths)
    sizes = tile_sizes(instance.plan.main, instance.extents, choices, instance.threads)
    return None if sizes is None else replace(sizes, window=rng.choice((0, 0, 1, 2, 5)))


@pytest.mark.parametrize(("text", "dim"), [*CASES, *PROOFS])
def test_tiles_have_the_bits_of_steps(text, dim):
    """One library for all: extents, threads, depths and widths are numbers that it is given."""
    assert compare(program(text, dim), product(EXTENTS[dim], (1, 2, 3))) > 20


def check_quickly(text, dim):
    """For seeded faults: at fewer sizes, without optimisation."""
    assert compare(optimised("openmp", "0").compile(planned(text, dim)), few(dim)) > 6


def few(dim):
    return zip(EXTENTS[dim][:3], (1, 2, 3), strict=True)


@pytest.mark.parametrize(("text", "dim"), QUICK)
def test_tiles_of_quick_programs_have_the_bits_of_steps(text, dim):
    assert compare(quick_programs()[text, dim], few(dim)) > 6


def compare(compiled, ways):
    """How many marches ran in tiles, all with the bits of steps; `ways` are extents and threads."""
    rng, ran = random.Random(compiled.plan.graph.dim), 0
    for extents, threads in ways:
        one, other = (compiled.instantiate(extents, threads) for _ in range(2))
        for instance in (one, other):
            start_of(instance, np.random.default_rng(7))
        with_tiles(one, None)
        for steps in (1, 2, 9, 30):
            sizes = sizes_of(other, rng)
            with_tiles(other, sizes)
            every = rng.choice((0, 0, 4))
            request = MarchRequest("step", steps, observe_every=every, observe_last=steps > 2, until=ending(one, rng))
            results = []
            for instance in (one, other):
                for param in instance.plan.graph.params:
                    instance.write_global(param.name, 1 / (steps + 3))
                results.append(instance.march(request))
            assert results[0].steps == results[1].steps
            assert results[0].ended == results[1].ended
            assert request.until or results[0].steps == steps
            assert results[0].observed_steps.tolist() == results[1].observed_steps.tolist()
            assert all(np.array_equal(a, b) for a, b in zip(state_of(one), state_of(other), strict=True))
            ran += sizes is not None
    return ran


def test_faces_lie_on_walls_along_both_axes():
    main = planned(FACES, 2).main
    found = [sides_of(main.kernel, fill.node) for fill in main.plain.fills]
    assert all({Wall(1), Wall(-1)} <= {rule for sides in found for rule in sides[axis]} for axis in (0, 1))


def test_steps_after_tiles_do_not_trust_tags_of_ghost_cells():
    """Two steps bring an array to where it is written first, with ghost cells of another field and its own old tag."""
    compiled = program(SHARED, 1)
    one, other = (compiled.instantiate((40,), 1) for _ in range(2))
    sizes = other.tiles[0]
    tiled(one, None)
    for instance in (one, other):
        start_of(instance, np.random.default_rng(7))
        paced(instance, 1e-9)
    for together in (None, sizes, None):
        tiled(other, together)
        for instance in (one, other):
            instance.march(MarchRequest("step", 2, observe_last=False))
        assert all(np.array_equal(a, b) for a, b in zip(state_of(one), state_of(other), strict=True))


def test_a_simulation_runs_in_tiles_and_stops_at_what_is_observed():
    u, w = np.random.default_rng(3).random((40, 30)), np.ones((40, 30), np.float32)
    runs = []
    for schedule in ("stepwise", "diamond"):
        sim = machine(WATCHED, 2).simulate(u=u, w=w, backend="openmp", threads=2, schedule=schedule)
        record = sim.record("total", every=7)
        sim.run(50)
        sim.set(edge=0.25)
        sim.run(20)
        runs.append((np.array(sim.u), np.array(sim.w), sim.total, np.array(record.values)))
    for a, b in zip(*runs, strict=True):
        assert np.array_equal(a, b)


def test_a_march_in_tiles_ends_when_its_time_is_over():
    instance = program(HEAT, 2).instantiate((64, 64), 2)
    start_of(instance, np.random.default_rng(1))
    request = MarchRequest("step", 10_000_000, seconds=0.05)
    began = time.perf_counter()
    result = instance.march(request)
    assert result.ended == "time"
    assert 0 < result.steps < request.steps
    assert time.perf_counter() - began < 10  # busy machines
    other = program(HEAT, 2).instantiate((64, 64), 1)
    start_of(other, np.random.default_rng(1))
    tiled(other, None)
    other.march(MarchRequest("step", result.steps))
    assert all(np.array_equal(a, b) for a, b in zip(state_of(instance), state_of(other), strict=True))


def paced(instance, pace):
    """As if a step in tiles had taken so many seconds."""
    instance._paces = [pace] * len(instance._paces)


def first_batch(instance, steps=10_000, **more):
    """Steps that ran together before the march looked at its time, of which there is none."""
    return instance.march(MarchRequest("step", steps, seconds=0.0, observe_last=False, **more)).steps


def test_as_many_steps_run_together_as_fit_into_the_limit():
    instance = program(HEAT, 2).instantiate((64, 64), 2)
    start_of(instance, np.random.default_rng(1))
    depth = instance.tiles[0].depth
    assert first_batch(instance) == 1  # what a step takes is not known yet
    paced(instance, 0.2 / 7.5)
    assert first_batch(instance) == 7
    assert instance._paces[0] < 0.2 / 7.5  # the seven were measured
    paced(instance, 1e-9)
    assert first_batch(instance) == depth
    paced(instance, 5.0)
    assert first_batch(instance) == 1
    paced(instance, 1e-9)
    assert first_batch(instance, steps=5) == 5
    assert first_batch(instance, first_step=8, observe_every=10) == 1


def test_a_batch_that_was_cut_short_does_not_count():
    """Full batches take less for each step: one of two steps before an observed one would keep the next ones low."""
    instance = program(HEAT, 2).instantiate((64, 64), 2)
    start_of(instance, np.random.default_rng(1))
    paced(instance, 1e-9)
    instance.march(MarchRequest("step", 3, observe_last=False))
    instance.march(MarchRequest("step", 9, observe_every=4))
    sizes = instance.tiles
    tiled(instance, None)  # as with conditions, which are looked at after each step
    instance.march(MarchRequest("step", 5, observe_last=False))
    assert instance._paces == [1e-9]
    instance.tiles = sizes
    assert first_batch(instance) == instance.tiles[0].depth
    assert instance._paces[0] > 1e-9


def test_time_in_which_others_have_the_processor_counts_less():
    """This process is stopped for a second in a tile: a limit by the clock alone would end in single steps."""
    instance = program(HEAT, 2).instantiate((512, 512), 1)
    start_of(instance, np.random.default_rng(1))
    instance.march(MarchRequest("step", 200))
    script = "sleep 0.1; kill -STOP $PPID; sleep 1; kill -CONT $PPID"
    stopper = subprocess.Popen(["sh", "-c", script])
    batches = []
    while stopper.poll() is None:
        paced(instance, 1e-9)
        began = time.perf_counter()
        steps = first_batch(instance)
        batches.append((time.perf_counter() - began, instance._paces[0] * steps))
    stopped = [(clock, counted) for clock, counted in batches if clock >= 1.0]
    assert stopped
    assert all(counted < 0.5 * clock for clock, counted in stopped)


def test_schedule_is_short_for_a_choice():
    heat = machine(HEAT, 1)
    chosen = heat.with_choices(schedule="diamond")
    for sim in (
        heat.simulate(u=np.ones(64), backend="openmp", schedule="diamond"),
        chosen.simulate(u=np.ones(64), backend="openmp"),
        chosen.simulate(u=np.ones(64), backend="openmp", schedule="diamond"),
    ):
        assert sim._state.compiled.plan.schedule == "diamond"
    assert heat.simulate(u=np.ones(64), backend="openmp")._state.compiled.plan.schedule == "stepwise"
    with pytest.raises(PlanError, match="is given, and the choices say 'diamond'"):
        chosen.simulate(u=np.ones(64), backend="openmp", schedule="stepwise")
    with pytest.raises(PlanError, match=r"schedule is 'diagonal'\nUse one of auto, stepwise, diamond"):
        heat.simulate(u=np.ones(64), backend="openmp", schedule="diagonal")


def test_a_schedule_that_cannot_be_is_refused_with_the_line():
    text = 'u = field("u", boundary=constant(0.0))\ntop = reduce_max(u)\nu.next = u[+1] / top\n'
    with pytest.raises(PlanError, match=r"(?s)line 2: .*top needs the maximum of u over all cells.*stepwise") as caught:
        machine(text, 1).simulate(u=np.ones(8), backend="openmp", schedule="diamond")
    assert caught.value.line == 2
    with pytest.raises(PlanError, match="backend 'cuda-sim' has no schedule 'diamond'"):
        machine(HEAT, 1).simulate(u=np.ones(8), backend="cuda-sim", schedule="diamond")


def test_the_interpreter_takes_any_schedule():
    sim = machine(HEAT, 1).simulate(u=np.ones(8), backend="reference", schedule="diamond")
    sim.run(3)
    assert sim.steps == 3


def test_a_plan_prints_its_locality():
    text = str(machine(HEAT, 2).with_choices(schedule="diamond").plan())
    assert "several plain steps in tiles: x diamond leaning by 1, y wave leaning by 1" in text
    assert "updates per value moved" in text
    assert "locality" not in str(machine(HEAT, 2).plan())
