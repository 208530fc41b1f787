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

    def __hash__(self) -> int:
        return hash(self.name)  # which Python keeps: axes are parts of keys of thousands of nodes


@dataclass(frozen=True, slots=True)
class Space:
    """The cells of a value; rank 0 is a Global (one value), otherwise a Local (one value per cell)."""

    axes: tuple[Axis, ...]

    def __hash__(self) -> int:
        return hash(self.axes[-1].name) + len(self.axes) if self.axes else 0  # enough to tell a program's few apart

    @property
    def rank(self) -> int:
        """Number of axes."""
        return len(self.axes)

    @property
    def is_global(self) -> bool:
        """Whether a value of this space is one number."""
        return not self.axes

    @property
    def axis_names(self) -> str:
        """The names of the axes, for messages: "x, y"."""
        return ", ".join(axis.name for axis in self.axes)

    def extents_in(self, other: Space, extents: tuple[int, ...]) -> tuple[int, ...]:
        """Return the extents along these axes, given those along the other's, which must have all of these."""
        if self == other:
            return extents
        positions = self.positions_in(other)
        assert positions is not None, f"axes {self.axis_names} among {other.axis_names}"
        return tuple(extents[position] for position in positions)

    @property
    def named(self) -> bool:
        """Whether axes are those of arrays or particles, which go by their names."""
        return any(axis.kind == "array" for axis in self.axes)

    @property
    def elements(self) -> str:
        """What it has: "cells", or the names of populations: "particles"; of both "cells x particles"."""
        leading = [self.axes[leader] for leader in sorted(set(self.leaders))]
        cells = ["cells"] if self.has_grid else []
        return " x ".join([*cells, *(axis.name for axis in leading if axis.kind == "array")])

    @property
    def has_grid(self) -> bool:
        """Whether axes are those of a grid, which come before the others."""
        return any(axis.kind == "grid" for axis in self.axes)

    @property
    def leaders(self) -> tuple[int, ...]:
        """For each axis the number of the first one of its extent: its own, but where particles are seen as sources."""
        extents = [axis.extent for axis in self.axes]
        return tuple(extents.index(extent) for extent in extents)

    def agreeing(self, extents: tuple[int, ...]) -> tuple[int, ...]:
        """Return extents with that of the first axis along all axes of one extent."""
        return tuple(extents[leader] for leader in self.leaders)

    def shape_of(self, extents: tuple[int, ...]) -> tuple[int, ...]:
        """Return each extent once, as people give and see the shape of a simulation."""
        return tuple(extents[leader] for leader in sorted(set(self.leaders)))

    def fits(self, other: Space) -> bool:
        """Whether an array over the other space's axes may be seen along these: other axes, pair by pair of one extent.

        Grid axes never fit: each has its own halo and boundary rules.
        """
        pairs = list(zip(self.axes, other.axes, strict=False))
        alike = all(a.extent == b.extent and a.kind == b.kind == "array" for a, b in pairs)
        return self != other and self.rank == other.rank and alike

    def without(self, axes: tuple[int, ...]) -> Space:
        """Return the space of the axes that are left when those of these numbers are taken away."""
        return Space(tuple(axis for number, axis in enumerate(self.axes) if number not in axes))

    def positions_in(self, other: Space) -> tuple[int, ...] | None:
        """Return the numbers of these axes among the other's; None if one is missing or the order differs."""
        if not set(self.axes) <= set(other.axes):
            return None
        positions = tuple(other.axes.index(axis) for axis in self.axes)
        return positions if positions == tuple(sorted(positions)) else None


GLOBAL = Space(())


def grid_space(dim: int) -> Space:
    """Return the machine space of `dim` grid axes with run-time extents n0, n1, ... (C order, last axis contiguous)."""
    return Space(tuple(Axis(axis_name(k), NamedExtent(f"n{k}")) for k in range(dim)))


def axis_name(axis: int) -> str:
    """Return "x", "y", "z" for axes 0, 1, 2 and the number beyond (semantics §1)."""
    return "xyz"[axis] if axis < 3 else str(axis)
