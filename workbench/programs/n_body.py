"""N-body: the gravity of n bodies on each other, softened as by Plummer (1911), in two forms with one meaning.

`accelerations` is a function of arrays with the axes i and j of all pairs; `machine()` says what one pair contributes.
Neither makes an array of n x n (McDonell 2015, §6.5). With `tree=True` the same pairs are summed by an oct-tree with
quadrupoles (Barnes and Hut 1986), in a time of n log n.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.array_function import collective
from workbench.machine import Machine, trace

CELL = """
xi, yi, zi = targets("x y z")
xj, yj, zj, m = sources("x y z m")
ax, ay, az = totals("ax ay az")
softening = param("softening", 1e-4, above=0)
dx, dy, dz = xj - xi, yj - yi, zj - zi
inverse = 1 / sqrt(dx * dx + dy * dy + dz * dz + softening)
weight = m * (inverse * inverse * inverse)
ax += weight * dx
ay += weight * dy
az += weight * dz
"""
TREE_CELL = 'theta = param("theta", 0.5)\n' + CELL.replace(
    'totals("ax ay az")', 'totals("ax ay az", tree=theta, positions="x y z", weights="m")'
)


@collective
def accelerations(position: Any, mass: Any, softening: float = 1e-4) -> Any:  # noqa: ANN401  # arrays while it is traced are no NumPy arrays
    """The three accelerations of each body, for a constant of gravity of 1: a tuple of arrays of length n.

    position: a tuple (x, y, z) of arrays of length n. mass: an array of length n. softening: the square of a length,
    added to each squared distance.
    """
    dx, dy, dz = (axis[None, :] - axis[:, None] for axis in position)
    inverse = 1 / np.sqrt(dx * dx + dy * dy + dz * dz + softening)
    weight = mass[None, :] * (inverse * inverse * inverse)
    return np.sum(weight * dx, axis=1), np.sum(weight * dy, axis=1), np.sum(weight * dz, axis=1)


def machine(dtype: object = "f64", *, tree: bool = False) -> Machine:
    """The same as a machine of pairs: call it with x, y, z, m and softening; it returns ax, ay, az.

    tree: by a tree, for many bodies; theta, 0.5 if it is not given, is the opening angle: half of it takes about five
    times as long and has a fifteenth of the error, 0 adds all pairs.
    """
    return trace(TREE_CELL if tree else CELL, name="n_body_by_tree" if tree else "n_body", dtype=dtype)
