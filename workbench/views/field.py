"""Field: one named value of a simulation as a line, a picture or a slice; records in, a frozen summary out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

import numpy as np
import numpy.typing as npt

from workbench.errors import FieldError
from workbench.graph.spaces import axis_name
from workbench.run.snapshots import Snapshot
from workbench.views.palettes import DEFAULT, LEVELS, NOT_A_NUMBER

LARGEST_SIDE = 1024  # cells; more than a screen shows, and one frame stays below 1 MiB
TIME = "t"  # the scalar that most programs keep their time in

Codes = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.float64]
Kind = Literal["line", "plane"]


@dataclass(frozen=True, slots=True)
class AxisLabel:
    """One axis of the domain: its name and unit, its cells, and the coordinates of the first and the last one."""

    name: str
    unit: str
    cells: int
    first: float
    last: float


@dataclass(frozen=True, slots=True)
class Look:
    """How to look: colours; fixed limits (None: those of the data); the two axes shown; where the others are cut."""

    palette: str = DEFAULT
    limits: tuple[float, float] | None = None
    across: int = 0
    up: int = 1
    cuts: Mapping[int, int] = field(default_factory=lambda: MappingProxyType({}))


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
    on top, and holds levels 0 ... 254 between `low` and `high` or 255 for NaN. A line has `points`, one value a cell.
    Every `stride`-th cell is shown. minimum and maximum are those of the finite values shown (None: there are none).
    """

    name: str
    unit: str
    kind: Kind
    step: int
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

    def value_at(self, column: int, row: int) -> float | None:
        """The exact value shown in a cell of the picture (row 0 on top; a line has row 0 only), None outside."""
        rows, columns = self.values.shape
        return float(self.values[row, column]) if 0 <= row < rows and 0 <= column < columns else None


def summarise(
    snapshot: Snapshot, axes: tuple[AxisLabel, ...], unit: str = "", look: Look | None = None
) -> FieldSummary:
    """What is to be seen of a snapshot. Raises FieldError for a number and for a vector, which have no picture."""
    look = look or Look()
    values = snapshot.values
    check_pictured(snapshot.name, values, len(axes))
    shown: tuple[int, ...] = (look.across,) if len(axes) == 1 else (look.across, look.up)
    cuts = tuple(
        Cut(axis, label, min(max(look.cuts.get(axis, label.cells // 2), 0), label.cells - 1))
        for axis, label in enumerate(axes)
        if axis not in shown
    )
    plane, stride = _thinned(_section(values, shown, cuts))
    minimum, maximum, not_numbers, infinite = _extremes(plane)
    low, high = look.limits or (minimum or 0.0, maximum or 0.0)
    time = snapshot.numbers.get(TIME)
    return FieldSummary(
        name=snapshot.name,
        unit=unit,
        kind="line" if len(axes) == 1 else "plane",
        step=snapshot.steps,
        time=None if time is None or isinstance(time, bool) else float(time),
        shape=tuple(axis.cells for axis in axes),
        across=axes[shown[0]],
        up=None if len(axes) == 1 else axes[shown[1]],
        cuts=cuts,
        stride=stride,
        minimum=minimum,
        maximum=maximum,
        not_numbers=not_numbers,
        infinite=infinite,
        low=low,
        high=high,
        palette=look.palette,
        codes=np.ascontiguousarray(quantise(plane.T, low, high).T),  # in memory order; only the bytes are turned
        points=plane[0] if len(axes) == 1 else np.empty(0),
        values=plane,
    )


def check_pictured(name: str, values: npt.NDArray[np.generic], dim: int) -> None:
    """Raise FieldError unless there is one value in each cell."""
    if values.ndim == 0:
        raise FieldError(f"{name} is a number, not a field", advice=f'Read it: sim["{name}"], or record it.')
    if values.ndim != dim:
        raise FieldError(f"{name} is a vector of fields", advice=f'View one component, such as "{name}0".')


def quantise(plane: Numbers, low: float, high: float) -> Codes:
    """Levels 0 ... 254 of values between the limits, beyond them the nearest level, 255 for NaN."""
    if not high > low:  # one value everywhere: the middle of the table
        codes = np.full(plane.shape, (LEVELS - 1) // 2, np.uint8)
    else:
        with np.errstate(over="ignore", invalid="ignore"):
            levels = np.subtract(plane, low, dtype=np.float64)
            levels *= (LEVELS - 1) / (high - low)
            levels += 0.5
            np.clip(levels, 0, LEVELS - 1, out=levels)
            codes = levels.astype(np.uint8)
    wrong = np.isnan(plane)
    if wrong.any():
        codes[wrong] = NOT_A_NUMBER
    return codes


def describe(summary: FieldSummary) -> str:
    """The summary in words, for terminals, for screen readers and below pictures."""
    size = " x ".join(map(str, summary.shape))
    time = "" if summary.time is None else f", {TIME} = {summary.time:.6g}"
    unit = f" {summary.unit}" if summary.unit else ""
    lines = [f"{summary.name}: {size} cells at step {summary.step}{time}"]
    if summary.minimum is None:
        lines.append("no finite value")
    else:
        lines.append(f"values {summary.minimum:.6g} to {summary.maximum:.6g}{unit}")
    if summary.up is None:
        lines.append(f"{summary.across.name} to the right, {summary.name} up")
    else:
        lines.append(f"{summary.across.name} to the right, {summary.up.name} up")
        lines[-1] += f"; colours {summary.palette}, {summary.low:.6g} to {summary.high:.6g}"
    lines += [f"cut at {cut.label.name} = cell {cut.index} of {cut.label.cells}" for cut in summary.cuts]
    if summary.not_numbers or summary.infinite:
        lines.append(f"{summary.not_numbers} NaN, {summary.infinite} infinite")
    return "\n".join(lines)


def plain_axes(shape: tuple[int, ...]) -> tuple[AxisLabel, ...]:
    """Axes without coordinates: cells are counted from 0."""
    return tuple(AxisLabel(axis_name(axis), "", cells, 0.0, float(cells - 1)) for axis, cells in enumerate(shape))


def _section(values: npt.NDArray[np.generic], shown: tuple[int, ...], cuts: tuple[Cut, ...]) -> Numbers:
    """The line (one row) or plane as it is seen: first shown axis to the right, second up, row 0 on top."""
    at: dict[int, int] = {cut.axis: cut.index for cut in cuts}
    taken = values[tuple(at.get(axis, slice(None)) for axis in range(values.ndim))]
    if len(shown) == 1:
        return np.asarray(taken, np.float64)[np.newaxis, :]
    upright = taken.T if shown[0] < shown[1] else taken
    return np.asarray(upright[::-1], np.float64)


def _extremes(plane: Numbers) -> tuple[float | None, float | None, int, int]:
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


def _thinned(plane: Numbers) -> tuple[Numbers, int]:
    """Every n-th cell, counted from the first one of each axis (the lower left), so that no side is too long."""
    rows, columns = plane.shape
    longest = LARGEST_SIDE if rows > 1 else 4 * LARGEST_SIDE
    stride = -(-max(rows, columns) // longest)
    if stride == 1:
        return plane, 1
    first_row = (rows - 1) % stride  # the lowest row is kept
    return plane[first_row::stride, ::stride], stride
