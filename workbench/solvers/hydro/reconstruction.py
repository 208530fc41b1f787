"""Reconstruction: the values of a variable at the two faces of each cell along an axis.

A reconstruction is a function (variable, axis) -> (value at the cell's lower face, value at its upper face). It may
read any neighbours with `variable.at(offset, axis)`; the halo follows from what it reads. Wider ones are in
`workbench.solvers.high_order`.
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
    size = np.minimum(0.5 * np.abs(before + after), 2 * np.minimum(np.abs(before), np.abs(after)))
    # Not a maximum of a minimum inside the choice: compilers then see branches and leave the loop unvectorised.
    return _line(variable, np.where(before * after > 0, np.copysign(size, before), 0.0))


def _differences(variable: Quantity, axis: int) -> tuple[Quantity, Quantity]:
    return variable - variable.at(-1, axis), variable.at(+1, axis) - variable


def _line(variable: Quantity, slope: Quantity) -> tuple[Quantity, Quantity]:
    half = 0.5 * slope
    return variable - half, variable + half
