"""Code and plan of one machine on a page, and how to wait for what they show."""

MACHINE = '''\
import workbench as wb
from workbench.views.inspection.inspection import Inspection
from workbench.views.source.view import open_source_view
trade = wb.trace("""
u = field("u", boundary="periodic")
a = u[+1] + u[-1]
b = a * a + 2.0
u.next = u + 0.1 * (b[+1] - b[-1])
""", name="trade").annotate("b", "delayed")
inspection = Inspection(trade)
view = open_source_view(inspection, backend="openmp")'''


def wait_heard(page, text, selector=".swb-listing"):
    page.wait_for_function(
        "([selector, text]) => document.querySelector(selector)?.textContent.includes(text)",
        arg=[selector, text],
    )


def line_with(page, text, place=".swb-code-part"):
    return page.locator(f"{place} .swb-line-row", has_text=text).first


PLAN = (
    f"{MACHINE}\nfrom workbench.views.plan.view import open_plan_view\n"
    'inspection.flip("b")\nplan = open_plan_view(inspection)'
)
CHARTS = '.swb-pane[data-opened="true"]'
