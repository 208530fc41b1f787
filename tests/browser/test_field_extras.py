"""Probes, charts, volumes, other values, recordings and files of the field view in a real JupyterLab."""

import io

import numpy as np
import pytest

from tests.browser.lab import open_notebook, wait_still
from tests.browser.programs import ENERGY, VOLUME

pytestmark = pytest.mark.browser


def more(page):
    page.get_by_text("Curves and files").first.click()


def test_probes_charts_other_values_and_files(lab, page):
    notebook = open_notebook(lab, page, "probes.ipynb", ENERGY, 'view = sim.view("u"); view')
    notebook.wait_drawn(1, before=0)
    notebook.wait_idle()
    canvas = page.locator(".swb-canvas")
    box = canvas.bounding_box()
    canvas.click(position={"x": box["width"] * 0.3, "y": box["height"] * 0.4})
    page.locator(".swb-chart").wait_for()
    canvas.focus()
    canvas.press("Shift+ArrowRight")
    canvas.press("Enter")
    page.wait_for_function("document.querySelectorAll('.swb-probe').length === 2")
    more(page)
    page.get_by_label("scalars over time").check()
    page.get_by_label("profiles").check()
    page.get_by_role("button", name="Record GIF").click()
    page.get_by_role("button", name="Play").click()
    notebook.wait_drawn(40)
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Play").wait_for()
    page.wait_for_function("document.querySelectorAll('.swb-chart').length === 4")
    page.set_viewport_size({"width": 1400, "height": 2000})
    notebook.picture("field-probes-wide-light")

    with page.expect_download() as download:
        page.get_by_role("button", name="Save GIF").click()
    gif = download.value.path().read_bytes()
    assert gif.startswith(b"GIF89a")
    from PIL import Image

    assert Image.open(io.BytesIO(gif)).n_frames > 5
    page.get_by_role("button", name="Record GIF").wait_for()

    for kind, start in (
        ("svg", b"<svg "),
        ("png", b"\x89PNG"),
        ("csv", b"chart,curve,place,value"),
        ("npy", b"\x93NUMPY"),
    ):
        with page.expect_download() as download:
            page.get_by_label("save as").select_option(kind)
        assert download.value.suggested_filename.startswith("u-step-")
        data = download.value.path().read_bytes()
        assert data.startswith(start)
    assert np.load(io.BytesIO(data)).shape == (128, 96)

    page.get_by_role("button", name="Clear probes").click()
    page.wait_for_function("document.querySelectorAll('.swb-probe').length === 0")
    page.get_by_label("value", exact=True).select_option("v1")
    notebook.wait_text(".swb-title", "v1 of wave")


def test_probes_dark_and_narrow(lab, page):
    notebook = open_notebook(
        lab, page, "probes-dark.ipynb", ENERGY, 'sim.run(300); view = sim.view("u").probe(30, 40); view'
    )
    notebook.wait_drawn(1, before=0)
    more(page)
    page.get_by_label("profiles").check()
    page.wait_for_function("document.querySelectorAll('.swb-chart').length === 3")
    notebook.theme("Dark")
    page.set_viewport_size({"width": 1400, "height": 1600})
    wait_still(page)
    notebook.picture("field-probes-wide-dark")
    page.evaluate("window.jupyterapp.commands.execute('application:toggle-left-area')")
    page.set_viewport_size({"width": 480, "height": 1900})
    page.wait_for_function("document.querySelector('.swb-chart svg').width.baseVal.value < 400")
    notebook.picture("field-probes-narrow-dark")
    assert page.locator(".swb-field").evaluate("node => node.scrollWidth <= node.clientWidth")
    notebook.theme("Light")


def test_volume_shows_three_planes_that_move_together(lab, page):
    notebook = open_notebook(lab, page, "volume.ipynb", VOLUME)
    notebook.wait_drawn(1, before=0)
    page.get_by_label("slice").select_option("volume")
    page.wait_for_function("document.querySelectorAll('.swb-canvas').length === 3")
    assert page.locator(".swb-cuts .swb-slider, .swb-params .swb-slider").count() >= 3
    slider = page.get_by_label("cut at y")
    slider.focus()
    slider.press("Home")
    notebook.wait_text(".swb-values", "y = cell 0")
    second = page.locator(".swb-canvas").nth(1)
    box = second.bounding_box()
    second.click(position={"x": box["width"] * 0.25, "y": box["height"] * 0.25})
    page.locator(".swb-chart").wait_for()
    page.set_viewport_size({"width": 1400, "height": 1300})
    page.wait_for_function("document.querySelectorAll('.swb-probe').length === 3")  # all planes go through it
    wait_still(page)
    notebook.picture("field-volume-wide-light")
    page.evaluate("window.jupyterapp.commands.execute('application:toggle-left-area')")
    page.set_viewport_size({"width": 480, "height": 1900})
    wait_still(page)
    notebook.picture("field-volume-narrow-light")
    assert page.locator(".swb-field").evaluate("node => node.scrollWidth <= node.clientWidth")


def test_first_value_that_is_no_number_is_told_with_step_and_cell(lab, page):
    spoil = "u = np.array(sim.u); u[7, 9] = np.nan; sim['u'] = u"
    notebook = open_notebook(lab, page, "wrong.ipynb", ENERGY, 'sim.view("u")', spoil)
    notebook.wait_text(".swb-values", "NaN at step 0 in cell (7, 9)")
    page.get_by_role("button", name="Step").click()
    notebook.wait_text(".swb-title", "step 1")
    assert "NaN at step 0 in cell (7, 9)" in page.locator(".swb-values").inner_text()
    notebook.picture("field-not-a-number")
    page.get_by_role("button", name="Reset").click()
    page.wait_for_function("!document.querySelector('.swb-values').textContent.includes('NaN')")


LIMITED = """\
import numpy as np
import workbench as wb
heat = wb.trace('''
T = field("T", boundary="periodic")
c = param("c", 0.1, above=0.0, at_most=0.2)
T.next = T + c * (T[+1, 0] - 2 * T + T[-1, 0])
''', name="heat", dim=2)
sim = heat.simulate(T=np.ones((16, 16)), backend="reference")
sim.view("T")"""


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_refused_value_leaves_the_box_and_its_reason_stays(lab, page, theme):
    notebook = open_notebook(lab, page, f"refused-{theme}.ipynb", LIMITED)
    notebook.wait_drawn(1, before=0)
    notebook.theme(theme)
    box = page.get_by_label("c, exact")
    slider = page.get_by_role("slider", name="c", exact=True)
    highest = slider.get_attribute("max")
    box.fill("5")
    box.press("Enter")
    notebook.wait_text(".swb-trouble", "c is 5.0, but must be above 0 and at most 0.2")
    page.wait_for_function("document.querySelector('.swb-number').value === '0.1'")
    assert slider.input_value() == "0.1"
    assert slider.get_attribute("max") == highest
    notebook.picture(f"field-refused-{theme.lower()}")
    box.fill("0.15")
    box.press("Enter")
    page.wait_for_function("document.querySelector('.swb-trouble').textContent === ''")
    box.fill("")
    box.press("Enter")
    page.wait_for_function("document.querySelector('.swb-number').value === '0.15'")
    notebook.theme("Light")


LARGE = """\
import numpy as np
import workbench as wb
heat = wb.trace('T = field("T", boundary="periodic")\\nT.next = T + 0.1 * (T[+1, 0] - 2 * T + T[-1, 0])', name="heat")
sim = heat.simulate(T=np.add.outer(np.arange(1500.0), np.arange(40.0)), backend="reference")
view = sim.view("T")
view"""


@pytest.mark.parametrize("width", [480, 1200])
def test_cells_that_are_not_drawn_are_told(lab, page, width):
    notebook = open_notebook(lab, page, f"large-{width}.ipynb", LARGE)
    notebook.wait_drawn(1, before=0)
    page.evaluate("void window.jupyterapp.commands.execute('application:toggle-left-area')")
    page.set_viewport_size({"width": width, "height": 1000})
    notebook.wait_text(".swb-values", "; drawn: one cell of 2 along each axis; min and max are of all cells")
    wait_still(page)
    notebook.picture(f"field-thinned-{width}")
