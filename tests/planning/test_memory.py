"""Fields rotate, arrays are used again, and nothing is copied unless two fields end with one value."""

import functools

import pytest

from tests.kit.paper_graphs import wave
from tests.kit.symbolic import run_symbolically
from tests.planning.random_graphs import random_choices, random_graph
from workbench.graph import Extend, Graph, KernelBuilder, Outflow, Periodic, Static, grid_space
from workbench.graph.types import F32, F64
from workbench.planning import memory, plan_graph
from workbench.planning.cost import HostFigures, bound_seconds, ghost_percent, halo_bytes, step_cost
from workbench.planning.plan_figures import memory_bytes

LINE = grid_space(1)
PERIODIC = ((Periodic(), Periodic()),)


def planned(build, types=(F64, F64, F64)):
    statics = tuple(Static(name, "field", t, LINE) for name, t in zip("uvw", types, strict=True))
    b = KernelBuilder(LINE, statics)
    build(b)
    plan = plan_graph(Graph("g", LINE, statics, (b.finish("step"),)))
    for extent in (1, 2, 5):
        run_symbolically(plan, (extent,))
    return plan


def squared(b, name):
    return b.arith("multiply", b.load(name), b.load(name))


def test_two_fields_swap_without_a_sub_kernel():
    plan = planned(lambda b: (b.store("u", b.load("v")), b.store("v", b.load("u"))))
    assert plan.subkernels == ()
    assert plan.main.plain.rotation == (1, 0, 2)


def test_leapfrog_rotates_three_arrays_and_adds_none():
    def build(b):
        b.store("u", b.load("v"))
        b.store("v", b.load("w"))
        v = b.extend(b.load("v"), PERIODIC)
        b.store("w", b.arith("add", b.load("u"), b.arith("add", b.shift(v, (1,)), b.shift(v, (-1,)))))

    plan = planned(build)
    assert plan.main.plain.rotation == (1, 2, 0)
    assert len(plan.slots) == 3


def test_a_field_stored_unchanged_stays():
    plan = planned(lambda b: b.store("u", b.load("u")))
    assert plan.main.plain.rotation == (0, 1, 2)
    assert plan.subkernels == ()


def test_a_constant_field_has_no_second_array():
    plan = planned(lambda b: b.store("u", b.arith("add", b.load("u"), b.load("v"))))
    assert len(plan.slots) == 3


def test_one_value_for_two_fields_is_computed_once_and_stored_twice():
    def build(b):
        value = squared(b, "w")
        b.store("u", value)
        b.store("v", value)

    (loop,) = planned(build).subkernels
    assert [h.slot for h in loop.outputs] == [0, 1]
    assert loop.emitted == 1


def test_a_field_that_stays_is_copied_for_another():
    (loop,) = planned(lambda b: b.store("u", b.load("v"))).subkernels
    assert (loop.reads[0].slot, loop.outputs[0].slot) == (1, 0)
    assert loop.reads[0].node == loop.outputs[0].node


def test_three_fields_take_one_that_goes_on():
    def build(b):
        for name in "uvw":
            b.store(name, b.load("u"))

    assert sum(len(s.outputs) for s in planned(build).subkernels) == 2


def test_a_value_goes_in_place_where_the_old_one_is_read_at_the_same_cell():
    assert len(planned(lambda b: b.store("u", squared(b, "u"))).slots) == 3


def test_not_in_place_where_a_neighbour_is_read():
    def build(b):
        b.store("u", b.shift(b.extend(b.load("u"), PERIODIC), (1,)))

    assert len(planned(build).slots) == 4


def test_arrays_of_different_types_are_never_shared():
    def build(b):
        b.store("u", b.cast(b.load("v"), F64))
        b.store("v", b.cast(b.load("u"), F32))

    plan = planned(build, (F64, F32, F64))
    assert plan.main.plain.rotation == (0, 1, 2)


def test_temporaries_use_each_other_s_array():
    def build(b):
        value = b.load("u")
        for _ in range(6):
            value = b.shift(b.extend(b.arith("multiply", value, value), ((Outflow(), Outflow()),)), (1,))
        b.store("u", value)

    plan = planned(build)
    assert len(plan.main.manifest) == 7
    assert len(plan.slots) == 4


def test_slots_that_are_needed_later_are_not_asked_whether_they_are_free(monkeypatch):
    asked, is_free = [], memory._Placement._is_free
    monkeypatch.setattr(memory._Placement, "_is_free", lambda *a: asked.append(a) or is_free(*a))

    def build(b):
        b.store("u", functools.reduce(lambda x, y: b.arith("add", x, b.shift(y, (1,))), made(b)))

    def made(b):
        u = b.extend(b.load("u"), PERIODIC)
        squares = [b.arith("multiply", u, b.shift(u, (n,))) for n in range(20)]
        return [b.extend(square, PERIODIC) for square in squares]

    plan = planned(build)
    assert len(plan.slots) > 20
    assert len(asked) < 2 * len(plan.slots)


def two_rules(b):
    u = b.load("u")
    sides = (PERIODIC, ((Outflow(), Outflow()),))
    first, second = (b.extend(u, s) for s in sides)
    b.store("u", b.arith("add", b.shift(first, (1,)), b.shift(second, (1,))))


def test_a_second_set_of_rules_gets_a_copy():
    plan = planned(two_rules)
    assert [f.source == f.target for f in plan.fills] == [True, False]
    assert sum(isinstance(n.instruction, Extend) for n in plan.main.kernel.nodes) == 2


def test_cost_and_memory_of_the_wave():
    plan = plan_graph(wave())
    step = plan.main.plain
    assert step_cost(step).bytes_moved == 48  # f, g -> f1 and f1, g -> g1
    assert memory_bytes(plan, (100,)) == 3 * 8 * 112  # 8 cells before, 100 and 1, up to whole cache lines
    assert ghost_percent(step, (100,)) == 1.0
    assert halo_bytes(step, plan.main.kernel, (100,)) == 2 * 2 * 8
    slow = HostFigures(24.0, 1e9, "measured")
    assert bound_seconds(step, (100,), slow) == pytest.approx(102 + 100)


def test_slots_fit_whatever_they_hold():
    held = 0
    for seed in range(150):
        graph = random_graph(seed)
        plan = plan_graph(graph, random_choices(graph, seed))
        for each in plan.kernels:
            for step in (each.plain, each.observed):
                outputs = [h for s in step.subkernels for h in s.outputs]
                for home in (*step.homes, *outputs):
                    size = each.kernel.nodes[home.node].value_type.itemsize
                    assert plan.slots[home.slot].itemsize == size, f"seed {seed}, node {home.node}"
                    held += 1
    assert held > 500
