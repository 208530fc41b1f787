"""Spaces: over which cells a value is defined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class NamedExtent:
    """An extent given at run time, known by its name."""

    name: str


@dataclass(frozen=True, slots=True)
class ConstantExtent:
    """An extent fixed when the program is written."""

    value: int


@dataclass(frozen=True, slots=True)
class AffineExtent:
    """scale * base + offset cells."""

    base: Extent
    scale: int
    offset: int


@dataclass(frozen=True, slots=True)
class MinimumExtent:
    """The smaller of two extents."""

    left: Extent
    right: Extent


Extent = NamedExtent | ConstantExtent | AffineExtent | MinimumExtent


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis. `grid`: total on Z, with boundary rules and a halo. `array`: defined on [0, n) only."""

    name: str
    extent: Extent
    kind: Literal["grid", "array"] = "grid"


@dataclass(frozen=True, slots=True)
class Space:
    """The cells of a value; rank 0 is a Global (one value), otherwise a Local (one value per cell)."""

    axes: tuple[Axis, ...]

    @property
    def rank(self) -> int:
        """Number of axes."""
        return len(self.axes)

    @property
    def is_global(self) -> bool:
        """Whether a value of this space is one number."""
        return not self.axes


GLOBAL = Space(())


def grid_space(dim: int) -> Space:
    """Return the machine space of `dim` grid axes with run-time extents n0, n1, ... (C order, last axis contiguous)."""
    return Space(tuple(Axis(axis_name(k), NamedExtent(f"n{k}")) for k in range(dim)))


def axis_name(axis: int) -> str:
    """Return "x", "y", "z" for axes 0, 1, 2 and the number beyond (semantics §1)."""
    return "xyz"[axis] if axis < 3 else str(axis)
