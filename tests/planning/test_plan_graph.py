"""The plans of small programs, in the numbers a person can check by hand."""

from workbench.graph import GLOBAL, Graph, KernelBuilder, Periodic, Static, grid_space
from workbench.graph.types import F64
from workbench.planning import Choices, PlanChoices, Storage, plan_graph

LINE = grid_space(1)
PERIODIC = ((Periodic(), Periodic()),)


def hello():
    """Paraiso's Table 3: x = density, y = x*x, z = y+y."""
    statics = (Static("density", "field", F64, LINE),)
    b = KernelBuilder(LINE, statics)
    x = b.load("density")
    y = b.arith("multiply", x, x)
    b.annotate(y, name="y")
    b.store("density", b.arith("add", y, y))
    return Graph("Hello", LINE, statics, (b.finish("step"),))


def wave():
    """Two fields; f1 is needed at the neighbours to make g1; the energy is a diagnostic."""
    params = (Static(n, "param", F64, GLOBAL, 1.0) for n in ("dt", "k"))
    fields = (Static(n, "field", F64, LINE) for n in "fg")
    statics = (*fields, Static("energy", "scalar", F64, GLOBAL, 0.0), *params)
    b = KernelBuilder(LINE, statics)
    f, g = (b.extend(b.load(n), PERIODIC) for n in "fg")
    f1 = b.arith("add", f, b.arith("multiply", b.broadcast(b.load("dt")), g))
    right, left = b.shift(f1, (-1,)), b.shift(f1, (1,))
    curve = b.arith("subtract", b.arith("add", right, left), b.arith("add", f1, f1))
    g1 = b.arith("add", g, b.arith("multiply", b.broadcast(b.load("k")), curve))
    slope = b.arith("subtract", right, left)
    energy = b.reduce("sum", b.arith("add", b.arith("multiply", slope, slope), b.arith("multiply", g1, g)))
    for name, value in (("f", f1), ("g", g1), ("energy", energy)):
        b.store(name, value)
    return Graph("wave", LINE, statics, (b.finish("step"),))


def test_table_3_delayed_is_one_loop_and_one_more_array():
    plan = plan_graph(hello(), Choices(plan=PlanChoices(preset="as_delayed")))
    assert (len(plan.subkernels), len(plan.main.manifest)) == (1, 1)


def test_table_3_manifest_is_two_loops_and_two_more_arrays():
    plan = plan_graph(hello(), Choices(plan=PlanChoices(preset="as_manifest")))
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
