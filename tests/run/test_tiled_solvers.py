"""Solvers in tiles have the bits of one step after the other: all that can be tiled, reaching up to four cells."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from tests.kit.optimised import optimised
from tests.kit.tiled_kernels import TILED_SOLVERS
from tests.run.tiled import state_of, with_tiles
from workbench.backends.base import Condition, MarchRequest
from workbench.language import constant, fixed
from workbench.pipeline import plan_for
from workbench.planning.choices import TilingChoices
from workbench.planning.schedules.locality import tile_sizes
from workbench.solvers import advection, gray_scott, heat, life, maxwell, wave

ENDS = {"x-": fixed(0.25), "x+": "outflow", "y": "periodic", "z": "reflect"}
CASES = {
    "heat 1-D, order 6": (heat, {"dim": 1, "order": 6, "boundary": "mirror"}),
    "heat 2-D, order 8": (heat, {"dim": 2, "order": 8}),
    "heat 3-D": (heat, {"dim": 3, "boundary": constant(0.5), "dtype": "f32"}),
    "wave 1-D, order 4": (wave, {"dim": 1, "order": 4, "boundary": "reflect"}),
    "wave 2-D": (wave, {"dim": 2, "boundary": {axis: ENDS[axis] for axis in ("x-", "x+", "y")}}),
    "wave on two levels 2-D, order 6": (wave, {"dim": 2, "order": 6, "time_order": 2}),
    "wave on two levels 2-D, order 8": (wave, {"dim": 2, "order": 8, "time_order": 2, "boundary": "mirror"}),
    "wave on two levels 3-D, order 8": (
        wave,
        {"dim": 3, "order": 8, "time_order": 2, "boundary": ENDS, "dtype": "f32"},
    ),
    "maxwell 2-D": (maxwell, {"dim": 2, "mode": "te", "boundary": {"x": "conductor", "y": "periodic"}}),
    "maxwell 3-D": (maxwell, {"dim": 3, "staggered": True, "boundary": "conductor", "dtype": "f32"}),
    "gray_scott 2-D": (gray_scott, {"dim": 2, "boundary": "reflect"}),
    "life": (life, {}),
    "advection 2-D": (advection, {"dim": 2, "boundary": {"x-": constant(0.5), "x+": "outflow", "y": "periodic"}}),
}
MARCHES = ((2, (8, 8), 5, 0), (6, (1, 3), 17, 1.7), (8, (), 17, 0))  # depth, widths, steps, ends after so much time
EXTENTS = {1: ((31,), (150,)), 2: ((27, 19), (70, 33)), 3: ((9, 26, 10), (13, 50, 9))}


def planned(solver, options):
    machine = solver.machine(**options)
    plan = machine.choices.plan.changed(schedule="diamond")
    return plan_for(machine.graph, replace(machine.choices, plan=plan), "openmp")


@cache
def programs():
    """Those of all cases, compiled together and without optimisation."""
    plans = [planned(*case) for case in CASES.values()]
    return dict(zip(CASES, optimised("openmp", "0").compile_many(plans), strict=True))


def start(instance, seed):
    """Random contents, of whole numbers 0 and 1."""
    draw = np.random.default_rng(seed)
    for static in instance.plan.graph.fields:
        whole = static.type.numpy.kind != "f"
        values = draw.integers(0, 2, instance.extents) if whole else draw.random(instance.extents)
        instance.write_field(static.name, values.astype(static.type.numpy))


def ending(instance, share):
    """The step that would pass this multiple of the time until now is shorter; steps end there."""
    instance.write_global("until", instance.read_global("time") * share if share else np.inf)
    return (Condition("time", ">=", instance.read_global("until")),) if share else ()


@pytest.mark.parametrize("name", CASES)
def test_solvers_in_tiles_have_the_bits_of_steps(name):
    """Steps of a length, some that end at a given time between two steps, further ones."""
    program = programs()[name]
    kernel, graph = program.plan.main, program.plan.graph
    timed, most = "until" in {param.name for param in graph.params}, 0
    for number, extents in enumerate(EXTENTS[graph.dim]):
        one, other = program.instantiate(extents, 1), program.instantiate(extents, 1 + number)
        for instance in (one, other):
            start(instance, number)
        for depth, widths, steps, share in MARCHES:
            sizes = tile_sizes(kernel, extents, TilingChoices("diamond", depth, widths), other.threads)
            most = max(most, sizes.spaces)
            results = []
            for instance, tiles in ((one, None), (other, sizes)):
                with_tiles(instance, tiles)
                until = ending(instance, share) if timed else ()
                results.append(instance.march(MarchRequest("step", steps, until=until, observe_last=share > 0)))
            assert results[0].steps == results[1].steps
            assert results[0].ended == results[1].ended == ("until" if timed and share else "done")
            for found, right in zip(state_of(other), state_of(one), strict=True):
                assert np.array_equal(found, right)
        assert all(np.ptp(one.read_field(static.name)) > 0 for static in graph.fields)
    assert most >= 3


def test_every_solver_that_can_be_tiled_is_here():
    assert {solver.__name__.rpartition(".")[2] for solver, _ in CASES.values()} == set(TILED_SOLVERS)
