"""Particles as points in a real JupyterLab: the page's pixels are those of the kernel process, by both ways."""

import json

import pytest

from tests.browser.lab import ASK, SHOWN, open_notebook, wait_still

pytestmark = pytest.mark.browser

# A rotating disc of 10,000 particles that slowly spreads; the last lines tell what the page should show.
DISC = """\
import hashlib
import numpy as np
import workbench as wb
from workbench.views.field.picture import drawn
disc = wb.trace('''
x, v = particles("x v", dim=3, unit="kpc")
m, = particles("m", unit="Msun")
dt = param("dt", 0.01)
middle = x + 0.5 * dt * v
v1 = v - dt * middle / (dot(middle, middle) + 0.05) ** 1.5
x.next, v.next, m.next = middle + 0.5 * dt * v1, v1, m
''', name="disc")
rng = np.random.default_rng(5)
r, a, n = rng.random(10_000) ** 0.5, 2 * np.pi * rng.random(10_000), 10_000
speed = r / (r * r + 0.05) ** 0.75
sim = disc.simulate(x=[r * np.cos(a), r * np.sin(a), 0.1 * rng.normal(size=n)],
                    v=[-speed * np.sin(a), speed * np.cos(a), np.zeros(n)], m=rng.random(n))
view = sim.view("x")
def seen():
    codes, table = drawn(view.summary)
    rgb = np.frombuffer(table, np.uint8).reshape(256, 3)[codes]
    print(hashlib.sha256(np.dstack([rgb, np.full(codes.shape, 255, np.uint8)]).tobytes()).hexdigest())
def place(particle):
    columns, rows = view.summary.particles.pixels()
    print(__import__("json").dumps([int(columns[particle]), int(rows[particle])]))
view"""

WAYS = {"by the page": ("lab", 0), "directly": ("direct_lab", 1)}


def agree(page):
    wait_still(page, ".swb-field")
    assert page.evaluate(SHOWN) == [page.evaluate(ASK, "seen()").strip()]


def hover(page, column, row):
    box = page.locator(".swb-canvas").bounding_box()
    page.mouse.move(box["x"] + (column + 0.5) / 512 * box["width"], box["y"] + (row + 0.5) / 512 * box["height"])


@pytest.mark.usefixtures("own_page")
@pytest.mark.parametrize("way", WAYS)
def test_points_are_drawn_hovered_probed_and_coloured_anew(page, request, way):
    server, drawers = WAYS[way]
    notebook = open_notebook(request.getfixturevalue(server), page, f"points-{drawers}.ipynb", DISC)
    notebook.wait_drawn(1, before=0)
    notebook.wait_idle()
    assert notebook.drawers() == drawers
    notebook.wait_text(".swb-title", "x of disc, step 0")
    notebook.wait_text(".swb-across-name", "x0 (kpc)")
    notebook.wait_text(".swb-bar-name", "x2 (kpc)")
    assert notebook.colours() > 100
    agree(page)

    column, row = json.loads(page.evaluate(ASK, "place(9999)"))  # nothing is drawn above the last one
    hover(page, column, row)
    notebook.wait_text(".swb-status", "x2 at particle 9999: ")
    value = page.evaluate(ASK, "print(repr(float(sim.x[2, 9999])))").strip().replace("-", "\u2212")
    assert page.locator(".swb-status").text_content().endswith(f": {value}")
    hover(page, 1, 1)
    notebook.wait_text(".swb-status", "no particle here")

    box = page.locator(".swb-canvas").bounding_box()
    at = {"x": (column + 0.5) / 512 * box["width"], "y": (row + 0.5) / 512 * box["height"]}
    page.locator(".swb-canvas").click(position=at)
    page.wait_for_function("document.querySelectorAll('.swb-probe').length === 1")
    before = page.locator(".swb-probe").get_attribute("style")
    page.get_by_role("button", name="Play").click()
    notebook.wait_drawn(30)
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Play").wait_for()
    agree(page)
    assert page.locator(".swb-probe").get_attribute("style") != before  # it moves with its particle
    column, row = json.loads(page.evaluate(ASK, "place(9999)"))
    style = page.locator(".swb-probe").evaluate("node => [parseFloat(node.style.left), parseFloat(node.style.bottom)]")
    assert style == pytest.approx([(column + 0.5) / 5.12, (511.5 - row) / 5.12], abs=1e-3)

    for label, choice in (("value", "m"), ("colours", "cividis")):
        frames = notebook.drawn()
        page.get_by_label(label, exact=True).select_option(choice)
        notebook.wait_drawn(1, before=frames)
    notebook.wait_text(".swb-bar-name", "m (Msun)")
    notebook.wait_text(".swb-title", "x of disc")
    agree(page)


def test_points_light_and_dark_wide_and_narrow(lab, page):
    notebook = open_notebook(lab, page, "points-looks.ipynb", DISC + ".probe(9999)")
    notebook.wait_drawn(1, before=0)
    notebook.wait_idle()
    page.set_viewport_size({"width": 1400, "height": 1300})
    for theme in ("Light", "Dark"):
        notebook.theme(theme)
        wait_still(page)
        notebook.picture(f"points-wide-{theme.lower()}")
    page.evaluate("window.jupyterapp.commands.execute('application:toggle-left-area')")
    page.set_viewport_size({"width": 480, "height": 1300})
    for theme in ("Dark", "Light"):
        notebook.theme(theme)
        wait_still(page)
        notebook.picture(f"points-narrow-{theme.lower()}")
    assert page.locator(".swb-field").evaluate("node => node.scrollWidth <= node.clientWidth")
