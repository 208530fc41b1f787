"""Fluid: stable fluids in a box (Stam 1999; McDonell 2015, §6.8): diffuse, project, advect, of velocity and of dye.

Each program is a stencil or a gather of whole arrays. Beyond the walls everything is zero. Lengths are in cells.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.array_function import collective
from workbench.language import astype, constant, generate, while_loop, windows

JACOBI_STEPS = 40


@collective
def diffused(u: Any, start: Any, amount: float) -> Any:  # noqa: ANN401  # arrays while it is traced are no NumPy arrays
    """One step of Jacobi's iteration for the diffusion of `start`, from the guess u. amount: dt times diffusivity."""
    around = windows(lambda w: w[0, -1] + w[0, 1] + w[-1, 0] + w[1, 0], u, constant(0.0))
    return (start + amount * around) / (1 + 4 * amount)


@collective
def divergence(x: Any, y: Any) -> Any:  # noqa: ANN401  # arrays while it is traced are no NumPy arrays
    """The right side of the equation for the pressure; x along columns, y along rows."""
    return windows(lambda a, b: -0.5 * ((a[0, 1] - a[0, -1]) + (b[1, 0] - b[-1, 0])), (x, y), constant(0.0))


@collective
def pressed(p: Any, source: Any) -> Any:  # noqa: ANN401  # arrays while it is traced are no NumPy arrays
    """One step of Jacobi's iteration for the pressure."""
    return 0.25 * (source + windows(lambda w: w[0, -1] + w[0, 1] + w[-1, 0] + w[1, 0], p, constant(0.0)))


@collective
def without_gradient(x: Any, y: Any, p: Any) -> Any:  # noqa: ANN401  # arrays while it is traced are no NumPy arrays
    """The velocity less the gradient of the pressure: (x, y)."""
    return (
        x - windows(lambda w: 0.5 * (w[0, 1] - w[0, -1]), p, constant(0.0)),
        y - windows(lambda w: 0.5 * (w[1, 0] - w[-1, 0]), p, constant(0.0)),
    )


@collective
def advected(u: Any, x: Any, y: Any, dt: float) -> Any:  # noqa: ANN401  # arrays while it is traced are no NumPy arrays
    """u where it came from: between the four cells around, at most half a cell inside of the walls."""
    rows, columns = u.shape
    row = _inside(generate(u.shape, lambda i, j: i) - dt * y, rows)
    column = _inside(generate(u.shape, lambda i, j: j) - dt * x, columns)
    above, left = astype(np.floor(row), "i64"), astype(np.floor(column), "i64")
    below, right = np.minimum(above + 1, rows - 1), np.minimum(left + 1, columns - 1)
    down, along = row - above, column - left
    upper = (1 - along) * u[above, left] + along * u[above, right]
    lower = (1 - along) * u[below, left] + along * u[below, right]
    return (1 - down) * upper + down * lower


def _inside(place: Any, length: Any) -> Any:  # noqa: ANN401  # traced
    return np.minimum(np.maximum(place, 0.0), 1.0 * (length - 1))


@collective
def step(state: Any, dt: float, viscosity: float, diffusivity: float) -> Any:  # noqa: ANN401  # arrays while it is traced are no NumPy arrays
    """The next (velocity along columns, along rows, dye), each of shape (rows, columns), of such a tuple."""
    x, y, dye = state
    x, y = project(*diffuse((x, y), dt * viscosity))
    x, y = project(advected(x, x, y, dt), advected(y, x, y, dt))
    (dye,) = diffuse((dye,), dt * diffusivity)
    return x, y, advected(dye, x, y, dt)


def diffuse(start: tuple[Any, ...], amount: Any) -> tuple[Any, ...]:  # noqa: ANN401  # traced
    """Traced arrays after diffusion, implicit in time; no turn is made for an amount of 0."""

    def turn(number: Any, *now: Any) -> tuple[Any, ...]:  # noqa: ANN401  # traced
        return number + 1, *(diffused(u, first, amount) for u, first in zip(now, start, strict=True))

    _, *found = while_loop(
        lambda number, *_: (number < JACOBI_STEPS) & (amount != 0), turn, (0, *start), at_most=JACOBI_STEPS
    )
    return tuple(found)


def project(x: Any, y: Any) -> Any:  # noqa: ANN401  # traced
    """The traced velocity without its sources."""
    source = divergence(x, y)
    _, p = while_loop(
        lambda number, _: number < JACOBI_STEPS,
        lambda number, p: (number + 1, pressed(p, source)),
        (0, np.zeros_like(source)),
        at_most=JACOBI_STEPS,
    )
    return without_gradient(x, y, p)
