"""The graph view for people who use a keyboard or a screen reader, light and dark: audited by axe-core."""

import pytest

from tests.browser.graph_page import SETUP, wait_graph
from tests.browser.lab import AXE, open_notebook, wait_still

pytestmark = pytest.mark.browser


def complaints(page):
    if not page.evaluate("typeof axe === 'object'"):
        page.add_script_tag(content=AXE.read_text())
    found = page.evaluate("axe.run('.swb-pane')")
    assert len(found["passes"]) > 8, "axe-core looked at nothing"
    return [(each["id"], [node["html"] for node in each["nodes"]]) for each in found["violations"]]


def test_axe_finds_nothing_and_the_keyboard_reaches_all(lab, page):
    notebook = open_notebook(lab, page, "graph-axe.ipynb", SETUP)
    wait_graph(page)
    assert not complaints(page)
    names = []
    page.get_by_role("button", name="Fold", exact=True).focus()
    for _ in range(10):
        page.keyboard.press("Tab")
        names.append(page.evaluate("document.activeElement.dataset.tool ?? document.activeElement.className"))
    assert names[:8] == ["numbers", "closer", "farther", "fit", "find", "compare", "hints", "save-svg"]
    assert "swb-drawing" in names
    notebook.theme("Dark")
    wait_still(page, ".swb-pane")
    try:
        assert not complaints(page)
    finally:
        notebook.theme("Light")
