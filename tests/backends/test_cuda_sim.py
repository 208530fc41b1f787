"""The cuda-sim backend against the interpreter, bit for bit, and what it says of kernels that do wrong."""

import itertools
from dataclasses import replace
from math import prod

import pytest

from tests.backends.cell_plans import BACKEND, cell_plan, chosen
from tests.backends.device_cells import HEAT, HELLO, WAVE
from tests.backends.graphs import RULES, field_graph, reducing_graph, side_pairs
from tests.kit.backend_agreement import assert_agrees
from tests.kit.hand_plans import plan_by_hand
from workbench.backends.base import Condition, MarchRequest, StopFlag
from workbench.backends.cuda_sim import CudaSimBackend
from workbench.backends.device_instance import layout_of
from workbench.backends.launch_sequence import launches_of
from workbench.errors import PlanError
from workbench.graph.side_rules import Fixed, Neumann, Outflow, Prescribed, Reflect, Wall
from workbench.graph.types import F32, F64, I32, U8
from workbench.planning import Choices
from workbench.planning.choices import LoopChoices
from workbench.planning.loop_keys import loop_names

PRESETS = ("cost", "as_delayed", "as_manifest")


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize(
    ("text", "sizes"),
    [(WAVE, ((1,), (2,), (37,), (2500,))), (HEAT, ((1, 1), (9, 37), (3, 1030))), (HELLO, ((11,), (100,)))],
    ids=["wave", "heat", "hello"],
)
def test_programs_agree(text, sizes, preset):
    program = BACKEND.compile(cell_plan(text, len(sizes[0]), preset=preset))
    for extents in sizes:
        assert_agrees(program, extents, MarchRequest("step", 5, observe_every=2))


def test_a_loop_has_a_grid_and_a_block_of_its_own():
    plan = cell_plan(HEAT, 2, preset="as_manifest", block=64)
    key, other = list(loop_names(plan))[:2]
    choices = plan.choices.plan.with_loop(key, LoopChoices(grid=2, block=7))
    plan = replace(plan, choices=Choices(plan=choices))
    program = BACKEND.compile(plan)
    assert_agrees(program, (9, 37), MarchRequest("step", 2, observe_every=1))
    step = program.text.kernels[0].plain
    launches = {step.launches[x.code].loop: x for x in launches_of(step, layout_of(plan, (9, 37)), choices)}
    assert prod(launches[key].block) <= 7 < prod(launches[other].block) <= 64
    assert prod(launches[key].grid) <= 2 < prod(launches[other].grid)
    with pytest.raises(PlanError, match=r"block of loop .* is 2000"):
        launches_of(step, layout_of(plan, (9, 37)), choices.with_loop(key, LoopChoices(block=2000)))


ANY = """
u = field("u")
found = scalar("found")
above = manifest(u > 3.0)
u.next = u + 1.0
found.next = where(reduce_any(above ^ (u < 7.0)), 1.0, 0.0)
"""


def test_a_reduction_takes_what_cpp_computes_in_a_wider_type():
    assert_agrees(BACKEND.compile(cell_plan(ANY, 1)), (40,), MarchRequest("step", 3, observe_every=1))


@pytest.mark.parametrize(("grid", "block"), [(0, 256), (1, 1), (3, 7), (5, 48), (0, 1), (2, 1024), (32, 32)])
def test_grid_and_block_change_nothing(grid, block):
    for extents in ((1, 1), (5, 33), (40, 3)):
        program = BACKEND.compile(cell_plan(HEAT, 2, grid=grid, block=block))
        assert_agrees(program, extents, MarchRequest("step", 2, observe_every=1))


@pytest.mark.parametrize("seed", [0, 7, 12345])
def test_order_of_blocks_changes_nothing(seed):
    program = CudaSimBackend(seed=seed).compile(cell_plan(WAVE, 1, grid=0))
    assert_agrees(program, (700,), MarchRequest("step", 3, observe_every=1))


def test_every_rule_in_1d_with_reach_beyond_the_extent():
    plans = [plan_by_hand(field_graph(1, ((RULES[a], RULES[b]),), F64, 7), 7) for a, b in side_pairs()]
    for program in BACKEND.compile_many(plans):
        for n in (1, 2, 3, 7, 8, 19):
            assert_agrees(program, (n,), MarchRequest("step", 2))


def test_pairs_of_rules_meet_in_2d_corners():
    pairs = side_pairs()
    plans = []
    for k, (a, b) in enumerate(pairs):
        c, d = pairs[(k + 4) % len(pairs)]
        graph = field_graph(2, ((RULES[a], RULES[b]), (RULES[c], RULES[d])), F64, 3)
        plans.append(plan_by_hand(graph, 3))
    for program in BACKEND.compile_many(plans):
        for extents in ((1, 1), (2, 3), (5, 1), (4, 18)):
            assert_agrees(program, extents, MarchRequest("step", 2))


def test_rules_in_3d_with_other_types():
    sides = ((Fixed(1), Outflow()), (Reflect(-1), Neumann(1)), (Prescribed(1), Wall(-1)))
    plans = [plan_by_hand(field_graph(3, sides, type_, 2), 2) for type_ in (F32, I32, U8)]
    for program in BACKEND.compile_many(plans):
        for extents in ((1, 1, 1), (3, 4, 5), (2, 1, 33)):
            assert_agrees(program, extents, MarchRequest("step", 2))


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_reductions_in_canonical_order(dim):
    outer = {1: (), 2: (3,), 3: (5, 3)}[dim]
    sizes = (1, 15, 16, 17, 1023, 1024, 1025, 3 * 1024 + 5)
    for n, (grid, block) in itertools.product(sizes, ((0, 256), (2, 33))):
        program = BACKEND.compile(plan_by_hand(reducing_graph(dim), 0, chosen(grid=grid, block=block)))
        assert_agrees(program, (*outer, n), MarchRequest("step", 2, observe_every=1))


@pytest.mark.parametrize("outer", [(1024,), (1025,), (3100,), (2, 1030), (1030, 3)])
def test_trees_of_many_rows_are_combined_in_parts(outer):
    """1024 values a block; the parts' results, which lie as far apart, by the next launch."""
    program = BACKEND.compile(plan_by_hand(reducing_graph(len(outer) + 1), 0, chosen(grid=0, block=64)))
    assert_agrees(program, (*outer, 2), MarchRequest("step", 1, observe_every=1))
    instance = program.instantiate((*outer, 2))
    launches = instance.sequence(instance._kernels["step"].observed)
    tasks = [launch.numbers for launch in launches if launch.numbers]
    assert max(each for _, each, *_ in tasks) == max(outer)
    assert {size // low for *_, low, size in tasks} == {1024}
    assert (max(parts for _, _, _, _, parts, _, _ in tasks) > 1) == (max(outer) > 1024)
    assert sum(slot >= 0 for _, _, _, slot, *_ in tasks) == len({n[3] for n in tasks} - {-1})


@pytest.mark.parametrize("extents", [(7, 5, 40), (9, 1, 3), (2, 3, 4, 5), (1, 9, 2, 70)])
@pytest.mark.parametrize("grid", [0, 1, 2, 5, 9])
def test_a_block_goes_through_several_planes(extents, grid):
    axes = "".join(f"+ u.at({sign}1, {axis})" for axis in range(len(extents)) for sign in "+-")
    text = f'u = field("u", boundary="periodic")\nu.next = 0.25 * u - 0.125 * (u {axes})\n'
    program = BACKEND.compile(cell_plan(text, len(extents), grid=grid, block=32))
    assert_agrees(program, extents, MarchRequest("step", 2))


def test_until_ends_after_the_first_whole_step_that_meets_it():
    plan = plan_by_hand(reducing_graph(1), 0)
    until = (Condition("t", ">=", 1.0), Condition("s_max", ">", 0.0))
    assert_agrees(BACKEND.compile(plan), (40,), MarchRequest("step", 100, until=until))


def test_stop_and_deadline_end_a_march_after_a_whole_step():
    instance = BACKEND.compile(plan_by_hand(reducing_graph(1), 0)).instantiate((100,))
    stop = StopFlag()
    stop.set()
    assert instance.march(MarchRequest("step", 10, stop=stop)).steps == 0
    stop.clear()
    result = instance.march(MarchRequest("step", 10**9, stop=stop, seconds=0.05))
    assert result.ended == "time"
    assert instance.read_global("t") == 0.25 * result.steps
    assert not result.diagnostics_current
