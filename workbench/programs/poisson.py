"""Poisson: laplacian(p) = f on a grid of any dimension, by conjugate gradients to a tolerance, all inside of one step.

Hestenes and Stiefel, Journal of Research of the National Bureau of Standards 49 (1952) 409, without preconditioning.
"""

from __future__ import annotations

from typing import Any

from workbench.language import extend, field, laplacian, param, reduce_sum, reflect, scalar, sqrt, while_loop
from workbench.machine import Machine, stencil

WALLS = reflect(sign=-1)
"""p = 0 on the faces where the domain ends."""


def machine(dim: int = 2, *, boundary: object = WALLS, at_most: int = 1000) -> Machine:
    """Fields f, p; scalars residual, turns; params tol, dx0, ... (widths of cells).

    A step begins with the p that is there and ends when |f - laplacian(p)| <= tol |f| in the norm of squares: at once
    where it solves already. RunError after `at_most` turns. `boundary` must be linear: no values but zero. With
    "periodic" or "reflect" all round p is free up to a constant, and the sum of f must be 0.
    """

    @stencil(dim, name="poisson")
    def solver() -> None:
        f, p = field("f"), field("p", boundary=boundary)
        residual, turns = scalar("residual"), scalar("turns", 0, "i64")
        tol = param("tol", 1e-8, above=0)
        dx = [param(f"dx{axis}", 1.0, above=0) for axis in range(dim)]
        smallest = tol * tol * reduce_sum(f * f)

        def turn(p: Any, r: Any, d: Any, rr: Any, n: Any) -> tuple[Any, ...]:  # noqa: ANN401  # values of the cell
            q = laplacian(d, dx, 2)
            alpha = rr / reduce_sum(d * q)
            r_next = r - alpha * q
            rr_next = reduce_sum(r_next * r_next)
            return p + alpha * d, r_next, r_next + (rr_next / rr) * d, rr_next, n + 1

        r = f - laplacian(p, dx, 2)
        start = p, r, extend(r, boundary), reduce_sum(r * r), 0
        p.next, _, _, rr, n = while_loop(lambda p, r, d, rr, n: rr > smallest, turn, start, at_most=at_most)
        residual.next, turns.next = sqrt(rr), n

    return solver
