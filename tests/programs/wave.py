"""The paper's worked example (Paraiso §2.3): a linear wave whose energy does not drift."""

import numpy as np

TEXT = """\
# du/dt = v,  dv/dt = c² u''  on a periodic line
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
STEPS = 40


def start(cells=37):
    x = np.arange(cells) * (2 * np.pi / cells)
    return {"u": np.sin(x), "v": np.cos(3 * x)}


def check(simulation):
    record = simulation.record("energy")
    simulation.run(20)
    assert fluctuation(record.values) <= 1e-13


def fluctuation(energies):
    return (energies.max() - energies.min()) / abs(energies.mean())
