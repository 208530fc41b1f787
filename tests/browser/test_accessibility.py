"""The field view for people who use a keyboard, a screen reader, or see colours in another way: audited by axe-core."""

import pytest

from tests.browser.lab import AXE, open_notebook
from tests.browser.programs import ENERGY, VOLUME

pytestmark = pytest.mark.browser


FOCUSED = """() => {
    const node = document.activeElement;
    return node.closest('.swb-field') ? node.getAttribute('aria-label') ?? node.textContent : null;
}"""


def faults(page):
    """What axe-core finds wrong in the view, each with the parts concerned."""
    if not page.evaluate("typeof axe === 'object'"):
        page.add_script_tag(path=str(AXE))
    found = page.evaluate("axe.run('.swb-field')")
    assert len(found["passes"]) > 5  # it did look
    return [(fault["id"], [node["html"][:120] for node in fault["nodes"]]) for fault in found["violations"]]


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_no_fault_is_found_in_a_view_with_everything_open(lab, page, theme):
    spoil = "u = np.array(sim.u); u[7, 9] = np.nan; sim['u'] = u"
    notebook = open_notebook(lab, page, f"audit-{theme}.ipynb", ENERGY, 'view = sim.view("u").probe(3, 4); view', spoil)
    notebook.wait_drawn(1, before=0)
    notebook.theme(theme)
    page.get_by_text("Curves and files").click()
    page.get_by_label("scalars over time").check()
    page.get_by_label("profiles").check()
    page.wait_for_function("document.querySelectorAll('.swb-chart').length === 4")
    notebook.wait_text(".swb-values", "NaN")
    assert faults(page) == []
    notebook.theme("Light")


def test_no_fault_is_found_in_a_volume(lab, page):
    notebook = open_notebook(lab, page, "audit-volume.ipynb", VOLUME)
    notebook.wait_drawn(1, before=0)
    page.get_by_label("slice").select_option("volume")
    page.wait_for_function("document.querySelectorAll('.swb-canvas').length === 3")
    assert faults(page) == []


def test_every_control_is_reached_and_used_by_keys_alone(lab, page):
    notebook = open_notebook(lab, page, "keys.ipynb", ENERGY, 'sim.view("u")')
    notebook.wait_drawn(1, before=0)
    page.locator(".swb-canvas").focus()
    reached = []
    for _ in range(30):
        reached.append(page.evaluate(FOCUSED))
        if reached[-1] is None:
            break
        if reached[-1] == "Curves and files":
            page.keyboard.press("Enter")
        page.keyboard.press("Tab")
    wanted = ["Play", "Step", "Reset", "speed", "colours", "limits", "value", "c", "c, exact", "Curves and files"]
    wanted += ["scalars over time", "profiles", "Record GIF", "save as"]
    assert [name for name in reached if name in wanted] == wanted
    assert "Arrow keys read the value of a cell" in reached[0]

    page.get_by_role("button", name="Step").focus()
    page.keyboard.press("Enter")
    notebook.wait_text(".swb-title", "step 1")
    page.get_by_label("c, exact").fill("0.5")
    page.keyboard.press("Enter")  # without leaving the box
    assert page.get_by_role("slider", name="c", exact=True).input_value() == "0.5"
    page.get_by_label("value", exact=True).focus()
    page.keyboard.press("ArrowDown")
    notebook.wait_text(".swb-title", "v of wave")
    page.locator(".swb-canvas").focus()
    for key in ("ArrowRight", "ArrowUp", "Enter"):
        page.keyboard.press(key)
    page.wait_for_function("document.querySelectorAll('.swb-probe').length === 1")
    notebook.wait_text(".swb-status", "v at x cell 1, y cell 1")
