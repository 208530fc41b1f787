"""A plan in words."""

import re

import numpy as np

import workbench as wb
from tests.kit.paper_graphs import hello, wave
from workbench.planning import Choices, PlanChoices, plan_graph


def test_text_of_table_3():
    plan = plan_graph(hello(), Choices(plan=PlanChoices().changed(preset="as_manifest")))
    assert str(plan) == (
        f"plan of Hello ({plan.graph.fingerprint()}), stepwise, halo 0+0\n"
        "slot 0: 8 bytes a cell, density, y, density.next\n"
        "kernel step\n"
        "  %0 density: Existing (a field is an array already)\n"
        "  %1 y: Manifest\n"
        "  %2 density.next: Manifest (its array becomes field density)\n"
        "  every step\n"
        "    halo at 1048576 cells: 0 bytes filled, 0 % of the cells recomputed outside\n"
        "    loop step_0_y 0+0: reads %0 in 0\n"
        "      1 operations; a cell: 16 bytes, 1 flops, 1 loads\n"
        "      stores %1 y in slot 0\n"
        "    loop step_1_density 0+0: reads %1 in 0\n"
        "      1 operations; a cell: 16 bytes, 1 flops, 1 loads\n"
        "      stores %2 density.next in slot 0\n"
        "    rotate nothing\n"
    )


def test_text_is_the_same_for_the_same_plan():
    assert str(plan_graph(wave())) == str(plan_graph(wave()))
    assert "observed step" in str(plan_graph(wave()))


def test_text_lists_reach_and_what_ghost_cells_cost():
    text = str(plan_graph(wave()))
    plain, observed = text.split("  observed step\n")
    assert "    halo at 1048576 cells: 32 bytes filled, 9.5e-05 % of the cells recomputed outside\n" in plain
    assert "    halo at 1048576 cells: 32 bytes filled, " in observed
    assert "needed 1+1 outside" in plain


def test_a_plan_of_arrays_speaks_of_elements_and_of_no_halo():
    @wb.collective
    def norms(a):
        return np.sqrt(np.sum(a * a, axis=1))

    text = str(norms.machine(np.ones((2, 3))).plan("openmp"))
    assert "8 bytes an element" in text
    assert "an element: " in text
    assert not re.search(r"\bcells?\b", text)
    assert "halo" not in text
