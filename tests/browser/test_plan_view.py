"""The plan view in a real JupyterLab."""

import nbformat
import pytest
from nbclient import NotebookClient

from tests.browser.lab import NotebookPage, open_notebook, trust, wait_still, write_notebook
from tests.browser.listing_page import CHARTS, PLAN, wait_heard

pytestmark = pytest.mark.browser

# All that the line about the selection says from now on, because a later click may take back what one selected.
HEARD = """() => {
    const line = document.querySelector('.swb-selection');
    window.heard = [];
    new MutationObserver(() => window.heard.push(line.textContent))
        .observe(line, {characterData: true, childList: true, subtree: true});
}"""


def test_table_charts_and_questions(lab, page):
    notebook = open_notebook(lab, page, "plan.ipynb", PLAN, "plan", 'inspection.flip("b");')
    page.set_viewport_size({"width": 1400, "height": 1400})
    page.wait_for_selector(CHARTS)
    wait_heard(page, "1 sub-kernel")
    page.locator(".swb-pane canvas").first.wait_for()
    notebook.picture("plan-after-flip-wide-light")


def test_rows_are_chosen_by_keys_and_reasons_told(lab, page):
    notebook = open_notebook(lab, page, "plan-keys.ipynb", PLAN, "plan")
    page.set_viewport_size({"width": 1400, "height": 1400})
    page.wait_for_selector(CHARTS)
    wait_heard(page, "2 sub-kernels")
    row = page.get_by_role("button", name="step_1_u")
    row.focus()
    page.keyboard.press("Enter")
    wait_heard(page, "sub-kernel step_1_u", ".swb-selection")
    assert row.get_attribute("aria-pressed") == "true"
    page.get_by_role("button", name="Explain").click()
    wait_heard(page, "a and b are both in sub-kernel step_0_b", ".swb-answer")
    page.get_by_label("why are", exact=True).select_option(index=2)
    wait_heard(page, "because it needs b", ".swb-answer")
    wait_still(page)
    notebook.picture("plan-wide-light")
    with page.expect_download() as download:
        page.get_by_role("button", name="SVG").click()
    assert download.value.suggested_filename.endswith(".svg")


def test_a_click_in_the_roofline_selects_its_sub_kernel(lab, page):
    """Where the mark is depends on the letters of the axes, so the neighbourhood is searched by clicks."""
    open_notebook(lab, page, "plan-click.ipynb", PLAN, "plan")
    page.set_viewport_size({"width": 1400, "height": 1400})
    page.wait_for_selector(CHARTS)
    wait_heard(page, "2 sub-kernels")
    page.locator(".swb-pane .bk-Figure").nth(1).wait_for()
    wait_still(page)
    page.evaluate(HEARD)
    box = page.locator(".swb-pane .bk-Figure").nth(1).bounding_box()
    clicks = [(0.30 + 0.02 * i, 0.35 + 0.05 * j) for i in range(12) for j in range(6)]
    for x, y in clicks:
        page.mouse.click(box["x"] + x * box["width"], box["y"] + y * box["height"])
    page.wait_for_function("window.heard.some(text => text.includes('sub-kernel step_'))")


def test_dark_and_narrow(lab, page):
    notebook = open_notebook(lab, page, "plan-dark.ipynb", PLAN, "plan")
    page.wait_for_selector(CHARTS)
    notebook.theme("Dark")
    page.set_viewport_size({"width": 1400, "height": 1400})
    wait_still(page)
    notebook.picture("plan-wide-dark")
    page.evaluate("window.jupyterapp.commands.execute('application:toggle-left-area')")
    page.set_viewport_size({"width": 480, "height": 1400})
    wait_still(page)
    notebook.picture("plan-narrow-dark")
    notebook.theme("Light")
    wait_still(page)
    notebook.picture("plan-narrow-light")
    assert page.locator(".swb-listing").evaluate("node => node.scrollWidth <= node.clientWidth")


def test_a_saved_notebook_shows_table_and_charts_without_its_kernel_process(lab, page):
    address, folder = lab
    path = folder / "plan-saved.ipynb"
    write_notebook(path, PLAN, "plan")
    notebook = nbformat.read(path, 4)
    NotebookClient(notebook, kernel_name="python3", timeout=60).execute()
    nbformat.write(notebook, path)
    trust(folder, path)
    opened = NotebookPage(page, address, path.name)
    page.locator(".swb-static-plan svg").wait_for()
    page.get_by_text("step_1_u").first.wait_for()
    assert not page.get_by_text("model not found").is_visible()
    opened.picture("plan-reopened")
