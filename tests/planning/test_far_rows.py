"""Programs whose loops read neighbours along a row; tests/codegen/test_vectors.py has what is made of them."""

import pytest

import workbench as wb
from workbench.planning import plan_graph
from workbench.planning.far_rows import reads_far_rows
from workbench.solvers import heat, hydro, wave

FOURTH = "8 * (u[0, +1] + u[0, -1]) - u[0, +2] - u[0, -2]"


def reads_far(formula, dim=2):
    graph = wb.trace(f'u = field("u", boundary="periodic")\nu.next = {formula}', dim=dim, name="tried").graph
    return reads_far_rows(plan_graph(graph).main, dim)


@pytest.mark.parametrize("formula", [FOURTH, f"-({FOURTH}) / 3.0", "u[1, 1] + u[1, 2] + u[1, 3] + u[1, -1]"])
def test_sums_and_products_of_four_neighbours_of_a_row(formula):
    assert reads_far(formula)


@pytest.mark.parametrize(
    "formula",
    [
        "u[0, +1] + u[0, -1] + u[+2, 0] + u[-2, 0]",
        "u[1, 1] + u[1, 2] + u[0, -1] + u[0, -2]",  # two of each row
        "8 * (u[+1, 0] + u[-1, 0]) - u[+2, 0] - u[-2, 0]",  # across rows
        f"sqrt({FOURTH})",
        f"maximum(u, {FOURTH})",
    ],
)
def test_few_neighbours_and_dear_operators(formula):
    assert not reads_far(formula)


def test_two_neighbours_are_enough_where_there_are_planes():
    assert reads_far("u[0, 0, +1] + u[0, 0, -1]", dim=3)
    assert not reads_far("u[0, 0, +1] + u[0, +1, 0] + u[+1, 0, 0]", dim=3)


def test_one_axis_has_no_rows_beside_each_other():
    assert not reads_far("u[+1] + u[-1] + u[+2] + u[-2]", dim=1)


def far_of(machine):
    return reads_far_rows(machine.plan("openmp").main, machine.graph.dim)


def test_solvers():
    far = (heat.machine(2, order=4), heat.machine(3), wave.machine(3, order=8, time_order=2))
    assert all(far_of(machine) for machine in far)
    assert not any(far_of(machine) for machine in (heat.machine(2), hydro.machine(2)))
