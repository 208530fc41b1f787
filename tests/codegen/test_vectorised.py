"""The compiler's own report: every inner loop of these programs is vectorised."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.golden_programs import planned
from tests.programs.life import TEXT as LIFE
from workbench.backends.compile_pool import Unit
from workbench.backends.openmp import OpenmpBackend
from workbench.backends.vectorisation import inner_loops
from workbench.frontend.cell import trace_cell
from workbench.graph.elementary import SEQUENCES
from workbench.language import fold
from workbench.pipeline import plan_for
from workbench.planning import plan_graph

ROOTS = """
u, v = fields("u v")
w, x = fields("w x", dtype="f32")
v.next = rsqrt(u)
x.next = rsqrt(w)
"""
FUSED = """
u, v = fields("u v")
w, x = fields("w x", dtype="f32")
v.next = fma(u, v, u)
x.next = fma(w, w, x)
"""
ELEMENTARY = "\n".join(
    f'u_{name}_{dtype}, v_{name}_{dtype} = fields("u_{name}_{dtype} v_{name}_{dtype}", dtype="{dtype}")\n'
    f"v_{name}_{dtype}.next = {name}(u_{name}_{dtype})"
    for name in SEQUENCES
    for dtype in ("f32", "f64")
)
CHAIN = """
x, a, y = fields("x a y", dtype="dd")
y.next = (x * a + x) * a + x
"""
PAIRS = """
x, y = targets("x y")
p, q, m = sources("x y m")
f, g = totals("f g")
r1 = rsqrt((p - x)**2 + (q - y)**2 + 1e-3)
f += m * r1**3 * (p - x)
g += m * r1**3 * (q - y)
"""
CELLS = {
    **{"life": (LIFE, 2), "roots": (ROOTS, 1), "elementary": (ELEMENTARY, 1), "dd": (CHAIN, 1), "pairs": (PAIRS, 1)},
    "fused": (FUSED, 1),  # where the processor has the instruction, as all with vectors of 256 bits do
}


def test_loops_over_dd_take_several_vectors_at_once():
    """Chains of operations wait for each other; a number of 16 bits beside them makes compilers take four vectors."""
    program = OpenmpBackend().compile(plan_graph(trace_cell(CHAIN, name="dd", dim=1).graph))
    loops = inner_loops(program.source, program.built.report, Unit(program.built.name, "").file_name)
    lines = program.source.text.splitlines()
    found = [[line.strip() for line in lines[loop.line - 2 : loop.line + 2]] for loop in loops]
    assert [each[0] for each in found] == [
        f"#pragma omp simd reduction(|:{names})" for names in ("large, made", "made")
    ]
    assert found[0][2] == "large |= compute_quickly(done + lane, lane);"
    assert found[1][-1] == "made |= int16_t(i);"


def test_sums_of_whole_chunks_go_from_arrays_to_lanes_in_registers():
    """A buffer of 1024 products between is half as fast where the arrays are in the second cache."""
    machine = wb.collective(lambda x, y: np.sum(x * y)).machine(*np.ones((2, 5000), np.float32))
    program = OpenmpBackend().compile(plan_for(machine.graph, machine.choices, "openmp"))
    report, file = program.built.report, Unit(program.built.name, "").file_name
    lines = program.source.text.splitlines()
    first = next(loop for loop in inner_loops(program.source, report, file) if "lane < LANES" in lines[loop.line - 1])
    assert first.vectors
    assert any("made.result_cells.take(" in line for line in lines[first.line : first.line + 4])


def test_folds_of_conditions_have_vectors():
    """Conditions are kept as numbers of the width of what is compared; as bytes, gcc has no select between them."""

    def is_near(x, y):
        x, y = x[:, None], y[None, :]
        return np.any(np.where((x > y) & (x > 0), x * y, np.inf) < 3.0, axis=0)

    machine = wb.collective(is_near).machine(np.ones(5), np.ones(300))
    program = OpenmpBackend().compile(plan_for(machine.graph, machine.choices, "openmp"))
    report, file = program.built.report, Unit(program.built.name, "").file_name
    loops, lines = inner_loops(program.source, report, file), program.source.text.splitlines()
    assert len(loops) == 2  # eight cells a turn, and what is left of them
    assert all(each.vectors for each in loops)
    assert all("lane < width" in lines[each.line - 1] for each in loops)
    assert "Leaf<int64_t, lanes>" in program.source.text


@pytest.mark.parametrize(("times", "compared"), [(2, True), (60, False)])
def test_conditions_in_memory_are_compared_in_short_programs_alone(times, compared):
    """In long loops gcc takes minutes for vectors of them."""

    def chosen(m, x):
        for number in range(times):
            x = np.where(m, x * 1.5, x + number)
        return x

    text = wb.collective(chosen).machine(np.ones(9, bool), np.ones(9)).source("openmp").text
    assert ("is_true(" in text) == compared


def test_cells_of_records_are_computed_by_a_function():
    """Structs that are declared in a loop of OpenMP lie in memory for each of its lanes."""

    def nearest(x, y):
        def nearer(p, q):
            return tuple(np.where(q[0] < p[0], b, a) for a, b in zip(p, q, strict=True))

        first = fold(nearer, (x, y), axis=0, identity=(np.inf, 0.0))
        return first[1] * first[1] + first[0]

    text = wb.collective(nearest).machine(np.ones((5, 300)), np.ones((5, 300))).source("openmp").text
    last = text[text.index("void sweep_") :]
    assert "const auto compute = " in last
    assert "compute(i);" in last


@pytest.mark.parametrize("name", ["wave", "hello_delayed", "hello_manifest", "heat", *CELLS])
def test_inner_loops_are_vectorised(name):
    if name in CELLS:
        text, dim = CELLS[name]
        plan = plan_graph(trace_cell(text, name=name, dim=dim).graph)
    else:
        plan = planned(name)
    program = OpenmpBackend().compile(plan)
    built = program.built
    loops = inner_loops(program.source, built.report, Unit(built.name, "").file_name)
    assert loops
    print(f"{name}: {loops}")
    for loop in loops:
        assert loop.vectors, f"line {loop.line}: {program.source.text.splitlines()[loop.line - 1].strip()}"
