"""Hexahedra: formulas of elements with eight corners, for LULESH: volumes, normals, hourglass modes, gradients.

Positions and velocities are lists of eight values for each component, in the order of CORNERS: each value is an array
with a number for each element. Formulas are those of Flanagan and Belytschko (1981), as LLNL-TR-490254 uses them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Corners = Sequence[Any]
Vector = Sequence[Corners]
"""Of x, y and z the values at eight corners."""

CORNERS = ((0, 0, 0), (0, 0, 1), (0, 1, 1), (0, 1, 0), (1, 0, 0), (1, 0, 1), (1, 1, 1), (1, 1, 0))
"""Where corners lie along z, y and x from the first one."""
_FACES = ((0, 1, 2, 3), (0, 4, 5, 1), (1, 5, 6, 2), (2, 6, 7, 3), (3, 7, 4, 0), (4, 7, 6, 5))
_LENGTH_FACES = ((0, 1, 2, 3), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7))
_MODES = (
    (1, 1, -1, -1, -1, -1, 1, 1),
    (1, -1, -1, 1, -1, 1, 1, -1),
    (1, -1, 1, -1, 1, -1, 1, -1),
    (-1, 1, -1, 1, 1, -1, 1, -1),
)
"""Motions of the corners that change neither volume nor shape derivatives: the hourglass modes."""
_NEAR = (
    (1, 2, 3, 4, 5, 7), (2, 3, 0, 5, 6, 4), (3, 0, 1, 6, 7, 5), (0, 1, 2, 7, 4, 6),
    (7, 6, 5, 0, 3, 1), (4, 7, 6, 1, 0, 2), (5, 4, 7, 2, 1, 3), (6, 5, 4, 3, 2, 0),
)  # fmt: skip
"""For each corner the six others on which the derivative of the volume there depends."""


def volume_of(x: Corners, y: Corners, z: Corners) -> Any:  # noqa: ANN401  # an array
    """The volume: three triple products of diagonals."""

    def between(p: int, q: int) -> tuple[Any, Any, Any]:
        return x[p] - x[q], y[p] - y[q], z[p] - z[q]

    def product(p: Any, q: Any, r: Any) -> Any:  # noqa: ANN401  # vectors
        return (
            p[0] * (q[1] * r[2] - q[2] * r[1]) + q[0] * (p[2] * r[1] - p[1] * r[2]) + r[0] * (p[1] * q[2] - p[2] * q[1])
        )

    def plus(p: Any, q: Any) -> Any:  # noqa: ANN401  # vectors
        return tuple(a + b for a, b in zip(p, q, strict=True))

    parts = (
        product(plus(between(3, 1), between(7, 2)), between(6, 3), between(2, 0)),
        product(plus(between(4, 3), between(5, 7)), between(6, 4), between(7, 0)),
        product(plus(between(1, 4), between(2, 5)), between(6, 1), between(5, 0)),
    )
    return (parts[0] + parts[1] + parts[2]) * (1 / 12)


def face_normals(x: Corners, y: Corners, z: Corners) -> list[list[Any]]:
    """For x, y and z: at each corner a quarter of the areas of its three faces, as normals to the inside."""
    made: list[list[Any]] = [[0.0] * 8 for _ in range(3)]
    for a, b, c, d in _FACES:
        up = [0.5 * (part[d] + part[c] - part[b] - part[a]) for part in (x, y, z)]
        on = [0.5 * (part[c] + part[b] - part[d] - part[a]) for part in (x, y, z)]
        for k, (p, q) in enumerate(((1, 2), (2, 0), (0, 1))):
            area = 0.25 * (up[p] * on[q] - up[q] * on[p])
            for corner in (a, b, c, d):
                made[k][corner] = made[k][corner] + area
    return made


def volume_derivatives(x: Corners, y: Corners, z: Corners) -> list[list[Any]]:
    """For x, y and z: how the volume changes as each corner moves."""
    made: list[list[Any]] = [[], [], []]
    for near in _NEAR:
        for k, (first, second) in enumerate(((y, z), (z, x), (x, y))):
            p, q = ([part[corner] for corner in near] for part in (first, second))
            made[k].append(
                (
                    (p[1] + p[2]) * (q[0] + q[1])
                    - (p[0] + p[1]) * (q[1] + q[2])
                    + (p[0] + p[4]) * (q[3] + q[4])
                    - (p[3] + p[4]) * (q[0] + q[4])
                    - (p[2] + p[5]) * (q[3] + q[5])
                    + (p[3] + p[5]) * (q[2] + q[5])
                )
                * (1 / 12)
            )
    return made


def hourglass_forces(place: Vector, speed: Vector, change: Vector, volume: Any, stiff: Any) -> list[list[Any]]:  # noqa: ANN401  # arrays
    """For x, y and z: forces at the corners against the part of the motion that is an hourglass mode.

    change: derivatives of the volume. stiff: the coefficient, below 0.
    """
    inverse = 1 / volume
    shapes = []
    for mode in _MODES:
        x, y, z = (_sum([part[corner] * sign for corner, sign in enumerate(mode)]) for part in place)
        shapes.append(
            [
                sign - inverse * (change[0][corner] * x + change[1][corner] * y + change[2][corner] * z)
                for corner, sign in enumerate(mode)
            ]
        )
    made = []
    for part in speed:
        amounts = [_sum([shape[corner] * part[corner] for corner in range(8)]) for shape in shapes]
        made.append(
            [
                stiff * _sum([shape[corner] * amount for shape, amount in zip(shapes, amounts, strict=True)])
                for corner in range(8)
            ]
        )
    return made


def stretch_rates(place: Vector, speed: Vector) -> Any:  # noqa: ANN401  # an array
    """The rate at which the volume grows, relative to it: the trace of the velocity gradient in the middle."""
    x, y, z = ([_across(part, axis) for axis in range(3)] for part in place)
    normals = [
        [p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]]
        for p, q in ((y, z), (z, x), (x, y))
    ]
    volume = 8.0 * (x[1] * normals[0][1] + y[1] * normals[1][1] + z[1] * normals[2][1])
    rates = []
    for (xi, eta, zeta), part in zip(normals, speed, strict=True):
        shape = (-xi - eta - zeta, xi - eta - zeta, xi + eta - zeta, -xi + eta - zeta)
        apart = [part[p] - part[q] for p, q in ((0, 6), (1, 7), (2, 4), (3, 5))]
        rates.append(_sum([a * b for a, b in zip(shape, apart, strict=True)]))
    return (rates[0] + rates[1] + rates[2]) * (1 / volume)


def length_of(place: Vector, volume: Any) -> Any:  # noqa: ANN401  # arrays
    """The characteristic length: the volume over the largest face."""
    largest: Any = 0.0
    for a, b, c, d in _LENGTH_FACES:
        f, g = [], []
        for part in place:
            f.append((part[c] - part[a]) - (part[d] - part[b]))
            g.append((part[c] - part[a]) + (part[d] - part[b]))
        mixed = _sum([p * q for p, q in zip(f, g, strict=True)])
        area = _sum([p * p for p in f]) * _sum([q * q for q in g]) - mixed * mixed
        largest = np.maximum(largest, area)
    return 4.0 * volume / np.sqrt(largest)


def edge_velocities(place: Vector, speed: Vector, volume: Any, tiny: float) -> list[tuple[Any, Any]]:  # noqa: ANN401  # arrays
    """Along x, y and z of the element: the gradient of the velocity, and the width of the element."""
    edges = [[_apart(part, axis) for part in place] for axis in range(3)]
    norm = 1 / (volume + tiny)
    made = []
    for axis in range(3):
        p, q = edges[(axis + 1) % 3], edges[(axis + 2) % 3]
        normal = (p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0])
        width = volume / np.sqrt(_sum([part * part for part in normal]) + tiny)
        jump = [_apart(part, axis) for part in speed]
        made.append((_sum([n * norm * j for n, j in zip(normal, jump, strict=True)]), width))
    return made


def _apart(part: Corners, axis: int) -> Any:  # noqa: ANN401  # an array
    """The difference between the middles of two opposite faces."""
    ends: list[list[Any]] = [[], []]
    for corner, place in enumerate(CORNERS):
        ends[place[2 - axis]].append(part[corner])
    return 0.25 * (_sum(ends[1]) - _sum(ends[0]))


def _across(part: Corners, axis: int) -> Any:  # noqa: ANN401  # an array
    """The derivative along x, y or z of the unit cube, from the four diagonals."""
    a, b, c, d = part[6] - part[0], part[5] - part[3], part[7] - part[1], part[4] - part[2]
    signs = ((1, -1, -1), (-1, 1, -1), (1, 1, 1))[axis]
    return 0.125 * _sum([a, *(sign * each for sign, each in zip(signs, (b, c, d), strict=True))])


def _sum(parts: Sequence[Any]) -> Any:  # noqa: ANN401  # an array
    """From the first to the last."""
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total
