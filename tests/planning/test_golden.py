"""Text in, text out: the graph of a small program as it is kept, and the plan that follows from this text alone."""

from pathlib import Path

import pytest

from tests.kit.golden_programs import CASES, asked_for, planned, traced
from tests.kit.spaced_programs import folds_of_folds, shifted_folds
from workbench.graph import Outflow
from workbench.graph.from_text import graph_from_text
from workbench.planning import plan_graph
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
