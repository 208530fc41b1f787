"""Midpoint: the solver's time step, from the fields of a cell to their next values."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np

import workbench.language as cell
from workbench.errors import StencilError
from workbench.machine import Machine, stencil
from workbench.solvers.gas_input import courant_number, faces_by, flux_by, need_function
from workbench.solvers.high_order import WENO_Z_COURANT, weno_z
from workbench.solvers.hydro import reconstruction as reconstructions
from workbench.solvers.hydro.outside import Boundary, has_outside, rule_of
from workbench.solvers.hydro.reconstruction import Reconstruction
from workbench.solvers.hydro.riemann import RiemannSolver, hllc
from workbench.solvers.hydro.state import Conserved, GasState, Quantity
from workbench.solvers.settings import need_dimensions, need_low_order

STORABLE = ("primitives", "interpolation", "riemann", "stage")
Hint = Callable[..., Quantity]


def machine(
    dim: int = 2,
    order: int | tuple[int, int] = 2,
    *,
    boundary: Boundary = "periodic",
    dtype: object = "f64",
    reconstruction: Reconstruction = reconstructions.minmod,
    riemann: RiemannSolver = hllc,
    cfl: float | None = None,
    manifest: str | Collection[str] | None = ("primitives", "riemann"),
) -> Machine:
    """The Euler equations dU/dt = - sum_a dF_a/dx_a in `dim` dimensions by the midpoint rule (Paraiso §4.1).

    U1 = U0 + dt/2 F(U0), U2 = U0 + dt F(U1); F is the sum of flux differences, from `reconstruction` of the primitive
    variables and the `riemann` solver. order: 2, 1 (constant reconstruction) or one for each of the two stages; the
    repository of the paper uses (1, 2).

    Fields, means over cells: density, momentum (momentum0, ...) and energy, per volume, in any consistent units.
    Scalars: time; dt, the last step; floored, the number of cells whose density or pressure was below its floor before
    the last observed step, of which a run until a time has none (`GasState` says what they count as). Params: gamma,
    default 1.4; cfl, default 0.5 and in three dimensions 0.3, with weno_z 0.4 / dim; dx0, ... the cell sizes, default
    1; density_floor, pressure_floor, default 1e-10; until, the time at which the last step ends.

    boundary: a rule of the language for all variables ("reflect" turns the normal momentum), or a function
    (x, y, ..., time) -> (density, (velocity, ...), pressure) of the gas outside, cell centres at (index + 1/2) dx; or
    a mapping of sides to these. manifest: what is stored: "primitives" (rho, v and p of U1; in the first stage the
    expensive ones of U0, where they roll), "interpolation", "riemann", "stage" (U1); None: as planned. No bit changes.
    """
    stages = order if isinstance(order, tuple) else (order, order)
    if len(stages) != 2:
        raise StencilError(f"order={order!r} is unknown", advice="Use 1, 2 or a pair such as (1, 2).")
    dim, stages = need_dimensions(dim), (need_low_order(stages[0]), need_low_order(stages[1]))
    need_function("reconstruction", reconstruction, "hydro.minmod")
    need_function("riemann", riemann, "hydro.hllc")
    first, second = (reconstruction if o == 2 else reconstructions.constant for o in stages)
    stable = (WENO_Z_COURANT if reconstruction is weno_z else 1.0) / dim
    courant = courant_number(stable, dim, cfl)
    hint = _hint((manifest,) if isinstance(manifest, str) else manifest)

    @stencil(dim, name="hydro", dtype=dtype)
    def solver() -> None:
        gamma, until = cell.param("gamma", 1.4, above=1), cell.param("until", cell.inf, above=-cell.inf)
        cfl = cell.param("cfl", courant, above=0, at_most=1, warn_above=stable)
        dx = [cell.param(f"dx{axis}", 1.0, above=0) for axis in range(dim)]
        cell.coordinate(spacing=dx, unit="")
        floors = cell.param("density_floor", 1e-10, above=0), cell.param("pressure_floor", 1e-10, above=0)
        time, dt, floored = cell.scalar("time"), cell.scalar("dt"), cell.scalar("floored", dtype="i64")
        surroundings = (dx, time, gamma)
        density = cell.field("density", boundary=rule_of(boundary, lambda u: u.density, surroundings))
        momentum = cell.vector("momentum", boundary=lambda a: rule_of(boundary, lambda u: u.momentum[a], surroundings))
        energy = cell.field("energy", boundary=rule_of(boundary, lambda u: u.energy, surroundings))

        start = Conserved(density, momentum, energy)
        gas = GasState.of(start, gamma, floors)
        rate = crossing_rate(gas, dx)
        if has_outside(boundary):  # gas that is about to enter may be faster than all that is inside
            rate = reduce(np.maximum, [rate, *(rate.at(s, a) for a in range(dim) for s in (-1, +1))])
        for part in [gas.volume, gas.sound_speed] if first is reconstructions.constant else [gas.velocity]:
            hint("primitives", part, cell.rolling)
        hint("primitives", gas.pressure, cell.rolling)
        step = np.minimum(cfl / cell.reduce_max(rate), np.maximum(until - time, 0.0))
        middle = advance(start, gas, first, riemann, [0.5 * step / width for width in dx], hint)
        middle = middle.map(lambda u: hint("stage", u)).named("half_")
        halfway = GasState.of(middle, gamma, floors)
        halfway.density = np.where(middle.density < floors[0], floors[0], middle.density)
        halfway = halfway.map(lambda u: hint("primitives", u))  # in one loop: v and p need no density but the maximum
        end = advance(start, halfway, second, riemann, [step / width for width in dx], hint, "half_")
        density.next, momentum.next, energy.next = end
        time.next, dt.next = time + step, step
        low = (density < floors[0]) | (GasState.of(start, gamma).pressure < floors[1])  # as they are, not limited
        floored.next = cell.reduce_sum(cell.astype(low, "i64"))

    if manifest is None:
        return solver
    return solver.with_choices(replace(solver.choices, plan=solver.choices.plan.changed(preset="as_delayed")))


def crossing_rate(gas: GasState, dx: list[Quantity]) -> Quantity:
    """One over the time in which the fastest wave crosses a cell: max over axes of (c + |v_a|) / dx_a."""
    rates = [(gas.sound_speed + np.abs(v)) * (1 / width) for width, v in zip(dx, gas.velocity, strict=True)]
    return reduce(np.maximum, rates)


def advance(
    start: Conserved,
    gas: GasState,
    reconstruction: Reconstruction,
    riemann: RiemannSolver,
    ratios: list[Quantity],
    hint: Hint,
    when: str = "",
) -> Conserved:
    """start + sum_a ratio_a (F_a[i - e_a/2] - F_a[i + e_a/2]) with the fluxes of `gas` and ratio_a = dt / dx_a.

    when: what the names of velocity, pressure and fluxes begin with.
    """
    cell.named(gas.velocity, f"{when}velocity")
    cell.named(gas.pressure, f"{when}pressure")
    changes = []
    for axis, ratio in enumerate(ratios):
        flux = face_flux(gas, axis, reconstruction, riemann, hint).named(f"{when}flux{axis}_")
        changes.append(flux.map(lambda f: ratio * (f - f.at(+1, axis))))  # noqa: B023  # called in this turn of the loop
    return start.map(lambda u, *parts: u + reduce(add, parts), *changes)


def face_flux(
    gas: GasState, axis: int, reconstruction: Reconstruction, riemann: RiemannSolver, hint: Hint
) -> Conserved:
    """The flux through each cell's lower face along `axis`."""
    faces: list[tuple[Quantity, Quantity]] = []

    def upper_of_the_cell_before(variable: Quantity) -> Quantity:
        lower, upper = faces_by(reconstruction, variable, axis)
        faces.append((hint("interpolation", lower), hint("interpolation", upper)))
        return faces[-1][1].at(-1, axis)

    left = gas.map(upper_of_the_cell_before)
    lowers = iter(faces)
    right = gas.map(lambda _: next(lowers)[0])
    flux = Conserved(*flux_by(riemann, left, right, axis))
    return flux.map(lambda f: hint("riemann", f))


def _hint(manifest: Collection[str] | None) -> Hint:
    """The function that marks a value for storage if what it is called says so."""
    manifest = () if manifest is None else manifest
    for name in manifest if isinstance(manifest, Collection) else (manifest,):
        if name not in STORABLE:
            raise StencilError(f"{name!r} cannot be stored", advice=f"Name some of {', '.join(STORABLE)}.")

    def hint(name: str, value: Quantity, ask: Callable[[Quantity], Quantity] = cell.manifest) -> Quantity:
        return ask(value) if name in manifest else value

    return hint
