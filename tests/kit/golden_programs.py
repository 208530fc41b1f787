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
SOLID = """\
u = field("u", boundary={"x": "periodic", "y": "outflow", "z-": fixed(0.0), "z+": "reflect"})
total = scalar("total")
around = u[+1, 0, 0] + u[-1, 0, 0] + u[0, +1, 0] + u[0, -1, 0] + u[0, 0, +1] + u[0, 0, -1]
u.next = u + 0.125 * (around - 6 * u)
total.next = reduce_sum(u)
"""
CHAIN = """\
u = field("u", boundary="outflow")
flux = rolling(sqrt(u[+1, 0] * u[0, 0]) / (1 + u[0, +1] * u[0, -1]))
u.next = u - 0.1 * (flux - flux[-1, 0])
"""
DOT = """\
xs, ys = arrays("xs ys", "n")
output("product", fold(add, xs * ys))
"""
CASES = {
    "wave": (WAVE, 1, "cost"),
    "hello_delayed": (HELLO, 1, "as_delayed"),
    "hello_manifest": (HELLO, 1, "as_manifest"),
    "heat": (HEAT, 2, "cost"),
    "solid": (SOLID, 3, "cost"),
    "chain": (CHAIN, 2, "cost"),
}


def traced(name):
    text, dim, _ = CASES[name]
    return trace_cell(text, name=name, dim=dim).graph


def asked_for(name, **changes):
    """The choices with which the case is planned."""
    return Choices(plan=PlanChoices().changed(**{"preset": CASES[name][2], **changes}))


def planned(name, **changes):
    return plan_graph(traced(name), asked_for(name, **changes))
