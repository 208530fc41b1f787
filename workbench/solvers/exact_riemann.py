"""Exact Riemann: the exact solution of an ideal gas's Riemann problem (Toro, chapter 4), for tests and pictures."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench.errors import StencilError

Array = NDArray[np.float64]
Quantity = Any  # a traced value, an array or a number


@dataclass(frozen=True, slots=True)
class Gas:
    """Density, velocity and pressure on one side of the diaphragm."""

    density: float
    velocity: float
    pressure: float


SOD_LEFT, SOD_RIGHT = Gas(1.0, 0.0, 1.0), Gas(0.125, 0.0, 0.1)


def solve_riemann(left: Gas, right: Gas, speed: ArrayLike, gamma: float = 1.4) -> tuple[Array, Array, Array]:
    """Density, velocity and pressure at x / t = `speed`, of the shape of `speed`.

    Raises StencilError for states that are not positive and finite, for gamma up to 1, and for states that leave a
    vacuum between them (Toro eq. 4.40).
    """
    density, velocity, pressure = riemann_flow(left, right, np.asarray(speed, np.float64), gamma)
    return density, velocity, pressure


def riemann_flow(left: Gas, right: Gas, speed: Quantity, gamma: float = 1.4) -> tuple[Quantity, Quantity, Quantity]:
    """The same for a traced `speed`, so that the solution can stand in a cell, such as in a boundary rule."""
    for side, gas in (("left", left), ("right", right)):
        if not (0 < gas.density < math.inf and 0 < gas.pressure < math.inf and math.isfinite(gas.velocity)):
            raise StencilError(
                f"the {side} state of the Riemann problem is {gas}",
                advice="Pass finite states of positive density and pressure.",
            )
    if not 1 < gamma < math.inf:
        raise StencilError(f"gamma is {gamma!r}, but an ideal gas has more than 1", advice="Pass gamma=1.4.")
    pressure, velocity = star_region(left, right, gamma)
    on_left = speed < velocity
    sides = (
        _side(left, pressure, velocity, speed, gamma, -1.0),
        _side(right, pressure, velocity, speed, gamma, +1.0),
    )
    density, flow, force = (np.where(on_left, a, b) for a, b in zip(*sides, strict=True))
    return density, flow, force


def star_region(left: Gas, right: Gas, gamma: float = 1.4) -> tuple[float, float]:
    """Pressure and velocity between the waves: the root of f_L(p) + f_R(p) + u_R - u_L (Toro §4.2), by bisection."""
    jump = right.velocity - left.velocity
    if 2 / (gamma - 1) * (_sound(left, gamma) + _sound(right, gamma)) <= jump:
        raise StencilError("the states leave a vacuum between them", advice="Let them move apart more slowly.")
    low, high = 0.0, max(left.pressure, right.pressure)
    while _jump(left, high, gamma) + _jump(right, high, gamma) + jump < 0:
        high *= 2
    middle = 0.5 * (low + high)
    while low < middle < high:
        if _jump(left, middle, gamma) + _jump(right, middle, gamma) + jump < 0:
            low = middle
        else:
            high = middle
        middle = 0.5 * (low + high)
    mean = 0.5 * (left.velocity + right.velocity)
    return middle, mean + 0.5 * (_jump(right, middle, gamma) - _jump(left, middle, gamma))


def _sound(gas: Gas, gamma: float) -> float:
    return float(np.sqrt(gamma * gas.pressure / gas.density))


def _jump(gas: Gas, p: float, gamma: float) -> float:
    """The change of velocity through the wave of one side if the pressure behind it is p (Toro eqs. 4.6 and 4.7)."""
    if p > gas.pressure:
        a = 2 / ((gamma + 1) * gas.density)
        b = (gamma - 1) / (gamma + 1) * gas.pressure
        return float((p - gas.pressure) * np.sqrt(a / (p + b)))
    power = (gamma - 1) / (2 * gamma)
    return float(2 * _sound(gas, gamma) / (gamma - 1) * ((p / gas.pressure) ** power - 1))


def _power(base: Quantity, exponent: float) -> Quantity:
    """base ** exponent; by multiplication where the exponent is a whole number, which rounds alike everywhere."""
    whole = round(exponent)
    return base**whole if abs(exponent - whole) < 1e-9 else base**exponent


def _side(gas: Gas, p: float, u: float, s: Quantity, gamma: float, sign: float) -> tuple[Quantity, Quantity, Quantity]:
    """The solution on one side of the contact; sign -1 for the left, +1 for the right (Toro §4.5)."""
    sound, ratio = _sound(gas, gamma), p / gas.pressure
    g = (gamma - 1) / (gamma + 1)
    if ratio > 1:
        shock = gas.velocity + sign * sound * np.sqrt((gamma + 1) / (2 * gamma) * ratio + (gamma - 1) / (2 * gamma))
        ahead = sign * (s - shock) > 0
        behind = gas.density * (ratio + g) / (g * ratio + 1)
        return (
            np.where(ahead, gas.density, behind),
            np.where(ahead, gas.velocity, u),
            np.where(ahead, gas.pressure, p),
        )
    behind = gas.density * ratio ** (1 / gamma)
    head, tail = gas.velocity + sign * sound, u + sign * sound * ratio ** ((gamma - 1) / (2 * gamma))
    ahead, after = sign * (s - head) > 0, sign * (s - tail) < 0
    fan = np.maximum(2 / (gamma + 1) - sign * g / sound * (gas.velocity - s), 0.0)  # of c to the sound speed ahead
    flow = 2 / (gamma + 1) * (-sign * sound + (gamma - 1) / 2 * gas.velocity + s)
    return (
        np.where(ahead, gas.density, np.where(after, behind, gas.density * _power(fan, 2 / (gamma - 1)))),
        np.where(ahead, gas.velocity, np.where(after, u, flow)),
        np.where(ahead, gas.pressure, np.where(after, p, gas.pressure * _power(fan, 2 * gamma / (gamma - 1)))),
    )
