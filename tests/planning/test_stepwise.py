"""The order of launches: what may share one, what must not, and which steps of a march are observed."""

from tests.kit.paper_graphs import hello, wave
from workbench.graph import Graph, KernelBuilder, Static, grid_space
from workbench.graph.types import F64
from workbench.planning import Choices, PlanChoices, plan_graph

LINE = grid_space(1)


def two_loops(sync=False):
    """half and square are needed with other margins, so each has a loop; neither needs the other."""
    statics = (Static("u", "field", F64, LINE), Static("v", "field", F64, LINE))
    b = KernelBuilder(LINE, statics)
    v = b.load("v")
    half = b.arith("add", v, v)
    b.annotate(half, name="half")
    x = b.cast(b.index(0), F64)
    square = b.arith("multiply", x, x)
    b.annotate(square, name="square")
    b.store("u", b.arith("add", b.shift(square, (1,)), b.load("u")))
    b.store("v", b.arith("multiply", half, half))
    graph = Graph("two", LINE, statics, (b.finish("step"),))
    if not sync:
        return plan_graph(graph, Choices(plan=PlanChoices().changed(preset="as_manifest")))
    kernel = plan_graph(graph).main.kernel
    key = kernel.keys()[kernel.find("half")]
    return plan_graph(graph, Choices(plan=PlanChoices().changed(preset="as_manifest", after=frozenset({key}))))


def launched(plan):
    return [launch.members for launch in plan.launches if launch.kind == "subkernel"]


def test_independent_loops_share_a_launch():
    assert launched(two_loops()) == [(0, 1), (2,), (3,)]


def test_a_barrier_keeps_a_loop_apart():
    plan = two_loops(sync=True)
    apart = [s.index for s in plan.subkernels if s.sync_after]
    assert apart
    assert all(launch == (n,) for n in apart for launch in launched(plan) if n in launch)


def test_dependent_loops_are_launched_in_turn():
    assert launched(plan_graph(hello(), Choices(plan=PlanChoices().changed(preset="as_manifest")))) == [(0,), (1,)]


def test_only_observed_steps_evaluate_diagnostics():
    plan = plan_graph(wave())
    assert not plan.main.plain.finishers
    assert plan.main.observed.finishers
