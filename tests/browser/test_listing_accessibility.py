"""Source and plan view for people who use a keyboard or a screen reader: audited by axe-core; and after a restart."""

import pytest

from tests.browser.lab import AXE, open_notebook
from tests.browser.listing_page import CHARTS, MACHINE, PLAN, line_with, wait_heard

pytestmark = pytest.mark.browser


def faults(page):
    """What axe-core finds wrong in the listing, each with the parts concerned."""
    if not page.evaluate("typeof axe === 'object'"):
        page.add_script_tag(path=str(AXE))
    found = page.evaluate("axe.run('.swb-listing')")
    assert len(found["passes"]) > 5  # it did look
    return [(fault["id"], [node["html"][:160] for node in fault["nodes"]][:3]) for fault in found["violations"]]


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_no_fault_is_found_in_a_source_beside_another(lab, page, theme):
    notebook = open_notebook(lab, page, f"audit-source-{theme}.ipynb", MACHINE, "view")
    wait_heard(page, "vectorised")
    notebook.theme(theme)
    line_with(page, "const double b_xp1").click()
    page.get_by_role("button", name="Flip b").click()
    page.wait_for_selector(".swb-two .swb-changed")
    wait_heard(page, "step_0_b: inner loop vectorised")
    page.get_by_label("search in the text").fill("const")
    found = faults(page)
    notebook.theme("Light")
    assert found == []


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_no_fault_is_found_in_a_plan(lab, page, theme):
    notebook = open_notebook(lab, page, f"audit-plan-{theme}.ipynb", PLAN, "plan")
    page.wait_for_selector(CHARTS)
    wait_heard(page, "2 sub-kernels")
    notebook.theme(theme)
    page.get_by_role("button", name="step_1_u").click()
    wait_heard(page, "sub-kernel step_1_u", ".swb-selection")
    found = faults(page)
    notebook.theme("Light")
    assert found == []


def test_a_view_says_what_to_do_after_a_restart(lab, page):
    notebook = open_notebook(lab, page, "source-restart.ipynb", MACHINE, "view")
    wait_heard(page, "vectorised")
    page.evaluate("void window.jupyterapp.commands.execute('kernelmenu:restart')")
    page.locator(".jp-Dialog-button.jp-mod-accept").click()
    wait_heard(page, "Run the cell again", ".swb-trouble")
    page.get_by_label("backend").select_option("cuda")
    assert "Run the cell again" in page.locator(".swb-trouble").inner_text()
    notebook.wait_idle()
    notebook.run(0)
    notebook.run(1)
    wait_heard(page, "vectorised")
