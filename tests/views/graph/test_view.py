"""The graph view without a page, and with one that only listens."""

import json
import re

import pytest
from ipywidgets.widgets import widget

from tests.kit.cells import HELLO
from tests.views.page.pane_ear import Ear
from workbench.machine import trace
from workbench.planning.kernel_plan import Storage
from workbench.views.graph.layout import lay_out_graph
from workbench.views.graph.open import open_graph_view
from workbench.views.graph.view import GraphView
from workbench.views.inspection.inspection import Inspection, Measurement, Status
from workbench.views.page.live import LIVE_ADVICE, MIME

TWO = 'u = field("u")\n@kernel\ndef init():\n    u.next = 1.5\nw = u * u\nu.next = w + 1'


@pytest.fixture
def view():
    made = GraphView(Inspection(trace(HELLO, name="hello")))
    yield made
    made.close()


def test_flip_and_undo_change_the_picture(view):
    before = view.png
    view.flip(1)
    assert len(view.summary.groups) == 2
    assert view.png != before
    view.undo()
    assert view.png == before
    view.undo()
    assert view.words().endswith("there is nothing to undo")
    view.redo()
    view.redo()
    assert view.words().endswith("there is nothing to redo")


def test_refusals_become_words(view):
    view.flip(2)
    assert "z cannot be flipped: it is Manifest, because its array becomes field density" in view.words()
    view.select(1)
    assert "cannot" not in view.words()
    view.select(None)
    view.mark_sync()
    assert view.words().endswith("select a value first")


def test_words_show_before_and_now_with_what_was_measured(view):
    view.inspection.report_measured(Measurement(view.inspection.choices, "openmp", (64,), 1.5))
    view.flip(1)
    view.inspection.report_status(Status("compiling", busy=True))
    lines = view.words().splitlines()
    assert lines[0] == (
        "before: hello: 1 sub-kernel; 1 Manifest, 1 Delayed; 16 bytes a cell; measured 1.5 ± 0.1 s a step on openmp"
    )
    assert lines[1] == "now: hello: 2 sub-kernels; 2 Manifest, 0 Delayed; 32 bytes a cell"
    assert lines[2] == "compiling"


@pytest.mark.parametrize(
    ("comparison", "changed"),
    [
        ("all Manifest", ()),
        ("all Delayed", (1,)),
        ("as it was opened", (1,)),
        ("before the last change", (1,)),
        ("nothing", ()),
    ],
)
def test_comparison_rings_what_differs(view, comparison, changed):
    view.flip(1)
    view.compare(comparison)
    assert view.summary.changed == changed


def test_another_kernel_is_drawn():
    view = GraphView(Inspection(trace(TWO, name="two")))
    assert view.kernel == "step"
    view.show_kernel("init")
    assert view.summary.kernel == "init"
    view.inspection.select("w")
    assert view.current is None
    assert view.selected == frozenset()
    view.show_kernel("step")
    assert view.summary.nodes[view.current].title == "w"


def test_folded_and_hidden_values_are_revealed(view):
    view.fold_all()
    assert view.layout.node_place(1) is None
    view.reveal(1)
    assert view.layout.node_place(1) is not None
    view.fold(0)
    view.fold_all()  # all were folded
    assert view.layout.node_place(1) is not None


def test_closed_view_hears_no_more(view):
    view.close()
    view.inspection.flip("y")
    assert len(view.summary.groups) == 1


def test_without_the_libraries_there_is_a_picture_and_the_name_of_the_extra(monkeypatch):
    monkeypatch.setattr("workbench.views.graph.open.find_spec", lambda name: None)
    view = trace(HELLO, name="hello").view()
    bundle = view._repr_mimebundle_()
    assert LIVE_ADVICE in bundle["text/plain"]
    assert bundle["image/png"].startswith("iVBOR")
    assert MIME not in bundle
    assert view.svg.startswith("<svg")


def test_words_say_that_a_step_is_being_measured():
    machine = trace(HELLO, name="hello")
    with machine.simulate(density=0.1, shape=8, backend="reference") as simulation:
        inspection = Inspection(machine, simulation=simulation)
        view = open_graph_view(inspection)
        assert "measuring" not in view.words()
        simulation.start()
        assert view.words().splitlines()[0].endswith("; measuring ...")
        inspection.report_measured(Measurement(inspection.choices, "reference", (8,), 1.26e-3, (), 4e-5))
        assert view.words().splitlines()[0].endswith("; measured 1.3 ± 0.1 ms a step on reference")
        view.close()


class Cell:
    """What the cell that waits has shown."""

    def __init__(self):
        self.shown = []

    def display(self, value, raw, display_id):
        self.shown.append(value["text/plain"])
        return self

    def update(self, value, raw):
        self.shown.append(value["text/plain"])


class TestALargeGraph:
    @pytest.fixture(autouse=True)
    def cell(self, monkeypatch):
        cell = Cell()
        monkeypatch.setattr("workbench.views.graph.open.LARGE", 1)
        monkeypatch.setattr("workbench.views.graph.view.LARGE", 1)
        monkeypatch.setattr("workbench.views.page.slow_notice.in_kernel", lambda: True)
        monkeypatch.setattr("workbench.views.page.slow_notice.display", cell.display)
        return cell

    @pytest.mark.parametrize("inspected", [False, True])
    def test_cell_says_at_once_that_it_is_laid_out_and_how_long_that_took(self, cell, inspected):
        machine = trace(HELLO, name="hello")
        open_graph_view(Inspection(machine) if inspected else machine).close()
        before, after = cell.shown
        assert re.fullmatch(
            r"laying out the graph of hello, \d+ values \.\.\.\nTo stop: the ■ button, or Esc I I\.", before
        )
        assert re.fullmatch(r"the graph of hello, \d+ values, was laid out in [\d.]+ m?s", after)

    @pytest.mark.parametrize("where", ["view.lay_out_graph", "figure.letterings"])
    def test_stopped_it_leaves_nothing(self, cell, monkeypatch, where):
        def stop(*_):
            raise KeyboardInterrupt

        monkeypatch.setattr(f"workbench.views.graph.{where}", stop)
        known = set(widget._instances)
        inspection = Inspection(trace(HELLO, name="hello"))
        with pytest.raises(KeyboardInterrupt):
            open_graph_view(inspection)
        assert cell.shown[0].startswith("laying out the graph of hello")
        assert cell.shown[1:] == [""]
        assert set(widget._instances) == known
        assert not any(inspection._listeners.values())

    def test_page_says_it_until_the_new_drawing_is_there(self, monkeypatch):
        view = open_graph_view(Inspection(trace(HELLO, name="hello")))
        ear = Ear(view.page._pane)
        ear.open()
        monkeypatch.setattr("workbench.views.graph.view.lay_out_graph", watched := Watched(lay_out_graph, ear))
        for change in (lambda: view.flip(1), view.fold_all):
            change()
            assert watched.last_words.startswith("laying out the graph of hello, ")
            with ear.more:
                assert ear.more.wait_for(lambda: "laying out" not in said_last(ear), 10)
        view.close()


def said_last(ear):
    return ear.of("status")[-1].content["text"]


class Watched:
    """What the page was told last when it was called last."""

    def __init__(self, function, ear):
        self.function, self.ear, self.last_words = function, ear, ""

    def __call__(self, *arguments):
        self.last_words = said_last(self.ear)
        return self.function(*arguments)


class TestOnAPage:
    @pytest.fixture
    def parts(self):
        view = open_graph_view(Inspection(trace(HELLO, name="hello")))
        ear = Ear(view.page._pane)
        ear.open()
        yield view, ear
        view.close()

    def press(self, ear, key):
        ear.pane.widget.hear({"type": "key", "key": key})

    def said(self, ear, words):
        with ear.more:
            assert ear.more.wait_for(lambda: any(words in m.content["text"] for m in ear.of("status")), 10), words

    def test_document_has_the_nodes_and_their_marks(self, parts):
        view, ear = parts
        body = json.dumps(json.loads(ear.of("document")[0].buffers[0]))
        assert "density * density" in body
        assert '"square_pin"' in body
        legend = [entry["text"] for entry in ear.of("document")[0].content["legend"]]
        assert "Manifest" in legend
        assert "arithmetic" in legend
        assert view._repr_mimebundle_()[MIME]["model_id"] == ear.pane.widget.model_id

    def test_keys_select_flip_and_undo(self, parts):
        view, ear = parts
        self.press(ear, "ArrowRight")
        self.press(ear, "ArrowRight")
        self.said(ear, "y = density * density: Delayed")
        self.press(ear, "f")
        self.said(ear, "now: hello: 2 sub-kernels")
        assert view.inspection.plan.main.storage[1] is Storage.MANIFEST
        patch = json.loads(ear.wait("patch")[-1].content["content"])
        assert patch["events"]
        self.press(ear, "Control+z")
        self.press(ear, "Escape")
        self.press(ear, "s")
        self.said(ear, "select a value first")
        assert view.inspection.plan.main.storage[1] is Storage.DELAYED

    def test_choices_are_handed_over_as_lines_to_paste(self, parts):
        view, ear = parts
        view.inspection.flip("y")
        ear.pane.widget.hear({"type": "tool", "name": "hints", "value": ""})
        assert ear.wait("copy")[-1].content["text"] == view.hints()
        assert view.hints().endswith("\nmanifest(y)")

    def test_tools_are_offered_only_where_there_is_something_to_do(self, parts):
        _, ear = parts

        def disabled(name):
            found = [s for m in ear.of("tools") for s in m.content["states"] if s["name"] == name]
            return found[-1]["disabled"]

        ear.wait("tools")
        assert disabled("flip")
        assert disabled("undo")
        ear.pane.widget.hear({"type": "tool", "name": "find", "value": "y"})
        with ear.more:
            assert ear.more.wait_for(lambda: not disabled("flip"), 10)
        ear.pane.widget.hear({"type": "tool", "name": "flip", "value": ""})
        with ear.more:
            assert ear.more.wait_for(lambda: not disabled("undo"), 10)
        ear.pane.widget.hear({"type": "tool", "name": "find", "value": "quark"})
        self.said(ear, "nothing is called 'quark'")
