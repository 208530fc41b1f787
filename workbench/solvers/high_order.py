"""High order: reconstructions of five cells for the hydrodynamics solver, WENO-Z and PPM.

Each is a function (variable, axis) -> (value at the cell's lower face, value at its upper face), as those of
`workbench.solvers.hydro`. Of higher order are the faces along an axis; the solver as a whole, unsplit and with the
midpoint rule, stays of second order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Quantity = Any  # a traced value

# The largest cfl * dim for WENO-Z. Of a wave of phase angle t a cell and effective Courant number c (up to cfl * dim
# for flow along the diagonal), the midpoint rule adds c^4 t^4 / 8 a step and fifth order upwind takes c t^6 / 60, so at
# most c^10 a step is left. At c = 0.4 rounding needs 10^5 steps to be seen, at 0.7 (sound in 2-D, cfl 0.5) some 1000.
WENO_Z_COURANT = 0.4


def ppm(variable: Quantity, axis: int) -> tuple[Quantity, Quantity]:
    """The piecewise parabolic method (Colella and Woodward 1984): fourth order, limited to monotone parabolas.

    Faces from means and limited slopes (eqs. 1.6 to 1.8 for equal cells); constant at extrema, steepened on one side
    where the parabola would overshoot (eq. 1.10). Without their contact steepening and shock flattening.

    Away from extrema both sides of a face have one value, so nothing damps what the midpoint rule lets grow with the
    fourth power of cfl: pass cfl=0.3 or less, or the order is lost on fine grids.
    """
    slope = _monotonised_slope(variable, axis)
    face = variable + 0.5 * (variable.at(+1, axis) - variable) + (slope - slope.at(+1, axis)) / 6
    lower, upper = face.at(-1, axis), face
    extremum = (upper - variable) * (variable - lower) <= 0
    width = upper - lower
    bend = width * (variable - 0.5 * (lower + upper))
    bound = width * width / 6
    steep_lower = np.where(bend > bound, 3 * variable - 2 * upper, lower)
    steep_upper = np.where(bend < -bound, 3 * variable - 2 * lower, upper)
    return np.where(extremum, variable, steep_lower), np.where(extremum, variable, steep_upper)


def _monotonised_slope(variable: Quantity, axis: int) -> Quantity:
    """The central difference, at most twice either one-sided one, none at an extremum (eq. 1.8)."""
    before, after = variable - variable.at(-1, axis), variable.at(+1, axis) - variable
    limit = 2 * np.minimum(np.abs(before), np.abs(after))
    centred = 0.5 * (before + after)
    return np.where(before * after > 0, np.maximum(np.minimum(centred, limit), -limit), 0.0)


def weno_z(variable: Quantity, axis: int) -> tuple[Quantity, Quantity]:
    """Fifth order in smooth flow along the axis: WENO-Z (Borges, Carmona, Costa and Don 2008), five cells wide.

    Not monotone, and not positive next to vacuum; the whole solver remains of second order in more dimensions. Next to
    nothing damps sound of three or four cells, which the midpoint rule lets grow: see WENO_Z_COURANT.
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
