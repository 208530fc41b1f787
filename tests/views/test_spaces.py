"""Views of a machine whose values have several spaces: each opens, and says what its loops are over."""

import pytest

from tests.views.machines import rows
from workbench.planning.cost import ESTIMATE
from workbench.views.graph.layout import lay_out_graph
from workbench.views.graph.summary import summarise_graph
from workbench.views.plan.summary import summarise_plan

EXTENTS = (20, 30)


@pytest.mark.parametrize("kind", ["graph", "plan", "source", "launch"])
def test_a_view_opens(kind):
    view = rows().view(kind)
    try:
        assert "row" in str(view)
    finally:
        view.close()


def test_what_is_replicated_or_moved_is_drawn_where_it_is_used():
    summary = summarise_graph(rows().plan(), EXTENTS)
    layout = lay_out_graph(summary)
    assert {group.label for group in summary.groups} == {"sum of u over y (line 3)", "column", "u.next"}
    assert len(layout.hulls) == 3
    assert {node.instruction for node in summary.nodes} >= {"Fold", "Replicate"}


def test_the_plan_counts_cells_of_each_loop():
    summary = summarise_plan(rows().plan(), extents=EXTENTS, figures=ESTIMATE)
    loops = {row.ref.name: row for row in summary.rows}
    assert [row.cells for row in loops.values()] == [21 * 30, 20 * 31, 20 * 30]  # folds go beyond what they keep
    assert [row.bytes_written for row in loops.values()] == [0, 0, 8]  # what has one axis is nothing beside the others
