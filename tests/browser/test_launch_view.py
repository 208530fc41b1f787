"""The launch view in a real JupyterLab: figures, controls, and a choice that takes effect in a running simulation."""

from contextlib import contextmanager

import pytest

from tests.browser.lab import open_notebook, wait_still

pytestmark = pytest.mark.browser

MACHINE = '''\
import numpy as np
import workbench as wb
from workbench.views.inspection.following import inspect_machine
heat = wb.trace("""
u = field("u", boundary="periodic")
k = param("k", 0.2)
gx = named(u[+1, 0] - u[0, 0], "gx")
u.next = u + k * (gx[0, 0] - gx[-1, 0] + u[0, +1] + u[0, -1] - 2 * u)
""", name="heat").annotate("gx", "delayed")
x = np.linspace(0, 6.28, 256)
sim = heat.simulate(u=np.sin(x)[:, None] * np.cos(x), backend="openmp")'''


def wait_said(page, text, seconds=40):
    page.wait_for_function(
        "text => [...document.querySelectorAll('.swb-pane-status')].some(s => s.textContent.includes(text))",
        arg=text,
        timeout=1000 * seconds,
    )


@contextmanager
def patched(page):
    """What is done inside ends in a patch of the drawing."""
    before = int(page.locator(".swb-pane").first.get_attribute("data-patches") or 0)
    yield
    page.wait_for_function(
        "least => Number(document.querySelector('.swb-pane').dataset.patches ?? 0) >= least",
        arg=before + 1,
        timeout=40_000,
    )


def test_blocks_occupancy_and_recorded_cells_are_drawn(lab, page):
    notebook = open_notebook(lab, page, "launch.ipynb", MACHINE, 'view = heat.view("launch", backend="cuda")\nview')
    page.wait_for_selector('.swb-pane[data-opened="true"]', timeout=60_000)
    page.locator(".swb-pane canvas").nth(5).wait_for(timeout=60_000)
    page.evaluate("window.jupyterapp.commands.execute('application:toggle-left-area')")
    for theme in ("Light", "Dark"):
        notebook.theme(theme)
        for width, name in ((1400, "wide"), (480, "narrow")):
            page.set_viewport_size({"width": width, "height": 1300})
            wait_still(page)
            page.locator(".swb-pane").scroll_into_view_if_needed()
            notebook.picture(f"launch-{name}-{theme.lower()}")
    notebook.theme("Light")
    page.set_viewport_size({"width": 1200, "height": 1000})
    with patched(page):
        page.get_by_label("threads a block").select_option("64")
    with patched(page):
        page.get_by_role("button", name="Undo").click()


def test_view_says_what_to_do_after_a_restart(lab, page):
    notebook = open_notebook(lab, page, "launch-restart.ipynb", MACHINE, 'heat.view("launch")')
    page.wait_for_selector('.swb-pane[data-opened="true"]', timeout=60_000)
    page.evaluate("void window.jupyterapp.commands.execute('kernelmenu:restart')")
    page.locator(".jp-Dialog-button.jp-mod-accept").click()
    notebook.wait_text(".swb-trouble", "Run the cell again")
    notebook.wait_idle()
    notebook.run(0)
    notebook.run(1)
    page.wait_for_selector('.swb-pane[data-opened="true"]', timeout=60_000)


def test_a_choice_takes_effect_in_the_running_simulation(lab, page):
    opened = 'view = heat.view("launch", simulation=sim)\nsim.start()\nview'
    notebook = open_notebook(lab, page, "launch-run.ipynb", MACHINE, opened)
    page.wait_for_selector('.swb-pane[data-opened="true"]', timeout=60_000)
    page.get_by_label("rows a task").select_option("16")
    wait_said(page, "new code runs since step")
    wait_said(page, "measured")
    notebook.picture("launch-running-light")


def test_a_flip_ends_in_new_code_that_runs_and_is_measured(lab, page):
    flip = """\
inspection = inspect_machine(heat, sim)
sim.start()
from workbench.views.launch.open import open_launch_view
view = open_launch_view(inspection)
view"""
    notebook = open_notebook(lab, page, "flip-run.ipynb", MACHINE, flip, 'inspection.flip("gx")')
    wait_said(page, "new code runs since step")
    wait_said(page, "measured")
    text = page.locator(".swb-pane-status").first.inner_text()
    assert "s after the request" in text
    notebook.picture("launch-flip-light")
