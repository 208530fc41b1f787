"""Array libraries: a step of whole-array expressions run by NumPy, by JAX in one compiled loop, by torch.compile."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.backends.base import Array
from workbench.commands.bench.problem import ArrayForm, Problem, Shape, inside

Arrays = tuple[Array, ...]


def padded(arrays: Sequence[Array], form: ArrayForm) -> list[Array]:
    """Fresh arrays with a halo of zeros, the spare ones behind the fields."""
    fields = [np.pad(array, form.halo) for array in arrays]
    return fields + [fields[number].copy() for number in form.spare]


class _Domain:
    """Which part of the arrays are the fields without halo."""

    def __init__(self, problem: Problem) -> None:
        self.form = problem.array_form
        self.slices = inside(self.form.halo, problem.dim) if self.form.halo else (slice(None),) * problem.dim

    def of(self, arrays: Sequence[Any], count: int) -> Arrays:
        return tuple(np.array(array[self.slices]) for array in arrays[:count])


def in_order(arrays: Sequence[Any], form: ArrayForm) -> list[Any]:
    """The arrays after a step, where some have changed places."""
    return [arrays[k] for k in form.order] if form.order else list(arrays)


class NumpyMarch:
    """NumPy: each expression makes its temporary arrays."""

    def __init__(self, problem: Problem, shape: Shape, dtype: str, arrays: Arrays) -> None:
        self._domain, self._count = _Domain(problem), len(arrays)
        self._arrays: list[Any] = padded(arrays, problem.array_form)

    def advance(self, steps: int) -> None:
        """Each update of each step in turn."""
        form, arrays = self._domain.form, self._arrays
        for _ in range(steps):
            for update in form.updates:
                for target, value in zip(update.targets, update.values(np, arrays), strict=True):
                    if form.halo:
                        arrays[target][self._domain.slices] = value
                    else:
                        arrays[target] = value
            arrays = in_order(arrays, form)
        self._arrays = arrays

    def fields(self) -> Arrays:
        """The domain."""
        return self._domain.of(self._arrays, self._count)

    def close(self) -> None:
        """Forget the arrays."""
        self._arrays = []


class JaxMarch:
    """JAX: all steps in one compiled fori_loop, arrays donated."""

    def __init__(self, problem: Problem, shape: Shape, dtype: str, arrays: Arrays) -> None:
        import jax
        import jax.numpy as jnp

        jax.config.update("jax_enable_x64", True)
        self._domain, self._count = _Domain(problem), len(arrays)
        form, here = self._domain.form, self._domain.slices

        def step(_: Any, state: Any) -> Any:  # noqa: ANN401
            now = list(state)
            for update in form.updates:
                for target, value in zip(update.targets, update.values(jnp, now), strict=True):
                    now[target] = now[target].at[here].set(value) if form.halo else value
            return tuple(in_order(now, form))

        self._run = jax.jit(lambda state, steps: jax.lax.fori_loop(0, steps, step, state), donate_argnums=0)
        self._arrays: Any = tuple(jnp.array(array) for array in padded(arrays, form))

    def advance(self, steps: int) -> None:
        """One call into compiled code."""
        self._arrays = self._run(self._arrays, steps)
        self._arrays[0].block_until_ready()

    def fields(self) -> Arrays:
        """The domain."""
        return self._domain.of([np.asarray(array) for array in self._arrays[: self._count]], self._count)

    def close(self) -> None:
        """Forget the arrays."""
        self._arrays = ()


class TorchMarch:
    """torch.compile of one step, arrays updated in place where they have a halo."""

    def __init__(self, problem: Problem, shape: Shape, dtype: str, arrays: Arrays) -> None:
        import torch

        torch._dynamo.reset()  # a size is compiled for itself
        self._domain, self._count = _Domain(problem), len(arrays)
        form, here = self._domain.form, self._domain.slices
        self._no_grad = torch.no_grad

        def step(state: list[Any]) -> list[Any]:
            now = list(state)
            for update in form.updates:
                for target, value in zip(update.targets, update.values(torch, now), strict=True):
                    if form.halo:
                        now[target][here] = value
                    else:
                        now[target] = value
            return now

        self._step = torch.compile(step, dynamic=False)
        self._arrays: list[Any] = [torch.from_numpy(array) for array in padded(arrays, form)]

    def advance(self, steps: int) -> None:
        """One call of the compiled step after the other."""
        with self._no_grad():
            for _ in range(steps):
                self._arrays = in_order(self._step(self._arrays), self._domain.form)

    def fields(self) -> Arrays:
        """The domain."""
        return self._domain.of([array.numpy() for array in self._arrays[: self._count]], self._count)

    def close(self) -> None:
        """Forget the arrays."""
        self._arrays = []
