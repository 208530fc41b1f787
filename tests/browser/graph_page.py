"""The graph of hello on a page, and where its nodes are."""

from tests.browser.lab import wait_still
from tests.kit.cells import HELLO
from workbench.machine import trace
from workbench.views.graph.layout import lay_out_graph
from workbench.views.graph.summary import summarise_graph

SETUP = f'import workbench as wb\nhello = wb.trace("""{HELLO}""", name="hello")\nview = hello.view()\nview'


def wait_graph(page):
    page.wait_for_selector('.swb-pane[data-opened="true"]')
    page.locator(".swb-pane canvas").first.wait_for()
    wait_still(page, ".swb-drawing")


def place_on_page(page, node):
    """Where a node of the opened hello graph is drawn."""
    return place_in_graph(page, trace(HELLO, name="hello").plan(), (1 << 20,), node)


def place_in_graph(page, plan, extents, node):
    """Where a node of the opened graph of a plan is drawn, once it is still."""
    layout = lay_out_graph(summarise_graph(plan, extents))
    x, y = layout.node_place(node)
    left, top, right, bottom = layout.frame
    box = page.locator(".swb-pane canvas").first.bounding_box()
    across, down = (x - left) / (right - left), (y - top) / (bottom - top)
    return box["x"] + box["width"] * across, box["y"] + box["height"] * down


HELLO_MACHINE = f'import numpy as np\nimport workbench as wb\nhello = wb.trace("""{HELLO}""", name="hello")'
