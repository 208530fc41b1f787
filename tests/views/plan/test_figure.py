"""The Bokeh figures of the plan view hold what the summary says."""

from types import SimpleNamespace

import pytest

from tests.views.machines import trade_off
from tests.views.plan.summaries import summary_of
from workbench.views.plan.drawing import bars_of, draw_plan, roofline_of
from workbench.views.plan.figure import PlanCharts
from workbench.views.plan.summary import describe_plan


@pytest.fixture
def charts():
    chosen = []
    summary = summary_of(trade_off("manifest"))
    made = PlanCharts(
        summary, picture=lambda: draw_plan(summary), text=lambda: describe_plan(summary), chosen=chosen.append
    )
    yield made, summary, chosen
    made.close()


def test_columns_are_those_of_the_marks(charts):
    made, summary, _ = charts
    assert made._bars.data["name"] == [bar.name for bar in bars_of(summary)]
    assert made._marks.data["x"] == [mark.intensity for mark in roofline_of(summary).marks]
    assert list(made._memory.yaxis[0].major_label_overrides.values()) == ["0: u, u.next", "1: b"]


def test_another_summary_replaces_all_of_it(charts):
    made, _, _ = charts
    other = summary_of(trade_off(), measured={"step_0_u": 1e-3})
    made.update(other, ("step_0_u",))
    assert made._marks.data["kind"] == ["predicted", "measured"]
    assert made._marks.data["width"] == [4, 4]
    assert len(made._memory.xaxis[0].ticker.ticks) == len(other.launches)


def test_a_click_near_a_mark_chooses_its_sub_kernel(charts):
    made, summary, chosen = charts
    mark = roofline_of(summary).marks[1]
    made._tapped(SimpleNamespace(x=mark.intensity * 1.01, y=mark.speed / 1e9))
    assert chosen == [mark.name]
    made._tapped(SimpleNamespace(x=mark.intensity * 1.01, y=mark.speed / 1e9 * 50))
    made._tapped(SimpleNamespace(x=None, y=None))
    assert chosen == [mark.name]


def test_hollow_marks_are_hollow_on_any_page(charts):
    made, _, _ = charts
    fills = {kind: fill for kind, fill in zip(made._marks.data["kind"], made._marks.data["fill"], strict=True)}
    assert fills["predicted"] == "#00000000"  # nothing of its own, so that a dark page is seen through it
