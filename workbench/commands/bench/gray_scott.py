"""Gray-Scott: two substances that react and diffuse in a periodic plane (Pearson, Science 261 (1993) 189)."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.backends.base import Array
from workbench.commands.bench.problem import ArrayForm, Problem, Shape, State, Update
from workbench.machine import Machine, trace

SPREAD_U, SPREAD_V, FEED, LOSS = 0.16, 0.08, 0.04, 0.1
CELL = f"""\
u, v = fields("u v", boundary="periodic")

def bend(q):
    return (q[0, -1] + q[0, +1]) + (q[-1, 0] + q[+1, 0]) - 4 * q

reaction = u * v * v
u.next = u + ({SPREAD_U} * bend(u) - reaction + {FEED} * (1 - u))
v.next = v + ({SPREAD_V} * bend(v) + reaction - {LOSS} * v)
"""


def machine(dtype: str) -> Machine:
    """The cell as a user types it."""
    return trace(CELL, 2, name="gray_scott", dtype=dtype)


def start(shape: Shape) -> tuple[Array, ...]:
    """Waves of both substances about Pearson's trivial state."""
    y, x = np.meshgrid(*[2 * np.pi * np.arange(n) / n for n in shape], indexing="ij", sparse=True)
    v = 0.25 * (1 + np.sin(3 * x) * np.cos(5 * y)) * (1 + 0.3 * np.sin(17 * x + 11 * y)) / 1.3
    return 1 - 2 * v + 0.5 * v**2, v


def _values(library: Any, arrays: State) -> tuple[Any, Any]:  # noqa: ANN401
    u, v = arrays

    def bend(q: Any) -> Any:  # noqa: ANN401
        along = library.roll(q, 1, 1) + library.roll(q, -1, 1)
        return along + (library.roll(q, 1, 0) + library.roll(q, -1, 0)) - 4 * q

    reaction = u * v * v
    return (
        u + (SPREAD_U * bend(u) - reaction + FEED * (1 - u)),
        v + (SPREAD_V * bend(v) + reaction - LOSS * v),
    )


GRAY_SCOTT = Problem(
    name="gray-scott",
    title="Gray-Scott reaction and diffusion in 2-D",
    scheme="five points, one Euler step of both substances, periodic",
    shape=(2048, 2048),
    dtype="f32",
    machine=machine,
    start=start,
    array_form=ArrayForm((Update(_values, (0, 1)),)),
    kernels=(("numba", "numba_stencils:gray_scott"), ("halide", "halide_stencils:gray_scott")),
)
