"""Heat: du/dt = kappa laplacian(u) in any dimension, by the midpoint rule and differences of any even order.

Stable steps by von Neumann's analysis (Richtmyer and Morton, Difference Methods for Initial-Value Problems, ch. 1).
"""

from __future__ import annotations

from workbench.language import coordinate, field, laplacian, midpoint, param
from workbench.machine import Machine, stencil
from workbench.solvers.clock import tick
from workbench.solvers.settings import need_dimensions, need_even_order


def machine(dim: int = 2, order: int = 2, *, boundary: object = "periodic", dtype: object = "f64") -> Machine:
    """Field u; scalars time, dt; params kappa, dx0, ..., cfl, until.

    dt = cfl / (kappa sum_a 1 / dx_a²), stable for every order up to cfl = 0.2, the default; as dt goes with dx² the
    midpoint rule reaches order 4 in dx, more than `order` = 2 or 4 asks. Both stages take the `boundary`.
    """
    dim, order = need_dimensions(dim), need_even_order(order)

    @stencil(dim, name="heat", dtype=dtype)
    def solver() -> None:
        u, kappa = field("u", boundary=boundary), param("kappa", 1.0, above=0)
        cfl = param("cfl", 0.2, above=0, warn_above=stable(order))
        dx = [param(f"dx{axis}", 1.0, above=0) for axis in range(dim)]
        coordinate(spacing=dx, unit="")
        step = tick(cfl / (kappa * sum(1 / width**2 for width in dx)))
        u.next = midpoint(u, lambda u: kappa * laplacian(u, dx, order), step, boundary)

    return solver


def stable(order: int) -> float:
    """The largest stable cfl of the midpoint rule: 2 over the largest eigenvalue of -laplacian in units of 1 / dx²."""
    return {2: 0.5, 4: 0.375}.get(order, 0.2)  # 2 / 4, 2 / (16/3), and below 2 / pi² for every order
