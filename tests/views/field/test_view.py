"""A view and a page of the test's own."""

import base64
import threading
import time

import numpy as np
import pytest

import workbench as wb
from tests.views.field.pages import PATIENCE, TestPage
from workbench.errors import FieldError, RunError
from workbench.run import scheduling
from workbench.run.hooks import unwatch, watch
from workbench.run.probe import probe_name
from workbench.views.field.open import axes_of, open_field_view
from workbench.views.field.summary import Look, plain_axes
from workbench.views.field.view import FieldView
from workbench.views.kinds import VIEWS
from workbench.views.page.live import LIVE_ADVICE, MIME

TEXT = """\
u = field('u', boundary='periodic')
c = param('c', 0.1, above=0, at_most=0.5)
twice = 2 * u
u.next = u + c * (u[+1, 0] - twice + u[-1, 0]) + 1
"""


@pytest.fixture
def simulation():
    with wb.trace(TEXT, name="heat").simulate(u=np.random.default_rng(3).random((12, 8)), backend="reference") as made:
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


def test_opening_comes_before_the_first_frame(page):
    assert [message["type"] for message in page.messages[:2]] == ["opening", "frame"]
    opening = page.messages[0]
    assert opening["machine"] == "heat"
    limits = {"least": None, "above": 0, "most": 0.5}
    assert opening["params"] == [{"name": "c", "unit": "", "kind": "float", "value": 0.1, "limits": limits}]


def test_play_shows_later_and_later_steps_until_paused(view, page, simulation):
    view.receive({"type": "play"})
    page.wait("status", lambda m: m["running"])
    page.wait("frame", lambda m: m["step"] > 5)
    view.receive({"type": "pause"})
    page.wait("frame", lambda m: m["step"] == simulation.steps and simulation.paused)
    assert page.of("status")[-1]["running"] is False or page.wait("status", lambda m: not m["running"])


def test_step_reset_and_slider(view, page, simulation):
    view.receive({"type": "step"})
    page.wait("frame", lambda m: m["step"] == 1)
    view.receive({"type": "set", "name": "c", "value": 0.25})
    page.wait("status", lambda m: m["params"] == {"c": 0.25})
    assert simulation.c == 0.25
    before = view.summary.values
    page.messages.clear()
    view.receive({"type": "reset"})
    page.wait("frame", lambda m: m["step"] == 0)
    assert simulation.steps == 0
    assert simulation.c == 0.25
    assert not np.array_equal(view.summary.values, before)


def test_step_of_a_paused_run_stays_paused(view, page, simulation):
    view.receive({"type": "pace", "value": 50})
    view.receive({"type": "play"})
    page.wait("frame", lambda m: m["step"] > 0)
    simulation.pause()
    steps = simulation.steps
    view.receive({"type": "step"})
    page.wait("frame", lambda m: m["step"] == steps + 1)
    assert simulation.paused
    assert simulation.steps == steps + 1


def test_changes_from_the_notebook_are_seen(page, simulation):
    simulation["u"] = 5.0
    page.wait("frame", lambda m: m["planes"][0]["minimum"] == m["planes"][0]["maximum"] == 5.0)


def test_smooth_frames_are_packed_and_noise_is_not():
    noise = np.random.default_rng(1).normal(size=(160, 160))
    with wb.trace(TEXT, name="wide").simulate(u=np.zeros((160, 160)), backend="reference") as wide:
        seen = FieldView(wide, "u", plain_axes(wide.shape), Look())
        page = TestPage(seen)
        seen.attach(page)
        seen.ready()
        page.wait("frame", lambda m: m["planes"][0]["packed"])
        wide["u"] = noise
        page.wait("frame", lambda m: m["planes"][0]["maximum"] == noise.max() and not m["planes"][0]["packed"])
        seen.close()


def test_turns_are_short_while_a_page_looks(view, monkeypatch):
    """Other pages of other tests may look, too, so nothing real is set."""
    noted = [0.005]
    setting = scheduling.Meanwhile(lambda: noted[-1], noted.append, lambda before: 0.001)
    monkeypatch.setattr(scheduling, "short_turns", setting)
    page = TestPage(view)
    view.attach(page)
    assert noted == [0.005]
    view.ready()
    page.wait("frame", lambda m: True)
    assert noted == [0.005, 0.001]
    view.close()
    assert noted == [0.005, 0.001, 0.005]


def test_page_that_does_not_answer_slows_nobody(view, simulation):
    page = TestPage(view, answers=False)
    view.attach(page)
    view.ready()
    simulation.run(200)
    page.wait("frame", lambda m: m["step"] == 200)
    assert len(page.of("frame")) < 200


def test_nothing_is_sent_before_a_page_is_ready(view, simulation):
    page = TestPage(view)
    view.attach(page)
    view.receive({"type": "play"})
    simulation.run(3)
    assert page.messages == []


def test_page_that_left_costs_nothing_and_may_come_back(view, page, simulation):
    view.leave()
    count = len(page.messages)
    simulation.run(3)
    assert len(page.messages) == count
    for thread in threading.enumerate():  # leaving does not wait for it
        if thread.name == "field view":
            thread.join(10)
            assert not thread.is_alive()
    view.ready()
    page.wait("frame", lambda m: m["step"] == 3)


def test_closing_frees_page_and_thread(view, page):
    view.close()
    view.close()
    view.ready()
    assert page.closed
    assert "field view" not in {thread.name for thread in threading.enumerate() if thread.is_alive()}


def test_errors_reach_the_page_and_the_view_lives_on(view, page, simulation):
    view.receive({"type": "set", "name": "u", "value": 1})
    assert "not a param" in page.wait("error", lambda m: True)["text"]
    view.receive({"type": "step"})
    page.wait("frame", lambda m: m["step"] == 1)


def test_error_does_not_drop_what_was_asked_with_it(view, page, simulation):
    for _ in range(3):
        view.receive({"type": "set", "name": "nothing", "value": 1})
        view.receive({"type": "set", "name": "u", "value": 1})
        view.receive({"type": "step"})
    page.wait("frame", lambda m: m["step"] == 3)


def test_unexpected_fault_is_told_and_the_view_lives_on(view, page, simulation, monkeypatch):
    def fail(*_):
        raise MemoryError("no room")

    with monkeypatch.context() as patched:
        patched.setattr("workbench.views.field.looking.summarise", fail)
        simulation.run(1)
        told = page.wait("error", lambda m: m["text"].startswith("MemoryError: no room in test_view.py, line "))
        assert told["text"].endswith("; this view goes on\nClose other views, or take fewer cells.")
    simulation.run(1)
    page.wait("frame", lambda m: m["step"] == 2)


def test_failure_of_the_run_is_told_though_nobody_waits(view, page, simulation):
    def fail(event):
        raise ValueError("the disk is full")

    simulation.start(progress=fail)
    told = page.wait("error", lambda m: m["text"].startswith("ValueError: the disk is full in test_view.py, line "))
    assert "; the run has ended\nReport this" in told["text"]
    page.wait("status", lambda m: not m["running"])
    with pytest.raises(ValueError, match="disk"):
        simulation.wait()
    simulation.run(2)
    page.wait("frame", lambda m: m["step"] == 2)


def test_closed_simulation_ends_the_view(view, page, simulation):
    simulation.close()
    view.receive({"type": "step"})
    page.wait("error", lambda m: "closed" in m["text"] and m["ended"])


def test_value_that_must_be_compiled_holds_up_neither_frames_nor_run(view, page, simulation, monkeypatch):
    held = threading.Event()

    def wait_and_compile(*arguments):
        assert held.wait(PATIENCE)
        return probe_name(*arguments)

    monkeypatch.setattr("workbench.run.simulation.probe_name", wait_and_compile)
    view.receive({"type": "play"})
    view.receive({"type": "switch", "name": "twice"})
    page.wait("status", lambda m: m["waitsFor"] == "twice")
    steps = simulation.steps
    page.wait("frame", lambda m: m["step"] > steps + 5)
    assert {frame["name"] for frame in page.of("frame")} == {"u"}
    held.set()
    page.wait("frame", lambda m: m["name"] == "twice")
    page.wait("status", lambda m: m["running"] and m["waitsFor"] == "")


def test_recording_is_handed_over_when_another_value_is_chosen(view, page):
    view.receive({"type": "record", "value": True})
    view.receive({"type": "step"})
    page.wait("frame", lambda m: m["step"] == 1)
    view.receive({"type": "switch", "name": "twice"})
    assert page.wait("file", lambda m: True)["name"] == "u.gif"
    page.wait("frame", lambda m: m["name"] == "twice")
    page.wait("status", lambda m: m["recorded"] is None)


def test_last_value_asked_for_is_shown_though_another_takes_longer(view, page):
    view.receive({"type": "switch", "name": "twice"})
    view.receive({"type": "switch", "name": "u"})
    view.receive({"type": "step"})
    page.wait("frame", lambda m: m["step"] == 1)
    for thread in threading.enumerate():
        if thread.name == "probe":
            thread.join(PATIENCE)
    view.receive({"type": "step"})
    page.wait("frame", lambda m: m["step"] == 2)
    assert {frame["name"] for frame in page.of("frame")} == {"u"}


def test_point_limits_and_palette(view, page, simulation):
    view.receive({"type": "point", "column": 0, "row": 7})
    assert page.wait("point", lambda m: True)["cell"] == [0, 0]
    assert page.of("point")[0]["text"] == repr(float(simulation.u[0, 0]))
    view.receive({"type": "limits", "value": "held"})
    page.wait("status", lambda m: m["limits"] == "held")
    low = view.summary.low
    simulation["u"] = 100.0
    page.wait("frame", lambda m: m["planes"][0]["minimum"] == 100.0 and m["low"] == low)
    view.receive({"type": "palette", "value": "RdBu"})
    page.wait("frame", lambda m: m["palette"] == "RdBu")


def test_bundle_without_a_page_has_picture_words_and_advice(view):
    bundle = view._repr_mimebundle_()
    assert base64.b64decode(bundle["image/png"]).startswith(b"\x89PNG")
    assert bundle["text/plain"].endswith(LIVE_ADVICE)
    assert MIME not in bundle


def test_sim_view_is_live_where_ipywidgets_is_installed(simulation):
    view = simulation.view("u", palette="cividis", limits=(0.0, 2.0))
    bundle = view._repr_mimebundle_()
    assert bundle[MIME]["model_id"]
    assert LIVE_ADVICE not in bundle["text/plain"]
    assert view.summary.high == 2.0
    view.close()


def test_sim_view_without_ipywidgets_is_a_picture(simulation, monkeypatch):
    monkeypatch.setattr("workbench.views.field.open.find_spec", lambda name: None)
    assert MIME not in simulation.view("u")._repr_mimebundle_()


def test_bad_looks_are_refused(simulation):
    with pytest.raises(RunError, match="viridis, cividis, RdBu_r, RdBu"):
        simulation.view("u", palette="jet")
    with pytest.raises(RunError, match="low < high"):
        simulation.view("u", limits=(1, 1))
    with pytest.raises(FieldError, match="c is a number"):
        simulation.view("c")


def test_coordinates_label_the_axes():
    text = "u = field('u', boundary='periodic')\ncoordinate(0, 0.5 * index(0), name='r', unit='m')\nu.next = u[+1]"
    with wb.trace(text).simulate(u=np.zeros(5), backend="reference") as simulation:
        (axis,) = axes_of(simulation)
    assert (axis.name, axis.unit, axis.first, axis.last) == ("r", "m", 0.0, 2.0)


def test_one_spacing_labels_all_axes():
    text = (
        "u = field('u')\ndx = param('dx', 0.5, unit='km')\n"
        "x, y, z = coordinate(spacing=(dx, 4 / size(0), 2), origin=(0, 1, 0), unit='km')\nu.next = u + 0 * (x + y + z)"
    )
    with wb.trace(text, dim=3).simulate(u=np.zeros((8, 4, 2)), dx=0.25, backend="reference") as simulation:
        axes = axes_of(simulation)
    assert [(axis.name, axis.unit, axis.first, axis.last) for axis in axes] == [
        ("x", "km", 0.125, 1.875),
        ("y", "km", 1.25, 2.75),
        ("z", "km", 1.0, 3.0),
    ]


def test_registry_opens_views(simulation):
    assert VIEWS["field"].open is open_field_view
    assert all(kind.name == name and kind.what for name, kind in VIEWS.items())


def test_pace_slows_a_run(simulation):
    watched = watch(simulation, lambda: None, 1 / 60)
    watched.pace = 100.0
    begin = time.monotonic()
    simulation.run(30)
    assert time.monotonic() - begin >= 0.25  # a lower bound: a slow machine cannot break it
    unwatch(simulation, watched)


@pytest.mark.filterwarnings("ignore::workbench.run.values.ParamWarning")
def test_a_value_that_is_unwise_is_told_as_long_as_it_is_set():
    text = TEXT.replace("at_most=0.5", "warn_above=0.5")
    with wb.trace(text, name="heat").simulate(u=np.zeros((4, 4)), backend="reference") as simulation:
        view = FieldView(simulation, "u", plain_axes(simulation.shape), Look())
        page = TestPage(view)
        view.attach(page)
        view.ready()
        page.wait("status", lambda m: m["note"] == "")
        view.receive({"type": "set", "name": "c", "value": 0.8})
        page.wait("status", lambda m: m["note"] == "c=0.8 is above 0.5, up to which it is known to work")
        view.receive({"type": "set", "name": "c", "value": 0.4})
        page.wait("status", lambda m: m["params"]["c"] == 0.4 and m["note"] == "")
        view.close()
