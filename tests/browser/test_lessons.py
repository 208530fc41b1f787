"""The course in a real JupyterLab: all cells are run, and then its text is followed."""

import re
import shutil

import nbformat
import pytest

from tests.browser.graph_page import place_on_page
from tests.browser.lab import PATIENCE, ROOT, NotebookPage, open_notebook, wait_still, wait_until

pytestmark = pytest.mark.browser


ROLLING = """\
%%stencil smooth --dim 2
u = field("u", boundary="periodic")
y = exp(-u * u)
u.next = 0.25 * (y[-1, 0] + y[+1, 0] + y[0, -1] + y[0, +1])"""


@pytest.fixture
def whole_lab(lab):
    """The same JupyterLab, which keeps all cells on the page, so that nothing moves when one scrolls."""
    _, folder = lab
    setting = folder / "config/lab/user-settings/@jupyterlab/notebook-extension/tracker.jupyterlab-settings"
    setting.parent.mkdir(parents=True, exist_ok=True)
    setting.write_text('{"windowingMode": "none"}')
    yield lab
    setting.unlink()


def run_all(lab, page, name):
    address, folder = lab
    shutil.copy(ROOT / "notebooks" / name, folder / name)
    notebook = NotebookPage(page, address, name)
    notebook.run(0)  # which also makes it the notebook that commands are for
    page.evaluate("void window.jupyterapp.commands.execute('notebook:run-all-cells')")
    last = "[...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')].at(-1).innerText"
    page.wait_for_function(f"/[0-9]/.test({last})", timeout=2 * PATIENCE)
    return notebook


@pytest.mark.usefixtures("own_page")
def test_after_run_all_the_lesson_is_there_to_be_double_clicked(whole_lab, page):
    notebook = run_all(whole_lab, page, "02-manifest-or-delayed.ipynb")
    lesson = page.locator(".swb-view").last
    lesson.locator(".swb-pane[data-opened]").first.wait_for()
    notebook.wait_idle()
    wait_still(page, ".swb-drawing")
    assert page.locator(".swb-still-note:visible").count() == 0
    assert page.locator(".swb-fallback:visible").count() == 0
    lesson.locator(".swb-pane").first.scroll_into_view_if_needed()
    wait_still(page, ".swb-drawing, .swb-tools, .swb-card")
    notebook.picture("lesson-after-run-all")
    page.mouse.dblclick(*place_on_page(lesson, 1))
    status = lesson.locator(".swb-pane-status").first
    status.filter(has_text="now: hello: 2 sub-kernels").filter(has_text="32 bytes a cell; measured").wait_for()


def test_closed_view_is_a_picture_that_says_so(lab, page):
    cells = (
        "import workbench as wb\nhello = wb.trace('u = field(\"u\")\\ny = u * u\\nu.next = y + y', name='hello')",
        "view = hello.view()\nview",
        "view.close()",
        "view",
    )
    notebook = open_notebook(lab, page, "closed.ipynb", *cells)
    closed = page.locator(".swb-still-note:visible").filter(has_text="This view was closed. Run the cell that made it")
    closed.nth(1).wait_for()  # where it was opened, and where it is shown after that
    notebook.picture("closed-view")
    assert page.locator(".swb-fallback:visible").count() == 2


def keys_of_the_course():
    """What notebook 04 says that keys do, from its table."""
    notebook = nbformat.read(ROOT / "notebooks" / "04-live-workbench.ipynb", 4)
    table = next(cell.source for cell in notebook.cells if "| key | does |" in cell.source)
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")][1:]
    return {key: words for row in rows for key, words in (row[:2], row[2:])}


@pytest.mark.parametrize(("theme", "width"), [("Light", 480), ("Dark", 1400)])
def test_each_key_does_what_the_course_says(lab, page, theme, width):
    keys = keys_of_the_course()
    assert set(re.findall("`(.*?)`", " ".join(keys))) == {*"fscn+-0", "Enter", "Control+z", "Control+y"}
    assert keys["arrows"] == "go to an operand, a consumer, a neighbour"
    assert keys["`Control+z`, `Control+y`"] == "undo, redo"
    assert keys["`+`, `-`, `0`"] == "closer, farther, all"
    assert keys["`f` or `Enter`"] == "flip"
    assert keys["`s`"] == "barrier after the value"
    assert keys["`c`, `n`"] == "fold, numbers"
    lesson = nbformat.read(ROOT / "notebooks" / "04-live-workbench.ipynb", 4)
    cell = next(each.source for each in lesson.cells if each.source.startswith("%%stencil ripples"))
    notebook = open_notebook(lab, page, "keys.ipynb", "%load_ext workbench", cell, "view = ripples.view()\nview")
    notebook.theme(theme)
    page.locator(".swb-pane[data-opened]").first.wait_for()
    page.evaluate("void window.jupyterapp.commands.execute('application:toggle-left-area')")
    page.set_viewport_size({"width": width, "height": 1150})
    drawing = page.locator(".swb-drawing")
    drawing.scroll_into_view_if_needed()

    def press(key):
        drawing.focus()
        page.keyboard.press(key)

    def says(text):
        notebook.wait_text(".swb-pane-status", text)

    def drawn():
        wait_still(page, ".swb-drawing")
        return page.locator(".swb-pane canvas").first.screenshot()

    def becomes(whole):
        wait_until(page, lambda: drawn() == whole)

    def becomes_other_than(whole):
        wait_until(page, lambda: drawn() != whole)

    page.get_by_label("Find").fill("force")
    page.get_by_label("Find").press("Enter")
    says("force = ")
    press("ArrowRight")
    says("v1 = ")
    press("ArrowLeft")
    page.wait_for_function("!document.querySelector('.swb-pane-status').textContent.includes('v1 = ')")
    press("ArrowUp")
    says("force = ")
    press("ArrowDown")
    page.wait_for_function("!document.querySelector('.swb-pane-status').textContent.includes('force = ')")
    press("ArrowUp")
    says("force = ")
    press("f")
    says("now: ripples: 3 sub-kernels")
    press("Control+z")
    says("2 sub-kernels; 2 Manifest")
    press("Control+y")
    says("3 sub-kernels; 3 Manifest")
    press("Enter")
    says("now: ripples: 2 sub-kernels")
    press("s")
    says("barrier after it")
    press("Escape")

    whole = drawn()
    press("+")
    becomes_other_than(whole)
    press("0")
    becomes(whole)
    press("-")
    becomes_other_than(whole)
    press("0")
    becomes(whole)
    for key in "cn":
        press(key)
        becomes_other_than(whole)
        press(key)
        press("0")
        becomes(whole)
    notebook.picture(f"keys-{theme.lower()}-{width}")
    notebook.theme("Light")


@pytest.mark.usefixtures("own_page")
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [480, 1400])
def test_choices_are_copied_as_hints(lab, page, theme, width):
    cells = ("%load_ext workbench", ROLLING, "view = smooth.annotate('y', 'delayed').view()\nview")
    notebook = open_notebook(lab, page, f"hints-{theme}-{width}.ipynb", *cells)
    page.locator(".swb-pane[data-opened]").first.wait_for()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.set_viewport_size({"width": width, "height": 1000})
    page.evaluate("void window.jupyterapp.commands.execute('application:toggle-left-area')")
    if theme == "dark":
        notebook.theme("Dark")
    wait_still(page)
    button = page.get_by_role("button", name="Copy hints")
    if not button.is_visible():
        page.locator(".swb-more").first.click()
    button.click()
    copied = page.locator(".swb-copied")
    copied.filter(has_text="delayed(y)").wait_for()
    page.locator(".swb-pane").get_by_text("Copied. Paste these lines at the end of the cell:").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == copied.inner_text()
    copied.scroll_into_view_if_needed()
    notebook.picture(f"hints-{theme}-{width}")
    page.locator(".swb-card").first.scroll_into_view_if_needed()
    wait_still(page, ".swb-drawing, .swb-tools, .swb-card")
    notebook.picture(f"card-{theme}-{width}")
    notebook.theme("Light")
