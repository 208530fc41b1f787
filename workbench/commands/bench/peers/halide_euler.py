"""Halide: Euler, a pipeline a stage: primitive variables and fluxes are made where the update goes along its rows."""

from __future__ import annotations

from typing import Any

import halide as hl
import numpy as np

from workbench.backends.base import Array
from workbench.commands.bench.euler import GAMMA, RATIO
from workbench.commands.bench.peers.halide_stencils import ONCE, Buffers, PipelineMarch, wrap
from workbench.commands.bench.problem import Problem, Shape

_HALO = 2
_TASKS = 8  # blocks along the slowest axis


def euler(problem: Problem, shape: Shape, dtype: str, arrays: tuple[Array, ...]) -> PipelineMarch:
    """The state at both ends of a step, with halos that hold copies of the other side."""
    first = _Stage(shape, dtype, RATIO / 2, limited=False)
    second = _Stage(shape, dtype, RATIO, limited=True)
    buffers = [Buffers(np.pad(array, _HALO), _HALO) for array in (*arrays, *arrays)]
    count = len(arrays)

    def step(b: list[Buffers]) -> None:
        begin, middle = b[:count], b[count:]
        for each in begin:
            wrap(each.array, _HALO)
        first.run(begin, begin, middle)
        for each in middle:
            wrap(each.array, _HALO)
        second.run(begin, middle, begin)

    return PipelineMarch(step, buffers, range(2 * count), count)


class _Stage:
    """begin + ratio * differences of the fluxes of the gas."""

    def __init__(self, shape: Shape, dtype: str, ratio: float, *, limited: bool) -> None:
        self._dim, self._bits, self._limited = len(shape), 32 if dtype == "f32" else 64, limited
        self._number = hl.f32 if self._bits == 32 else hl.f64
        self._places = [hl.Var(name) for name in "xyz"[: self._dim]]
        kind = hl.Float(self._bits)
        self._begin, self._gas = (
            [hl.ImageParam(kind, self._dim, f"{name}{k}") for k in range(self._dim + 2)] for name in ("begin", "gas")
        )
        primitive = self._primitive()
        fluxes = [self._flux(primitive, axis) for axis in range(self._dim)]
        self._end = hl.Func("end")
        here = tuple(self._places)
        values = []
        for k in range(self._dim + 2):
            change = [flux[here][k] - flux[self._moved(axis, 1)][k] for axis, flux in enumerate(fluxes)]
            values.append(self._begin[k][here] + self._number(ratio) * sum(change[1:], change[0]))
        self._end[here] = hl.Tuple(tuple(values))
        self._schedule(primitive, fluxes, shape)
        self._end.compile_jit()

    def run(self, begin: list[Buffers], gas: list[Buffers], end: list[Buffers]) -> None:
        """Compute the state `end`."""
        for images, buffers in ((self._begin, begin), (self._gas, gas)):
            for image, buffer in zip(images, buffers, strict=True):
                image.set(buffer.whole)
        self._end.realize([buffer.inner for buffer in end])

    def _moved(self, axis: int, by: int) -> tuple[Any, ...]:
        """The place `by` cells along one of NumPy's axes."""
        moved = list(self._places)
        moved[self._dim - 1 - axis] = moved[self._dim - 1 - axis] + by
        return tuple(moved)

    def _primitive(self) -> Any:  # noqa: ANN401  # a Func
        here, number = tuple(self._places), self._number
        density, *momentum, energy = (image[here] for image in self._gas)
        velocity = [m / density for m in momentum]
        work = [m * v for m, v in zip(momentum, velocity, strict=True)]
        pressure = number(GAMMA - 1) * (energy - number(0.5) * sum(work[1:], work[0]))
        primitive = hl.Func("primitive")
        primitive[here] = hl.Tuple((density, *velocity, pressure))
        return primitive

    def _flux(self, primitive: Any, axis: int) -> Any:  # noqa: ANN401  # Funcs
        """Through the lower faces along an axis."""
        half = self._number(0.5)
        left, right = [], []
        for k in range(self._dim + 2):
            a, b, c, d = (primitive[self._moved(axis, by)][k] for by in (-2, -1, 0, 1))
            left.append(b + half * self._minmod(b - a, c - b) if self._limited else b)
            right.append(c - half * self._minmod(c - b, d - c) if self._limited else c)
        flux = hl.Func(f"flux{axis}")
        flux[tuple(self._places)] = hl.Tuple(tuple(self._hllc(left, right, axis)))
        return flux

    def _minmod(self, a: Any, b: Any) -> Any:  # noqa: ANN401
        return hl.select(a * b > self._number(0), hl.select(hl.abs(a) < hl.abs(b), a, b), self._number(0))

    def _hllc(self, left: list[Any], right: list[Any], axis: int) -> list[Any]:
        number = self._number
        zero, one = number(0), number(1)
        (rl, *vl, pl), (rr, *vr, pr) = left, right
        ul, ur = vl[axis], vr[axis]
        cl, cr = hl.sqrt(number(GAMMA) * pl / rl), hl.sqrt(number(GAMMA) * pr / rr)
        star = hl.max(zero, number(0.5) * (pl + pr) - number(0.125) * (ur - ul) * (rl + rr) * (cl + cr))
        shock = number((GAMMA + 1) / (2 * GAMMA))
        dl = -cl * hl.sqrt(one + shock * hl.max(zero, star / pl - one))
        dr = cr * hl.sqrt(one + shock * hl.max(zero, star / pr - one))
        contact = (pr - pl + rl * ul * dl - rr * ur * dr) / (rl * dl - rr * dr)
        on_left = contact > zero
        density, pressure = hl.select(on_left, rl, rr), hl.select(on_left, pl, pr)
        relative = hl.select(on_left, dl, dr)
        velocity = [hl.select(on_left, a, b) for a, b in zip(vl, vr, strict=True)]
        normal = velocity[axis]
        crossing = hl.select(on_left, hl.min(ul + dl, zero), hl.max(ur + dr, zero))
        squares = [v * v for v in velocity]
        energy = pressure * number(1 / (GAMMA - 1)) + number(0.5) * density * sum(squares[1:], squares[0])
        dense = density * relative / (normal + relative - contact)
        fuller = dense * (energy / density + (contact - normal) * (contact + pressure / (density * relative)))
        mass = density * normal + crossing * (dense - density)
        momentum = [density * normal * v + crossing * v * (dense - density) for v in velocity]
        momentum[axis] = density * normal * normal + pressure + crossing * (dense * contact - density * normal)
        return [mass, *momentum, normal * (energy + pressure) + crossing * (fuller - energy)]

    def _schedule(self, primitive: Any, fluxes: list[Any], shape: Shape) -> None:  # noqa: ANN401
        """Blocks of the slowest axis on threads; within one, values slide along with its rows."""
        outer, inner, end = hl.Var("outer"), hl.Var("inner"), self._end
        x, vector = self._places[0], 512 // self._bits
        end.split(self._places[-1], outer, inner, max(8, -(-shape[0] // _TASKS)), ONCE).parallel(outer)
        end.vectorize(x, vector, ONCE)
        row = inner if self._dim == 2 else self._places[1]
        for axis, flux in enumerate(fluxes):
            flux.compute_at(end, inner if axis == 0 else row).vectorize(x, vector)
            if axis == 0:
                flux.store_at(end, outer)
            elif axis < self._dim - 1:
                flux.store_at(end, inner)
        primitive.store_at(end, outer).compute_at(end, inner).vectorize(x, vector)
