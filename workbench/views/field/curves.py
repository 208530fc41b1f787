"""Curves: values over time of cells and scalars, and profiles along lines; frozen charts from what was seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from workbench.run.parts import Every, FieldParts, Part, part_of
from workbench.run.snapshots import Snapshot
from workbench.views.field.flags import cell_text
from workbench.views.field.summary import AxisLabel, least_and_greatest

MOST_POINTS = 1024  # of a history; more than a chart has pixels
MOST_READ = 1 << 16  # cells of a line of a field that lies in a file

Numbers = npt.NDArray[np.float64]
Group = Literal["scalars", "probes", "profiles"]


@dataclass(frozen=True, slots=True, eq=False)
class ChartLine:
    """One line of a chart: `values` at `places`, both of shape (n,), in order."""

    name: str
    places: Numbers
    values: Numbers


@dataclass(frozen=True, slots=True, eq=False)
class Chart:
    """Curves with the same axes."""

    group: Group
    title: str
    across: str
    across_unit: str
    up: str
    up_unit: str
    curves: tuple[ChartLine, ...]


class TimeSeries:
    """Values over steps, at most MOST_POINTS: when full, every second one goes and later ones are kept more rarely.

    The latest one is always there. Not safe for threads.
    """

    def __init__(self) -> None:
        self._kept: list[tuple[float, float]] = []
        self._latest: tuple[float, float] | None = None
        self._every = 1
        self._seen = 0

    def append(self, place: float, value: float) -> None:
        """Keep a further value; its place lies after all others."""
        self._latest = (place, value)
        if self._seen % self._every == 0:
            self._kept.append(self._latest)
            if len(self._kept) >= MOST_POINTS:
                del self._kept[1::2]
                self._every *= 2
        self._seen += 1

    def curve(self, name: str) -> ChartLine:
        """What was kept."""
        points = list(self._kept)
        if self._latest is not None and points[-1] is not self._latest:
            points.append(self._latest)
        array = np.array(points, np.float64).reshape(-1, 2)
        return ChartLine(name, array[:, 0], array[:, 1])


def profiles(snapshot: Snapshot, axes: tuple[AxisLabel, ...], unit: str, point: tuple[int, ...]) -> tuple[Chart, ...]:
    """The values along each axis on the lines through `point`; of long lines two for neighbours: no peak is lost.

    Of a field in a file, the parts `lines_through(axes, point)` must have been read.
    """
    charts, in_file = [], isinstance(snapshot.values, FieldParts)
    for label, part in zip(axes, lines_through(axes, point, in_file), strict=True):
        line = part_of(snapshot.values, part)
        every = _every(label, in_file)
        last = label.last
        if every > 1:
            last = label.first + (label.last - label.first) * (line.size - 1) * every / (label.cells - 1)
        places = np.linspace(label.first, last, line.size)
        title = f"{snapshot.name} along {label.name} through cell {cell_text(point)}"
        if line.size > MOST_POINTS:
            stride = -(-2 * line.size // MOST_POINTS)
            line, places = least_and_greatest(line, stride), np.repeat(places[::stride], 2)
            title += f", least and greatest of each {stride} cells"
        title += f", one cell of {every} read" if every > 1 else ""
        curve = ChartLine(snapshot.name, places, np.asarray(line, np.float64))
        charts.append(Chart("profiles", title, label.name, label.unit, snapshot.name, unit, (curve,)))
    return tuple(charts)


def lines_through(axes: tuple[AxisLabel, ...], point: tuple[int, ...], in_file: bool = True) -> tuple[Part, ...]:
    """The lines of `profiles`, one for each axis; of long ones in a file not every cell."""
    return tuple(
        tuple(Every(_every(axes[a], in_file)) if a == axis else index for a, index in enumerate(point))
        for axis in range(len(axes))
    )


def _every(label: AxisLabel, in_file: bool) -> int:
    return -(-label.cells // MOST_READ) if in_file else 1
