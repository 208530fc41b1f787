"""Reconstruction: the values of a variable at the two faces of each cell along an axis.

A reconstruction is a function (variable, axis) -> (value at the cell's lower face, value at its upper face). It may
read any neighbours with `variable.at(offset, axis)`; the halo follows from what it reads.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from workbench.solvers.hydro.state import Quantity

Reconstruction = Callable[[Quantity, int], tuple[Quantity, Quantity]]


def constant(variable: Quantity, axis: int) -> tuple[Quantity, Quantity]:
    """The cell's mean at both faces: first order."""
    return variable, variable


def minmod(variable: Quantity, axis: int) -> tuple[Quantity, Quantity]:
    """Second order, the paper's Interpolate: the smaller of the two differences, none where their signs differ."""
    before, after = _differences(variable, axis)
    smaller = np.where(np.abs(before) < np.abs(after), before, after)
    return _line(variable, np.where(before * after > 0, smaller, 0.0))


def mc(variable: Quantity, axis: int) -> tuple[Quantity, Quantity]:
    """Second order, monotonised central (van Leer 1977): the central difference, at most twice either one-sided one."""
    before, after = _differences(variable, axis)
    centred = 0.5 * (before + after)
    limit = 2 * np.minimum(np.abs(before), np.abs(after))
    return _line(variable, np.where(before * after > 0, np.maximum(np.minimum(centred, limit), -limit), 0.0))


def weno_z(variable: Quantity, axis: int) -> tuple[Quantity, Quantity]:
    """Fifth order in smooth flow along the axis: WENO-Z (Borges, Carmona, Costa and Don 2008), five cells wide.

    Not monotone, and not positive next to vacuum; the whole solver remains of second order in more dimensions.
    """
    v = [variable.at(offset, axis) for offset in (-2, -1)]
    v += [variable, variable.at(+1, axis), variable.at(+2, axis)]
    smoothness = [
        13 / 12 * (v[k] - 2 * v[k + 1] + v[k + 2]) ** 2 + 0.25 * slope**2
        for k, slope in enumerate((v[0] - 4 * v[1] + 3 * v[2], v[1] - v[3], 3 * v[2] - 4 * v[3] + v[4]))
    ]
    global_smoothness = np.abs(smoothness[0] - smoothness[2])
    trust = [1.0 + global_smoothness / (beta + 1e-30) for beta in smoothness]
    return _blend(v[::-1], trust[::-1]), _blend(v, trust)


def _blend(v: list[Quantity], trust: list[Quantity]) -> Quantity:
    """The value half a cell towards the end of `v` from three parabolas, weighted by their trust."""
    faces = (2 * v[0] - 7 * v[1] + 11 * v[2], 5 * v[2] - v[1] + 2 * v[3], 2 * v[2] + 5 * v[3] - v[4])
    weights = [linear * t for linear, t in zip((0.1, 0.6, 0.3), trust, strict=True)]
    products = [w * f for w, f in zip(weights, faces, strict=True)]
    return (products[0] + products[1] + products[2]) / (6 * (weights[0] + weights[1] + weights[2]))


def _differences(variable: Quantity, axis: int) -> tuple[Quantity, Quantity]:
    return variable - variable.at(-1, axis), variable.at(+1, axis) - variable


def _line(variable: Quantity, slope: Quantity) -> tuple[Quantity, Quantity]:
    half = 0.5 * slope
    return variable - half, variable + half
