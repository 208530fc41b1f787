"""Launch drawing: the summary of launches as a picture, for pages without a live view and for files."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

import numpy as np

from workbench.backends.launch_trace import LaunchTrace
from workbench.backends.occupancy import WARP
from workbench.run.calling import Terms
from workbench.views.drawing.shapes import Disc, Drawing, Label, Line, Shape, rectangle
from workbench.views.graph.layout import shortened
from workbench.views.launch.summary import LaunchSummary, OccupancyCurve, describe_launch

INK, PALE, LINE, POINT = "#222222", "#767676", "#0072b2", "#d55e00"
BLOCKS = ("#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#f0e442", "#9a9a9a")
"""Colours of neighbouring blocks, told apart by colour-blind people as well (Okabe and Ito)."""

WIDTH = 960
_CURVE_HEIGHT = 170
_BAR = 22  # pixels from one bar to the next
_NAME = 200  # pixels of names left of bars
_TEXT = 17  # pixels a line
_CHARACTERS = 128  # in a line


def draw_launch(summary: LaunchSummary) -> Drawing:
    """Occupancy against block, registers and shared memory, or the cells of loops on CPU threads; owners of cells.

    All numbers stand as words below.
    """
    shapes: list[Shape] = []
    top = 12.0
    if summary.curves:
        for number, curve in enumerate(summary.curves):
            shapes += _curve(curve, 12 + number * (WIDTH - 24) / 3, top, (WIDTH - 24) / 3 - 16)
        top += _CURVE_HEIGHT
    if summary.device is None:
        shapes += _bars(summary, top)
        top += _BAR * (len(summary.rows) + 1)
    if summary.trace is not None:
        drawn, height = _cells(summary.trace, summary.terms, 12, top)
        shapes += drawn
        top += height
    lines = [part for line in describe_launch(summary).splitlines() for part in _wrapped(line)]
    shapes += [Label((12, top + _TEXT * (n + 0.5)), line, INK, 12) for n, line in enumerate(lines)]
    return Drawing(WIDTH, round(top + _TEXT * len(lines) + 12), tuple(shapes), lines[0])


def _wrapped(line: str) -> list[str]:
    """Lines that fit into the width."""
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    return textwrap.wrap(line, _CHARACTERS, subsequent_indent=indent, drop_whitespace=True) or [""]


def _bars(summary: LaunchSummary, top: float) -> Iterator[Shape]:
    """How many cells each loop on CPU threads computes."""
    most = max((row.cells for row in summary.rows), default=1)
    yield Label((12 + _NAME, top + _BAR / 2), f"number of {summary.terms.cells}", PALE, 11)
    for number, row in enumerate(summary.rows):
        y = top + _BAR * (number + 1)
        name = shortened(row.name, 26)
        yield Label((4 + _NAME, y + _BAR / 2 - 2), name, INK, 12, "right")
        width = (WIDTH - _NAME - 120) * row.cells / max(most, 1)
        yield rectangle(12 + _NAME, y, width, _BAR - 5, LINE)
        yield Label((18 + _NAME + width, y + _BAR / 2 - 2), f"{row.cells:,}", INK, 12)


def _curve(curve: OccupancyCurve, left: float, top: float, width: float) -> Iterator[Shape]:
    x0, y0, w, h = left + 34, top + 18, width - 40, _CURVE_HEIGHT - 62
    first, last = curve.points[0][0], curve.points[-1][0]

    def place(x: float, y: float) -> tuple[float, float]:
        return x0 + w * (x - first) / max(last - first, 1), y0 + h * (1 - y)

    yield Label((x0, top + 6), "occupancy", PALE, 11)
    for share in (0.0, 0.5, 1.0):
        yield Line((place(first, share), place(last, share)), "#d0d0d0")
        yield Label((x0 - 4, place(first, share)[1]), f"{share:.0%}", PALE, 11, "right")
    # Steps, because between two of these numbers nothing changes.
    steps: list[tuple[float, float]] = []
    for (x, y), (following, _) in zip(curve.points, (*curve.points[1:], curve.points[-1]), strict=True):
        steps += [place(x, y), place(following, y)]
    yield Line(tuple(steps), LINE, 2)
    yield Disc(place(*curve.at), 5, POINT, "#ffffff")
    for x in (first, last):
        yield Label((place(x, 0)[0], y0 + h + 12), str(x), PALE, 11, "centre")
    yield Label((x0 + w / 2, y0 + h + 28), f"{curve.what}, now {curve.at[0]}", INK, 12, "centre")


def plane_of(trace: LaunchTrace) -> tuple[np.ndarray[tuple[int, int], np.dtype[np.int64]], tuple[int, ...]]:
    """Owners of cells in the plane of the last two axes through the probed cell, and the axes' cuts before it."""
    cuts = trace.probed[: max(trace.thread_of.ndim - 2, 0)]
    plane = np.atleast_2d(trace.thread_of[cuts])
    return plane.astype(np.int64), cuts


def footprint(trace: LaunchTrace) -> tuple[tuple[int, int], ...]:
    """Cells (row, column) of that plane which the thread of the probed cell reads, ghost cells included."""
    cuts = trace.probed[: max(trace.thread_of.ndim - 2, 0)]
    inside = (cell for _, cell in trace.reads if cell[: len(cuts)] == cuts)
    return tuple(dict.fromkeys((0, *cell[-1:])[-2:] if len(cell) == 1 else (cell[-2], cell[-1]) for cell in inside))


def owner_colour(thread: int, block_threads: int) -> str:
    """The colour of a thread's block; every second warp of it is lighter."""
    if thread < 0:
        return "#ffffff"
    colour = BLOCKS[thread // block_threads % len(BLOCKS)]
    if thread % block_threads // WARP % 2 == 0:
        return colour
    parts = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return "#" + "".join(f"{(part + 2 * 255) // 3:02x}" for part in parts)


def _cells(trace: LaunchTrace, terms: Terms, left: float, top: float) -> tuple[list[Shape], float]:
    plane, cuts = plane_of(trace)
    rows, columns = plane.shape
    size = min(20.0, (WIDTH - 80) / columns)
    x0, y0 = left + 24, top + 26
    where = f", through {cuts}" if cuts else ""
    title = f"{trace.kernel}: which block stores to which {terms.place}{where}"
    title += "; the thread of the ringed one reads the dotted ones"
    shapes: list[Shape] = [Label((left, top + 10), title, INK, 12)]
    for row in range(rows):
        for column in range(columns):
            colour = owner_colour(int(plane[row, column]), trace.block_threads)
            shapes.append(rectangle(x0 + column * size, y0 + row * size, size - 1, size - 1, colour))
    for row, column in footprint(trace):
        shapes.append(Disc((x0 + (column + 0.5) * size, y0 + (row + 0.5) * size), size / 5, INK))
    row, column = (0, *trace.probed)[-2:]
    x, y = x0 + column * size, y0 + row * size
    ring = ((x, y), (x + size, y), (x + size, y + size), (x, y + size), (x, y))
    shapes.append(Line(ring, POINT, 2.5))
    height = rows * size + 40
    words = f"{terms.place}s of a row lie side by side in memory; light and dark: warps"
    shapes.append(Label((x0, y0 + rows * size + 8), words, PALE, 11))
    return shapes, height
