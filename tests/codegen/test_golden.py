"""The C++ text of small programs, byte by byte: what a reader of `machine.source("openmp")` sees."""

import pytest

from tests.kit.golden_programs import CASES, DOT, planned
from tests.programs.wave import TEXT as WAVE
from workbench.codegen.cpp.render import render_openmp
from workbench.frontend.cell import trace_cell
from workbench.graph import Load
from workbench.planning import plan_graph
from workbench.planning.simplify import simplify


@pytest.mark.parametrize("name", CASES)
def test_text_is_the_golden_one(name, golden):
    golden(f"{name}.openmp.cpp", render_openmp(planned(name)).text)


def test_a_tiled_text_is_the_golden_one(golden):
    golden("heat_tiled.openmp.cpp", render_openmp(planned("heat", schedule="diamond")).text)


def test_a_dot_product_is_one_loop_that_makes_no_array(golden):
    golden("dot.openmp.cpp", render_openmp(plan_graph(simplify(trace_cell(DOT, name="dot").graph))).text)


def test_same_plan_same_bytes():
    assert render_openmp(planned("wave")).text == render_openmp(planned("wave")).text


def test_lines_of_the_cell_do_not_show_in_the_text():
    graph = trace_cell("# a remark\n\n" + WAVE, name="wave", dim=1).graph
    assert render_openmp(plan_graph(graph)).text == render_openmp(planned("wave")).text


def line_holding(source, part):
    (number,) = (n for n, line in enumerate(source.text.splitlines(), start=1) if part in line)
    return number


def test_line_map_leads_from_text_to_cell_and_back():
    plan = planned("heat")
    source = render_openmp(plan)
    nodes = plan.kernels[0].kernel.nodes
    line = line_holding(source, "out_u[i] = ")
    (origin,) = source.origins(line)
    assert origin.cell_lines == (3,)
    assert origin.subkernel == plan.kernels[0].plain.subkernels[0].name
    for node in origin.nodes:
        assert line in source.lines_of_node("step", node)
    (param,) = source.origins(line_holding(source, "const double a = "))
    assert Load("a") in [nodes[n].instruction for n in param.nodes]


def test_every_live_node_has_a_line():
    for name in CASES:
        plan = planned(name)
        source = render_openmp(plan)
        for kernel in plan.kernels:
            for index, node in enumerate(kernel.kernel.nodes):
                is_shape = type(node.instruction).__name__ in ("Store", "Extend", "Imm")
                assert is_shape or source.lines_of_node(kernel.kernel.name, index), f"{name}: node {index} {node}"


def test_origins_point_at_lines_that_compute():
    source = render_openmp(planned("wave"))
    lines = source.text.splitlines()
    assert len(source.lines) > 10
    for origin in source.lines:
        assert lines[origin.line - 1].strip().endswith(";")
