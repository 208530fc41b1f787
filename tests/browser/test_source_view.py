"""The source view in a real JupyterLab."""

import nbformat
import pytest
from nbclient import NotebookClient

from tests.browser.lab import NotebookPage, open_notebook, wait_still, write_notebook
from tests.browser.listing_page import MACHINE, line_with, wait_heard

pytestmark = pytest.mark.browser


def test_lines_values_and_cell_lines_are_linked_both_ways(lab, page):
    open_notebook(lab, page, "source.ipynb", MACHINE, "view", 'inspection.select("a")')
    wait_heard(page, "vectorised")  # the compiler's report came by itself
    page.wait_for_selector(".swb-code-part .swb-marked")
    assert "a_x" in page.locator(".swb-code-part .swb-marked").first.inner_text()
    assert "a = u[+1]" in page.locator(".swb-cell-part .swb-marked").inner_text()

    line_with(page, "const double b_xp1").click()
    wait_heard(page, "b: Delayed, line 4 of the cell", ".swb-selection")
    assert "b = a * a" in page.locator(".swb-cell-part .swb-marked").inner_text()
    line_with(page, "u.next", ".swb-cell-part").click()
    wait_heard(page, "line 5 of the cell", ".swb-selection")
    page.locator(".swb-code-part .swb-marked", has_text="out_u[i]").wait_for()


def test_a_flip_by_key_shows_old_and_new_text(lab, page):
    notebook = open_notebook(lab, page, "flip.ipynb", MACHINE, "view")
    wait_heard(page, "vectorised")
    notebook.picture("source-wide-light")
    line_with(page, "const double b_xp1").click()
    flip = page.get_by_role("button", name="Flip b")
    flip.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".swb-two .swb-changed")
    assert page.locator(".swb-fold").count() >= 1
    hidden = page.locator(".swb-code-part .swb-line-row").count()
    wait_heard(page, "step_0_b: inner loop vectorised")
    notebook.picture("source-flip-wide-light")
    page.get_by_role("button", name="Whole").click()
    assert page.locator(".swb-code-part .swb-line-row").count() > hidden
    page.get_by_role("button", name="Undo").click()
    page.wait_for_selector(".swb-code:not(.swb-two)")


def test_keys_move_search_and_jump(lab, page):
    open_notebook(lab, page, "keys.ipynb", MACHINE, "view")
    wait_heard(page, "vectorised")
    code = page.get_by_role("listbox", name="generated text")
    code.focus()
    page.keyboard.press("/")
    page.keyboard.type("BLOCKS")
    wait_heard(page, "1 of ", ".swb-count")
    page.keyboard.press("Enter")
    wait_heard(page, "2 of ", ".swb-count")
    page.get_by_label("jump to").select_option("sweep_step_0_u")
    wait_heard(page, "sub-kernel step_0_u", ".swb-selection")
    page.wait_for_function("document.activeElement?.classList.contains('swb-code')")
    for _ in range(20):
        page.keyboard.press("ArrowDown")
        if "b_xm1 = " in page.locator(".swb-code-part .swb-cursor").inner_text():
            break
    page.keyboard.press("Enter")
    wait_heard(page, "b: Delayed", ".swb-selection")
    page.get_by_label("backend", exact=True).select_option("cuda")
    wait_heard(page, "__global__")


def test_dark_and_narrow(lab, page):
    notebook = open_notebook(lab, page, "source-dark.ipynb", MACHINE, "view", 'inspection.flip("b");')
    page.wait_for_selector(".swb-two")
    wait_heard(page, "step_0_b: inner loop vectorised")
    notebook.theme("Dark")
    page.set_viewport_size({"width": 1400, "height": 1000})
    wait_still(page)
    notebook.picture("source-wide-dark")
    page.evaluate("window.jupyterapp.commands.execute('application:toggle-left-area')")
    page.set_viewport_size({"width": 480, "height": 1000})
    wait_still(page)
    notebook.picture("source-narrow-dark")
    notebook.theme("Light")
    wait_still(page)
    notebook.picture("source-narrow-light")
    view = page.locator(".swb-listing")
    assert view.evaluate("node => node.scrollWidth <= node.clientWidth")


def test_a_saved_notebook_shows_the_text_without_its_kernel_process(lab, page):
    address, folder = lab
    path = folder / "source-saved.ipynb"
    write_notebook(path, MACHINE, "view")
    notebook = nbformat.read(path, 4)
    NotebookClient(notebook, kernel_name="python3", timeout=60).execute()
    nbformat.write(notebook, path)
    opened = NotebookPage(page, address, path.name)
    page.get_by_text("trade, openmp: ").wait_for()
    page.get_by_text("sweep_step_0_u(").first.wait_for()
    opened.picture("source-reopened")
