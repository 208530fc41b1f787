"""Shallow water: waves on water over a bed of any shape, with shores that fall dry, in one or two dimensions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from workbench.language import (
    absolute,
    astype,
    components,
    coordinate,
    courant_step,
    field,
    manifest,
    maximum,
    minimum,
    param,
    reduce_sum,
    scalar,
    sqrt,
    ssp_rk2,
    vector,
    where,
)
from workbench.machine import Machine, stencil
from workbench.solvers.clock import tick
from workbench.solvers.gas_input import faces_by
from workbench.solvers.hydro.reconstruction import Reconstruction, mc
from workbench.solvers.settings import need_dimensions
from workbench.solvers.sides import of_each_field
from workbench.solvers.transport import faces_of

Quantity = Any  # a traced value
_NOTHING = 1e-30  # keeps 0 / 0 away between dry cells, in single precision too


class Water(NamedTuple):
    """Water at a face: its depth, its velocity (a vector), and the height of the bed below it."""

    depth: Quantity
    velocity: Any
    bed: Quantity


class Flux(NamedTuple):
    """Through a face: mass, the momentum along it, and the normal momentum as the cell before and after it sees it.

    The last two differ where the bed has a step, whose wall takes a part of the pressure.
    """

    mass: Quantity
    along: tuple[Quantity, ...]
    before: Quantity
    after: Quantity


def machine(
    dim: int = 2,
    order: int = 2,
    *,
    boundary: object = "reflect",
    dtype: object = "f64",
    reconstruction: Reconstruction = mc,
) -> Machine:
    """dh/dt + div m = 0, dm/dt + div(m m / h) + grad(g h² / 2) = - g h grad(bed), with depth h and m = h v.

    Finite volumes: depth, surface and velocity at the faces from `reconstruction` (order 1: the cell's mean), the flux
    of HLLC, the bed by hydrostatic reconstruction, so that a lake at rest stays at rest, with islands too (Audusse,
    Bouchut, Bristeau, Klein and Perthame, SIAM J. Sci. Comput. 25 (2004) 2050); time by `ssp_rk2`. No water is made or
    lost: where more runs off a shore in one step than there is, the depth falls below 0, counts as a dry bed and is
    filled up again; `floored` counts such cells.

    Fields: depth, momentum (momentum0, ...), bed, which stays as it is given. Scalars: time; dt; volume, the water that
    there is; floored. Params: gravity (default 9.81), dry (the depth below which water rests, default 1e-9), dx0, ...,
    until, cfl (default 0.45): dt = cfl / max(sum_a (|v_a| + sqrt(g h)) / dx_a). boundary: one for all fields, "reflect"
    (the default, a wall), "outflow" or "periodic", or a mapping: {"depth": ..., "momentum": ..., "bed": ...}.
    """
    dim = need_dimensions(dim, (1, 2), "water has a surface above a line or a plane")
    faces = faces_of(order, reconstruction)
    of_depth, of_momentum, of_bed = of_each_field(boundary, ("depth", "momentum", "bed"))

    @stencil(dim, name="shallow_water", dtype=dtype)
    def solver() -> None:
        depth, momentum = field("depth", boundary=of_depth), vector("momentum", boundary=of_momentum)
        bed = field("bed", boundary=of_bed)
        gravity, dry = param("gravity", 9.81, above=0), param("dry", 1e-9, at_least=0)
        cfl = param("cfl", 0.45, above=0, warn_above=1.0)
        dx = [param(f"dx{axis}", 1.0, above=0) for axis in range(dim)]
        coordinate(spacing=dx, unit="")
        speeds = [absolute(v) + sqrt(gravity * maximum(depth, 0.0)) for v in _velocity(depth, momentum, dry)]
        step = tick(courant_step(speeds, dx, cfl))

        def rates(depth: Quantity, momentum: Any) -> tuple[Quantity, Any]:  # noqa: ANN401  # traced
            water = Water(maximum(depth, 0.0), _velocity(depth, momentum, dry), bed)
            changes = [_change(water, axis, gravity, faces, 1 / width) for axis, width in enumerate(dx)]
            return sum(c[0] for c in changes), sum(c[1] for c in changes)

        after, flow = ssp_rk2((depth, momentum), rates, step, (of_depth, of_momentum))
        depth.next, momentum.next = after, flow.map(lambda m: where(after > dry, m, 0.0))
        volume: Any = 1
        for width in dx:
            volume = volume * width
        scalar("volume").next = reduce_sum(after) * volume
        scalar("floored", dtype="i64").next = reduce_sum(astype(after < 0, "i64"))

    choices = solver.choices  # fluxes and the stage are stored, all else is computed where it is used
    return solver.with_choices(replace(choices, plan=choices.plan.changed(preset="as_delayed")))


def _velocity(depth: Quantity, momentum: Any, dry: Quantity) -> Any:  # noqa: ANN401  # a vector
    """m / h, and 0 where there is next to no water."""
    wet = depth > dry
    inverse = where(wet, 1.0 / where(wet, depth, 1.0), 0.0)
    return momentum.map(lambda m: m * inverse)


def _change(
    water: Water, axis: int, gravity: Quantity, reconstruction: Reconstruction, per_width: Quantity
) -> tuple[Quantity, Any]:
    """What flows in through the two faces along `axis`, and what the bed pushes, a unit of time."""
    lower, upper = _faces(water, axis, reconstruction)
    before = Water(upper.depth.at(-1, axis), upper.velocity.at(-1, axis), upper.bed.at(-1, axis))
    flux = _flux(before, lower, axis, gravity)
    flow = [(part - part.at(+1, axis)) * per_width for part in flux.along]
    slope = 0.5 * gravity * (lower.depth + upper.depth) * (lower.bed - upper.bed)
    flow.insert(axis, ((flux.after - flux.before.at(+1, axis)) + slope) * per_width)
    return (flux.mass - flux.mass.at(+1, axis)) * per_width, components(flow)


def _faces(water: Water, axis: int, reconstruction: Reconstruction) -> tuple[Water, Water]:
    """Water at the lower and at the upper face of each cell; the bed is what lies between depth and surface."""
    depth = faces_by(reconstruction, water.depth, axis)
    surface = faces_by(reconstruction, water.depth + water.bed, axis)
    velocity = [faces_by(reconstruction, v, axis) for v in water.velocity]
    lower, upper = (Water(depth[k], components([v[k] for v in velocity]), surface[k] - depth[k]) for k in (0, 1))
    return lower, upper


def _flux(left: Water, right: Water, axis: int, gravity: Quantity) -> Flux:
    """HLLC (Toro, Shock-Capturing Methods for Free-Surface Shallow Flows, ch. 10) above the higher bed at the face.

    Outer speeds as of Einfeldt, those of a dry bed beside water; the velocity along the face comes with the mass.
    """
    level = maximum(left.bed, right.bed)
    h, k = (maximum(side.depth + (side.bed - level), 0.0) for side in (left, right))
    u, v = left.velocity[axis], right.velocity[axis]
    c_left, c_right = sqrt(gravity * h), sqrt(gravity * k)
    root_left, root_right = sqrt(h), sqrt(k)
    mean = (root_left * u + root_right * v) / maximum(root_left + root_right, _NOTHING)
    c_mean = sqrt(0.5 * gravity * (h + k))
    low = minimum(where(h > 0, minimum(u - c_left, mean - c_mean), v - 2 * c_right), 0.0)
    high = maximum(where(k > 0, maximum(v + c_right, mean + c_mean), u + 2 * c_left), 0.0)
    width, product = 1 / maximum(high - low, _NOTHING), low * high
    mass = (high * (h * u) - low * (k * v) + product * (k - h)) * width
    push_left, push_right = h * u**2 + 0.5 * gravity * h**2, k * v**2 + 0.5 * gravity * k**2
    normal = (high * push_left - low * push_right + product * (k * v - h * u)) * width
    along = [mass * where(mass > 0, w, z) for w, z in zip(left.velocity, right.velocity, strict=True)]
    del along[axis]
    return Flux(
        manifest(mass),
        tuple(manifest(part) for part in along),
        manifest(normal + 0.5 * gravity * (left.depth**2 - h**2)),
        manifest(normal + 0.5 * gravity * (right.depth**2 - k**2)),
    )
