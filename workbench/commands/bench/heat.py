"""Heat: du/dt = laplacian(u) in two dimensions by one step of Euler's rule and five points, zero outside."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.backends.base import Array
from workbench.commands.bench.problem import ArrayForm, Problem, Shape, State, Update, inside, neighbours
from workbench.machine import Machine, trace

CENTRE, SIDE = 0.6, 0.1
CELL = f"""\
u = field("u", boundary=constant(0.0))
u.next = {CENTRE} * u + {SIDE} * ((u[0, -1] + u[0, +1]) + (u[-1, 0] + u[+1, 0]))
"""


def machine(dtype: str) -> Machine:
    """The cell as a user types it."""
    return trace(CELL, 2, name="heat", dtype=dtype)


def start(shape: Shape) -> tuple[Array, ...]:
    """A hill with ripples, zero at the border."""
    return (product([np.sin(np.pi * x) * (1 + 0.5 * np.cos(40 * x)) for x in places(shape)]),)


def places(shape: Shape) -> list[Array]:
    """Coordinates of the cells between 0 and 1 along each axis, the border cells of the halo at 0 and 1."""
    return [(np.arange(n) + 1.0) / (n + 1) for n in shape]


def product(factors: list[Array]) -> Array:
    """The outer product of one factor an axis."""
    result: Array = np.ones(())
    for factor in factors:
        result = np.multiply.outer(result, factor)
    return result


def _values(library: Any, arrays: State) -> tuple[Any]:  # noqa: ANN401
    u = arrays[0]
    return (CENTRE * u[inside(1, 2)] + SIDE * (neighbours(u, 1, 2, 1, 1) + neighbours(u, 1, 2, 0, 1)),)


HEAT = Problem(
    name="heat2d",
    title="Heat equation in 2-D",
    scheme="five points, one Euler step, zero outside",
    shape=(4096, 4096),
    dtype="f32",
    machine=machine,
    start=start,
    array_form=ArrayForm((Update(_values, (1,)),), halo=1, spare=(0,), order=(1, 0)),
    kernels=(("numba", "numba_stencils:heat"), ("halide", "halide_stencils:heat")),
)
