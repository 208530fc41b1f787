"""Wave: d²u/dt² = c² laplacian(u) in three dimensions, two levels of time, order 2, 4 or 8 in space, zero outside."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from workbench.backends.base import Array
from workbench.commands.bench.heat import places, product
from workbench.commands.bench.problem import ArrayForm, Problem, Shape, State, Update, inside, neighbours
from workbench.language import coefficients
from workbench.machine import Machine, trace

COURANT = 0.1  # (c dt / dx)²
CELL = """\
u, before = fields("u before", boundary=constant(0.0))
weights = [0.1 * float(w) for w in coefficients(2, {order}).values()][{radius}:]     # (c dt / dx)² = 0.1
after = (2 + 3 * weights[0]) * u - before
for k in range(1, {past}):
    x, y, z = (u.at(-k, axis) + u.at(+k, axis) for axis in (2, 1, 0))
    after = after + weights[k] * (x + y + z)
u.next, before.next = after, u
"""


def machine(dtype: str, order: int) -> Machine:
    """The cell as a user types it."""
    text = CELL.format(order=order, radius=order // 2, past=order // 2 + 1)
    return trace(text, 3, name="wave", dtype=dtype)


def weights_of(order: int) -> tuple[float, ...]:
    """Weights of the value itself and of the pairs 1, 2, ... cells away, in one step."""
    weights = [COURANT * float(w) for w in coefficients(2, order).values()][order // 2 :]
    return (2 + 3 * weights[0], *weights[1:])


def start(shape: Shape) -> tuple[Array, ...]:
    """A smooth hill at rest."""
    u = product([np.sin(np.pi * x) ** 3 * (1 + 0.3 * np.cos(20 * x)) for x in places(shape)])
    return u, u


def _values(library: Any, arrays: State, order: int) -> tuple[Any]:  # noqa: ANN401
    u, before = arrays
    radius, weights = order // 2, weights_of(order)
    after = weights[0] * u[inside(radius, 3)] - before[inside(radius, 3)]
    for k in range(1, radius + 1):
        x, y, z = (neighbours(u, radius, 3, axis, k) for axis in (2, 1, 0))
        after = after + weights[k] * (x + y + z)
    return (after,)


def problem(order: int) -> Problem:
    """The problem of one order."""
    return Problem(
        name="wave3d" if order == 2 else f"wave3d-{order}",
        title=f"Wave equation in 3-D, order {order}",
        scheme=f"{1 + 3 * order} points, two levels of time, zero outside",
        shape=(384, 384, 384),
        dtype="f32",
        machine=partial(machine, order=order),
        start=start,
        array_form=ArrayForm((Update(partial(_values, order=order), (1,)),), halo=order // 2, order=(1, 0)),
        kernels=(("numba", "numba_stencils:wave"), ("halide", "halide_stencils:wave")),
    )
