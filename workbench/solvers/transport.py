"""Transport: the midpoint step of a conservation law of one variable, shared by advection and Burgers' equation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from workbench.language import midpoint

Quantity = Any  # a traced value
Flux = Callable[[Quantity, Quantity, int], Quantity]  # (left, right, axis) -> flux through the face


def advance(
    u: Quantity,
    step: Quantity,
    dx: Sequence[Quantity],
    reconstruction: Callable[[Quantity, int], tuple[Quantity, Quantity]],
    flux: Flux,
) -> Quantity:
    """u after `step` by du/dt = - sum_a dF_a/dx_a and the midpoint rule; F from faces as `hydro` reconstructs them."""

    def rates(u: Quantity) -> Quantity:
        total = 0
        for axis, width in enumerate(dx):
            lower, upper = reconstruction(u, axis)
            through = flux(upper.at(-1, axis), lower, axis)
            total = total + (through - through.at(+1, axis)) * (1 / width)  # one division a step, not one a cell
        return total

    return midpoint(u, rates, step)
