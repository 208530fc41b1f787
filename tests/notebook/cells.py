"""Cells that several tests run."""

HEAT = """%%stencil heat --dim 1 --backend reference
u = field("u", boundary="periodic")
k = param("k", 0.2)
u.next = u + k * (u[+1] - 2 * u + u[-1])
"""

BAD = """%%stencil bad
u = field("u", boundary="periodic")
if u > 0:
    u.next = u
"""
