"""Tiles drawing: space across, time upwards; what is done has the colour of its thread, tiles have outlines."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.views.drawing.line_plot import colour_of
from workbench.views.drawing.numbers import short, ticks
from workbench.views.drawing.shapes import Drawing, Label, Line, Shape, rectangle
from workbench.views.tiles.summary import Piece, TilesSummary, describe_tiles

_WIDTH, _HEIGHT = 760, 380
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 20, 56, 48
INK, SOFT, PALE, NOW = "#1c2430", "#5b6675", "#eef1f5", "#1c2430"


def draw_tiles(summary: TilesSummary, turns: int | None = None) -> Drawing:
    """The picture after so many turns; None for all of them."""
    shown = summary.turns if turns is None else max(0, min(turns, summary.turns))
    shapes: list[Shape] = [Label((_LEFT, 18), f"{summary.machine}, schedule {summary.schedule}", INK, 15)]
    x = float(_LEFT)
    for thread in range(min(summary.threads, 8)):
        shapes += [rectangle(x, 34, 10, 10, colour_of(thread)), Label((x + 15, 39), f"thread {thread}", SOFT, 12)]
        x += 96
    for piece in summary.pieces:
        done = piece.turn < shown
        outline = NOW if piece.turn == shown - 1 and turns is not None else ""
        shapes.append(_box(summary, piece, colour_of(piece.thread) if done else PALE, outline))
    for edge in tile_edges(summary):
        shapes.append(Line(tuple((_across(summary, x), _up(summary, y)) for x, y in edge), INK, 1.0))
    for value in ticks(0, summary.rows, 9, nearest=1.0):
        if 0 <= value <= summary.rows:
            shapes.append(Label((_across(summary, value), _HEIGHT - _BOTTOM + 14), short(value), SOFT, 12, "centre"))
    for value in ticks(0, summary.levels, 6, nearest=1.0):
        if 0 <= value <= summary.levels:
            shapes.append(Label((_LEFT - 8, _up(summary, value)), short(value), SOFT, 12, "right"))
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    shapes.append(Label((middle, _HEIGHT - 12), "row along the axis that is cut", SOFT, 12, "centre"))
    time = "step" if summary.levels_a_step == 1 else f"level, {summary.levels_a_step} a step"
    shapes.append(Label((16, (_TOP + _HEIGHT - _BOTTOM) / 2), time, SOFT, 12, "centre", upwards=True))
    return Drawing(_WIDTH, _HEIGHT, tuple(shapes), describe_tiles(summary, turns))


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


def _across(summary: TilesSummary, row: float) -> float:
    return _LEFT + row / summary.rows * (_WIDTH - _LEFT - _RIGHT)


def _up(summary: TilesSummary, level: float) -> float:
    return _HEIGHT - _BOTTOM - level / summary.levels * (_HEIGHT - _TOP - _BOTTOM)


def _box(summary: TilesSummary, piece: Piece, fill: str, outline: str) -> Shape:
    left, right = _across(summary, piece.first), _across(summary, piece.last)
    low, high = _up(summary, piece.level), _up(summary, piece.level + 1)
    return rectangle(left, high, right - left, low - high, fill, outline)
