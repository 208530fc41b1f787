"""The reference backend: whole programs against NumPy, marches, and state."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from workbench.backends.base import Condition, MarchRequest, StopFlag
from workbench.backends.interpreter import interpret
from workbench.backends.reference import ReferenceBackend, ReferenceInstance
from workbench.errors import FieldError, GraphError, ShapeError
from workbench.graph import (
    GLOBAL,
    Extend,
    Graph,
    KernelBuilder,
    Outflow,
    Periodic,
    Prescribed,
    Span,
    Static,
    Undefined,
    grid_space,
)
from workbench.graph.types import F32, F64, I32, U8

PLANE = grid_space(2)


def wave():
    """The wave equation with a rotation (v takes u), a diagnostic energy and a running time."""
    statics = (
        Static("u", "field", F64, PLANE),
        Static("v", "field", F64, PLANE),
        Static("energy", "scalar", F64, GLOBAL, 0.0),
        Static("time", "scalar", F64, GLOBAL, 0.0),
        Static("dt", "param", F64, GLOBAL, 0.5),
    )
    b = KernelBuilder(PLANE, statics)
    u, v = b.load("u"), b.load("v")
    outside = b.extend(u, [(Periodic(), Periodic())] * 2)
    laplacian = b.imm(0.0, F64, PLANE)
    for offset in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        laplacian = b.arith("add", laplacian, b.shift(outside, offset))
    laplacian = b.arith("subtract", laplacian, b.arith("multiply", b.imm(4.0, F64, PLANE), u))
    change = b.arith("multiply", b.broadcast(b.load("dt")), laplacian)
    new = b.arith("add", b.arith("subtract", b.arith("add", u, u), v), change)
    b.store("u", new)
    b.store("v", u)
    b.store("energy", b.reduce("sum", b.arith("multiply", new, new)))
    b.store("time", b.arith("add", b.load("time"), b.load("dt")))
    return Graph("wave", PLANE, statics, (b.finish("step"),))


def roll_wave(u, v, dt, steps):
    for _ in range(steps):
        laplacian = np.zeros_like(u)
        for shift, axis in ((1, 0), (-1, 0), (1, 1), (-1, 1)):
            laplacian = laplacian + np.roll(u, shift, axis)
        u, v = u + u - v + dt * (laplacian - 4.0 * u), u
    return u, v


def instance_of(graph, extents, **fields):
    instance = ReferenceInstance(graph, extents)
    for name, values in fields.items():
        instance.write_field(name, values)
    return instance


@pytest.mark.parametrize("extents", [(1, 1), (1, 5), (8, 3), (37, 41)])
def test_wave_equals_numpy_roll(extents):
    u = np.random.default_rng(1).random(extents)
    v = u * 0.9
    instance = instance_of(wave(), extents, u=u, v=v)
    instance.write_global("dt", 0.2)
    result = instance.march(MarchRequest("step", 5))
    expected = roll_wave(u, v, 0.2, 5)
    assert (result.steps, result.ended, result.diagnostics_current) == (5, "done", True)
    np.testing.assert_array_equal(instance.read_field("u"), expected[0])
    np.testing.assert_array_equal(instance.read_field("v"), expected[1])
    assert math.isclose(instance.read_global("energy"), (expected[0] ** 2).sum(), rel_tol=1e-14)
    assert instance.read_global("time") == 0.2 + 0.2 + 0.2 + 0.2 + 0.2


def test_interpret_leaves_the_given_state_alone():
    u = np.arange(12.0).reshape(3, 4)
    state = {"u": u, "v": u, "energy": np.asarray(0.0), "time": np.asarray(0.0), "dt": np.asarray(0.25)}
    after = interpret(wave(), "step", (3, 4), state, 2)
    np.testing.assert_array_equal(u, np.arange(12.0).reshape(3, 4))
    np.testing.assert_array_equal(after["u"], roll_wave(u, u, 0.25, 2)[0])
    assert after["time"] == 0.5


def test_backend_interprets_the_plan_s_graph_and_nothing_else():
    graph = wave()
    backend = ReferenceBackend()
    program = backend.compile(SimpleNamespace(graph=graph))
    assert backend.availability().available
    assert (program.plan.graph, program.compile_seconds, program.from_cache) == (graph, 0.0, False)
    instance = program.instantiate((2, 3), threads=5)
    assert instance.memory_bytes == 2 * 6 * 8
    assert instance.read_global("dt") == 0.5
    assert len(backend.compile_many([program.plan] * 3)) == 3


def test_diagnostics_are_evaluated_on_observed_steps_only():
    instance = instance_of(wave(), (4, 4), u=np.ones((4, 4)), v=np.zeros((4, 4)))
    first = instance.march(MarchRequest("step", 3, observe_last=False))
    assert not first.diagnostics_current
    assert instance.read_global("energy") == 0.0
    assert instance.read_global("time") == 1.5
    second = instance.march(MarchRequest("step", 5, first_step=3, observe_every=2, observe_last=False))
    assert second.observed_steps.tolist() == [4, 6, 8]
    assert second.diagnostics_current
    energy, time = second.observed
    assert time.tolist() == [2.0, 3.0, 4.0]
    assert energy.tolist() == [16.0 * (n + 1) ** 2 for n in (4, 6, 8)]
    assert instance.read_global("energy") == energy[-1]


def test_observed_last_step_is_current_but_not_listed():
    result = instance_of(wave(), (4, 4)).march(MarchRequest("step", 3, observe_every=2))
    assert result.diagnostics_current
    assert result.observed_steps.tolist() == [2]


def test_until_on_a_diagnostic_scalar_observes_every_step():
    instance = instance_of(wave(), (4, 4), u=np.ones((4, 4)), v=np.zeros((4, 4)))
    conditions = (Condition("energy", ">", 16.0 * 5.5**2), Condition("time", ">=", 1.0))
    result = instance.march(MarchRequest("step", 100, until=conditions))
    assert (result.steps, result.ended, result.diagnostics_current) == (5, "until", True)


def test_until_on_the_very_last_step_counts_as_until():
    conditions = (Condition("time", ">=", 1.0),)
    assert instance_of(wave(), (2, 2)).march(MarchRequest("step", 2, until=conditions)).ended == "until"


def test_a_stop_set_before_does_nothing_and_seconds_do_at_least_one_step():
    stop = StopFlag()
    stop.set()
    instance = instance_of(wave(), (2, 2))
    stopped = instance.march(MarchRequest("step", 10, stop=stop))
    assert (stopped.steps, stopped.ended, stopped.diagnostics_current) == (0, "stopped", False)
    timed = instance.march(MarchRequest("step", 10, seconds=0.0))
    assert (timed.steps, timed.ended) == (1, "time")


def test_a_rotation_does_not_alias_fields():
    instance = instance_of(wave(), (2, 2), u=np.ones((2, 2)), v=np.zeros((2, 2)))
    instance.march(MarchRequest("step", 1))
    view = instance.device_view("v")
    before = instance.read_field("u")
    view[...] = 7.0
    np.testing.assert_array_equal(instance.read_field("u"), before)
    assert instance.read_field("v").tolist() == [[7.0, 7.0], [7.0, 7.0]]


def test_swap_reads_the_state_at_the_start():
    statics = (Static("a", "field", I32, PLANE), Static("b", "field", I32, PLANE))
    builder = KernelBuilder(PLANE, statics)
    a, b = builder.load("a"), builder.load("b")
    builder.store("a", b)
    builder.store("b", a)
    instance = ReferenceInstance(Graph("swap", PLANE, statics, (builder.finish("step"),)), (1, 2))
    instance.write_field("a", np.array([[1, 2]], np.int32))
    instance.write_field("b", np.array([[3, 4]], np.int32))
    instance.march(MarchRequest("step", 3))
    assert instance.read_field("a").tolist() == [[3, 4]]
    assert instance.read_field("b").tolist() == [[1, 2]]


def test_bad_input_is_refused_by_name():
    with pytest.raises(ShapeError, match=r"2 axes .* extents \(3,\)"):
        ReferenceInstance(wave(), (3,))
    with pytest.raises(ShapeError, match="extents"):
        ReferenceInstance(wave(), (3, 0))
    instance = ReferenceInstance(wave(), (2, 2))
    with pytest.raises(FieldError, match="u is f64, the array is float32"):
        instance.write_field("u", np.zeros((2, 2), np.float32))
    with pytest.raises(ShapeError, match="u has shape"):
        instance.write_field("u", np.zeros((2, 3)))
    with pytest.raises(FieldError, match="no field 'time'"):
        instance.read_field("time")
    with pytest.raises(FieldError, match="no scalar or param 'u'"):
        instance.write_global("u", 1)


@pytest.mark.parametrize(
    ("type_", "value", "held"),
    [
        (F32, 0.1, float(np.float32(0.1))),
        (U8, 300, 44),
        (I32, -7.9, -7),
        (F64, math.inf, math.inf),
        (F32, 1e300, math.inf),
    ],
)
def test_a_global_is_rounded_to_its_type(type_, value, held):
    statics = (Static("u", "field", F64, PLANE), Static("p", "param", type_, GLOBAL))
    instance = ReferenceInstance(Graph("g", PLANE, statics, ()), (1, 1))
    instance.write_global("p", value)
    assert instance.read_global("p") == held


def outside_read(sides):
    line = grid_space(1)
    statics = (Static("u", "field", F64, line),)
    b = KernelBuilder(line, statics)
    zero = b.imm(0.0, F64, line)
    extended = b.extend(b.load("u"), [sides], [zero] if any(isinstance(s, Prescribed) for s in sides) else [])
    b.annotate(extended, span=Span(4))
    b.store("u", b.shift(extended, (-1,)))
    return Graph("g", line, statics, (b.finish("step"),))


def test_a_read_where_no_rule_is_given_names_field_side_and_line():
    with pytest.raises(FieldError, match=r"line 4: u is read outside the domain at side x\+"):
        ReferenceInstance(outside_read((Outflow(), Undefined())), (3,)).march(MarchRequest("step", 1))
    instance = ReferenceInstance(outside_read((Undefined(), Prescribed(1))), (3,))
    instance.write_field("u", np.array([1.0, 2.0, 3.0]))
    instance.march(MarchRequest("step", 1))
    assert instance.read_field("u").tolist() == [2.0, 3.0, 0.0]


def test_a_load_without_extend_cannot_be_read_outside():
    line = grid_space(1)
    statics = (Static("u", "field", F64, line),)
    b = KernelBuilder(line, statics)
    b.store("u", b.shift(b.load("u"), (1,)))
    graph = Graph("g", line, statics, (b.finish("step"),))
    assert not any(isinstance(n.instruction, Extend) for n in graph.kernels[0].nodes)
    with pytest.raises(GraphError, match="outside its domain"):
        ReferenceInstance(graph, (3,)).march(MarchRequest("step", 1))
