"""Burgers: du/dt + sum_a d(u²/2)/dx_a = 0, where waves steepen into shocks; Godunov's flux, first or second order."""

from __future__ import annotations

from typing import Any

from workbench.language import coordinate, courant_step, field, maximum, minimum, param
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
    """Field u; scalars time, dt; params dx0, ..., cfl (default 0.5), until. dt = cfl / (max |u| sum_a 1 / dx_a)."""
    dim, faces = need_dimensions(dim), faces_of(order, reconstruction)

    @stencil(dim, name="burgers", dtype=dtype)
    def solver() -> None:
        u, cfl = field("u", boundary=boundary), param("cfl", 0.5, above=0, warn_above=1.0)
        dx = [param(f"dx{axis}", 1.0, above=0) for axis in range(dim)]
        coordinate(spacing=dx, unit="")
        step = tick(courant_step(u, dx, cfl))

        def godunov(left: Any, right: Any, axis: int) -> Any:  # noqa: ANN401  # traced values
            """The exact Riemann solution at the face (LeVeque, Finite Volume Methods, eq. 12.4)."""
            del axis  # the flux is the same along all
            return 0.5 * maximum(maximum(left, 0.0) ** 2, minimum(right, 0.0) ** 2)

        u.next = advance(u, step, dx, faces, godunov)

    return solver
