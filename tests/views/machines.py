"""Small machines to look at."""

from functools import cache

import workbench as wb
from workbench.planning.choices import Choices, PlanChoices

# Line 1 is empty, so `a` is written in line 3 and `b` in line 4.
TRADE_OFF = """
u = field("u", boundary="periodic")
a = u[+1] + u[-1]
b = a * a + 2.0
u.next = u + 0.1 * (b[+1] - b[-1])
"""
# With the energy of the Paraiso paper (Eq. 8): three loops while somebody looks at it.
WAVE = """
u, v = fields("u v", boundary="periodic")
energy = scalar("energy")
c = param("c", 3.43)
dx = 6.28 / size(0)
dt = dx / c
u1 = u + dt * v
v1 = v + dt * c**2 / dx**2 * (u1[+1] - 2 * u1 + u1[-1])
u.next, v.next = u1, v1
energy.next = reduce_sum(0.5 * (c**2 * ((u1[+1] - u1[-1]) / (2 * dx))**2 + ((v + v1) / 2)**2) * dx)
"""
# Values of three spaces: means of rows, maxima of columns, and what is left of u.
ROWS = """
u = field("u", boundary="periodic")
row_mean = reduce_sum(u, axis=1) / size(1)
column = reduce_max(u, axis=0)
u.next = u - row_mean + column[+1] - row_mean[-1]
"""


@cache
def rows():
    return wb.trace(ROWS, name="rows", dim=2)


@cache
def trade_off(b="delayed"):
    """One sub-kernel if b is delayed, two if it is manifest."""
    machine = wb.trace(TRADE_OFF, name="trade").with_choices(Choices(plan=PlanChoices().changed(preset="as_delayed")))
    return machine if b == "delayed" else machine.annotate("b", b)


@cache
def wave():
    return wb.trace(WAVE, name="wave")
