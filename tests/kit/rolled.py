"""Plans whose loops run together, tile by tile."""

from workbench.frontend.cell import trace_cell
from workbench.planning import Choices, PlanChoices, plan_graph

TWICE = """
u = field("u", boundary="periodic")
a = manifest(0.5 * u * u)
b = manifest(a[+1, 0] - a[-2, 0] + a[0, +1])
u.next = b - b[0, -1]
"""


def plan_of(text, dim=2, **choices):
    graph = trace_cell(text, name="cell", dim=dim).graph
    return plan_graph(graph, Choices(plan=PlanChoices().changed(preset="as_delayed", **choices)))


def names(plan, chain):
    return [plan.main.kernel.nodes[v.node].names[0] for v in chain.rolling]
