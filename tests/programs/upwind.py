"""Upwind advection with another speed along each axis: mixed-up axes or signs cannot hide."""

import numpy as np

TEXT = """\
q = field("q", boundary="periodic")
a = param("a", 1.0)
b = param("b", -1.0)
x_flux = where(a > 0, a * q[-1, 0], a * q)
y_flux = where(b > 0, b * q[0, -1], b * q)
q.next = q - (x_flux[+1, 0] - x_flux) - (y_flux[0, +1] - y_flux)
mass = scalar("mass")
mass.next = reduce_sum(q)
"""
STEPS = 5


def start():
    rng = np.random.default_rng(7)
    return {"q": rng.integers(0, 9, (12, 17)).astype(float), "b": 0.0}


def check(simulation):
    # With a Courant number of one the scheme moves everything by exactly one cell a step.
    assert np.array_equal(simulation.q, np.roll(start()["q"], STEPS, axis=0))
    simulation.set(a=0.0, b=-1.0).run(3)
    assert np.array_equal(simulation.q, np.roll(np.roll(start()["q"], STEPS, axis=0), -3, axis=1))
