"""Gas states: exact solutions for the hydrodynamics solver, as functions of place and time (Paraiso §4.1, fig. 10).

Each is a function (x, time) -> (density, (velocity,), pressure) for gamma = 1.4, on plain arrays and on traced values
alike: it gives the initial state by `hydro.conserved`, the gas outside by `hydro.machine(boundary=...)`, and what to
compare with. `coaxial` and `oblique` put one into more dimensions.
"""

from __future__ import annotations

from collections.abc import Callable
from math import cos, pi, radians, sin
from typing import Any

import numpy as np

from workbench.solvers.exact_riemann import SOD_LEFT, SOD_RIGHT, riemann_flow

Quantity = Any  # a traced value, an array or a number
Flow = tuple[Quantity, tuple[Quantity, ...], Quantity]
GAMMA = 1.4


def entropy_wave(x: Quantity, time: Quantity = 0.0) -> Flow:
    """A density wave of amplitude 1 about 2 that the flow carries along with velocity 1 at pressure 1; period 1."""
    return 2.0 + np.sin(2 * pi * (x - time)), (1.0,), 1.0


def sound_wave(x: Quantity, time: Quantity = 0.0, amplitude: float = 1e-5) -> Flow:
    """A simple wave to the right into gas of density gamma, pressure 1, sound speed 1; period 1.

    v(x, t) = A sin 2 pi (x - (1 + (gamma + 1) / 2 v) t), exact until it breaks; to first order in A it is the paper's
    density gamma (1 + A sin), velocity A sin, pressure 1 + gamma A sin. A below 1e-3, for then four turns are enough.
    """
    velocity: Quantity = 0.0
    for _ in range(4):
        velocity = amplitude * np.sin(2 * pi * (x - (1.0 + 0.5 * (GAMMA + 1) * velocity) * time))
    sound = 1.0 + 0.5 * (GAMMA - 1) * velocity
    isentropic = np.exp(2 / (GAMMA - 1) * np.log(sound))
    return GAMMA * isentropic, (velocity,), np.exp(2 * GAMMA / (GAMMA - 1) * np.log(sound))


def sod(x: Quantity, time: Quantity = 0.0) -> Flow:
    """Sod's shock tube (Sod 1978): (1, 0, 1) left and (0.125, 0, 0.1) right of the diaphragm at x = 0.5."""
    speed = (x - 0.5) / np.maximum(time, 1e-30)
    density, velocity, pressure = riemann_flow(SOD_LEFT, SOD_RIGHT, np.minimum(np.maximum(speed, -9.0), 9.0), GAMMA)
    return density, (velocity,), pressure


def coaxial(state: Callable[..., Flow], dim: int) -> Callable[..., Flow]:
    """The state along axis 0 of `dim` dimensions: a function (x, y, ..., time)."""

    def flow(x: Quantity, *rest: Quantity) -> Flow:
        density, (velocity,), pressure = state(x, rest[-1])
        return density, (velocity, *(0.0 for _ in range(dim - 1))), pressure

    return flow


def oblique(state: Callable[..., Flow], degrees: float = 60.0) -> Callable[..., Flow]:
    """The state in two dimensions, turned by an angle about (0.5, 0.5): a function (x, y, time)."""
    along, across = cos(radians(degrees)), sin(radians(degrees))

    def flow(x: Quantity, y: Quantity, time: Quantity = 0.0) -> Flow:
        density, (velocity,), pressure = state(along * (x - 0.5) + across * (y - 0.5) + 0.5, time)
        return density, (along * velocity, across * velocity), pressure

    return flow
