"""Cells that the tests of CUDA text and devices start from."""

from tests.programs.hello import TEXT as HELLO
from tests.programs.wave import TEXT as WAVE

__all__ = ["HEAT", "HELLO", "LEAPFROG", "SEVERAL", "WAVE", "gravity"]

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

SEVERAL = """
a, b, c = fields("a b c", boundary="periodic")
d = field("d", boundary="reflect")
most, total = scalar("most"), scalar("total")
rough = manifest(a[-1] + a[+1] * 0.25)
smooth = manifest(b[-1] * 0.5 + b[+1] * 0.25)
a.next = rough[-1] * 0.5 + rough[+1] * 0.25
b.next = smooth[+1] - smooth[-1] * 0.5
c.next = rough[+1] * smooth[-1] * 0.1 + c * 0.5
d.next = d[-1] * 0.5 + d[+1] * 0.25 + total * 0.01
most.next = reduce_max(a)
total.next = 0.01 * reduce_sum(b * c) + most * 0.1
"""


def gravity(dtype):
    """The cell of accelerations between all pairs of two sets of particles."""
    return f"""
xi, yi, zi, e2 = targets("x y z e2", dtype="{dtype}")
xj, yj, zj, m = sources("x y z m", dtype="{dtype}")
ax, ay, az = totals("ax ay az", dtype="{dtype}")
dx, dy, dz = xj - xi, yj - yi, zj - zi
w = m * (1 / sqrt(dx**2 + dy**2 + dz**2 + e2)) ** 3
ax += w * dx
ay += w * dy
az += w * dz
"""
