"""A field with physical axes, limits that only grow, a slider that ends, and a run that is held where it turns NaN."""

import re

import pytest

from tests.browser.lab import open_notebook

pytestmark = pytest.mark.browser

RIPPLES = '''\
import numpy as np
import workbench as wb
ripples = wb.trace("""
u, v = fields("u v", boundary="periodic", unit="m")
t, energy = scalar("t", unit="s"), scalar("energy", unit="J")
c = param("c", 0.4, at_least=0, warn_above=0.7, unit="cells/step")
dx = param("dx", 0.01)
coordinate(spacing=dx, unit="m")
v1 = v + c**2 * (u[+1, 0] + u[-1, 0] + u[0, +1] + u[0, -1] - 4 * u)
u.next, v.next, t.next = u + v1, v1, t + 0.001
energy.next = reduce_sum(0.5 * v1**2)
""", name="ripples")
x, y = np.meshgrid(np.linspace(0, 1, 128), np.linspace(0, 1, 96), indexing="ij")
sim = ripples.simulate(u=np.exp(-400 * ((x - 0.35)**2 + (y - 0.6)**2)), v=0.0)'''


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_run_is_played_freed_broken_and_held(lab, page, theme):
    notebook = open_notebook(lab, page, f"ripples-{theme}.ipynb", RIPPLES, 'sim.view("u", palette="RdBu_r")')
    notebook.wait_drawn(1, before=0)
    notebook.theme(theme.capitalize())
    assert page.get_by_label("speed").evaluate("select => select.selectedOptions[0].text") == "30 steps/s"
    assert page.get_by_label("limits").input_value() == "growing"
    assert page.locator(".swb-params .swb-slider").count() == 1  # none for dx
    page.get_by_text("Curves and files").click()
    page.get_by_label("scalars over time").check()
    page.get_by_role("button", name="Play").click()
    notebook.wait_drawn(30)
    title = page.locator(".swb-title").inner_text()
    step, time = re.fullmatch(r"u of ripples, step (\d+), t = (.+) s", title).groups()
    assert float(time) == pytest.approx(0.001 * int(step), rel=1e-3)
    page.wait_for_function("document.querySelector('.swb-chart')?.textContent.includes('energy (J)')")
    assert page.locator(".swb-bar-name").inner_text() == "u (m)"
    assert page.locator(".swb-across-name").inner_text() == "x (m)"
    page.set_viewport_size({"width": 1200, "height": 1400})
    notebook.picture(f"field-physics-wide-{theme}")

    slider = page.locator(".swb-params .swb-slider").first
    assert slider.get_attribute("max") == "0.7"
    page.get_by_label("speed").select_option(label="full speed")
    number = page.locator(".swb-params .swb-number").first
    number.fill("0.8")
    number.press("Enter")
    page.get_by_text("Held at step").wait_for()
    page.get_by_role("button", name="Play").wait_for()
    told = page.locator(".swb-trouble").inner_text()
    assert "c=0.8 is above 0.7" in told
    assert "first made by" in told
    notebook.picture(f"field-held-wide-{theme}")
    page.evaluate("void window.jupyterapp.commands.execute('application:toggle-left-area')")
    page.set_viewport_size({"width": 480, "height": 1900})
    page.evaluate("document.querySelector('.swb-field').scrollIntoView()")
    notebook.picture(f"field-held-narrow-{theme}")
