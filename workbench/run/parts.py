"""Parts: what is read of a field in a file: cells, lines and planes of one whole step, in place of all values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workbench.backends.base import Array


@dataclass(frozen=True, slots=True)
class Every:
    """Every `step`-th cell of an axis, from the first one on."""

    step: int = 1


Part = tuple[int | Every, ...]
"""Cells of a field: for each axis one index, or cells along it."""


def index_of(part: Part) -> tuple[int | slice, ...]:
    """The index that NumPy has for a part."""
    return tuple(each if isinstance(each, int) else slice(None, None, each.step) for each in part)


class FieldParts:
    """Some parts of a field of this shape, each an array of its own. Not all values are there."""

    def __init__(self, shape: tuple[int, ...], parts: Mapping[Part, Array]) -> None:
        self.shape = shape
        self.ndim = len(shape)
        self._parts = parts

    def __contains__(self, part: Part) -> bool:
        return self._found(part) is not None

    def __getitem__(self, part: Part) -> Array:
        """The values of a part that was read, or that lies in one. LookupError for others."""
        found = self._found(part)
        if found is None:
            raise LookupError(f"{part} was not read")
        return found

    def _found(self, part: Part) -> Array | None:
        for known, values in self._parts.items():
            index = _within(part, known)
            if index is not None:
                return values[index]
        return None


def part_of(values: Array | FieldParts, part: Part) -> Array:
    """The values of a part of a whole array, or of what was read of a field."""
    return values[part] if isinstance(values, FieldParts) else values[index_of(part)]


def whole(values: Array | FieldParts) -> Array:
    """The array, for callers whose values are never parts."""
    assert not isinstance(values, FieldParts)
    return values


def _within(part: Part, known: Part) -> tuple[int | slice, ...] | None:
    """The index of a part among the values of a known one; None where it does not lie in it."""
    index: list[int | slice] = []
    for wanted, read in zip(part, known, strict=True):
        if isinstance(read, int):
            if wanted != read:
                return None
        elif isinstance(wanted, int):
            if wanted % read.step:
                return None
            index.append(wanted // read.step)
        elif wanted.step % read.step:
            return None
        else:
            index.append(slice(None, None, wanted.step // read.step))
    return tuple(index)
