"""The pane for Bokeh documents in a real JupyterLab."""

import pytest

from tests.browser.lab import open_notebook, wait_still

pytestmark = pytest.mark.browser

PANE = """\
import numpy as np
from bokeh.models import ColumnDataSource, Range1d
from bokeh.plotting import figure
from workbench.views.page.bokeh_pane import BokehPane, Tool
from workbench.views.drawing.shapes import Drawing
source = ColumnDataSource({"x": np.arange(100.0), "y": np.zeros(100)})
plot = figure(height=240, sizing_mode="stretch_width", tools="pan,wheel_zoom", x_range=Range1d(0, 100))
plot.line("x", "y", source=source)
said = []
pane = BokehPane(plot, label="waves", picture=lambda: Drawing(10, 10, (), "waves"), text=lambda: "waves",
                 keys=("w",), tools=(Tool("wave", "Wave"),))
def wave(name="", value=""):
    pane.patch(lambda: source.data.update(y=np.sin(source.data["x"] / 5)))
    pane.say("waving")
pane.on_tool(wave)
pane.on_key(lambda key: pane.say(f"key {key}"))
pane.on_event(plot, "doubletap", lambda event: pane.say(f"twice at {event.x:.0f}"))
pane"""


def test_pane_is_drawn_patched_and_hears(lab, page):
    notebook = open_notebook(lab, page, "pane.ipynb", PANE)
    page.wait_for_selector('.swb-pane[data-opened="true"]', timeout=20_000)
    canvas = page.locator(".swb-pane canvas").first
    canvas.wait_for()
    assert canvas.bounding_box()["width"] > 400
    patches = "Number(document.querySelector('.swb-pane').dataset.patches || 0)"
    before = page.evaluate(patches)  # one, where JupyterLab's own theme came after the pane
    page.get_by_role("button", name="Wave").click()
    notebook.wait_text(".swb-pane-status", "waving")
    page.wait_for_function(f"{patches} > {before}")
    notebook.picture("pane-light")
    page.locator(".swb-drawing").focus()
    page.keyboard.press("w")
    notebook.wait_text(".swb-pane-status", "key w")
    box = canvas.bounding_box()
    page.mouse.dblclick(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    notebook.wait_text(".swb-pane-status", "twice at ")
    with page.expect_download() as download:
        page.get_by_role("button", name="SVG").click()
    assert download.value.suggested_filename == "waves.svg"
    assert page.evaluate("window.Bokeh") is None


def test_pane_works_while_a_cell_runs_and_follows_the_theme(lab, page):
    notebook = open_notebook(
        lab, page, "pane-busy.ipynb", PANE, "import time\nend = time.time() + 8\nwhile time.time() < end: pass"
    )
    page.wait_for_selector('.swb-pane[data-opened="true"]', timeout=20_000)
    page.get_by_role("button", name="Wave").click()
    notebook.wait_text(".swb-pane-status", "waving")
    assert "*" in page.locator(".jp-CodeCell .jp-InputPrompt").nth(1).inner_text()
    notebook.theme("Dark")  # waits for the colours, which come while the cell runs
    wait_still(page, ".swb-pane")
    notebook.picture("pane-dark")
