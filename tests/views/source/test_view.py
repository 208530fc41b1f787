"""The source view, with a page that only listens."""

import pytest

from tests.kit.ear import Ear, body
from tests.views.machines import trade_off
from workbench.errors import PlanError, RunError
from workbench.machine import trace
from workbench.views.inspection.inspection import Inspection
from workbench.views.inspection.selection import CellLine, SubkernelRef, value_named
from workbench.views.kinds import VIEWS
from workbench.views.page.live import LIVE_ADVICE, MIME
from workbench.views.source.view import SourceView, open_source_view


@pytest.fixture
def looked_at():
    ear = Ear()
    inspection = Inspection(trade_off(), backend="openmp")
    view = SourceView(inspection, ear)
    yield ear, inspection, view
    view.close()


def test_a_page_gets_the_text_and_then_the_report(looked_at):
    ear, _, view = looked_at
    ear.listener.ready()
    sent = body(ear.wait("text"))
    assert sent["title"] == "Source of trade"
    assert sent["before"] is None
    lines = ["".join(pieces[1::2]) for _, pieces, _, _, _ in sent["after"]["lines"]]
    assert "\n".join(lines) == view.summary.text.plain
    assert [number for number, *_ in sent["cell"]] == [1, 2, 3, 4, 5]
    ear.wait("text", lambda m: any(part["report"] for part in body(m)["parts"]))


def test_a_clicked_line_selects_its_value_everywhere(looked_at):
    ear, inspection, view = looked_at
    ear.listener.ready()
    (line,) = [x.number for x in view.summary.text.lines if "b_xp1 = " in x.text]
    ear.listener.receive({"type": "line", "number": line})
    told = ear.wait("selected", lambda m: m.content["text"].startswith("b: Delayed")).content
    assert inspection.selection == value_named(inspection.plan, "b")
    assert line in told["lines"]
    assert list(told["cell"]) == [4]
    ear.listener.receive({"type": "cell", "number": 5})
    ear.wait("selected", lambda m: m.content["text"] == "line 5 of the cell")
    assert inspection.selection == CellLine(5)


def test_a_line_that_computes_nothing_selects_its_sub_kernel(looked_at):
    ear, inspection, view = looked_at
    ear.listener.ready()
    (function,) = [f for f in view.summary.text.functions if f.subkernels]
    ear.listener.receive({"type": "line", "number": function.first})
    ear.wait("selected", lambda m: "sub-kernel" in m.content["text"])
    assert inspection.selection == SubkernelRef("step", "step_0_u")
    ear.listener.receive({"type": "line", "number": 10_000})
    ear.wait("selected", lambda m: m is ear.of("selected")[-1] and m.content["text"] == "")


def test_a_flip_shows_both_texts_and_undo_takes_it_back(looked_at):
    ear, inspection, _ = looked_at
    ear.listener.ready()
    inspection.select("b")
    ear.wait("buttons", lambda m: any(b["label"] == "Flip b" and not b["disabled"] for b in m.content["buttons"]))
    ear.listener.receive({"type": "button", "name": "flip"})
    sent = body(ear.wait("text", lambda m: body(m)["before"] is not None))
    assert sent["rows"]
    assert sent["folds"]
    before = len(ear.of("text"))
    ear.listener.receive({"type": "button", "name": "undo"})
    ear.wait("text", lambda m: ear.of("text").index(m) >= before and body(m)["before"] is None)


def test_a_refused_flip_is_told_on_the_button(looked_at):
    ear, inspection, _ = looked_at
    ear.listener.ready()
    inspection.select("u")
    pressed = ear.wait("buttons", lambda m: "u" in m.content["buttons"][0]["label"]).content["buttons"][0]
    assert pressed["disabled"]
    assert "field" in pressed["title"]


def test_another_backend_is_a_choice_of_the_page(looked_at):
    ear, inspection, _ = looked_at
    ear.listener.ready()
    ear.listener.receive({"type": "choice", "name": "backend", "value": "cuda"})
    ear.wait("text", lambda m: "cuda" in body(m)["after"]["title"])
    assert inspection.language == "cuda"


def test_the_compiler_named_below_is_that_of_the_text_shown(looked_at):
    ear, _, view = looked_at
    ear.listener.ready()
    spoken = view.report().title
    ear.listener.receive({"type": "choice", "name": "backend", "value": "cuda"})
    ear.wait("text", lambda m: "cuda" in body(m)["after"]["title"])
    ear.wait("status", lambda m: m is ear.of("status")[-1] and m.content["text"] != f"Reports by {spoken}.")
    count = len(ear.of("status"))
    ear.listener.receive({"type": "choice", "name": "backend", "value": "openmp"})
    ear.wait("status", lambda m: m in ear.of("status")[count:] and m.content["text"] == f"Reports by {spoken}.")


def test_what_stands_beside_can_be_chosen(looked_at):
    _, inspection, view = looked_at
    inspection.flip("b")
    assert view.summary.before is not None
    view.beside("nothing")
    assert view.summary.before is None
    view.beside("compared")
    assert view.summary.before is None
    inspection.compare(trade_off("manifest").choices)
    assert view.summary.before is None  # the very same text
    inspection.compare(trade_off().choices)
    assert view.summary.before is not None
    with pytest.raises(PlanError, match="is unknown"):
        view.beside("something")


def test_unreadable_messages_are_ignored(looked_at):
    ear, inspection, _ = looked_at
    ear.listener.ready()
    for message in ({}, {"type": "line"}, {"type": "choice", "name": "beside", "value": 3}, {"type": "button"}):
        ear.listener.receive(message)
    ear.listener.receive({"type": "cell", "number": 2})
    ear.wait("selected", lambda m: m.content["text"] == "line 2 of the cell")
    assert not ear.of("error")
    assert inspection.choices == trade_off().choices


def test_closing_frees_page_thread_and_listeners(looked_at):
    ear, inspection, view = looked_at
    ear.listener.ready()
    ear.wait("text")
    view.close()
    view.close()
    assert ear.closed
    assert ear.listener is None
    count = len(ear.heard)
    inspection.flip("b")
    assert len(ear.heard) == count


def test_static_forms():
    view = SourceView(Inspection(trade_off(), backend="openmp"))
    bundle = view._repr_mimebundle_()
    assert bundle["text/plain"].startswith("trade, openmp: ")
    assert bundle["text/plain"].endswith(LIVE_ADVICE)
    assert "sweep_step_0_u" in bundle["text/html"]
    assert MIME not in bundle
    view.inspection.flip("b")
    compared = view._repr_mimebundle_()["text/html"]
    assert 'class="gone"' in compared
    assert 'class="new"' in compared
    assert "equal lines" in compared
    assert "<script" not in compared


def test_a_live_view_names_its_model(looked_at):
    _, _, view = looked_at
    assert view._repr_mimebundle_()[MIME] == {"version": 1, "model_id": "m1"}


def test_opening_by_the_registry():
    view = VIEWS["source"].open(trade_off(), backend="cuda")
    assert "__global__" in repr(view)
    view.close()
    with pytest.raises(RunError, match="no source is generated for backend 'reference'"):
        open_source_view(trade_off(), backend="reference")


@pytest.mark.parametrize(("values", "told"), [(100, []), (300, ["writing the source of large, 900 values ..."])])
def test_a_page_hears_of_a_large_source_that_it_is_being_written(monkeypatch, values, told):
    monkeypatch.setattr("workbench.views.source.view.LONG", 0)  # no compiler
    large = trace(f"u = field('u')\nw = u\nfor k in range({values}):\n    w = w * u + k\nu.next = w", name="large")
    ear, inspection = Ear(), Inspection(large, backend="openmp")
    view = SourceView(inspection, ear)
    ear.listener.ready()
    ear.wait("status", lambda m: not m.content["text"])
    kinds = [m.content["type"] for m in ear.heard]
    assert [m.content["text"] for m in ear.of("status") if m.content["text"]] == told
    assert kinds.index("text") == len(told)
    view.beside("nothing")
    ear.wait("text", lambda m: ear.of("text").index(m) == 1)
    assert [m.content["text"] for m in ear.of("status") if m.content["text"]] == 2 * told
    view.close()
