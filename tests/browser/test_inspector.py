"""All views of a machine together, in a real JupyterLab: the lesson of Table 3, and what must stay alive."""

import subprocess
import sys

import nbformat
import pytest
from nbclient import NotebookClient

from tests.browser.graph_page import HELLO_MACHINE as MACHINE
from tests.browser.graph_page import place_on_page, wait_graph
from tests.browser.lab import ARTEFACTS, open_notebook, wait_still, write_notebook
from tests.kit.cells import HELLO

pytestmark = pytest.mark.browser


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
    wait_still(page, ".swb-drawing")
    notebook.picture("lesson-1-before")
    page.mouse.dblclick(*place_on_page(page, 1))
    notebook.wait_text(
        ".swb-pane-status", "now: hello: 2 sub-kernels; 2 Manifest, 0 Delayed; 32 bytes a cell; measured"
    )
    page.locator(".swb-listing").get_by_text("sweep_step_1_z(").first.wait_for()
    wait_still(page, ".swb-drawing")
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
        notebook.theme("Dark")
    wait_still(page)
    page.locator(".swb-pane").first.scroll_into_view_if_needed()
    notebook.picture(f"inspect-{theme}-{width}")
    for tab in page.get_by_role("tab").all():
        if tab.is_visible() and tab.inner_text() in ("Plan", "Launch", "Field"):
            tab.click()
            wait_still(page)
            notebook.picture(f"inspect-{tab.inner_text().lower()}-{theme}-{width}")
    notebook.theme("Light")


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """The address of a page that nbconvert made of a notebook executed without a page."""
    path = tmp_path_factory.mktemp("exported") / "inspect.ipynb"
    write_notebook(path, MACHINE, RUNNING.replace("sim.start()\n", "").replace("1 << 22", "512"))
    notebook = nbformat.read(path, 4)
    NotebookClient(notebook, kernel_name="python3", timeout=90, store_widget_state=True).execute()
    nbformat.write(notebook, path)
    subprocess.run([sys.executable, "-m", "nbconvert", "--to", "html", str(path)], check=True, capture_output=True)
    return path.with_suffix(".html").as_uri()


@pytest.mark.usefixtures("own_page")
@pytest.mark.parametrize(("theme", "width"), [("light", 480), ("dark", 1100)])
def test_exported_page_has_every_part_in_a_fold(exported, page, theme, width):
    page.set_viewport_size({"width": width, "height": 1150})
    page.emulate_media(color_scheme=theme)
    page.route("**/*", lambda route: route.continue_() if route.request.url.startswith("file:") else route.abort())
    page.goto(exported)
    parts = page.locator(".swb-static-parts details")
    assert parts.locator("summary").all_text_contents() == [
        f"{part} of hello" for part in ("Graph", "Plan", "Launch", "Code", "Field")
    ]
    assert page.locator(".swb-static-plan table").is_visible()
    code = page.locator(".swb-static-source")
    assert not code.is_visible()
    for part in parts.all()[2:]:
        part.locator("summary").click()
    assert code.get_by_text("sweep_step_0").first.is_visible()
    assert parts.last.locator("svg").bounding_box()["height"] > 100
    page.screenshot(path=str(ARTEFACTS / f"inspect-exported-{theme}-{width}.png"), full_page=True)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_views_say_that_their_cell_was_changed(lab, page, theme):
    page.set_viewport_size({"width": 1700, "height": 1300})
    cell = f"%%stencil hello\n{HELLO}"
    notebook = open_notebook(lab, page, f"changed-{theme}.ipynb", "%load_ext workbench", cell, "hello.inspect()", "0")
    notebook.theme(theme.capitalize())
    page.evaluate("void window.jupyterapp.commands.execute('application:toggle-left-area')")
    wait_graph(page)
    assert "program of before" not in page.locator(".jp-Notebook").inner_text()
    page.locator(".jp-CodeCell .cm-content").nth(3).fill(cell.replace("x * x", "x * x * x"))
    page.keyboard.press("Shift+Enter")  # run(3) counts cells, of which JupyterLab 4.4 takes some out of the page
    why = "hello was changed, and this view shows the program of before."
    notebook.wait_text(".swb-pane-status", why)
    notebook.wait_text(".swb-listing", why)  # the source
    page.locator(".swb-pane").first.scroll_into_view_if_needed()
    notebook.picture(f"changed-graph-{theme}")
    for title in ("Plan", "Launch"):
        page.get_by_role("tab", name=title).click()
        page.get_by_text(why).locator("visible=true").nth(1).wait_for()  # beside the source
        wait_still(page)
        notebook.picture(f"changed-{title.lower()}-{theme}")
