"""Wave: d²u/dt² = c² laplacian(u) in any dimension and of any even order, by one symplectic step."""

from __future__ import annotations

from fractions import Fraction
from math import factorial
from typing import Any

from workbench.language import coordinate, field, laplacian, leapfrog, param
from workbench.machine import Machine, stencil
from workbench.solvers.clock import tick
from workbench.solvers.settings import need_dimensions, need_even_order
from workbench.solvers.sides import rate_of

Quantity = Any  # a traced value


def machine(dim: int = 2, order: int = 2, *, boundary: object = "periodic", dtype: object = "f64") -> Machine:
    """Fields u and v = du/dt; scalars time, dt; params c, dx0, ..., cfl (default 0.3), until.

    A step is kick, drift, kick; order 2 is Verlet's. dt = cfl / (c sqrt(sum_a 1 / dx_a²)), stable up to cfl = 1 at
    every order. Energy does not drift. order: 2, 4, 6, ..., in space and time; a step takes 3 order / 2 - 1 Laplacians.
    boundary: of u; where it holds a value, as fixed(1.0) does, it holds v at 0.

    A wave of frequency w turns (w u, v) by w dt in each step, and a turn is three shears, of -tan(w dt / 2), sin(w dt)
    and -tan(w dt / 2). Their series in -(w dt)², which is dt² c² laplacian, are cut at the order: leapfrog of a
    modified equation (Shubin and Bell, SIAM J. Sci. Stat. Comput. 8 (1987) 135), with v at the order of u.
    """
    dim, order = need_dimensions(dim), need_even_order(order)
    kick, drift = shears(order)

    @stencil(dim, name="wave", dtype=dtype)
    def solver() -> None:
        u, v = field("u", boundary=boundary), field("v", boundary=rate_of(boundary))
        c, cfl = param("c", 1.0, above=0), param("cfl", 0.3, above=0, warn_above=1.0)
        dx = [param(f"dx{axis}", 1.0, above=0) for axis in range(dim)]
        coordinate(spacing=dx, unit="")
        step = tick(cfl / (c * sum(1 / width**2 for width in dx) ** 0.5))

        def bend(value: Quantity) -> Quantity:
            return c**2 * laplacian(value, dx, order)

        def series(weights: list[float], value: Quantity) -> Quantity:
            """The sum of weights[k] (dt² c² laplacian)^k of the value, by Horner's rule; weights[0] is 1."""
            total = value if len(weights) == 1 else weights[-1] * value
            for weight in reversed(weights[:-1]):
                total = (value if weight == 1 else weight * value) + step**2 * bend(total)
            return total

        u.next, v.next = leapfrog(
            u, v, lambda place: bend(series(kick, place)), step, drift=lambda speed: series(drift, speed)
        )

    return solver


def shears(order: int) -> tuple[list[float], list[float]]:
    """Weights of the powers of z = -x² in 2 tan(x / 2) / x and in sin(x) / x, as many as the order asks for.

    Those of tan(x) = sum_k t_k x**(2 k + 1) follow from tan' = 1 + tan²: (2 k + 1) t_k = sum_(i + j = k - 1) t_i t_j.
    """
    count = order // 2
    tangent = [Fraction(1)]
    for k in range(1, count):
        tangent.append(sum((tangent[i] * tangent[k - 1 - i] for i in range(k)), Fraction(0)) / (2 * k + 1))
    kick = [float(Fraction(-1, 4) ** k * t) for k, t in enumerate(tangent)]
    return kick, [1 / factorial(2 * k + 1) for k in range(count)]
