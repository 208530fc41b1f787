"""All views of a machine in one widget."""

import re

import numpy as np
import pytest
from ipywidgets.widgets import widget

from tests.kit.cells import CHAIN, HELLO
from workbench.errors import RunError
from workbench.machine import trace
from workbench.solvers import hydro
from workbench.views.inspection.selection import value_named
from workbench.views.inspector.html import ViewSection, parts_html
from workbench.views.inspector.inspector import _TITLES, SIDES, open_inspector
from workbench.views.kinds import VIEWS
from workbench.views.page.live import CLOSED_ADVICE, LIVE_ADVICE, MIME


@pytest.fixture
def hello():
    return trace(HELLO, name="hello")


def test_every_registered_view_has_a_tab_and_a_title():
    assert set(VIEWS) <= {name for side in SIDES for name in side}
    assert set(VIEWS) <= set(_TITLES)


def test_views_share_plan_and_selection(hello):
    inspector = hello.inspect()
    machine_views = {name for name, kind in VIEWS.items() if kind.of == "machine"}
    assert set(inspector.views) == machine_views
    assert all(view.inspection is inspector.inspection for view in inspector.views.values())
    inspector.views["graph"].flip(1)
    assert "2 sub-kernels" in repr(inspector)
    inspector.inspection.select("y")
    assert inspector.views["graph"].current == value_named(inspector.inspection.plan, "y").node
    inspector.close()
    inspector.close()


def test_without_a_simulation_the_field_says_what_to_do(hello):
    inspector = open_inspector(hello)
    assert "machine.inspect(sim)" in inspector.problems["field"]
    assert "machine.inspect(sim)" in repr(inspector)
    inspector.close()


def test_simulation_runs_what_is_flipped(hello):
    with hello.simulate(density=np.linspace(0, 1, 32), backend="reference") as simulation:
        inspector = hello.inspect(simulation)
        assert inspector.views["field"].summary.name == "density"
        inspector.inspection.flip("y")
        simulation.run(1)
        np.testing.assert_array_equal(simulation.density, 2 * np.linspace(0, 1, 32) ** 2)
        inspector.close()


def test_simulation_of_another_program_is_refused(hello):
    chain = trace(CHAIN, name="chain").simulate(u=np.ones(8), backend="reference")
    with chain, pytest.raises(RunError, match="runs chain, which is not this hello"):
        hello.inspect(chain)


def test_view_that_cannot_be_opened_costs_itself_only(hello, monkeypatch):
    def missing(*_, **__):
        raise ModuleNotFoundError("no such thing", name="bokeh")

    monkeypatch.setattr("workbench.views.graph.open.GraphView", missing)
    inspector = hello.inspect()
    assert "bokeh is not installed" in inspector.problems["graph"]
    assert "source" in inspector.views
    assert "image/png" not in inspector._repr_mimebundle_()
    inspector.close()


def test_it_is_live_where_ipywidgets_is_and_a_picture_elsewhere(hello, monkeypatch):
    monkeypatch.delenv("VSCODE_PID", raising=False)
    inspector = hello.inspect()
    bundle = inspector._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html", "image/png", MIME}
    inspector.close()
    monkeypatch.setattr("workbench.views.inspector.inspector.find_spec", lambda name: None)
    bundle = hello.inspect()._repr_mimebundle_()
    assert MIME not in bundle
    assert LIVE_ADVICE in bundle["text/plain"]
    assert bundle["image/png"].startswith("iVBOR")


def test_closed_inspector_says_how_to_get_another(hello):
    inspector = hello.inspect()
    inspector.close()
    bundle = inspector._repr_mimebundle_()
    assert bundle["text/plain"].endswith(CLOSED_ADVICE)
    assert bundle[MIME] == {"version": 1, "closed": True}


def test_closing_leaves_no_widget_behind(hello):
    widgets = widget._instances
    before = set(widgets)
    with hello.simulate(density=1.0, shape=8, backend="reference") as simulation:
        for running in (simulation, None):  # without one there are words in the place of the field
            inspector = hello.inspect(running)
            assert set(widgets) - before
            inspector.close()
            inspector.close()
            assert not set(widgets) - before


def test_a_saved_notebook_shows_every_part(hello):
    with hello.simulate(density=np.linspace(0, 1, 32), backend="reference") as simulation:
        inspector = hello.inspect(simulation)
        bundle = inspector._repr_mimebundle_()
        inspector.close()
    page = bundle["text/html"]
    for title in _TITLES.values():
        assert f"<summary>{title} of hello</summary>" in page
        assert f"{title}:\n" in bundle["text/plain"]
    assert page.count("<svg") == 4  # graph, plan, launch, field
    assert '<table role="table">' in page
    assert "density: 32 cells at step 0" in page
    assert "lines of C++" in page


def test_what_a_saved_notebook_keeps_of_a_large_machine_is_small():
    inspector = hydro.machine(dim=2).inspect()
    bundle = inspector._repr_mimebundle_()
    inspector.close()
    assert sum(len(str(part)) for part in bundle.values()) < 200_000
    for words in (bundle["text/plain"], bundle["text/html"]):
        assert re.search(r"lines \d+ to \d+ of \d+ lines of C\+\+", words)


def test_a_part_that_is_too_large_is_left_in_words():
    page = parts_html(
        "m", [ViewSection("graph", "Graph", "3 values", "x" * 200_000), ViewSection("plan", "Plan", "", "<table>")]
    )
    assert "x" * 100 not in page
    assert "left out: 200 kB" in page
    assert "3 values" in page
    assert "<table>" in page


def test_names_and_words_are_escaped():
    page = parts_html("a<b", [ViewSection("new", "New", "<script>")])
    assert "a&lt;b" in page
    assert "&lt;script&gt;" in page
