"""Gray-Scott: two substances that react and diffuse; spots that divide, stripes and mazes (Pearson 1993)."""

from __future__ import annotations

from typing import Any

from workbench.language import coordinate, field, laplacian, maximum, midpoint, minimum, param
from workbench.machine import Machine, stencil
from workbench.solvers.clock import tick
from workbench.solvers.heat import stable
from workbench.solvers.settings import need_dimensions, need_even_order
from workbench.solvers.sides import of_each_field


def machine(dim: int = 2, order: int = 2, *, boundary: object = "periodic", dtype: object = "f64") -> Machine:
    """U + 2 V -> 3 V and V -> P in a gel that is fed with U (Pearson, Science 261 (1993) 189, eqs. 1 and 2).

    du/dt = diffusion_u laplacian(u) - u v² + feed (1 - u),  dv/dt = diffusion_v laplacian(v) + u v² - (feed + kill) v.

    Fields u, v (concentrations); scalars time, dt; params feed (default 0.04), kill (0.06), diffusion_u (2e-5),
    diffusion_v (1e-5), dx0, ... (2.5 / 256, Pearson's cell), cfl, longest_step, until. order: that of the Laplacian.
    Midpoint rule; both stages take the `boundary`. dt = cfl / (larger diffusion * sum_a 1 / dx_a²), cfl 0.2 by default
    as for heat, but at most `longest_step` (default 1, Pearson's step): reactions have a pace of their own. boundary:
    one for both fields, or {"u": ..., "v": ...}.
    """
    dim, order = need_dimensions(dim), need_even_order(order)
    of_u, of_v = of_each_field(boundary, ("u", "v"))

    @stencil(dim, name="gray_scott", dtype=dtype)
    def solver() -> None:
        u, v = field("u", boundary=of_u), field("v", boundary=of_v)
        feed, kill = param("feed", 0.04), param("kill", 0.06)
        spread_u, spread_v = param("diffusion_u", 2e-5, at_least=0), param("diffusion_v", 1e-5, at_least=0)
        dx = [param(f"dx{axis}", 2.5 / 256, above=0) for axis in range(dim)]
        coordinate(spacing=dx, unit="")
        cfl, longest = param("cfl", 0.2, above=0, warn_above=stable(order)), param("longest_step", 1.0, above=0)
        step = tick(minimum(cfl / (maximum(spread_u, spread_v) * sum(1 / width**2 for width in dx)), longest))

        def rates(u: Any, v: Any) -> tuple[Any, Any]:  # noqa: ANN401  # traced values
            reaction = u * v**2
            fresh = spread_u * laplacian(u, dx, order) - reaction + feed * (1 - u)
            return fresh, spread_v * laplacian(v, dx, order) + reaction - (feed + kill) * v

        u.next, v.next = midpoint((u, v), rates, step, (of_u, of_v))

    return solver
