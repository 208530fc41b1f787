"""All views of a machine together, in a real JupyterLab: the lesson of Table 3, and what must stay alive."""

import pytest

from tests.browser.lab import open_notebook
from tests.browser.test_graph_view import place_on_page, wait_graph
from tests.views.test_inspection import HELLO

pytestmark = pytest.mark.browser

MACHINE = f'import numpy as np\nimport workbench as wb\nhello = wb.trace("""{HELLO}""", name="hello")'
RUNNING = """\
sim = hello.simulate(density=np.linspace(0, 0.4, 1 << 22))
sim.start()
inspector = hello.inspect(sim)
inspector"""


def test_one_double_click_changes_sub_kernels_bytes_code_and_time(lab, page):
    page.set_viewport_size({"width": 1700, "height": 1150})
    notebook = open_notebook(lab, page, "lesson.ipynb", MACHINE, RUNNING)
    page.evaluate("void window.jupyterapp.commands.execute('application:toggle-left-area')")
    wait_graph(page)
    notebook.wait_text(".swb-pane-status", "hello: 1 sub-kernel; 1 Manifest, 1 Delayed; 16 bytes a cell; measured")
    page.wait_for_timeout(1000)
    notebook.picture("lesson-1-before")
    page.mouse.dblclick(*place_on_page(page, 1))
    notebook.wait_text(
        ".swb-pane-status", "now: hello: 2 sub-kernels; 2 Manifest, 0 Delayed; 32 bytes a cell; measured"
    )
    page.locator(".swb-listing").get_by_text("sweep_step_1_z(").first.wait_for()
    page.wait_for_timeout(1000)
    notebook.picture("lesson-2-after")
    page.get_by_role("tab", name="Field").click()
    notebook.wait_drawn(2)
    notebook.picture("lesson-3-field")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [480, 1400])
def test_inspector_is_readable(lab, page, theme, width):
    quiet = RUNNING.replace("sim.start()\n", "").replace("1 << 22", "512")
    notebook = open_notebook(lab, page, f"inspect-{theme}-{width}.ipynb", MACHINE, quiet)
    wait_graph(page)
    page.set_viewport_size({"width": width, "height": 1150})
    page.evaluate("void window.jupyterapp.commands.execute('application:toggle-left-area')")
    if theme == "dark":
        page.evaluate("void window.jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})")
        page.wait_for_selector('body[data-jp-theme-light="false"]', state="attached")
    page.wait_for_timeout(1500)
    page.locator(".swb-pane").first.scroll_into_view_if_needed()
    notebook.picture(f"inspect-{theme}-{width}")
    for tab in page.get_by_role("tab").all():
        if tab.is_visible() and tab.inner_text() in ("Plan", "Launch", "Field"):
            tab.click()
            page.wait_for_timeout(700)
            notebook.picture(f"inspect-{tab.inner_text().lower()}-{theme}-{width}")
    page.evaluate("void window.jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Light'})")
    page.wait_for_selector('body[data-jp-theme-light="true"]', state="attached")
