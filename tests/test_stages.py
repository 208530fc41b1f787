"""A tour: a small program from its cell to its result, all stages printed (`pytest -n 0 -s tests/test_stages.py`)."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from workbench import pipeline
from workbench.backends.base import MarchRequest
from workbench.backends.registry import select_backend
from workbench.planning.choices import Choices

CELL = """\
u = field("u", boundary="periodic")
k = param("k", 0.25)
mean = (u[-1] + u[+1]) / 2
u.next = u + k * (mean - u)
"""
START = np.array([0.0, 1.0, 0.0, 0.0, -1.0])


def show(stage, value):
    print(f"\n== {stage} ==\n{value}")


@pytest.mark.parametrize("name", ["reference", "openmp", "cuda-sim"])
def test_the_way_of_a_program(name):
    """Each arrow of workbench/pipeline.py by itself; in the end the same as in one line."""
    show("cell", CELL)
    traced = pipeline.trace(CELL, name="smooth")
    graph = pipeline.simplify(traced.graph)
    show("graph", graph)
    plan = pipeline.plan_for(graph, Choices(), name)
    show("plan", plan)
    if name != "reference":
        show("source, its part without templates", _loops(pipeline.render(plan, name)))
    selection = select_backend(name)
    program = pipeline.build(plan, selection)  # renders and compiles, or finds what was compiled before
    kernel = program.instantiate(START.shape)
    kernel.write_field("u", START)
    kernel.write_global("k", 0.25)
    show("kernel", kernel.march(MarchRequest("step", 2)))
    found = kernel.read_field("u")
    kernel.close()
    show("result", found)

    machine = wb.trace(CELL, name="smooth")
    assert (machine.graph, machine.plan(name)) == (graph, plan)
    assert_same_bits(found, machine.simulate(u=START, backend=name).run(2).u, name)
    assert_same_bits(found, _by_hand(2))


def _loops(source):
    """The lines of the text that compute something, with the line of the cell that each came from."""
    lines = source.text.splitlines()
    return "\n".join(f"{lines[one.line - 1].strip():<70} // cell line {one.cell_lines}" for one in source.lines)


def _by_hand(steps):
    u = START
    for _ in range(steps):
        mean = (np.roll(u, 1) + np.roll(u, -1)) / 2
        u = u + 0.25 * (mean - u)
    return u
