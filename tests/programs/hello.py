"""Table 3 of the paper: y = x * x, z = y + y; the smallest program in which storing a value is a choice."""

import numpy as np

TEXT = """\
density = field("density")
x = density
y = x * x
z = y + y
density.next = z
"""
STEPS = 2


def start():
    return {"density": np.linspace(0, 1, 11)}


def check(simulation):
    once = 2 * np.linspace(0, 1, 11) ** 2
    assert np.array_equal(simulation.density, 2 * once**2)
