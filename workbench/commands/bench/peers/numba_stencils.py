"""Numba: heat, wave, Gray-Scott and Maxwell as parallel loops with fastmath, as its manual has them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numba import njit, prange

from workbench.backends.base import Array
from workbench.commands.bench import gray_scott as reaction
from workbench.commands.bench import heat as conduction
from workbench.commands.bench import maxwell as light
from workbench.commands.bench import wave as sound
from workbench.commands.bench.peers.arrays import padded
from workbench.commands.bench.problem import Problem, Shape, inside


class LoopMarch:
    """Arrays with a halo, a compiled step(*arrays), and the order in which arrays change places."""

    def __init__(self, step: Callable[..., None], arrays: list[Array], order: Sequence[int], halo: int, count: int):
        self._step, self._arrays, self._order, self._halo, self._count = step, arrays, order, halo, count

    def advance(self, steps: int) -> None:
        """One call of the step after the other."""
        for _ in range(steps):
            self._step(*self._arrays)
            self._arrays = [self._arrays[k] for k in self._order]

    def fields(self) -> tuple[Array, ...]:
        """The domain."""
        here = inside(self._halo, self._arrays[0].ndim)
        return tuple(array[here].copy() for array in self._arrays[: self._count])

    def close(self) -> None:
        """Forget the arrays."""
        self._arrays = []


@njit(parallel=True, fastmath=True)
def _heat(u, w, centre, side):
    for j in prange(1, u.shape[0] - 1):
        for i in range(1, u.shape[1] - 1):
            w[j, i] = centre * u[j, i] + side * ((u[j, i - 1] + u[j, i + 1]) + (u[j - 1, i] + u[j + 1, i]))


def heat(problem: Problem, shape: Shape, dtype: str, arrays: tuple[Array, ...]) -> LoopMarch:
    """Two arrays that change places."""
    number = arrays[0].dtype.type
    centre, side = number(conduction.CENTRE), number(conduction.SIDE)
    return LoopMarch(lambda u, w: _heat(u, w, centre, side), padded(arrays, problem.array_form), (1, 0), 1, 1)


def wave(problem: Problem, shape: Shape, dtype: str, arrays: tuple[Array, ...]) -> LoopMarch:
    """The older level is overwritten by the newer one."""
    radius = problem.array_form.halo
    number = arrays[0].dtype.type
    weights = tuple(number(weight) for weight in sound.weights_of(2 * radius))
    step = _wave_of(radius)
    return LoopMarch(lambda u, w: step(u, w, *weights), padded(arrays, problem.array_form), (1, 0), radius, 2)


def _wave_of(radius: int) -> Any:
    """The loop of one radius, written out.

    A slice for each row that it reads, because a loop is vectorised only where no index can be negative.
    """
    names: list[str] = []
    slices, terms = [], ["a0 * c[i] - out[i]"]
    for k in range(1, radius + 1):
        pairs = []
        for move in ("z, y, {i}", "z, y{s}, {r}", "z{s}, y, {r}"):
            pair = []
            for sign in (-k, k):
                names.append(f"r{len(names)}")
                first = radius + sign if "{i}" in move else radius
                place = move.format(
                    i=f"{first}:{first} + n", s=f" {'-' if sign < 0 else '+'} {k}", r=f"{first}:{first} + n"
                )
                slices.append(f"{names[-1]} = u[{place}]")
                pair.append(f"{names[-1]}[i]")
            pairs.append(f"({' + '.join(pair)})")
        terms.append(f"a{k} * ({' + '.join(pairs)})")
    weights = ", ".join(f"a{k}" for k in range(radius + 1))
    lines = "\n            ".join(slices)
    text = f"""
def step(u, w, {weights}):
    n = u.shape[2] - {2 * radius}
    for z in prange({radius}, u.shape[0] - {radius}):
        for y in range({radius}, u.shape[1] - {radius}):
            c = u[z, y, {radius}:{radius} + n]
            out = w[z, y, {radius}:{radius} + n]
            {lines}
            for i in range(n):
                out[i] = {" + ".join(terms)}
"""
    made: dict[str, Any] = {"prange": prange}
    exec(text, made)  # noqa: S102  # the text is ours
    return njit(parallel=True, fastmath=True)(made["step"])


@njit(parallel=True, fastmath=True)
def _gray_scott(u, v, next_u, next_v, spread_u, spread_v, feed, loss, four, one):
    rows, columns = u.shape[0] - 2, u.shape[1] - 2
    for j in prange(1, rows + 1):
        for i in range(1, columns + 1):
            a, b = u[j, i], v[j, i]
            bend_u = (u[j, i - 1] + u[j, i + 1]) + (u[j - 1, i] + u[j + 1, i]) - four * a
            bend_v = (v[j, i - 1] + v[j, i + 1]) + (v[j - 1, i] + v[j + 1, i]) - four * b
            reaction = a * b * b
            next_u[j, i] = a + (spread_u * bend_u - reaction + feed * (one - a))
            next_v[j, i] = b + (spread_v * bend_v + reaction - loss * b)
        next_u[j, 0], next_v[j, 0] = next_u[j, columns], next_v[j, columns]
        next_u[j, columns + 1], next_v[j, columns + 1] = next_u[j, 1], next_v[j, 1]


def gray_scott(problem: Problem, shape: Shape, dtype: str, arrays: tuple[Array, ...]) -> LoopMarch:
    """Halos hold copies of the other side; two arrays a substance."""
    number = arrays[0].dtype.type
    rates = (reaction.SPREAD_U, reaction.SPREAD_V, reaction.FEED, reaction.LOSS, 4, 1)
    numbers = tuple(number(rate) for rate in rates)
    wrapped = [np.pad(array, 1, mode="wrap") for array in (*arrays, *arrays)]

    def step(*levels: Array) -> None:
        _gray_scott(*levels, *numbers)
        for q in levels[2:]:
            q[0], q[-1] = q[-2], q[1]

    return LoopMarch(step, wrapped, (2, 3, 0, 1), 1, 2)


@njit(parallel=True, fastmath=True)
def _magnetic(ex, ey, ez, bx, by, bz, s):
    for i in prange(1, ex.shape[0] - 1):
        for j in range(1, ex.shape[1] - 1):
            for k in range(1, ex.shape[2] - 1):
                bx[i, j, k] -= s * ((ez[i, j + 1, k] - ez[i, j, k]) - (ey[i, j, k + 1] - ey[i, j, k]))
                by[i, j, k] -= s * ((ex[i, j, k + 1] - ex[i, j, k]) - (ez[i + 1, j, k] - ez[i, j, k]))
                bz[i, j, k] -= s * ((ey[i + 1, j, k] - ey[i, j, k]) - (ex[i, j + 1, k] - ex[i, j, k]))


@njit(parallel=True, fastmath=True)
def _electric(ex, ey, ez, bx, by, bz, s):
    for i in prange(1, ex.shape[0] - 1):
        for j in range(1, ex.shape[1] - 1):
            for k in range(1, ex.shape[2] - 1):
                ex[i, j, k] += s * ((bz[i, j, k] - bz[i, j - 1, k]) - (by[i, j, k] - by[i, j, k - 1]))
                ey[i, j, k] += s * ((bx[i, j, k] - bx[i, j, k - 1]) - (bz[i, j, k] - bz[i - 1, j, k]))
                ez[i, j, k] += s * ((by[i, j, k] - by[i - 1, j, k]) - (bx[i, j, k] - bx[i, j - 1, k]))


def maxwell(problem: Problem, shape: Shape, dtype: str, arrays: tuple[Array, ...]) -> LoopMarch:
    """Six arrays in place."""
    ratio = arrays[0].dtype.type(light.RATIO)

    def step(*fields: Array) -> None:
        _magnetic(*fields, ratio)
        _electric(*fields, ratio)

    return LoopMarch(step, padded(arrays, problem.array_form), range(6), 1, 6)
