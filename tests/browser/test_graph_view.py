"""The graph view in a real JupyterLab."""

import nbformat
import pytest
from nbclient import NotebookClient

from tests.browser.graph_page import SETUP, place_in_graph, place_on_page, wait_graph
from tests.browser.lab import PATIENCE, NotebookPage, open_notebook, trust, wait_still, write_notebook
from tests.browser.programs import WAVE_1D
from workbench.views.graph.layout import LETTER

pytestmark = pytest.mark.browser

FAR = """import numpy as np
import workbench as wb

@wb.collective
def far(x, y):
    distance = np.sqrt(x * x + y * y)
    return np.sum(distance), np.max(distance)

points = np.linspace(0.0, 9.0, 1000)
machine = far.machine(points, points)
"""


def test_node_is_flipped_by_mouse_and_by_keyboard(lab, page):
    notebook = open_notebook(lab, page, "graph.ipynb", SETUP)
    wait_graph(page)
    notebook.wait_text(".swb-pane-status", "hello: 1 sub-kernel;")
    notebook.picture("graph-light")
    x, y = place_on_page(page, 1)
    page.mouse.move(x, y)
    wait_still(page)
    notebook.picture("graph-hover")
    page.mouse.click(x, y)
    notebook.wait_text(".swb-pane-status", "y = density * density: Delayed")
    page.mouse.dblclick(x, y)
    notebook.wait_text(".swb-pane-status", "now: hello: 2 sub-kernels")
    wait_still(page)
    notebook.picture("graph-flipped")

    page.locator(".swb-drawing").focus()
    page.keyboard.press("Control+z")
    notebook.wait_text(".swb-pane-status", "hello: 1 sub-kernel;")
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowRight")
    notebook.wait_text(".swb-pane-status", "density = density")
    page.keyboard.press("ArrowRight")
    notebook.wait_text(".swb-pane-status", "y = density * density")
    page.keyboard.press("f")
    notebook.wait_text(".swb-pane-status", "now: hello: 2 sub-kernels")
    page.keyboard.press("s")
    notebook.wait_text(".swb-pane-status", "barrier after it")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    notebook.wait_text(
        ".swb-pane-status", "z cannot be flipped: it is Manifest, because its array becomes field density"
    )
    page.get_by_role("button", name="Undo").click()
    notebook.wait_text(".swb-pane-status", "before: hello: 1 sub-kernel")
    page.get_by_label("Find").fill("y")
    page.get_by_label("Find").press("Enter")
    notebook.wait_text(".swb-pane-status", "y = density * density")
    page.get_by_label("Compare").select_option("all Delayed")
    notebook.wait_text(".swb-pane-status", "all Delayed: hello: 1 sub-kernel")


def test_a_click_stores_an_array_of_a_function_and_keeps_its_bits(lab, page):
    """Two folds in one loop; where the array between is stored, two loops. Then the next cell calls both programs."""
    call = (
        "before, after = (each(x=points, y=points) for each in (machine, view.inspection.machine))\n"
        'print("equal:", *(before[name].tobytes() == after[name].tobytes() for name in before))'
    )
    address, folder = lab
    write_notebook(folder / "arrays.ipynb", f"{FAR}\nview = machine.view()\nview", call)
    notebook = NotebookPage(page, address, "arrays.ipynb")
    notebook.run(0)
    wait_graph(page)
    notebook.wait_text(".swb-pane-status", "far: 1 sub-kernel;")
    scope = {}
    exec(FAR, scope)
    place = place_in_graph(page, scope["machine"].plan(), (1000,), 5)
    page.mouse.click(*place)
    notebook.wait_text(".swb-pane-status", "distance = ")
    page.mouse.dblclick(*place)
    notebook.wait_text(".swb-pane-status", "now: far: 2 sub-kernels")
    wait_still(page)
    notebook.picture("graph-of-arrays-flipped")
    notebook.run(1)
    page.locator(".jp-OutputArea-output").filter(has_text="equal: True True").wait_for()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [480, 1400])
def test_graph_is_readable(lab, page, theme, width):
    notebook = open_notebook(lab, page, f"look-{theme}-{width}.ipynb", WAVE_1D, "wave.view()")
    wait_graph(page)
    page.set_viewport_size({"width": width, "height": 1000})  # a narrow page hides what opening a notebook waits for
    if width < 600:
        page.evaluate("void window.jupyterapp.commands.execute('application:toggle-left-area')")
    if theme == "dark":
        notebook.theme("Dark")
    wait_still(page)
    box = page.locator(".swb-pane canvas").first.bounding_box()
    assert box["width"] > 0.4 * width
    letter = page.evaluate(
        """() => {
            const context = document.createElement('canvas').getContext('2d');
            context.font = 'bold 11px DejaVu Sans Mono, Menlo, Consolas, monospace';
            return context.measureText('m'.repeat(100)).width / 100;
        }"""
    )
    assert 4 < letter <= LETTER  # the places of names count on it
    notebook.picture(f"graph-{theme}-{width}")
    notebook.theme("Light")


@pytest.mark.usefixtures("own_page")
def test_graph_survives_a_reload_and_says_what_to_do_after_a_restart(lab, page):
    notebook = open_notebook(lab, page, "survive.ipynb", SETUP)
    wait_graph(page)
    page.locator(".swb-drawing").focus()
    for key in ("ArrowRight", "ArrowRight", "f"):
        page.keyboard.press(key)
    notebook.wait_text(".swb-pane-status", "now: hello: 2 sub-kernels")
    notebook.save()
    page.reload()
    wait_graph(page)
    notebook.wait_text(".swb-pane-status", "now: hello: 2 sub-kernels")
    page.get_by_role("button", name="Undo").click()
    notebook.wait_text(".swb-pane-status", "y = density * density: Delayed")
    page.evaluate("void window.jupyterapp.commands.execute('kernelmenu:restart')")
    page.locator(".jp-Dialog-button.jp-mod-accept").click()
    notebook.wait_text(".swb-trouble", "Run the cell again")
    assert page.locator(".swb-tools").first.evaluate("node => node.closest('[inert]') !== null")
    notebook.picture("graph-after-restart")
    notebook.wait_idle()


def test_saved_graph_is_a_picture_without_its_kernel_process(lab, page):
    address, folder = lab
    path = folder / "saved-graph.ipynb"
    write_notebook(path, SETUP)
    notebook = nbformat.read(path, 4)
    NotebookClient(notebook, kernel_name="python3", timeout=120).execute()
    nbformat.write(notebook, path)
    trust(folder, path)
    opened = NotebookPage(page, address, path.name)
    image = page.locator(".swb-fallback")
    image.wait_for()
    page.locator(".swb-still-note").wait_for()  # it has looked for its model again
    assert image.bounding_box()["height"] > 60
    opened.picture("graph-reopened")


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_a_cell_that_ends_with_a_graph_draws_it_without_the_extension(lab, page, theme):
    notebook = open_notebook(
        lab, page, f"plain-{theme}.ipynb", SETUP.removesuffix("view = hello.view()\nview"), "hello.graph"
    )
    wait_graph(page)
    notebook.wait_text(".swb-pane-status", "hello: 1 sub-kernel;")
    notebook.theme(theme)
    wait_still(page)
    notebook.picture(f"graph-plain-{theme.lower()}")
    notebook.theme("Light")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_large_graph_says_at_once_that_it_is_laid_out(lab, page, theme):
    address, folder = lab
    opening = "from workbench.solvers import hydro\nmachine = hydro.machine(3)"
    write_notebook(folder / f"large-{theme}.ipynb", opening, "machine.view()")
    notebook = NotebookPage(page, address, f"large-{theme}.ipynb")
    notebook.theme(theme.capitalize())
    notebook.run(0)
    notebook.wait_idle()
    notebook.run(1)
    notebook.wait_text(".jp-Notebook", "laying out the graph of hydro")
    notebook.picture(f"graph-large-waits-{theme}")
    page.wait_for_selector('.swb-pane[data-opened="true"]', timeout=PATIENCE)
    line = page.locator(".jp-OutputArea-output").filter(has_text="was laid out in")
    line.wait_for()
    assert "laying out" not in page.locator(".jp-Notebook").inner_text()
    notebook.wait_text(".swb-pane-status", "10 sub-kernels")
    wait_still(page)
    notebook.picture(f"graph-large-{theme}")
    page.get_by_role("button", name="Fold", exact=True).click()
    notebook.wait_text(".swb-pane-status", "laying out the graph of hydro")
    notebook.wait_text(".swb-pane-status", "10 sub-kernels")
    wait_still(page)
    notebook.picture(f"graph-large-unfolded-{theme}")
