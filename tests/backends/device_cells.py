"""Cells that the tests of CUDA text and devices start from."""

WAVE = """
u, v   = fields("u v", boundary="periodic")
energy = scalar("energy")
c      = param("c", 3.43)
dx = 2 * pi / size(0)
dt = dx / c

u1 = u + dt * v
v1 = v + dt * c**2 / dx**2 * (u1[+1] - 2 * u1 + u1[-1])
u.next, v.next = u1, v1
energy.next = reduce_sum(0.5 * (c**2 * ((u1[+1] - u1[-1]) / (2 * dx))**2 + ((v + v1) / 2)**2) * dx)
"""
HEAT = """
u = field("u", boundary={"x-": "reflect", "x+": fixed(1.0), "y-": "outflow", "y+": neumann(0.25, 0.5)})
k = param("k", 0.2)
residual = scalar("residual")

change = k * (u[+1, 0] + u[-1, 0] + u[0, +1] + u[0, -1] - 4 * u)
u.next = u + change
residual.next = reduce_max(abs(change))
"""
HELLO = """
density = field("density")
x = density
y = x * x
z = y + y
density.next = z
"""
