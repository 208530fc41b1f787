"""Runs as a page plays them: their pace, their sliders, and where they are held."""

import time

import numpy as np
import pytest

import workbench as wb
from tests.views.field.pages import PATIENCE, TestPage
from workbench.run.snapshots import Snapshot, take_snapshot
from workbench.solvers import advection, gray_scott, heat
from workbench.views.field.messages import opening_message
from workbench.views.field.open import axes_of
from workbench.views.field.summary import Look, plain_axes
from workbench.views.field.view import FieldView

TEXT = """\
u = field('u', boundary='periodic')
u.next = u + 0.1 * (u[+1, 0] - 2 * u + u[-1, 0]) + 1
"""


@pytest.fixture
def simulation():
    with wb.trace(TEXT, name="heat", dim=2).simulate(
        u=np.random.default_rng(3).random((12, 8)), backend="reference"
    ) as made:
        yield made


@pytest.fixture
def view(simulation):
    made = FieldView(simulation, "u", plain_axes(simulation.shape), Look())
    yield made
    made.close()


@pytest.fixture
def page(view):
    made = TestPage(view)
    view.attach(made)
    view.ready()
    made.wait("frame", lambda m: True)
    return made


@pytest.mark.parametrize("module", [heat, advection, gray_scott])
def test_solvers_label_their_axes_and_name_what_to_play_with_first(module):
    machine = module.machine(dim=1)
    values = {field.name: np.zeros(4) for field in machine.graph.fields}
    with machine.simulate(**values, dx0=0.5, backend="reference") as simulation:
        (axis,) = axes_of(simulation)
        assert (axis.name, axis.unit, axis.first, axis.last) == ("x", "", 0.25, 1.75)
        snapshot = take_snapshot(simulation, "u")
    message = opening_message(machine.graph, snapshot, (axis,), ("u",))
    names = [param["name"] for param in message.content["params"]]
    assert not {"until", "dx0"} & set(names)
    assert names[0] in {"kappa", "velocity0", "feed"}
    assert names.index("cfl") > 0


def test_sliders_end_where_a_larger_value_is_unwise():
    graph = wb.trace(
        "u = field('u')\na = param('a', 0.1, at_least=0, warn_above=0.5)\n"
        "b = param('b', 0.1, at_most=0.4, warn_above=0.5)\nu.next = a * b * u",
        dim=1,
    ).graph
    message = opening_message(graph, Snapshot("u", np.zeros(3), {"a": 0.1, "b": 0.1}, 0), (), ("u",))
    assert [param["limits"]["most"] for param in message.content["params"]] == [0.5, 0.4]


def test_play_shows_30_steps_a_second_until_a_speed_is_chosen(view, page, simulation):
    assert page.wait("status", lambda m: True)["pace"] == 30
    begin = time.monotonic()
    view.receive({"type": "play"})
    page.wait("frame", lambda m: m["step"] >= 15)
    assert time.monotonic() - begin >= 0.4  # a lower bound: a slow machine cannot break it
    assert len({frame["step"] for frame in page.of("frame")}) >= 3
    view.receive({"type": "pace", "value": None})
    page.wait("status", lambda m: m["pace"] is None and m["running"])
    page.wait("frame", lambda m: m["step"] > 300)


def test_runs_that_no_page_starts_are_not_paced(view, page, simulation):
    watcher = view._watch
    begin = time.monotonic()
    simulation.run(60)
    assert watcher.pace is None
    simulation.start(60).wait()
    assert simulation.steps == 120
    view.receive({"type": "play"})
    page.wait("status", lambda m: m["running"] and m["pace"] == 30)
    simulation.pause()
    assert simulation._march.pace_now == 30
    simulation.start()  # goes on, for who types it, as fast as it can
    assert simulation._march.pace_now is None
    page.wait("status", lambda m: m["running"] and m["pace"] is None)
    assert time.monotonic() - begin < PATIENCE


@pytest.fixture
def falling():
    """Its third step takes the root of a negative number."""
    text = "u = field('u')\nc = param('c', 0.25)\nu.next = u - c + 0 * sqrt(u)"
    with wb.trace(text, name="fall", dim=1).simulate(u=np.full(6, 0.25), backend="reference") as made:
        yield made


def test_playing_run_is_held_where_a_field_turns_nan(falling):
    seen = FieldView(falling, "u", plain_axes((6,)), Look())
    page = TestPage(seen)
    seen.attach(page)
    seen.ready()
    page.wait("frame", lambda m: True)
    seen.receive({"type": "play"})
    text = page.wait("error", lambda m: True)["text"]
    assert text.startswith("line 3: u becomes nan in cell (0,) at step 3 of fall: first made by sqrt of -0.25")
    assert text.endswith("\nHeld at step 2: Play goes on, Reset begins again.")
    page.wait("status", lambda m: not m["running"])
    page.wait("frame", lambda m: m["step"] == 2)
    assert page.of("frame")[-1]["wrong"] is None
    assert falling.paused
    seen.receive({"type": "play"})
    page.wait("frame", lambda m: m["step"] > 10 and m["wrong"])
    assert len(page.of("error")) == 1
    falling.stop()
    seen.close()


def test_nothing_is_held_where_no_page_looks(falling):
    seen = FieldView(falling, "u", plain_axes((6,)), Look())
    falling.start(200).wait()
    assert falling.steps == 200
    assert seen.png
    assert np.isnan(falling.u).all()
