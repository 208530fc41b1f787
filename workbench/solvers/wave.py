"""Wave: d²u/dt² = c² laplacian(u) in any dimension, of order 2, 4, 6 or 8, by symplectic steps."""

from __future__ import annotations

from workbench.errors import StencilError
from workbench.language import field, laplacian, leapfrog, param
from workbench.machine import Machine, stencil
from workbench.solvers.clock import tick


def machine(dim: int = 2, order: int = 2, *, boundary: object = "periodic", dtype: object = "f64") -> Machine:
    """Fields u and v = du/dt; scalars time, dt; params c, dx0, ..., cfl (default 0.3), until.

    A step of order 2 is kick, drift, kick (Verlet); of order 4, 6, 8 a composition of 3, 9, 27 of these (Yoshida 1990)
    with a Laplacian of the same accuracy. dt = cfl / (c sqrt(sum_a 1 / dx_a²)). Energy does not drift;
    stable up to cfl = 1, above order 2 up to 0.6.
    """
    if order not in (2, 4, 6, 8):
        raise StencilError(f"order={order!r} is no order of the wave solver", advice="Use 2, 4, 6 or 8.")
    fractions = composition(order)

    @stencil(dim, name="wave", dtype=dtype)
    def solver() -> None:
        u, v = field("u", boundary=boundary), field("v", boundary=boundary)
        c, cfl = param("c", 1.0, above=0), param("cfl", 0.3, above=0, warn_above=1.0 if order == 2 else 0.6)
        dx = [param(f"dx{axis}", 1.0, above=0) for axis in range(dim)]
        step = tick(cfl / (c * sum(1 / width**2 for width in dx) ** 0.5))
        place, speed = u, v
        for fraction in fractions:
            place, speed = leapfrog(place, speed, lambda u: c**2 * laplacian(u, dx, order), fraction * step)
        u.next, v.next = place, speed

    return solver


def composition(order: int) -> tuple[float, ...]:
    """The fractions of a step whose Verlet steps together have this order: x, 1 - 2 x, x, recursively.

    x = 1 / (2 - 2**(1 / (order - 1))), Yoshida, Phys. Lett. A 150 (1990), eq. 3.7; some go backwards in time.
    """
    if order == 2:
        return (1.0,)
    inner, x = composition(order - 2), 1 / (2 - 2 ** (1 / (order - 1)))
    return tuple(outer * f for outer in (x, 1 - 2 * x, x) for f in inner)
