"""schedule="diamondtorre": several steps in towers have the bits of one step after the other, and of the reference."""

from dataclasses import replace

import numpy as np
import pytest

import workbench as wb
from workbench.backends.base import MarchRequest
from workbench.backends.cuda_sim import CudaSimBackend
from workbench.backends.reference import ReferenceBackend
from workbench.errors import PlanError
from workbench.planning import plan_graph
from workbench.planning.choices import Choices, PlanChoices
from workbench.solvers import wave
from workbench.views.launch.summary import summarise_launch

PERIODIC, CONSTANT = '"periodic"', "constant(0.25)"
WEIGHTS = {2: (-2, 1), 4: (-5 / 2, 4 / 3, -1 / 12), 8: (-205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560)}
SIDES = {"constant": (CONSTANT,) * 3, "periodic": (PERIODIC,) * 3, "mixed": (CONSTANT, PERIODIC, CONSTANT)}
TWO, ONE = ("u.next, w.next = 2 * u - w + c * bend, u\n", "u.next = u + c * bend\n")


def cell(order, sides, *, older=True, dtype="f32", more=""):
    """The paper's wave (two levels of time) or heat (one), of any order."""
    weights = WEIGHTS[order]
    lap = " + ".join(f"{w!r} * (u.at(+{k}, x) + u.at(-{k}, x))" for k, w in enumerate(weights) if k)
    rule = ", ".join(f'"{name}": {side}' for name, side in zip("xyz", sides, strict=True))
    names = 'u, w = fields("u w"' if older else 'u = field("u"'
    return (
        f'c = param("c", 0.0625)\n{names}, dtype="{dtype}", boundary={{{rule}}})\n'
        f"bend = sum({weights[0]!r} * u + {lap} for x in axes)\n{more}{TWO if older else ONE}"
    )


def program(text, backend, schedule, **choices):
    machine = wb.trace(text, name="cell", dim=3)
    plan = PlanChoices().changed(schedule=schedule, **choices)
    graph = machine.graph
    return backend.compile(plan_graph(graph, Choices(plan=plan), follows_chains=False))


def marched(compiled, extents, marches):
    """The bits of all fields and scalars after some marches, and what the towers of a move were."""
    instance, rng = compiled.instantiate(extents), np.random.default_rng(5)
    for static in compiled.plan.graph.fields:
        instance.write_field(static.name, rng.random(extents).astype(static.type.numpy))
    for request in marches:
        assert instance.march(request).steps == request.steps
    fields = [instance.read_field(s.name).view(f"u{s.type.itemsize}") for s in compiled.plan.graph.fields]
    scalars = [np.float64(instance.read_global(s.name)).view("u8") for s in compiled.plan.graph.scalars]
    return [*fields, *scalars], instance


def steps(count, every=0):
    return MarchRequest("step", count, observe_every=every, observe_last=False)


def compare(text, extents, depth, size, marches=None):
    """Towers against steps; the launches of a move."""
    marches = marches or [steps(2 * depth + 1)]
    towers = program(
        text, CudaSimBackend(), "diamondtorre", depth=depth, diamond_size=size, column_threads=max(extents[2], 32)
    )
    found, instance = marched(towers, extents, marches)
    right, _ = marched(program(text, ReferenceBackend(), "stepwise"), extents, marches)
    assert all(np.array_equal(one, other) for one, other in zip(found, right, strict=True))
    return instance._moves["step"]


def extents_of(order, size, sides, depth):
    """At least three towers along x and y, and rings of twice the lean."""
    reach = order // 2
    wide = 2 * reach * size
    return (max(3 * wide, 2 * reach * depth if sides[0] == PERIODIC else 0) + 1, 3 * wide + 2 * reach, order + 3)


def stages(move):
    return [launch for launch in move.launches if launch.stage and launch.block[0] > 1]


@pytest.mark.parametrize(
    ("order", "size", "sides", "older"),
    [(2, 1, "mixed", True), (2, 2, "periodic", True), (4, 1, "constant", False)],
)
def test_towers_have_the_bits_of_steps(order, size, sides, older):
    depth, sides = 4, SIDES[sides]
    move = compare(cell(order, sides, older=older), extents_of(order, size, sides, depth), depth, size)
    assert move.steps == depth
    assert len(stages(move)) >= 3
    assert max(launch.grid[0] for launch in stages(move)) >= 3


@pytest.mark.proof
@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("older", [True, False])
@pytest.mark.parametrize("sides", [*SIDES])
@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("order", [2, 4, 8])
def test_towers_of_all_orders_and_sizes_have_the_bits_of_steps(order, size, sides, older, dtype):
    depth, sides = 4 if order == 8 else 6, SIDES[sides]
    text = cell(order, sides, older=older, dtype=dtype)
    move = compare(text, extents_of(order, size, sides, depth), depth, size)
    assert move.steps == depth
    assert len(stages(move)) >= 3
    assert max(launch.grid[0] for launch in stages(move)) >= 3


def told(sim):
    """What a simulation says of its towers."""
    assert "schedule: several steps together, diamondtorre: 6 steps in" in " ".join(str(sim).split())
    tiling = sim.choices.plan.tiling
    assert (tiling.depth, tiling.diamond_size, tiling.column_threads) == (6, 2, 32)
    assert sim.genome.endswith("T=schedule:diamondtorre,depth:6,diamond_size:2,column_threads:32")
    summary = summarise_launch(sim._state.compiled.plan, extents=(26, 12, 8), backend="cuda-sim")
    assert [row.name for row in summary.rows] == ["fill_u", "ahead_step", "torre_step"]
    assert summary.schedule == "diamondtorre"


def test_a_solver_has_the_same_bits():
    rng = np.random.default_rng(2)
    fields = {name: rng.random((26, 12, 8), np.float32) for name in ("u", "before")}
    machine = wave.machine(3, order=4, time_order=2, dtype="f32")
    ends = []
    for backend, schedule in (("cuda-sim", "diamondtorre"), ("reference", None)):
        sim = machine.simulate(backend=backend, schedule=schedule, **fields)
        if schedule:
            told(sim)
            again = machine.with_genome(sim.genome).simulate(backend=backend, **fields)
            assert again._state.instance._moves == sim._state.instance._moves
            assert again.choices == replace(sim.choices, plan=again.choices.plan)
            sim.replan(machine.with_choices(schedule="diamondtorre").choices).wait(120)
            told(sim)  # the threads of its towers are those of this grid, not of a grid that nobody knows
        sim.run(7)
        sim.set(until=6.0)
        sim.run(8)
        ends.append((np.array(sim.u), np.array(sim.before), sim.time, sim.dt))
    for one, other in zip(*ends, strict=True):
        assert np.array_equal(one, other)


# A coefficient of each cell, a scalar that steps change and the next ones need, and one that is looked at.
MORE = """
time, total = scalar("time"), scalar("total")
time.next, total.next = time + 0.5, reduce_sum(u)
bend = bend + 0.001 * time * k
"""
WATCHED = 'k = field("k", dtype="f32")\n' + cell(2, SIDES["mixed"], more=MORE)


def test_observed_steps_and_what_remains_run_one_by_one():
    """Levels have scalars of their own."""
    marches = [steps(13, every=5), steps(3), replace(steps(9), observe_last=True)]
    move = compare(WATCHED, (9, 8, 6), 4, 1, marches)
    assert [launch.kernel for launch in move.launches[:3]] == ["fill_u", "fill_u", "ahead_step"]


def test_a_grid_without_room_runs_step_by_step():
    assert compare(WATCHED, (9, 7, 6), 4, 1) is None  # an odd ring
    assert compare(WATCHED, (9, 2, 6), 4, 1) is None  # one shorter than a cover


def test_a_march_is_stopped_after_whole_moves():
    compiled = program(WATCHED, CudaSimBackend(), "diamondtorre", depth=4, diamond_size=1, column_threads=32)
    instance = compiled.instantiate((9, 8, 6))
    result = instance.march(replace(steps(4000), seconds=0.05))
    assert result.ended == "time"
    assert 0 < result.steps < 4000
    assert result.steps % 4 == 0


def test_other_backends_have_no_towers():
    machine = wave.machine(3, time_order=2)
    with pytest.raises(PlanError, match="backend 'openmp' has no schedule 'diamondtorre'"):
        machine.simulate(shape=(8, 8, 8), u=0.0, before=0.0, backend="openmp", schedule="diamondtorre")
