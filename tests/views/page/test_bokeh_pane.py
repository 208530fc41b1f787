"""The pane for Bokeh documents, with a page that only listens."""

import json
import threading

import bokeh
import numpy as np
import pytest
from bokeh.models import ColumnDataSource, Range1d
from bokeh.plotting import figure

from tests.views.page.pane_ear import SECONDS, Ear
from workbench.views.drawing.shapes import Drawing, rectangle
from workbench.views.page.bokeh_pane import BokehPane, Tool, ToolState
from workbench.views.page.live import MIME


@pytest.fixture
def parts():
    source = ColumnDataSource({"x": np.arange(4.0), "y": np.arange(4.0)})
    plot = figure(width=300, height=200, x_range=Range1d(0, 4), tools="")
    plot.line("x", "y", source=source)
    pane = BokehPane(
        plot,
        label="a line: test",
        picture=lambda: Drawing(20, 10, (rectangle(1, 1, 5, 5, "#0072b2"),), "a line"),
        text=lambda: "a line in words",
        keys=("f",),
        tools=(Tool("fit", "Fit"),),
    )
    yield pane, plot, source
    pane.close()


def test_page_gets_the_library_once_and_the_document(parts):
    pane, plot, _ = parts
    ear = Ear(pane)
    message = ear.open()
    assert b"Bokeh" in ear.of("library")[0].buffers[0]
    document = json.loads(message.buffers[0])
    assert document["roots"][0]["id"] == plot.id
    assert message.content["keys"] == ["f"]
    assert [tool["name"] for tool in message.content["tools"]] == ["fit", "save-svg", "save-png"]
    ear.open(versions=f"1.0 {bokeh.__version__}")
    assert len(ear.of("library")) == 1


def test_changes_of_one_patch_are_one_message_with_their_arrays_as_bytes(parts):
    pane, plot, source = parts
    ear = Ear(pane)
    ear.open(bokeh.__version__)

    def change():
        source.data = {"x": np.arange(1000.0), "y": np.ones(1000)}
        plot.title.text = "another"

    pane.patch(change)
    (message,) = ear.wait("patch")
    kinds = [event["kind"] for event in json.loads(message.content["content"])["events"]]
    assert set(kinds) == {"ColumnDataChanged", "ModelChanged"}
    assert sorted(map(len, message.buffers)) == [8000, 8000]
    assert len(message.content["names"]) == 2


def test_slow_page_gets_the_latest_only(parts):
    pane, plot, _ = parts
    ear = Ear(pane)
    ear.open(bokeh.__version__)
    for number in range(50):
        pane.patch(lambda number=number: plot.title.update(text=f"title {number}"))
    number = 0
    while "title 49" not in ear.wait("patch", number + 1)[number].content["content"]:
        pane.widget.hear({"type": "drawn", "number": ear.of("patch")[number].content["number"]})
        number += 1
    assert len(ear.of("patch")) < 50


def test_events_of_the_page_reach_python_and_do_not_come_back(parts):
    pane, plot, _ = parts
    taps, ranges, done = [], [], threading.Event()
    pane.on_event(plot, "tap", lambda event: (taps.append((event.x, event.y)), done.set()))
    plot.x_range.on_change("start", lambda attr, old, new: ranges.append(new))
    ear = Ear(pane)
    ear.open(bokeh.__version__)
    moved = {"kind": "ModelChanged", "model": {"id": plot.x_range.id}, "attr": "start", "new": 2.5}
    pane.widget.hear({"type": "patch", "patch": {"events": [moved]}})
    values = {"model": {"id": plot.id}, "sx": 1, "sy": 2, "x": 0.5, "y": 0.25}
    event = {"type": "event", "name": "tap", "values": {"type": "map", "entries": list(values.items())}}
    pane.widget.hear(
        {"type": "patch", "patch": {"events": [{"kind": "MessageSent", "msg_type": "bokeh_event", "msg_data": event}]}}
    )
    assert done.wait(SECONDS)
    assert taps == [(0.5, 0.25)]
    assert ranges == [2.5]
    assert not ear.of("patch")


def test_keys_tools_and_files(parts):
    pane, _, _ = parts
    used = []
    pane.on_key(used.append)
    pane.on_tool(lambda name, value: used.append((name, value)))
    ear = Ear(pane)
    ear.open(bokeh.__version__)
    pane.widget.hear({"type": "key", "key": "f"})
    pane.widget.hear({"type": "tool", "name": "fit", "value": ""})
    pane.widget.hear({"type": "tool", "name": "save-svg", "value": ""})
    pane.widget.hear({"type": "tool", "name": "save-png", "value": ""})
    svg, png = ear.wait("file", 2)
    assert used == ["f", ("fit", "")]
    assert svg.content["name"] == "a-line-test.svg"
    assert svg.buffers[0].startswith(b"<svg")
    assert png.buffers[0].startswith(b"\x89PNG")


def test_tools_and_status_are_told_when_they_change_and_to_new_pages(parts):
    pane, _, _ = parts
    pane.show_tools(ToolState("fit", disabled=True))
    pane.say("four points")
    ear = Ear(pane)
    ear.open(bokeh.__version__)
    assert ear.wait("status")[0].content["text"] == "four points"
    assert ear.of("tools")[0].content["states"][0]["disabled"]
    pane.show_tools(ToolState("fit", disabled=True))
    pane.show_tools(ToolState("fit"))
    assert len(ear.wait("tools", 2)) == 2


def test_theme_of_the_page_colours_figures_and_is_told(parts):
    pane, plot, _ = parts
    told = []
    pane.on_theme(told.append)
    ear = Ear(pane)
    light = plot.xaxis[0].axis_label_text_color
    ear.open(bokeh.__version__, dark=True)
    assert plot.xaxis[0].axis_label_text_color != light
    assert plot.background_fill_alpha == 0
    assert told == [True]


def test_words_of_figures_have_a_font_that_every_browser_has():
    plot = figure(title="some")
    text = plot.text(x=[0], y=[0], text=["a"])
    pane = BokehPane(plot, label="words", picture=lambda: Drawing(20, 10, (), "words"), text=lambda: "")
    for font in (plot.title.text_font, plot.xaxis[0].axis_label_text_font, plot.xaxis[0].major_label_text_font):
        assert font.endswith("sans-serif")
    assert text.glyph.text_font.value.endswith("sans-serif")
    pane.close()


def test_without_a_page_a_patch_works_at_once_and_there_is_a_picture(parts):
    pane, plot, _ = parts
    pane.patch(lambda: plot.title.update(text="now"))
    assert plot.title.text == "now"
    assert not pane.live
    bundle = pane._repr_mimebundle_()
    assert bundle["text/plain"] == repr(pane) == "a line in words"
    assert bundle["image/png"].startswith("iVBOR")
    assert bundle[MIME] == {"version": 1, "model_id": pane.widget.model_id}
    assert pane.svg.startswith("<svg")


def test_closing_ends_the_thread_and_frees_the_document(parts):
    pane, plot, _ = parts
    before = {thread.ident for thread in threading.enumerate()}
    ear = Ear(pane)
    ear.open(bokeh.__version__)
    assert pane.live
    pane.close()
    pane.close()
    assert not pane.live
    assert {t.ident for t in threading.enumerate() if t.name == "bokeh pane"} <= before
    assert plot.document is None
    pane.receive({"type": "opened", "view": "", "bokeh": "", "dark": False})
    assert not pane.live
    pane.patch(lambda: plot.title.update(text="never"))
    assert plot.title.text != "never"
    assert MIME not in pane._repr_mimebundle_()
