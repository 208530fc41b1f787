"""Maxwell: Yee's scheme in three dimensions (IEEE Trans. Antennas Propag. 14 (1966) 302), zero outside."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.backends.base import Array
from workbench.commands.bench.heat import places
from workbench.commands.bench.problem import ArrayForm, Problem, Shape, State, Update, inside
from workbench.machine import Machine, trace

RATIO = 0.5  # c dt / dx
CELL = f"""\
s = {RATIO}                                                # c dt / dx
E = fields("e0 e1 e2", boundary=constant(0.0))
B = fields("b0 b1 b2", boundary=constant(0.0))
cyclic = [(0, 1, 2), (1, 2, 0), (2, 0, 1)]

after = [B[a] - s * ((E[c].at(+1, b) - E[c]) - (E[b].at(+1, c) - E[b])) for a, b, c in cyclic]
after = [extend(value, constant(0.0)) for value in after]
for a, b, c in cyclic:
    B[a].next = after[a]
    E[a].next = E[a] + s * ((after[c] - after[c].at(-1, b)) - (after[b] - after[b].at(-1, c)))
"""
CYCLIC = ((0, 1, 2), (1, 2, 0), (2, 0, 1))


def machine(dtype: str) -> Machine:
    """The cell as a user types it."""
    return trace(CELL, 3, name="maxwell", dtype=dtype)


def start(shape: Shape) -> tuple[Array, ...]:
    """A pulse of the electric field, no magnetic one."""
    x, y, z = np.meshgrid(*places(shape), indexing="ij", sparse=True)
    pulse = np.exp(-30 * ((x - 0.5) ** 2 + (y - 0.4) ** 2 + (z - 0.6) ** 2))
    electric = [pulse * np.sin(9 * q) * np.cos(7 * r) for q, r in ((y, z), (z, x), (x, y))]
    return (*electric, *(np.zeros(shape) for _ in range(3)))


def _magnetic(library: Any, arrays: State) -> list[Any]:  # noqa: ANN401
    electric, magnetic = arrays[:3], arrays[3:]
    here = inside(1, 3)

    def rise(q: Any, axis: int) -> Any:  # noqa: ANN401
        return q[inside(1, 3, axis, 1)] - q[here]

    return [magnetic[a][here] - RATIO * (rise(electric[c], b) - rise(electric[b], c)) for a, b, c in CYCLIC]


def _electric(library: Any, arrays: State) -> list[Any]:  # noqa: ANN401
    electric, magnetic = arrays[:3], arrays[3:]
    here = inside(1, 3)

    def rise(q: Any, axis: int) -> Any:  # noqa: ANN401
        return q[here] - q[inside(1, 3, axis, -1)]

    return [electric[a][here] + RATIO * (rise(magnetic[c], b) - rise(magnetic[b], c)) for a, b, c in CYCLIC]


MAXWELL = Problem(
    name="maxwell3d",
    title="Maxwell's equations in 3-D",
    scheme="Yee's staggered grid, six fields, zero outside",
    shape=(192, 192, 192),
    dtype="f32",
    machine=machine,
    start=start,
    array_form=ArrayForm((Update(_magnetic, (3, 4, 5)), Update(_electric, (0, 1, 2))), halo=1),
    kernels=(("numba", "numba_stencils:maxwell"), ("halide", "halide_stencils:maxwell")),
)
