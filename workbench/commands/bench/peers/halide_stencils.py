"""Halide: heat, wave, Gray-Scott and Maxwell as one pipeline a phase: rows in vectors, blocks of rows on threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import halide as hl
import numpy as np

from workbench.backends.base import Array
from workbench.commands.bench import gray_scott as reaction
from workbench.commands.bench import heat as conduction
from workbench.commands.bench import maxwell as light
from workbench.commands.bench import wave as sound
from workbench.commands.bench.peers.arrays import padded
from workbench.commands.bench.problem import Problem, Shape, inside

ONCE = hl.TailStrategy.GuardWithIf  # no cell twice, as the usual tails do: arrays are updated in place
_TASKS = 16  # blocks along the slowest axis


class Pipeline:
    """Expressions of fields at a cell, compiled. An expression reads field k as at(k, axis, by), NumPy's axes."""

    def __init__(self, count: int, shape: Shape, dtype: str, values: Callable[..., Sequence[Any]]) -> None:
        bits = 32 if dtype == "f32" else 64
        number = hl.f32 if bits == 32 else hl.f64
        places = [hl.Var(name) for name in "xyz"[: len(shape)]]
        self._inputs = [hl.ImageParam(hl.Float(bits), len(shape), f"field{k}") for k in range(count)]

        def at(k: int, axis: int = 0, by: int = 0) -> Any:  # noqa: ANN401
            moved = list(places)
            moved[len(shape) - 1 - axis] = moved[len(shape) - 1 - axis] + by
            return self._inputs[k][tuple(moved)]

        found = values(at, number)
        self._whole = hl.Func("whole")
        self._whole[tuple(places)] = hl.Tuple(tuple(found)) if len(found) > 1 else found[0]
        slow, outer, inner = places[-1], hl.Var("outer"), hl.Var("inner")
        self._whole.split(slow, outer, inner, max(1, -(-shape[0] // _TASKS)), ONCE)
        self._whole.parallel(outer).vectorize(places[0], 512 // bits, ONCE)
        self._whole.compile_jit()

    def run(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        """Compute the outputs, buffers of the domain, from the inputs."""
        for image, buffer in zip(self._inputs, inputs, strict=True):
            image.set(buffer)
        self._whole.realize(list(outputs) if len(outputs) > 1 else outputs[0])


class Buffers:
    """An array with a halo, seen by Halide as a whole whose domain begins at 0, and as the domain alone."""

    def __init__(self, array: Array, halo: int) -> None:
        self.array = array
        self.domain = array[inside(halo, array.ndim)] if halo else array
        self.whole = hl.Buffer(array)
        for axis in range(array.ndim):
            self.whole.translate(axis, -halo)
        self.inner = hl.Buffer(self.domain)


class PipelineMarch:
    """Buffers, a step that runs pipelines on them, and the order in which they change places."""

    def __init__(
        self, step: Callable[[list[Buffers]], None], buffers: list[Buffers], order: Sequence[int], count: int
    ) -> None:
        self._step, self._buffers, self._order, self._count = step, buffers, order, count

    def advance(self, steps: int) -> None:
        """One step after the other."""
        for _ in range(steps):
            self._step(self._buffers)
            self._buffers = [self._buffers[k] for k in self._order]

    def fields(self) -> tuple[Array, ...]:
        """The domain."""
        return tuple(buffer.domain.copy() for buffer in self._buffers[: self._count])

    def close(self) -> None:
        """Forget the arrays."""
        self._buffers = []


def heat(problem: Problem, shape: Shape, dtype: str, arrays: tuple[Array, ...]) -> PipelineMarch:
    """Two buffers that change places."""

    def values(at: Any, number: Any) -> list[Any]:  # noqa: ANN401
        sides = (at(0, 1, -1) + at(0, 1, 1)) + (at(0, 0, -1) + at(0, 0, 1))
        return [number(conduction.CENTRE) * at(0) + number(conduction.SIDE) * sides]

    pipeline = Pipeline(1, shape, dtype, values)
    buffers = [Buffers(array, 1) for array in padded(arrays, problem.array_form)]
    return PipelineMarch(lambda b: pipeline.run([b[0].whole], [b[1].inner]), buffers, (1, 0), 1)


def wave(problem: Problem, shape: Shape, dtype: str, arrays: tuple[Array, ...]) -> PipelineMarch:
    """The older level is overwritten by the newer one."""
    radius = problem.array_form.halo
    weights = sound.weights_of(2 * radius)

    def values(at: Any, number: Any) -> list[Any]:  # noqa: ANN401
        after = number(weights[0]) * at(0) - at(1)
        for k in range(1, radius + 1):
            x, y, z = (at(0, axis, -k) + at(0, axis, k) for axis in (2, 1, 0))
            after = after + number(weights[k]) * (x + y + z)
        return [after]

    pipeline = Pipeline(2, shape, dtype, values)
    buffers = [Buffers(array, radius) for array in padded(arrays, problem.array_form)]
    return PipelineMarch(lambda b: pipeline.run([b[0].whole, b[1].whole], [b[1].inner]), buffers, (1, 0), 2)


def gray_scott(problem: Problem, shape: Shape, dtype: str, arrays: tuple[Array, ...]) -> PipelineMarch:
    """Halos hold copies of the other side; two buffers a substance."""

    def values(at: Any, number: Any) -> list[Any]:  # noqa: ANN401
        def bend(k: int) -> Any:  # noqa: ANN401
            return (at(k, 1, -1) + at(k, 1, 1)) + (at(k, 0, -1) + at(k, 0, 1)) - number(4) * at(k)

        u, v = at(0), at(1)
        rate = u * v * v
        return [
            u + (number(reaction.SPREAD_U) * bend(0) - rate + number(reaction.FEED) * (number(1) - u)),
            v + (number(reaction.SPREAD_V) * bend(1) + rate - number(reaction.LOSS) * v),
        ]

    pipeline = Pipeline(2, shape, dtype, values)
    buffers = [Buffers(np.pad(array, 1), 1) for array in (*arrays, *arrays)]

    def step(b: list[Buffers]) -> None:
        for buffer in b[:2]:
            wrap(buffer.array, 1)
        pipeline.run([b[0].whole, b[1].whole], [b[2].inner, b[3].inner])

    return PipelineMarch(step, buffers, (2, 3, 0, 1), 2)


def maxwell(problem: Problem, shape: Shape, dtype: str, arrays: tuple[Array, ...]) -> PipelineMarch:
    """Six buffers in place, a pipeline for each of the two fields."""

    def curl(at: Any, first: int, side: int) -> list[Any]:  # noqa: ANN401
        """Differences with the cell on one side, of the three fields from `first` on."""

        def rise(k: int, axis: int) -> Any:  # noqa: ANN401
            return side * (at(first + k, axis, side) - at(first + k))

        return [rise(c, b) - rise(b, c) for a, b, c in light.CYCLIC]

    def magnetic(at: Any, number: Any) -> list[Any]:  # noqa: ANN401
        return [at(3 + a) - number(light.RATIO) * turn for a, turn in enumerate(curl(at, 0, 1))]

    def electric(at: Any, number: Any) -> list[Any]:  # noqa: ANN401
        return [at(a) + number(light.RATIO) * turn for a, turn in enumerate(curl(at, 3, -1))]

    first, second = (Pipeline(6, shape, dtype, values) for values in (magnetic, electric))
    buffers = [Buffers(array, 1) for array in padded(arrays, problem.array_form)]

    def step(b: list[Buffers]) -> None:
        first.run([each.whole for each in b], [each.inner for each in b[3:]])
        second.run([each.whole for each in b], [each.inner for each in b[:3]])

    return PipelineMarch(step, buffers, range(6), 6)


def wrap(array: Array, halo: int) -> None:
    """Copy the other side into the halo along each axis."""
    for axis in range(array.ndim):
        rows = np.moveaxis(array, axis, 0)
        rows[:halo] = rows[-2 * halo : -halo]
        rows[-halo:] = rows[halo : 2 * halo]
