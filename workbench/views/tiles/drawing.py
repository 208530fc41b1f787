"""Tiles drawing: space across, time upwards; what is done has the colour of its thread, tiles have outlines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from workbench.views.drawing.line_plot import colour_of
from workbench.views.drawing.numbers import short, ticks
from workbench.views.drawing.shapes import Drawing, Label, Line, Shape, rectangle
from workbench.views.tiles.pieces import Piece, Plane, TilesSummary
from workbench.views.tiles.summary import describe_tiles
from workbench.views.tiles.towers import levels_done

_WIDTH, _HEIGHT = 760, 380
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 20, 56, 48
_PLANE = 260  # pixels of the plane's height
_NONE, _ALL = (0xEE, 0xF1, 0xF5), (0x5B, 0x66, 0x75)  # of cells that have done no step and all of them
PLANE_WORDS = "colours are stages, towers side by side run together; grey: the darker, the more steps are done"
INK, SOFT, PALE, NOW = "#1c2430", "#5b6675", "#eef1f5", "#1c2430"
SECTION = (("#ffffff", 3.0, False), (INK, 1.5, True))
"""Colour, width and whether dashed, of the lines that mark the section: dark on white, so it is seen on every grey."""


@dataclass(frozen=True, slots=True)
class _Frame:
    """Where a grid lies in the picture: `across` cells from left to right, `up` of them from below."""

    across: int
    up: int
    top: int
    height: int
    labels: tuple[str, str]

    def x(self, cell: float) -> float:
        """Pixels from the left."""
        return _LEFT + cell / self.across * (_WIDTH - _LEFT - _RIGHT)

    def y(self, cell: float) -> float:
        """Pixels from the top."""
        return self.top + self.height * (1 - cell / self.up)

    def box(self, left: float, right: float, low: float, high: float, fill: str, outline: str = "") -> Shape:
        """The cells between these borders."""
        top = self.y(high)
        return rectangle(self.x(left), top, self.x(right) - self.x(left), self.y(low) - top, fill, outline)

    def axes(self) -> Iterator[Shape]:
        """Ticks and names of both axes."""
        below = self.top + self.height
        for value in ticks(0, self.across, 9, nearest=1.0):
            if 0 <= value <= self.across:
                yield Label((self.x(value), below + 14), short(value), SOFT, 12, "centre")
        for value in ticks(0, self.up, 6, nearest=1.0):
            if 0 <= value <= self.up:
                yield Label((_LEFT - 8, self.y(value)), short(value), SOFT, 12, "right")
        yield Label(((_LEFT + _WIDTH - _RIGHT) / 2, below + 36), self.labels[0], SOFT, 12, "centre")
        yield Label((16, self.top + self.height / 2), self.labels[1], SOFT, 12, "centre", upwards=True)


def draw_tiles(summary: TilesSummary, turns: int | None = None) -> Drawing:
    """The picture after so many turns; None for all of them. Towers have their plane above."""
    shown = summary.turns if turns is None else max(0, min(turns, summary.turns))
    title = f"{summary.machine}, schedule {summary.schedule}"
    shapes: list[Shape] = [Label((_LEFT, 18), title, INK, 15)]
    top, height = _TOP, _HEIGHT - _TOP - _BOTTOM
    if summary.plane is None:
        for thread in range(min(summary.threads, 8)):
            x = float(_LEFT + 96 * thread)
            shapes += [rectangle(x, 34, 10, 10, colour_of(thread)), Label((x + 15, 39), f"thread {thread}", SOFT, 12)]
    else:
        shapes.append(Label((_LEFT, 39), PLANE_WORDS, SOFT, 12))
        shapes += _plane(summary, summary.plane, shown)
        top += _PLANE + _BOTTOM
    frame = _Frame(summary.rows, summary.levels, top, height, axis_labels(summary))
    for piece in summary.pieces:
        done = piece.turn < shown
        outline = NOW if piece.turn == shown - 1 and turns is not None else ""
        fill = colour_of(colour_number(summary, piece)) if done else PALE
        shapes.append(frame.box(piece.first, piece.last, piece.level, piece.level + 1, fill, outline))
    for edge in tile_edges(summary):
        shapes.append(Line(tuple((frame.x(x), frame.y(y)) for x, y in edge), INK, 1.0))
    shapes += frame.axes()
    return Drawing(_WIDTH, top + height + _BOTTOM, tuple(shapes), describe_tiles(summary, turns))


def _plane(summary: TilesSummary, plane: Plane, shown: int) -> Iterator[Shape]:
    """How many steps each cell has done, and what is done now."""
    frame = _Frame(summary.rows, plane.columns, _TOP, _PLANE, ("x", "y"))
    for column, levels in enumerate(levels_done(summary, shown).T):
        first = 0
        for level, group in groupby(levels.tolist()):
            last = first + len(list(group))
            yield frame.box(first, last, column, column + 1, done_colour(level / summary.levels))
            first = last
    for run in plane.at(shown - 1):
        yield frame.box(run.first, run.last, run.column, run.column + 1, colour_of(run.band))
    middle = frame.y(plane.shown + 0.5)
    for colour, width, dashed in SECTION:
        yield Line(((frame.x(0), middle), (frame.x(summary.rows), middle)), colour, width, dashed=dashed)
    yield from frame.axes()


def done_colour(share: float) -> str:
    """The colour of a cell that has done this share of its steps."""
    return "#" + "".join(f"{round(a + share * (b - a)):02x}" for a, b in zip(_NONE, _ALL, strict=True))


def colour_number(summary: TilesSummary, piece: Piece) -> int:
    """Which colour a piece has: its thread's, of towers its stage's."""
    return piece.thread if summary.plane is None else piece.band


def axis_labels(summary: TilesSummary) -> tuple[str, str]:
    """The names of the axes of rows and levels."""
    if summary.plane is not None:
        return f"x, at y = {summary.plane.shown}", "step"
    time = "step" if summary.levels_a_step == 1 else f"level, {summary.levels_a_step} a step"
    return "row along the axis that is cut", time


def tile_edges(summary: TilesSummary) -> Iterator[tuple[tuple[float, float], tuple[float, float]]]:
    """The borders between tiles, in rows and levels: beside a piece where another tile is, below it where one ends."""
    owner = {
        (piece.level, row): (piece.band, piece.tile)
        for piece in summary.pieces
        for row in range(piece.first, piece.last)
    }
    for piece in summary.pieces:
        level, mine = piece.level, (piece.band, piece.tile)
        if piece.first > 0 and owner.get((level, piece.first - 1)) != mine:
            yield (piece.first, level), (piece.first, level + 1)
        for row in range(piece.first, piece.last):
            if level > 0 and owner.get((level - 1, row)) != mine:
                yield (row, level), (row + 1, level)
