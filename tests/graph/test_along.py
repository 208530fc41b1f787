"""A Load along other axes: the same array, seen along a second axis of its extent; text form, oracle, refusals."""

from dataclasses import replace

import numpy as np
import pytest

from tests.kit.bits import assert_same_bits
from tests.kit.oracle import oracle_step
from workbench.backends.interpreter import interpret
from workbench.errors import GraphError
from workbench.graph import Axis, Graph, KernelBuilder, Load, Space, Static, grid_space
from workbench.graph.parse import parse
from workbench.graph.spaces import NamedExtent
from workbench.graph.types import F64
from workbench.graph.verify import verify
from workbench.graph.verify_statics import statics_are_used_rightly
from workbench.planning import plan_graph
from workbench.planning.choices import Choices
from workbench.planning.verify import find_faults

N = NamedExtent("n")
SPACE = Space((Axis("i", N, "array"), Axis("j", N, "array"), Axis("k", NamedExtent("m"), "array")))
I, J, IJ = SPACE.without((1, 2)), SPACE.without((0, 2)), SPACE.without((2,))
STATICS = (Static("x", "field", F64, I), Static("y", "field", F64, IJ))


def program():
    """Differences of all pairs in y, their sums in x."""
    b = KernelBuilder(SPACE, STATICS)
    x, seen = b.load("x"), b.load("x", ["j"])
    pair = b.arith("subtract", b.replicate(seen, IJ), b.replicate(x, IJ))
    b.store("y", pair)
    b.store("x", b.arith("add", x, b.fold("sum", pair, (1,))))
    graph = Graph("along", SPACE, STATICS, (b.finish("step"),))
    verify(graph)
    return graph


def test_the_interpreter_agrees_with_the_oracle():
    graph = program()
    state = {"x": np.array([1.0, 2.0, 5.0]), "y": np.zeros((3, 3))}
    found = interpret(graph, "step", (3, 3, 2), state)
    expected = oracle_step(graph, "step", (3, 3, 2), state)
    for name in expected:
        assert_same_bits(found[name], expected[name], name)
    np.testing.assert_array_equal(found["x"], [6.0, 4.0, -2.0])


def test_the_text_names_the_axes_and_is_read_back():
    graph = program()
    assert "%1 = load x along j : f64 local(j)" in str(graph)
    assert parse(str(graph)) == graph
    assert dict(graph.kernel("step").loads()) == {"x": 0}


def test_extents_agree_and_are_shown_once():
    assert SPACE.leaders == (0, 0, 2)
    assert SPACE.agreeing((4, 5, 6)) == (4, 4, 6)
    assert SPACE.shape_of((4, 4, 6)) == (4, 6)
    assert SPACE.elements == "i x k"
    assert grid_space(2).shape_of((4, 4)) == (4, 4)
    assert J.fits(I)
    assert not I.fits(I)
    assert not grid_space(2).without((1,)).fits(grid_space(2).without((0,)))


@pytest.mark.parametrize("along", [("k",), ("q",), ("i",), ("i", "j")])
def test_axes_that_do_not_fit_are_refused(along):
    with pytest.raises(GraphError, match=r"x along \(i\) cannot be seen along"):
        KernelBuilder(SPACE, STATICS).load("x", along)


@pytest.mark.parametrize("load", [Load("x", ("k",)), Load("x", ("i",)), Load("x")])
def test_the_verifier_notices_another_axis_than_the_node_has(load):
    graph = program()
    kernel = graph.kernel("step")
    nodes = tuple(replace(n, instruction=load) if n.instruction == Load("x", ("j",)) else n for n in kernel.nodes)
    with pytest.raises(GraphError, match="x is f64 of rank 1, the node differs"):
        statics_are_used_rightly(replace(graph, kernels=(replace(kernel, nodes=nodes),)))


def test_keys_tell_both_loads_apart_and_plans_are_sound():
    graph = program()
    keys = graph.kernel("step").keys()
    assert len(set(keys[:2])) == 2
    plan = plan_graph(graph, Choices())
    assert not find_faults(plan)
    reads = {read.node: read.slot for loop in plan.main.plain.subkernels for read in loop.reads}
    assert reads[0] == reads[1] == 0
