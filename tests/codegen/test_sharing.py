"""Loops of equal text are written once, and their lines know the nodes of all of them."""

import re

import pytest

from workbench.codegen.cpp.render import render_openmp
from workbench.codegen.cuda.render import render_cuda
from workbench.frontend.cell import trace_cell
from workbench.planning import plan_graph

ITERATIONS = 40
JACOBI = """\
x, b = fields("x b", boundary=constant(0.0))
y = x
for k in range({iterations}):
    y = extend((y[+1, 0] + y[-1, 0] + y[0, +1] + y[0, -1] + b) / {divisor}, constant(0.0))
x.next = y
"""
PERIODIC = """\
x, b = fields("x b", boundary="periodic")
y = x
for k in range(40):
    y = manifest((y[+1, 0] + y[-1, 0] + y[0, +1] + y[0, -1] + b) / 4)
x.next = y
"""
BACKENDS = {"openmp": render_openmp, "cuda": lambda plan: render_cuda(plan).source}


def planned(text):
    return plan_graph(trace_cell(text, name="jacobi", dim=2).graph)


def loops_of(source):
    """Names of the functions, or kernels, that are loops over cells."""
    return re.findall(r"^(?:static|extern).* (sweep_\w+)\($", source.text, re.MULTILINE)


@pytest.mark.parametrize("backend", BACKENDS)
def test_forty_equal_iterations_are_one_loop(backend):
    plan = planned(JACOBI.format(iterations=ITERATIONS, divisor=4))
    source = BACKENDS[backend](plan)
    assert len(plan.subkernels) == ITERATIONS
    assert len(loops_of(source)) == 1
    assert source.text.count(" / 4.0;") == 1


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_shared_loop_knows_every_sub_kernel_and_node(backend):
    plan = planned(JACOBI.format(iterations=ITERATIONS, divisor=4))
    source = BACKENDS[backend](plan)
    (line,) = (n for n, text in enumerate(source.text.splitlines(), start=1) if " / 4.0;" in text)
    origins = {origin.subkernel: origin for origin in source.origins(line)}
    assert list(origins) == [s.name for s in plan.subkernels]
    for subkernel in plan.subkernels:
        assert {home.node for home in subkernel.outputs} <= set(origins[subkernel.name].nodes)
    for index, node in enumerate(plan.main.kernel.nodes):
        is_shape = type(node.instruction).__name__ in ("Store", "Extend", "Imm")
        assert is_shape or source.lines_of_node("step", index), f"node {index} {node}"
    assert any(4 in origin.cell_lines for origin in origins.values())


@pytest.mark.parametrize("backend", BACKENDS)
def test_loops_that_differ_in_a_constant_are_two(backend):
    source = BACKENDS[backend](planned(JACOBI.format(iterations=4, divisor="(4 if k % 2 else 5)")))
    assert len(loops_of(source)) == 2


def test_loops_over_domains_grown_differently_share_their_text():
    plan = planned(PERIODIC)
    assert len({s.margins for s in plan.subkernels}) == 40
    # Those that roll, those at the end of a chain that roll no more, and those that write a field's array.
    assert len(loops_of(render_openmp(plan))) <= 3
    # Those on a grown domain, and the last one, on the domain itself.
    assert len(loops_of(render_cuda(plan).source)) == 2
