"""The plans of small programs, in the numbers a person can check by hand."""

from tests.kit.paper_graphs import LINE, PERIODIC, hello, wave
from workbench.graph import Graph, KernelBuilder, Static
from workbench.graph.types import F64
from workbench.planning import Choices, PlanChoices, Storage, plan_graph


def test_table_3_delayed_is_one_loop_and_one_more_array():
    plan = plan_graph(hello(), Choices(plan=PlanChoices().changed(preset="as_delayed")))
    assert (len(plan.subkernels), len(plan.main.manifest)) == (1, 1)


def test_table_3_manifest_is_two_loops_and_two_more_arrays():
    plan = plan_graph(hello(), Choices(plan=PlanChoices().changed(preset="as_manifest")))
    assert (len(plan.subkernels), len(plan.main.manifest)) == (2, 2)


def test_wave_steps_in_place_unless_somebody_looks_at_the_energy():
    plan = plan_graph(wave())
    step = plan.main
    assert [s.margins for s in step.plain.subkernels] == [((1, 1),), ((0, 0),)]
    assert step.plain.rotation == (0, 1, 2)
    assert len(step.observed.subkernels) == 3
    assert step.observed.rotation == (0, 2, 1)  # the old g is read after the new one is made
    assert plan.halo == ((1, 1),)


def test_heat_swaps_two_arrays():
    statics = (Static("u", "field", F64, LINE),)
    b = KernelBuilder(LINE, statics)
    u = b.extend(b.load("u"), PERIODIC)
    b.store("u", b.arith("add", b.shift(u, (1,)), b.shift(u, (-1,))))
    plan = plan_graph(Graph("heat", LINE, statics, (b.finish("step"),)))
    assert plan.main.plain.rotation == (1, 0)
    assert [launch.kind for launch in plan.launches] == ["fill", "subkernel"]
    assert plan.main.storage[:2] == (Storage.EXISTING, Storage.EXISTING)
