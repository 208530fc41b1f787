"""The openmp backend against the interpreter, bit for bit, on plans written by hand."""

import itertools

import numpy as np
import pytest

from tests.backends.graphs import RULES, field_graph, reducing_graph, side_pairs
from tests.kit.backend_agreement import assert_agrees, bits
from tests.kit.hand_plans import plan_by_hand
from workbench.backends.base import Condition, MarchRequest, StopFlag
from workbench.backends.openmp import OpenmpBackend
from workbench.backends.reference import ReferenceBackend
from workbench.errors import BackendError, FieldError, ShapeError
from workbench.graph import KernelBuilder, Static
from workbench.graph.graph import Graph
from workbench.graph.instructions import Extend
from workbench.graph.side_rules import (
    Fixed,
    Neumann,
    Outflow,
    Periodic,
    Prescribed,
    Reflect,
    Wall,
)
from workbench.graph.spaces import GLOBAL, grid_space
from workbench.graph.types import BY_NAME, F32, F64, I32, U8

BACKEND = OpenmpBackend()


def test_every_rule_in_1d_with_reach_beyond_the_extent():
    plans = [plan_by_hand(field_graph(1, ((RULES[a], RULES[b]),), F64, 7), 7) for a, b in side_pairs()]
    programs = BACKEND.compile_many(plans)
    for program in programs:
        for n in (1, 2, 3, 7, 8, 19):
            assert_agrees(program, (n,), MarchRequest("step", 2))


def test_every_pair_of_rules_meets_in_2d_corners():
    pairs = side_pairs()
    plans = []
    for k, (a, b) in enumerate(pairs):
        for shift in (1, 4, 7):
            c, d = pairs[(k + shift) % len(pairs)]
            graph = field_graph(2, ((RULES[a], RULES[b]), (RULES[c], RULES[d])), F64, 3)
            plans.append(plan_by_hand(graph, 3))
    programs = BACKEND.compile_many(plans)
    for program in programs:
        for extents in ((1, 1), (2, 3), (5, 1), (4, 18)):
            assert_agrees(program, extents, MarchRequest("step", 2))


@pytest.mark.parametrize("type_", [F32, I32, U8])
def test_rules_in_3d_with_other_types(type_):
    sides = ((Fixed(1), Outflow()), (Reflect(-1), Neumann(1)), (Prescribed(1), Wall(-1)))
    plan = plan_by_hand(field_graph(3, sides, type_, 2), 2)
    program = BACKEND.compile(plan)
    for extents in ((1, 1, 1), (3, 4, 5), (2, 1, 33)):
        assert_agrees(program, extents, MarchRequest("step", 2))


def test_threads_change_nothing():
    sides = ((Periodic(), Periodic()), (Reflect(-1), Neumann(1)))
    plan = plan_by_hand(field_graph(2, sides, F64, 2), 2)
    program = BACKEND.compile(plan)
    for threads, extents in itertools.product((1, 2, 3), ((64, 1100), (3, 5000), (301, 33))):
        assert_agrees(program, extents, MarchRequest("step", 3), threads=threads)


def two_constants_graph():
    """Two kernels that look at one field through different constants outside."""
    space = grid_space(2)
    statics = (Static("u", "field", F64, space), Static("v", "field", F64, space))
    kernels = []
    for name, constant in (("step", 1.0), ("other", 7.0)):
        b = KernelBuilder(space, statics)
        u, v = b.load("u"), b.load("v")
        sides = ((Prescribed(1), Prescribed(1)),) * 2
        e = b.extend(u, sides, (b.imm(constant, F64, space),))
        b.store("u", b.arith("add", b.shift(e, (1, 1)), b.shift(e, (-1, 0))))
        b.store("v", b.arith("add", v, b.shift(e, (0, -1))))
        kernels.append(b.finish(name))
    return Graph("constants", space, statics, tuple(kernels))


def test_lasting_ghost_cells_are_those_of_the_kernel_that_runs():
    plan = plan_by_hand(two_constants_graph())
    program = BACKEND.compile(plan)
    assert "tags[0] !=" in program.source.text
    mine, reference = program.instantiate((6, 9), 2), ReferenceBackend().compile(plan).instantiate((6, 9))
    for kernel, steps in (("step", 3), ("other", 1), ("other", 2), ("step", 1), ("other", 4)):
        for instance in (mine, reference):
            instance.march(MarchRequest(kernel, steps))
        for name in "uv":
            assert bits(mine.read_field(name)) == bits(reference.read_field(name)), (kernel, steps, name)


def test_a_machine_of_scalars_alone():
    statics = (Static("t", "scalar", F64, GLOBAL, 1.0), Static("n", "scalar", I32, GLOBAL, 5))
    b = KernelBuilder(grid_space(1), statics)
    b.store("t", b.cast(b.load("n"), F64))
    b.store("n", b.arith("add", b.load("n"), b.imm(1, I32)))
    plan = plan_by_hand(Graph("clock", grid_space(1), statics, (b.finish("step"),)))
    assert_agrees(BACKEND.compile(plan), (4,), MarchRequest("step", 3))


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_reductions_in_canonical_order(dim):
    plan = plan_by_hand(reducing_graph(dim), 0)
    program = BACKEND.compile(plan)
    outer = {1: (), 2: (3,), 3: (5, 3)}[dim]
    for n, threads in itertools.product((1, 15, 16, 17, 1023, 1024, 1025, 3 * 1024 + 5), (1, 2, 3)):
        assert_agrees(program, (*outer, n), MarchRequest("step", 2, observe_every=1), threads=threads)


def test_logical_reductions_and_narrow_types():
    space = grid_space(2)
    bool_ = BY_NAME["bool"]
    statics = (
        Static("u", "field", U8, space),
        Static("any", "scalar", bool_, GLOBAL, False),
        Static("all", "scalar", bool_, GLOBAL, False),
        Static("total", "scalar", U8, GLOBAL, 0),
    )
    b = KernelBuilder(space, statics)
    u = b.load("u")
    high = b.arith("greater", u, b.imm(97, U8, space))
    b.store("any", b.reduce("any", high))
    b.store("all", b.reduce("all", b.arith("logical_not", high)))
    b.store("total", b.reduce("sum", u))
    b.store("u", b.arith("multiply", u, b.imm(7, U8, space)))
    plan = plan_by_hand(Graph("logic", space, statics, (b.finish("step"),)), 0)
    program = BACKEND.compile(plan)
    for extents in ((1, 1), (4, 9), (40, 100)):
        assert_agrees(program, extents, MarchRequest("step", 3, observe_every=2))


def counting_plan():
    return plan_by_hand(reducing_graph(1), 0)


def test_until_ends_after_the_first_whole_step_that_meets_it():
    plan = counting_plan()
    request = MarchRequest("step", 100, until=(Condition("t", ">=", 1.0), Condition("s_max", ">", 0.0)))
    assert_agrees(BACKEND.compile(plan), (40,), request)
    instance = BACKEND.compile(plan).instantiate((40,))
    result = instance.march(MarchRequest("step", 100, until=(Condition("t", ">=", 1.0),)))
    assert (result.steps, result.ended) == (4, "until")
    assert instance.read_global("t") == 1.0


def test_stop_and_deadline_end_a_march_after_a_whole_step():
    plan = counting_plan()
    instance = BACKEND.compile(plan).instantiate((1000,), 2)
    stop = StopFlag()
    stop.set()
    assert instance.march(MarchRequest("step", 10, stop=stop)).steps == 0
    stop.clear()
    result = instance.march(MarchRequest("step", 10**9, stop=stop, seconds=0.02))
    assert result.ended == "time"
    assert 0 < result.steps < 10**9
    assert instance.read_global("t") == 0.25 * result.steps
    assert not result.diagnostics_current


def test_observed_steps_are_multiples_of_their_absolute_number():
    request = MarchRequest("step", 7, first_step=5, observe_every=4, observe_last=False)
    assert_agrees(BACKEND.compile(counting_plan()), (100,), request)


def test_another_size_compiles_nothing():
    from workbench.backends.build_cache import counters

    program = BACKEND.compile(counting_plan())
    before = counters().compiled
    program.instantiate((10,)).march(MarchRequest("step", 1))
    program.instantiate((1000,)).march(MarchRequest("step", 1))
    assert BACKEND.compile(counting_plan()).from_cache
    assert counters().compiled == before


def test_wrong_use_is_told():
    instance = BACKEND.compile(counting_plan()).instantiate((10,))
    with pytest.raises(FieldError, match="no field 'w'"):
        instance.read_field("w")
    with pytest.raises(FieldError, match="float32"):
        instance.write_field("u", np.zeros(10, np.float32))
    with pytest.raises(ShapeError, match=r"\(11,\)"):
        instance.write_field("u", np.zeros(11))
    with pytest.raises(BackendError, match="no kernel 'jump'"):
        instance.march(MarchRequest("jump", 1))
    with pytest.raises(ShapeError, match="1 axes"):
        BACKEND.compile(counting_plan()).instantiate((3, 3))


def test_device_view_is_the_live_array():
    instance = BACKEND.compile(counting_plan()).instantiate((10,))
    instance.write_field("u", np.arange(10.0))
    view = instance.device_view("u")
    assert view.ctypes.data % 64 == 0
    view[3] = 77.0
    assert instance.read_field("u")[3] == 77.0


def test_every_extend_rule_is_tried():
    from workbench.graph.side_rules import SideRule, Undefined

    assert {type(r) for r in RULES.values()} | {Undefined} == set(SideRule.__args__)
    assert Extend
