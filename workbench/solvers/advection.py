"""Advection: du/dt + sum_a v_a du/dx_a = 0 with constant velocity, upwind, of first or second order.

LeVeque, Finite Volume Methods for Hyperbolic Problems (2002), chapters 4 and 6.
"""

from __future__ import annotations

from typing import Any

from workbench.language import coordinate, courant_step, field, inf, param, where
from workbench.machine import Machine, stencil
from workbench.solvers.clock import tick
from workbench.solvers.hydro.reconstruction import Reconstruction, mc
from workbench.solvers.settings import need_dimensions
from workbench.solvers.transport import advance, faces_of


def machine(
    dim: int = 2,
    order: int = 2,
    *,
    boundary: object = "periodic",
    dtype: object = "f64",
    reconstruction: Reconstruction = mc,
) -> Machine:
    """Field u; scalars time, dt; params velocity0, ... (default 1), dx0, ..., cfl (default 0.5), until.

    Conservative: midpoint rule and the upwind side of each face, from `reconstruction` (order 2) or the cell's mean
    (order 1). dt = cfl / sum_a |v_a| / dx_a.
    """
    dim, faces = need_dimensions(dim), faces_of(order, reconstruction)

    @stencil(dim, name="advection", dtype=dtype)
    def solver() -> None:
        u = field("u", boundary=boundary)
        velocity = [param(f"velocity{axis}", 1.0, above=-inf) for axis in range(dim)]
        cfl = param("cfl", 0.5, above=0, warn_above=1.0)
        dx = [param(f"dx{axis}", 1.0, above=0) for axis in range(dim)]
        coordinate(spacing=dx, unit="")
        step = tick(courant_step(velocity, dx, cfl))

        def upwind(left: Any, right: Any, axis: int) -> Any:  # noqa: ANN401  # traced values
            return velocity[axis] * where(velocity[axis] > 0, left, right)

        u.next = advance(u, step, dx, faces, upwind)

    return solver
