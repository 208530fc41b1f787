"""A heart curve as initial condition: functions whose last bits may differ between backends."""

import numpy as np

TEXT = """\
heart = field("heart")
inside = field("inside", dtype="bool")

@kernel
def init():
    x = cell_centre(0, 3.0 / size(0), origin=-1.5)
    y = cell_centre(1, 3.0 / size(1), origin=-1.2)
    heart.next = arctan((1 - x**2 - (y - cbrt(x**2))**2) * 10)
    inside.next = x**2 + (y - cbrt(x**2))**2 < 1

heart.next = heart * 0.5
inside.next = inside
"""
STEPS = 1


def start():
    return {"shape": (30, 24)}


def check(simulation):
    x = -1.5 + (np.arange(30) + 0.5) * (3 / 30)
    y = -1.2 + (np.arange(24) + 0.5) * (3 / 24)
    x, y = np.meshgrid(x, y, indexing="ij")
    level = 1 - x**2 - (y - np.cbrt(x**2)) ** 2
    # rtol: the same formula, functions of a few ulp each
    assert np.allclose(simulation.heart, 0.5 * np.arctan(10 * level), rtol=1e-12, atol=1e-12)
    assert 100 < simulation.inside.sum() < 400
    assert np.array_equal(simulation.inside[np.abs(level) > 1e-9], (level > 0)[np.abs(level) > 1e-9])
