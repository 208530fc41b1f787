"""A plan in words."""

import pytest

from tests.planning.test_plan_graph import hello, wave
from workbench.errors import PlanError
from workbench.graph import Graph, KernelBuilder
from workbench.planning import Choices, PlanChoices, plan_graph
from workbench.planning.text import explain, plan_text


def named_wave():
    """The wave with names at f1, g1 and the energy."""
    graph = wave()
    kernel = graph.kernels[0]
    stores = dict(kernel.stores())
    b = KernelBuilder(graph.space, graph.statics)
    from workbench.graph.rewrite import copy

    new = []
    for node in kernel.nodes:
        new.append(copy(b, node, tuple(new[o] for o in node.operands)))
    for name, static in (("f1", "f"), ("g1", "g"), ("E", "energy")):
        b.annotate(new[stores[static]], name=name)
    return Graph("wave", graph.space, graph.statics, (b.finish("step"),))


def test_text_of_table_3():
    plan = plan_graph(hello(), Choices(plan=PlanChoices(preset="as_manifest")))
    assert plan_text(plan) == (
        f"plan of Hello ({plan.graph.fingerprint()}), stepwise, halo 0+0\n"
        "slot 0: 8 bytes a cell, density, y, add (value 2)\n"
        "kernel step\n"
        "  %0 density: Existing (a field is an array already)\n"
        "  %1 y: Manifest\n"
        "  %2 add (value 2): Manifest (its array becomes field density)\n"
        "  every step\n"
        "    loop step_0_y 0+0: reads %0 in 0\n"
        "      1 operations; a cell: 16 bytes, 1 flops, 1 loads\n"
        "      stores %1 y in slot 0\n"
        "    loop step_1_add 0+0: reads %1 in 0\n"
        "      1 operations; a cell: 16 bytes, 1 flops, 1 loads\n"
        "      stores %2 add (value 2) in slot 0\n"
        "    rotate nothing\n"
    )


def test_text_is_the_same_for_the_same_plan():
    assert plan_text(plan_graph(wave())) == plan_text(plan_graph(wave()))
    assert "observed step" in plan_text(plan_graph(wave()))


@pytest.mark.parametrize(
    ("first", "second", "says"),
    [
        ("f1", "g1", "g1 is in a later sub-kernel than f1, because it needs f1."),
        ("E", "g1", "E is in a later sub-kernel than g1, because it needs g1."),
        ("f", "g1", "g1 is in a later sub-kernel than f, because it needs f."),  # the value that f takes
    ],
)
def test_explain(first, second, says):
    assert explain(plan_graph(named_wave()), first, second).startswith(says)


def test_explain_delayed_and_together():
    assert explain(plan_graph(hello()), "y", "y").startswith("y is Delayed")
    statics = hello().statics
    b = KernelBuilder(hello().space, statics)
    x = b.load("density")
    p, q = b.arith("multiply", x, x), b.arith("add", x, x)
    b.annotate(p, name="p")
    b.annotate(q, name="q")
    b.store("density", b.arith("add", p, q))
    graph = Graph("g", hello().space, statics, (b.finish("step"),))
    plan = plan_graph(graph, Choices(plan=PlanChoices(preset="as_manifest")))
    assert "neither needs the other" in explain(plan, "p", "q")


def test_explain_an_unknown_name():
    with pytest.raises(PlanError, match="no value of step is called 'nonsense'"):
        explain(plan_graph(hello()), "nonsense", "y")
