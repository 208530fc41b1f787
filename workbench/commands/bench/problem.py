"""Problem: a named computation with a start, as a machine of ours and as whole-array expressions for other systems."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from workbench.backends.base import Array
from workbench.machine import Machine

Shape = tuple[int, ...]
State = Sequence[Any]  # arrays of one library: the fields in the problem's order, then spare ones


class ContenderRun(Protocol):
    """One contender's run: arrays of its own, and a way to advance them."""

    def advance(self, steps: int) -> None:
        """Advance by whole steps; returns when they are done."""

    def fields(self) -> tuple[Array, ...]:
        """The fields of the domain in the problem's order, without halo."""

    def close(self) -> None:
        """Free the arrays."""


@dataclass(frozen=True, slots=True)
class Update:
    """New values of the arrays numbered by `targets`, as values(library, arrays); all are computed before any is set.

    library: a module with NumPy's names roll, sqrt, where. With a halo, values are those of the domain, without it.
    """

    values: Callable[[Any, State], Sequence[Any]]
    targets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ArrayForm:
    """A step as expressions of whole arrays.

    halo: cells of zeros around the domain in every array, 0 for none. spare: the fields that have a second array, in
    this order behind the fields. After the updates, array k is what was array order[k].
    """

    updates: tuple[Update, ...]
    halo: int = 0
    spare: tuple[int, ...] = ()
    order: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Problem:
    """One row of PROBLEMS.

    start: the fields at first, of a shape, in float64 and in the machine's order of fields; each contender rounds them
    to its type. kernels: contender -> "module:function" in peers/, called with (problem, shape, dtype, arrays).
    """

    name: str
    title: str
    scheme: str
    shape: Shape
    dtype: str
    machine: Callable[[str], Machine]
    start: Callable[[Shape], tuple[Array, ...]]
    array_form: ArrayForm
    kernels: tuple[tuple[str, str], ...]

    @property
    def dim(self) -> int:
        """Axes of the domain."""
        return len(self.shape)


def inside(halo: int, dim: int, axis: int = 0, by: int = 0) -> tuple[slice, ...]:
    """The domain within a halo, moved `by` cells along one axis."""
    moved = [0] * dim
    moved[axis] = by
    return tuple(slice(halo + d, -halo + d or None) for d in moved)


def neighbours(array: Any, halo: int, dim: int, axis: int, by: int) -> Any:  # noqa: ANN401  # arrays of any library
    """The sum of the values `by` cells below and above along an axis, for all cells of the domain."""
    return array[inside(halo, dim, axis, -by)] + array[inside(halo, dim, axis, by)]
