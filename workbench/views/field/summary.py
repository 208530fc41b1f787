"""Field: one named value of a simulation as a line, a plane, planes or points; records in, a frozen summary out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

import numpy as np
import numpy.typing as npt

from workbench.backends.base import Array
from workbench.errors import FieldError
from workbench.graph import Space, grid_space
from workbench.run.parts import Every, FieldParts, Part, part_of
from workbench.run.snapshots import Snapshot
from workbench.views.drawing.numbers import shares
from workbench.views.field.flags import Wrong
from workbench.views.field.palettes import DEFAULT, DIVERGING, LEVELS, NOT_A_NUMBER
from workbench.views.field.particles import Particles, Window

LARGEST_SIDE = 1024  # cells; more than a screen shows, and one frame stays below 1.1 MB
Codes = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.float64]
Kind = Literal["line", "plane", "points"]
Limits = Literal["growing", "free", "held"]
"""How limits of the colours follow the values: they only grow, are those of each picture, or stay."""
LIMITS: Mapping[str, Limits] = {"growing": "growing", "free": "free", "held": "held"}


@dataclass(frozen=True, slots=True)
class AxisLabel:
    """One axis of the domain: its name and unit, its cells, and the coordinates of the first and the last one."""

    name: str
    unit: str
    cells: int
    first: float
    last: float

    def title(self, most: int) -> str:
        """Name and unit in at most so many letters, without the unit if both are too long."""
        both = f"{self.name} ({self.unit})" if self.unit else self.name
        return both if len(both) <= most else self.name[:most]


@dataclass(frozen=True, slots=True)
class Clock:
    """The scalar in which a program keeps its time: its name and unit."""

    name: str
    unit: str


@dataclass(frozen=True, slots=True)
class Look:
    """How to look: colours; fixed limits (None: those of the data); the two axes shown; where the others are cut.

    Limits of the data lie symmetrically about 0 where the palette is diverging.

    reach: limits of the data are at least as far apart.

    volume: show the three planes through one cell of a volume, which is the one at which each axis is cut.

    window: where particles are shown as points, which vector says where they are, and what part of the plane is seen.
    """

    palette: str = DEFAULT
    limits: tuple[float, float] | None = None
    reach: tuple[float, float] | None = None
    across: int = 0
    up: int = 1
    cuts: Mapping[int, int] = field(default_factory=lambda: MappingProxyType({}))
    volume: bool = False
    window: Window | None = None


@dataclass(frozen=True, slots=True)
class Cut:
    """An axis that is not shown, and the cell at which it is cut."""

    axis: int
    label: AxisLabel
    index: int


@dataclass(frozen=True, slots=True, eq=False)
class FieldSummary:
    """What a view of one field shows at one step.

    A plane is shown with its first axis to the right and its second one up: `codes` has shape (rows, columns), row 0
    on top, and holds levels 0 ... 254 between `low` and `high` or 255 for NaN. Every `stride`-th cell is shown. A line
    has `points`, one value a cell, or the least and the greatest of each `stride` cells, so that no peak is lost.
    Points are `particles`, every `stride`-th one; `across` and `up` are axes of the picture, `values` those of all.
    minimum and maximum are those of the finite values of all cells of this line or plane (None: there are none).
    `others` are the other two planes of a volume: they share limits and colours. `wrong`, if a value of the whole
    field is or was no number, says since when. `sampled`: of a field in a file, the cells that are shown are all that
    was read, and minimum and maximum are theirs.
    """

    name: str
    unit: str
    kind: Kind
    step: int
    clock: Clock | None
    time: float | None
    shape: tuple[int, ...]
    across: AxisLabel
    up: AxisLabel | None
    cuts: tuple[Cut, ...]
    stride: int
    minimum: float | None
    maximum: float | None
    not_numbers: int
    infinite: int
    low: float
    high: float
    palette: str
    codes: Codes
    points: Numbers
    values: Numbers
    shown: tuple[int, ...] = (0, 1)
    others: tuple[FieldSummary, ...] = ()
    wrong: Wrong | None = None
    particles: Particles | None = None
    sampled: bool = False

    @property
    def subject(self) -> str:
        """What one looks at: the vector that says where particles are, else the value itself."""
        return self.name if self.particles is None else self.particles.name

    @property
    def all_well(self) -> bool:
        """Whether every cell of the domain is seen to hold a finite number; False does not say the opposite."""
        return len(self.shape) < 3 and not self.sampled and self.not_numbers + self.infinite == 0

    @property
    def planes(self) -> tuple[FieldSummary, ...]:
        """All pictures there are: this one and the others."""
        return (self, *self.others)

    def value_at(self, column: int, row: int) -> float | None:
        """The exact value shown in a cell of the picture (row 0 on top; a line has row 0 only), None outside."""
        if self.particles is not None:
            cell = self.cell_at(column, row)
            return None if cell is None else float(self.values[0, cell[0]])
        rows, columns = self.values.shape
        return float(self.values[row, column]) if 0 <= row < rows and 0 <= column < columns else None

    def cell_at(self, column: int, row: int) -> tuple[int, ...] | None:
        """The cell of the domain, one index an axis, that a cell of the picture shows; None outside.

        Of points it is the number of the particle that is nearest to a pixel, None where there is none near.
        """
        if self.particles is not None:
            nearest = self.particles.nearest(column, row)
            return None if nearest is None else (nearest * self.stride,)
        rows, columns = self.values.shape
        if not (0 <= row < rows and 0 <= column < columns):
            return None
        at = {cut.axis: cut.index for cut in self.cuts} | {self.shown[0]: column * self.stride}
        if len(self.shown) == 2:
            at[self.shown[1]] = (rows - 1 - row) * self.stride
        return tuple(at[axis] for axis in range(len(self.shape)))


def summarise(
    snapshot: Snapshot,
    axes: tuple[AxisLabel, ...],
    unit: str = "",
    look: Look | None = None,
    wrong: Wrong | None = None,
    clock: Clock | None = None,
) -> FieldSummary:
    """What is to be seen of a snapshot. Raises FieldError for a number and for a vector, which have no picture.

    clock: the scalar of the snapshot that tells the time.
    """
    look = look or Look()
    values = snapshot.values
    check_pictured(snapshot.name, values, len(axes))
    sections = tuple(_section(values, axes, shown, look.cuts) for shown in _shown(look, len(axes)))
    finite = [end for section in sections for end in (section.minimum, section.maximum) if end is not None]
    ends = [*finite, *(look.reach or ())]
    if (len(axes) > 1 or look.window is not None) and look.palette in DIVERGING:
        ends += [-end for end in ends]
    limits = look.limits or (min(ends, default=0.0), max(ends, default=0.0))
    time = None if clock is None else snapshot.numbers.get(clock.name)
    pictures = [
        FieldSummary(
            name=snapshot.name,
            unit=unit,
            kind="line" if len(axes) == 1 else "plane",
            step=snapshot.steps,
            clock=clock,
            time=None if time is None or isinstance(time, bool) else float(time),
            shape=tuple(axis.cells for axis in axes),
            across=axes[section.shown[0]],
            up=None if len(axes) == 1 else axes[section.shown[1]],
            cuts=section.cuts,
            stride=section.stride,
            minimum=section.minimum,
            maximum=section.maximum,
            not_numbers=section.not_numbers,
            infinite=section.infinite,
            low=limits[0],
            high=limits[1],
            palette=look.palette,
            codes=_codes(section, *limits),
            points=section.points,
            values=section.plane,
            shown=section.shown,
            wrong=wrong,
            sampled=isinstance(values, FieldParts),
        )
        for section in sections
    ]
    return replace(pictures[0], others=tuple(pictures[1:]))


def thinner(summary: FieldSummary, cells: int) -> FieldSummary:
    """The same with every n-th cell of its planes, which together have about so many; others stay as they are."""
    every = math.ceil(math.sqrt(sum(plane.codes.size for plane in summary.planes) / cells))
    if summary.kind != "plane" or every <= 1:
        return summary
    planes = []
    for plane in summary.planes:
        lowest = (plane.codes.shape[0] - 1) % every  # so that the lowest row is kept
        codes, values = plane.codes[lowest::every, ::every], plane.values[lowest::every, ::every]
        planes.append(replace(plane, codes=codes, values=values, stride=plane.stride * every, others=()))
    return replace(planes[0], others=tuple(planes[1:]))


def _codes(section: _Section, low: float, high: float) -> Codes:
    """Levels of a section, row by row."""
    finite = section.not_numbers + section.infinite == 0
    least, greatest = section.minimum, section.maximum
    inside = finite and least is not None and greatest is not None and low <= least and greatest <= high
    return np.ascontiguousarray(quantise(section.plane.T, low, high, inside).T)  # in memory order, then turned


def _shown(look: Look, dim: int) -> tuple[tuple[int, ...], ...]:
    """Which axes each picture shows: one line, one plane, or three planes that share their axes pairwise."""
    if dim == 1:
        return ((0,),)
    main = (look.across, look.up)
    if dim != 3 or not look.volume:
        return (main,)
    (third,) = {0, 1, 2} - set(main)
    return (main, (third, look.up), (look.across, third))


def check_pictured(name: str, values: Array | FieldParts, dim: int) -> None:
    """Raise FieldError unless there is one value in each cell."""
    if values.ndim == 0:
        raise FieldError(f"{name} is a number, not a field", advice=f'Read it: sim["{name}"], or record it.')
    if values.ndim != dim:
        raise FieldError(f"{name} is a vector of fields", advice=f'View one component, such as "{name}0".')


def quantise(plane: Numbers, low: float, high: float, inside: bool = False) -> Codes:
    """Levels 0 ... 254 of values between the limits, beyond them the nearest level, 255 for NaN.

    inside: all values are known to be finite and within the limits. Few calls matter here: while a cell runs Python,
    each call that works on an array may wait for the interpreter.
    """
    if not high > low:  # one value everywhere: the middle of the table
        codes = np.full(plane.shape, (LEVELS - 1) // 2, np.uint8)
    else:
        codes = np.empty_like(plane, np.uint8)
        with np.errstate(over="ignore", invalid="ignore"):
            scale = (LEVELS - 1) / (high - low)
            if 0 < scale < np.inf:
                levels = np.subtract(plane, low, dtype=np.float64)
                levels *= scale
            else:
                levels = shares(plane, low, high) * (LEVELS - 1)
            if not inside:
                np.clip(levels, 0, LEVELS - 1, out=levels)
            np.add(levels, 0.5, out=codes, casting="unsafe")
    if not inside:
        wrong = np.isnan(plane)
        if wrong.any():
            codes[wrong] = NOT_A_NUMBER
    return codes


def plain_axes(shape: tuple[int, ...], space: Space | None = None) -> tuple[AxisLabel, ...]:
    """Axes without coordinates: cells are counted from 0. Those of particles go by their names in `space`."""
    axes = (space or grid_space(len(shape))).axes
    return tuple(AxisLabel(a.name, "cells", n, 0.0, float(n - 1)) for a, n in zip(axes, shape, strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class _Section:
    """One line (a single row) or plane of values as it is seen: row 0 on top."""

    shown: tuple[int, ...]
    cuts: tuple[Cut, ...]
    plane: Numbers
    points: Numbers
    stride: int
    minimum: float | None
    maximum: float | None
    not_numbers: int
    infinite: int


def _section(
    values: Array | FieldParts, axes: tuple[AxisLabel, ...], shown: tuple[int, ...], wanted: Mapping[int, int]
) -> _Section:
    """First shown axis to the right, second up, the others cut where that is wanted, else in their middle."""
    cuts, stride = _cuts(axes, shown, wanted), _stride(axes, shown)
    thin = np.asarray(part_of(values, _part(axes, shown, cuts, stride)))
    taken = thin if isinstance(values, FieldParts) else part_of(values, _part(axes, shown, cuts, 1))
    if len(shown) > 1:
        plane, points = (thin.T if shown[0] < shown[1] else thin)[::-1], np.empty(0)
    elif isinstance(values, FieldParts):
        plane, points = thin[np.newaxis], np.repeat(np.asarray(thin, np.float64), 2 if stride > 1 else 1)
    else:
        plane, points = thin[np.newaxis], least_and_greatest(taken, stride)
    return _Section(shown, cuts, np.asarray(plane, np.float64), points, stride, *_extremes(taken))


def parts_shown(look: Look, axes: tuple[AxisLabel, ...]) -> tuple[Part, ...]:
    """What a look shows of a field: all cells that its pictures have."""
    return tuple(
        _part(axes, shown, _cuts(axes, shown, look.cuts), _stride(axes, shown)) for shown in _shown(look, len(axes))
    )


def _cuts(axes: tuple[AxisLabel, ...], shown: tuple[int, ...], wanted: Mapping[int, int]) -> tuple[Cut, ...]:
    return tuple(
        Cut(axis, label, min(max(wanted.get(axis, label.cells // 2), 0), label.cells - 1))
        for axis, label in enumerate(axes)
        if axis not in shown
    )


def _stride(axes: tuple[AxisLabel, ...], shown: tuple[int, ...]) -> int:
    """Every how many cells one is shown, counted from the first of each axis, so that no side is too long."""
    is_line = len(shown) == 1 or axes[shown[1]].cells == 1
    longest = 4 * LARGEST_SIDE if is_line else LARGEST_SIDE
    return -(-max(axes[axis].cells for axis in shown) // longest)


def _part(axes: tuple[AxisLabel, ...], shown: tuple[int, ...], cuts: tuple[Cut, ...], stride: int) -> Part:
    at = {cut.axis: cut.index for cut in cuts}
    return tuple(Every(stride) if axis in shown else at[axis] for axis in range(len(axes)))


def least_and_greatest(line: npt.NDArray[np.generic], stride: int) -> Numbers:
    """The line itself if all cells are shown, else two values for each `stride` cells; NaN where one of them is NaN."""
    if stride == 1:
        return np.asarray(line, np.float64)
    starts = np.arange(0, line.size, stride)
    both = np.stack([np.minimum.reduceat(line, starts), np.maximum.reduceat(line, starts)], axis=1)
    return np.asarray(both.reshape(-1), np.float64)


def _extremes(plane: npt.NDArray[np.generic]) -> tuple[float | None, float | None, int, int]:
    """The least and the greatest finite value, and how many are NaN and infinite; all finite is the fast case."""
    with np.errstate(invalid="ignore"):
        least, greatest = float(plane.min()), float(plane.max())
    if np.isfinite(least) and np.isfinite(greatest):
        return least, greatest, 0, 0
    finite = plane[np.isfinite(plane)]
    not_numbers = int(np.count_nonzero(np.isnan(plane)))
    infinite = plane.size - finite.size - not_numbers
    if not finite.size:
        return None, None, not_numbers, infinite
    return float(finite.min()), float(finite.max()), not_numbers, infinite
