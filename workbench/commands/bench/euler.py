"""Euler: gas dynamics by HLLC fluxes and the midpoint rule with a fixed step, in two and three dimensions, periodic.

The scheme of the Paraiso paper (§4.1): half a step of first order, then a whole one of second order, by minmod on the
primitive variables; U1 = U0 + dt/2 F(U0), U2 = U0 + dt F(U1). `solvers.hydro` also finds its time step and has floors.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from workbench import language as cell
from workbench.backends.base import Array
from workbench.commands.bench.problem import ArrayForm, Problem, Shape, State, Update
from workbench.machine import Machine, stencil
from workbench.solvers import hydro
from workbench.solvers.hydro.midpoint import advance

GAMMA, RATIO = 1.4, 0.12  # RATIO: dt / dx
Values = list[Any]  # density, velocity or momentum along each axis, pressure or energy


def machine(dtype: str, dim: int) -> Machine:
    """The functions of `solvers.hydro` with a fixed dt / dx and no floors: the work that the others do."""

    @stencil(dim, name=f"euler{dim}d", dtype=dtype)
    def solver() -> None:
        gamma, ratio = cell.param("gamma", GAMMA), cell.param("ratio", RATIO)
        density, momentum, energy = (
            cell.field("density", boundary="periodic"),
            cell.vector("momentum", boundary="periodic"),
            cell.field("energy", boundary="periodic"),
        )
        start = hydro.Conserved(density, momentum, energy)
        gas = hydro.GasState.of(start, gamma)
        middle = advance(start, gas, hydro.constant, hydro.hllc, [0.5 * ratio] * dim, _no_hint)
        halfway = hydro.GasState.of(middle, gamma)
        end = advance(start, halfway, hydro.minmod, hydro.hllc, [1.0 * ratio] * dim, _no_hint)
        density.next, momentum.next, energy.next = end

    return solver


def _no_hint(name: str, value: Any, ask: object = None) -> Any:  # noqa: ANN401  # traced values
    """Leave it to the planner what is stored."""
    return value


def start(shape: Shape) -> tuple[Array, ...]:
    """A band of gas that slides along the last axis through another one, both wavy."""
    grids = np.meshgrid(*[(np.arange(n) + 0.5) / n for n in shape], indexing="ij", sparse=True)
    along, across = grids[-1], grids[0]
    band = abs(across - 0.5) < 0.25
    waves = sum(np.sin(2 * np.pi * x + k) for k, x in enumerate(grids))
    density = np.where(band, 2.0, 1.0) + 0.01 * waves
    speeds = [np.zeros(shape) for _ in shape]
    speeds[-1] += np.where(band, 0.5, -0.5) + 0.01 * np.sin(4 * np.pi * along)
    for speed in speeds[1:-1]:
        speed += 0.03 * waves
    speeds[0] += 0.05 * np.sin(4 * np.pi * along) * np.cos(2 * np.pi * across)
    pressure = 2.5 + 0.1 * np.cos(2 * np.pi * (along + across))
    energy = pressure / (GAMMA - 1) + 0.5 * density * sum(v * v for v in speeds)
    return (density, *(density * v for v in speeds), energy)


def _values(library: Any, arrays: State) -> Values:  # noqa: ANN401
    first = _stage(library, arrays, arrays, 0.5 * RATIO, limited=False)
    return _stage(library, arrays, first, RATIO, limited=True)


def _stage(library: Any, begin: State, gas: State, ratio: float, *, limited: bool) -> Values:  # noqa: ANN401
    """begin + ratio * differences of the fluxes of `gas`."""
    density, *momentum, energy = gas
    velocity = [m / density for m in momentum]
    kinetic = sum(m * v for m, v in zip(momentum, velocity, strict=True))
    primitive = [density, *velocity, (GAMMA - 1) * (energy - 0.5 * kinetic)]
    change: list[Any] = [0.0] * len(begin)
    for axis in range(len(velocity)):
        flux = _fluxes(library, primitive, axis, limited)
        change = [c + (f - library.roll(f, -1, axis)) for c, f in zip(change, flux, strict=True)]
    return [u + ratio * c for u, c in zip(begin, change, strict=True)]


def _fluxes(library: Any, primitive: Values, axis: int, limited: bool) -> Values:  # noqa: ANN401
    """Fluxes through the lower faces along an axis."""
    left, right = [], []
    for q in primitive:
        lower, upper = q, q
        if limited:
            rise = q - library.roll(q, 1, axis)
            half = 0.5 * _minmod(library, rise, library.roll(rise, -1, axis))
            lower, upper = q - half, q + half
        left.append(library.roll(upper, 1, axis))
        right.append(lower)
    return _hllc(library, left, right, axis)


def _minmod(library: Any, a: Any, b: Any) -> Any:  # noqa: ANN401
    return library.where(a * b > 0, library.where(abs(a) < abs(b), a, b), 0.0 * a)


def _hllc(library: Any, left: Values, right: Values, axis: int) -> Values:  # noqa: ANN401
    """HLLC (Toro, ch. 10) with the pressure estimate of the acoustic approximation."""
    where, sqrt = library.where, library.sqrt
    (rl, *vl, pl), (rr, *vr, pr) = left, right
    ul, ur = vl[axis], vr[axis]
    cl, cr = sqrt(GAMMA * pl / rl), sqrt(GAMMA * pr / rr)
    star = _positive(library, 0.5 * (pl + pr) - 0.125 * (ur - ul) * (rl + rr) * (cl + cr))
    shock = (GAMMA + 1) / (2 * GAMMA)
    dl = -cl * sqrt(1 + shock * _positive(library, star / pl - 1))
    dr = cr * sqrt(1 + shock * _positive(library, star / pr - 1))
    contact = (pr - pl + rl * ul * dl - rr * ur * dr) / (rl * dl - rr * dr)
    on_left = contact > 0
    density, pressure, relative = where(on_left, rl, rr), where(on_left, pl, pr), where(on_left, dl, dr)
    velocity = [where(on_left, a, b) for a, b in zip(vl, vr, strict=True)]
    normal = velocity[axis]
    outer = normal + relative
    energy = pressure / (GAMMA - 1) + 0.5 * density * sum(v * v for v in velocity)
    dense = density * relative / (outer - contact)
    fuller = dense * (energy / density + (contact - normal) * (contact + pressure / (density * relative)))
    crossing = where(on_left, -_positive(library, -outer), _positive(library, outer))
    mass = density * normal + crossing * (dense - density)
    momentum = [density * normal * v + crossing * v * (dense - density) for v in velocity]
    momentum[axis] = density * normal * normal + pressure + crossing * (dense * contact - density * normal)
    return [mass, *momentum, normal * (energy + pressure) + crossing * (fuller - energy)]


def _positive(library: Any, value: Any) -> Any:  # noqa: ANN401
    return library.where(value > 0, value, 0.0 * value)


def problem(dim: int) -> Problem:
    """The problem in `dim` dimensions."""
    return Problem(
        name=f"euler{dim}d",
        title=f"Euler equations in {dim}-D",
        scheme="HLLC and minmod, midpoint rule with a fixed step, periodic",
        shape=(1024, 1024) if dim == 2 else (96, 96, 96),
        dtype="f64",
        machine=partial(machine, dim=dim),
        start=start,
        array_form=ArrayForm((Update(_values, tuple(range(dim + 2))),)),
        kernels=(("numba", "numba_euler:euler"), ("halide", "halide_euler:euler")),
    )
