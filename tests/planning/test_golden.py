"""Text in, text out: the graph of a small program as it is kept, and the plan that follows from this text alone."""

from pathlib import Path

import pytest

from tests.kit.golden_programs import CASES, asked_for, planned, traced
from tests.kit.spaced_programs import folds_of_folds, shifted_folds
from workbench.graph import Outflow
from workbench.graph.from_text import graph_from_text
from workbench.planning import Choices, PlanChoices, plan_graph
from workbench.planning.simplify import simplify

GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.mark.parametrize("name", CASES)
def test_a_cell_has_the_graph_that_is_kept(name, golden):
    golden(f"{name}.graph.txt", str(simplify(traced(name))))


@pytest.mark.parametrize("name", CASES)
def test_a_graph_text_has_the_plan_that_is_kept(name, golden):
    graph = graph_from_text((GOLDEN / f"{name}.graph.txt").read_text(encoding="utf-8"))
    plan = plan_graph(graph, asked_for(name))
    golden(f"{name}.plan.txt", str(plan))
    assert plan == planned(name)  # so the cell has it, too


@pytest.mark.parametrize(("name", "made"), [("folds", folds_of_folds()), ("shifts", shifted_folds((Outflow(),) * 2))])
def test_reductions_over_some_axes_have_the_plan_that_is_kept(name, made, golden):
    golden(f"{name}.graph.txt", str(simplify(made)))
    graph = graph_from_text((GOLDEN / f"{name}.graph.txt").read_text(encoding="utf-8"))
    golden(f"{name}.plan.txt", str(plan_graph(graph)))


TILES, TOWERS = {"schedule": "diamond"}, {"schedule": "diamondtorre"}
# name: (what its plan shows, choices, whether loops may run together)
SHOWN = {
    "fills": ("Ghost cells are filled once a step, each field's as far as its loop reads it.", {}, True),
    "boundary_values": ("Only the fill computes a boundary value, so its formula is in no loop.", {}, True),
    "nested_reads": ("Reads of a value that is not stored add up: the field's halo is 2+3.", {}, True),
    "barriers": ("A barrier that is asked for parts the chain, and slots of arrays are used again.", {}, True),
    "chain_of_three": ("Three loops run together, and what lies between is kept in a few planes.", {}, True),
    "reduction_between": ("What needs the maximum waits for its finisher, in plain and observed steps.", {}, True),
    "diamond": (
        "One dimension: tiles are diamonds of cells and steps, which lean by one cell.",
        TILES,
        True,
    ),
    "diamond_wave": (
        "Two dimensions: diamonds along x, and waves along y that lean by the reach of 2.",
        TILES,
        True,
    ),
    "towers": (
        "Three dimensions on a device: diamonds of x and y, threads along z.",
        TOWERS,
        False,
    ),
    "gather": ("What is read at computed places is stored, and a slot notes an index outside.", {}, True),
    "scatter": ("What is sent, where and whether is computed in the Scatter's own loop, and not stored.", {}, True),
    "segments": ("Beginnings are a Scan of the lengths, with an array; the cells are computed on the way.", {}, True),
    "scan": ("A Scan has a loop of its own, and an array even where only one formula reads it.", {}, True),
    "loop": ("The turns of a Loop are a formula of each cell: one loop over cells, weighed by its turns.", {}, True),
    "ranked_scatter": ("A sort by two bits: a loop alone for the ranks, another for what is sent.", {}, True),
}


@pytest.mark.parametrize("name", SHOWN)
def test_a_text_has_the_plan_that_shows(name, golden):
    shows, choices, together = SHOWN[name]
    print(shows)
    text = (GOLDEN / f"{name}.graph.txt").read_text(encoding="utf-8")
    graph = graph_from_text(text)
    assert str(graph) == text
    plan = PlanChoices().changed(**choices)
    golden(f"{name}.plan.txt", str(plan_graph(graph, Choices(plan=plan), follows_chains=together)))


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({}, "flux: Manifest (line 2 asks that it is stored where it rolls, and it does)"),
        ({"loops": "apart"}, "flux: Delayed (line 2 asks that it is stored where it rolls, and here it does not)"),
        ({"hints": False, "preset": "as_manifest"}, "flux: Manifest, needed"),
        ({"hints": False, "preset": "as_delayed"}, "flux: Delayed, needed"),
    ],
)
def test_choices_show_in_the_text(changes, line):
    graph = graph_from_text((GOLDEN / "chain.graph.txt").read_text(encoding="utf-8"))
    assert line in str(plan_graph(graph, asked_for("chain", **changes)))
