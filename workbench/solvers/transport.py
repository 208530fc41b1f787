"""Transport: the midpoint step of a conservation law of one variable, and the order of those that have faces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from workbench.language import midpoint
from workbench.solvers.gas_input import faces_by, need_function
from workbench.solvers.hydro.reconstruction import Reconstruction, constant
from workbench.solvers.settings import need_low_order

Quantity = Any  # a traced value
Flux = Callable[[Quantity, Quantity, int], Quantity]  # (left, right, axis) -> flux through the face


def faces_of(order: object, reconstruction: Reconstruction) -> Reconstruction:
    """What gives the faces: of order 2 `reconstruction`, of order 1 the cell's mean. Raises StencilError for others."""
    need_function("reconstruction", reconstruction, "hydro.mc")
    return constant if need_low_order(order) == 1 else reconstruction


def advance(
    u: Quantity,
    step: Quantity,
    dx: Sequence[Quantity],
    reconstruction: Reconstruction,
    flux: Flux,
) -> Quantity:
    """u after `step` by du/dt = - sum_a dF_a/dx_a and the midpoint rule; F from faces as `hydro` reconstructs them."""

    def rates(u: Quantity) -> Quantity:
        total = 0
        for axis, width in enumerate(dx):
            lower, upper = faces_by(reconstruction, u, axis)
            through = flux(upper.at(-1, axis), lower, axis)
            total = total + (through - through.at(+1, axis)) * (1 / width)  # one division a step, not one a cell
        return total

    return midpoint(u, rates, step)
