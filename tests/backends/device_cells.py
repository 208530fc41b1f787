"""Cells that the tests of CUDA text and devices start from."""

from tests.programs.hello import TEXT as HELLO
from tests.programs.wave import TEXT as WAVE

__all__ = ["HEAT", "HELLO", "LEAPFROG", "WAVE"]

HEAT = """
u = field("u", boundary={"x-": "reflect", "x+": fixed(1.0), "y-": "outflow", "y+": neumann(0.25, 0.5)})
k = param("k", 0.2)
residual = scalar("residual")

change = k * (u[+1, 0] + u[-1, 0] + u[0, +1] + u[0, -1] - 4 * u)
u.next = u + change
residual.next = reduce_max(abs(change))
"""
LEAPFROG = """
u, w = fields("u w", boundary="periodic")
c = param("c", 0.25)
u.next = 2 * u - w + c * (u[+1] - 2 * u + u[-1])
w.next = u
"""
