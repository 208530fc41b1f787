"""Exact dam break: the exact solution of the shallow-water Riemann problem, wet and dry, for tests and pictures."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench.errors import StencilError

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class WaterState:
    """Depth and velocity of the water on one side of the dam; depth 0: a dry bed."""

    depth: float
    velocity: float = 0.0


def solve_dam_break(
    left: WaterState, right: WaterState, speed: ArrayLike, gravity: float = 9.81
) -> tuple[Array, Array]:
    """Depth and velocity at x / t = `speed`, of the shape of `speed`; velocity 0 where it is dry.

    Stoker (Water Waves, 1957, §10.8) for a dam between pools at rest, Ritter (1892) for a dry bed, else as Toro
    (Shock-Capturing Methods for Free-Surface Shallow Flows, chapters 5 and 6). Raises StencilError for depths
    that are negative or not finite.
    """
    for pool in (left, right):
        if not (0 <= pool.depth < math.inf and math.isfinite(pool.velocity)):
            advice = "Pass finite depths of 0 or more and finite velocities."
            raise StencilError(f"no water has the state {pool}", advice=advice)
    if not 0 < gravity < math.inf:
        raise StencilError(f"gravity={gravity!r} moves no water", advice="Pass a positive number such as 9.81.")
    s = np.asarray(speed, np.float64)
    c_left, c_right = (float(np.sqrt(gravity * pool.depth)) for pool in (left, right))
    if right.velocity - left.velocity >= 2 * (c_left + c_right) or 0.0 in (left.depth, right.depth):
        return _with_dry_bed(left, right, s, gravity)
    depth, velocity = _star_region(left, right, gravity)
    on_left = s < velocity
    sides = [_side(pool, depth, velocity, s, gravity, sign) for pool, sign in ((left, -1.0), (right, 1.0))]
    return np.where(on_left, sides[0][0], sides[1][0]), np.where(on_left, sides[0][1], sides[1][1])


def _star_region(left: WaterState, right: WaterState, gravity: float) -> tuple[float, float]:
    """Depth and velocity between the waves: the root of f_L + f_R + u_R - u_L, by bisection."""

    def excess(depth: float) -> float:
        return _jump(left, depth, gravity) + _jump(right, depth, gravity) + right.velocity - left.velocity

    low, high = 0.0, max(left.depth, right.depth)
    while excess(high) < 0:
        high *= 2
    middle = 0.5 * (low + high)
    while low < middle < high:
        low, high = (middle, high) if excess(middle) < 0 else (low, middle)
        middle = 0.5 * (low + high)
    mean = 0.5 * (left.velocity + right.velocity)
    return middle, mean + 0.5 * (_jump(right, middle, gravity) - _jump(left, middle, gravity))


def _jump(pool: WaterState, depth: float, gravity: float) -> float:
    """The change of velocity through the wave of one side if the depth behind it is `depth`."""
    if depth > pool.depth:
        return float((depth - pool.depth) * np.sqrt(0.5 * gravity * (depth + pool.depth) / (depth * pool.depth)))
    return float(2 * (np.sqrt(gravity * depth) - np.sqrt(gravity * pool.depth)))


def _side(
    pool: WaterState, depth: float, velocity: float, s: Array, gravity: float, sign: float
) -> tuple[Array, Array]:
    """The solution on one side of the middle; sign -1 for the left, +1 for the right."""
    sound = float(np.sqrt(gravity * pool.depth))
    if depth > pool.depth:
        shock = pool.velocity + sign * sound * np.sqrt(0.5 * depth * (depth + pool.depth)) / pool.depth
        ahead = sign * (s - shock) > 0
        return np.where(ahead, pool.depth, depth), np.where(ahead, pool.velocity, velocity)
    head, tail = pool.velocity + sign * sound, velocity + sign * np.sqrt(gravity * depth)
    ahead, behind = sign * (s - head) > 0, sign * (s - tail) < 0
    fan_depth, fan_velocity = _fan(pool, s, gravity, sign)
    return (
        np.where(ahead, pool.depth, np.where(behind, depth, fan_depth)),
        np.where(ahead, pool.velocity, np.where(behind, velocity, fan_velocity)),
    )


def _fan(pool: WaterState, s: Array, gravity: float, sign: float) -> tuple[Array, Array]:
    """Inside a rarefaction: u + sign c = s, and u - sign 2 c is that of the pool."""
    sound = np.sqrt(gravity * pool.depth)
    c = np.maximum((2 * sound - sign * (pool.velocity - s)) / 3, 0.0)
    return c**2 / gravity, s - sign * c


def _with_dry_bed(left: WaterState, right: WaterState, s: Array, gravity: float) -> tuple[Array, Array]:
    """Each pool runs out into the dry bed with twice its wave speed."""
    depth, velocity = np.zeros_like(s), np.zeros_like(s)
    for pool, sign in ((left, -1.0), (right, 1.0)):
        sound = np.sqrt(gravity * pool.depth)
        here = sign * (s - (pool.velocity - sign * 2 * sound)) > 0  # behind the tip
        ahead = sign * (s - (pool.velocity + sign * sound)) > 0
        fan = _fan(pool, s, gravity, sign)
        if pool.depth > 0:
            depth = np.where(here, np.where(ahead, pool.depth, fan[0]), depth)
            velocity = np.where(here, np.where(ahead, pool.velocity, fan[1]), velocity)
    return depth, velocity
