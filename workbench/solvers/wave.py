"""Wave: d²u/dt² = c² laplacian(u) in any dimension and of any even order, symplectic or on two levels of time."""

from __future__ import annotations

from fractions import Fraction
from math import factorial
from typing import Any

import numpy as np

from workbench.errors import StencilError
from workbench.language import (
    ceil,
    coefficients,
    coordinate,
    extend,
    field,
    fields,
    inf,
    laplacian,
    leapfrog,
    maximum,
    param,
    scalar,
)
from workbench.machine import Machine, stencil
from workbench.solvers.clock import tick
from workbench.solvers.settings import need_dimensions, need_even_order
from workbench.solvers.sides import maps_images, rate_of

Quantity = Any  # a traced value


def machine(
    dim: int = 2,
    order: int = 2,
    *,
    time_order: int | None = None,
    boundary: object = "periodic",
    dtype: object = "f64",
) -> Machine:
    """Fields u and v = du/dt; scalars time, dt; params c, dx0, ..., cfl (default 0.3), until.

    time_order: None for `order`; 2 is the scheme on two levels of time, with u and before (`two_levels`).

    A step is kick, drift, kick; order 2 is Verlet's. dt = cfl / (c sqrt(sum_a 1 / dx_a²)), stable up to cfl = 1 at
    every order. Energy does not drift. order: 2, 4, 6, ..., in space and time; a step takes 3 order / 2 - 1 Laplacians.
    boundary: of u; where it holds a value, as fixed(1.0) does, it holds v at 0. Where ghost cells are images of cells
    (periodic, reflect, mirror), those of all that a step stores are; other rules continue what lies between by its
    formula, order / 2 cells farther outside for each Laplacian, which takes long on small grids.

    A wave of frequency w turns (w u, v) by w dt in each step, and a turn is three shears, of -tan(w dt / 2), sin(w dt)
    and -tan(w dt / 2). Their series in -(w dt)², which is dt² c² laplacian, are cut at the order: leapfrog of a
    modified equation (Shubin and Bell, SIAM J. Sci. Stat. Comput. 8 (1987) 135), with v at the order of u.
    """
    dim, order = need_dimensions(dim), need_even_order(order)
    if time_order not in (None, 2, order) or isinstance(time_order, bool):
        raise StencilError(f"time_order={time_order!r} is unknown", advice=f"Use {order}, as in space, or 2.")
    if time_order == 2:
        return two_levels(dim, order, boundary=boundary, dtype=dtype)
    kick, drift = shears(order)
    rule = boundary if order > 2 and maps_images(boundary) else None

    @stencil(dim, name="wave", dtype=dtype)
    def solver() -> None:
        u, v = field("u", boundary=boundary), field("v", boundary=rate_of(boundary))
        c, cfl = param("c", 1.0, above=0), param("cfl", 0.3, above=0, warn_above=1.0)
        dx = [param(f"dx{axis}", 1.0, above=0) for axis in range(dim)]
        coordinate(spacing=dx, unit="")
        step = tick(cfl / (c * sum(1 / width**2 for width in dx) ** 0.5))

        def bend(value: Quantity) -> Quantity:
            return c**2 * laplacian(value, dx, order)

        def imaged(value: Quantity) -> Quantity:
            return value if rule is None else extend(value, rule)

        def series(weights: list[float], value: Quantity) -> Quantity:
            """The sum of weights[k] (dt² c² laplacian)^k of the value, by Horner's rule; weights[0] is 1."""
            total = value if len(weights) == 1 else weights[-1] * value
            for turn, weight in enumerate(reversed(weights[:-1])):
                total = (value if weight == 1 else weight * value) + step**2 * bend(imaged(total) if turn else total)
            return total

        def pull(place: Quantity) -> Quantity:
            return bend(imaged(series(kick, place)))

        u.next, v.next = leapfrog(u, v, pull, step, rule, drift=lambda speed: series(drift, imaged(speed)))

    return solver


def two_levels(dim: int, order: int, *, boundary: object, dtype: object) -> Machine:
    """Fields u and before, which is u at time - dt; scalars time, dt; params c, dx0, ..., cfl (default 0.3), until.

    u(t + dt) = 2 u(t) - u(t - dt) + dt² c² laplacian(u(t)), the Laplacian of the `order`: the scheme of the paper on
    DiamondTorre (Levchenko, Perepelkina and Zakirov, Computation 4 (2016) 29), whose centre weight is half of that of
    `coefficients` because it counts twice. One loop reads two arrays and writes one. Of order 2 in time.

    dt = 2 cfl / (c sqrt(s sum_a 1 / dx_a²)), s the largest eigenvalue of -dx² d²/dx², stable up to cfl = 1 at every
    order. Where steps have different lengths h after g, u - before counts h / g times and the Laplacian h (h + g) / 2
    times. Start with dt, the time between `before` and u; with dt = 0, the default, u starts at rest and `before` does
    not count. Steps up to `until` are equally long; those after it are as long as they may be.
    """
    stiffest = float(sum((-1) ** offset * -weight for offset, weight in coefficients(2, order).items()))

    @stencil(dim, name="wave", dtype=dtype)
    def solver() -> None:
        u, before = fields("u before", boundary=boundary)
        c, cfl = param("c", 1.0, above=0), param("cfl", 0.3, above=0, warn_above=1.0)
        dx = [param(f"dx{axis}", 1.0, above=0) for axis in range(dim)]
        coordinate(spacing=dx, unit="")
        step, last = _equal_steps(cfl * (2 / (c * (stiffest * sum(1 / width**2 for width in dx)) ** 0.5)))
        ratio = np.where(last > 0, step / np.where(last > 0, last, 1.0), 0.0)
        bend = (0.5 * step * (step + last) * c**2) * laplacian(u, dx, order)
        u.next, before.next = u + ratio * (u - before) + bend, u

    return solver


def _equal_steps(longest: Quantity) -> tuple[Quantity, Quantity]:
    """The step to take and that before it; advances `time`. Steps up to the param `until` have one length."""
    time, last, until = scalar("time"), scalar("dt"), param("until", inf, above=-inf)
    left = until - time
    ahead = (left > 0) & (left < inf)
    count = np.where(ahead, maximum(ceil(np.where(ahead, left, longest) / longest), 1.0), 1.0)
    step = np.where(ahead, np.where(ahead, left, longest) / count, longest)
    time.next = np.where(ahead & (count < 1.5), until, time + step)  # exactly, whatever rounding does
    last.next = step
    return step, last


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
