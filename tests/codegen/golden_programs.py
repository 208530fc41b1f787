"""The small programs whose generated text is kept in tests/golden."""

from tests.programs.hello import TEXT as HELLO
from tests.programs.wave import TEXT as WAVE
from workbench.frontend.cell import trace_cell
from workbench.planning import Choices, PlanChoices, plan_graph

HEAT = """\
u = field("u", boundary={"x": "periodic", "y-": fixed(1.0), "y+": "outflow"})
a = param("a", 0.1)
u.next = u + a * (u[+1, 0] + u[-1, 0] + u[0, +1] + u[0, -1] - 4 * u)
"""
CASES = {
    "wave": (WAVE, 1, "cost"),
    "hello_delayed": (HELLO, 1, "as_delayed"),
    "hello_manifest": (HELLO, 1, "as_manifest"),
    "heat": (HEAT, 2, "cost"),
}


def planned(name):
    text, dim, preset = CASES[name]
    graph = trace_cell(text, name=name, dim=dim).graph
    return plan_graph(graph, Choices(plan=PlanChoices().changed(preset=preset)))
