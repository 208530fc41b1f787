"""Picture: the cells of a summary as pixels."""

from __future__ import annotations

import numpy as np

from workbench.views.drawing.bitmap_font import SMALL_HEIGHT, SMALL_WIDTH, small_letters
from workbench.views.drawing.numbers import shares
from workbench.views.field.palettes import colour_table
from workbench.views.field.particles import BACKGROUND, BACKGROUND_COLOUR, raster
from workbench.views.field.summary import LARGEST_SIDE, Codes, FieldSummary, least_and_greatest

SMALLEST_SIDE = 256  # pixels; fewer cells are shown larger
LINE_ROWS = 200  # pixels of a line's picture
# Of 255 levels of a palette, so near to the level below that the difference is not seen: paper, grey and ink.
_SPARED = {1: b"\xff\xff\xff", 3: b"\x8c\x8c\x8c", 5: b"\x00\x00\x00"}
_BETWEEN = 12  # pixels
_NAME_GAP = 4  # between a plane and the names of its axes
_LONGEST_NAME = 9  # letters of the name of the axis up
_PAPER = 0  # codes of a line's two-colour table
_INK = 1
_LINE_TABLE = bytes.fromhex("ffffff 0072b2".replace(" ", ""))


def enlarged(summary: FieldSummary) -> tuple[Codes, bytes]:
    """Codes and colour table of the picture itself, few cells shown larger."""
    codes, table = drawn(summary)
    return _repeated(codes, _scale(summary)), table


def drawn(summary: FieldSummary) -> tuple[Codes, bytes]:
    """Codes and colour table of the pixels that a live picture has, of a plane or of points."""
    table = colour_table(summary.palette)
    if summary.particles is None:
        return summary.codes, table
    before, behind = table[: 3 * BACKGROUND], table[3 * BACKGROUND + 3 :]
    return raster(summary.particles), before + BACKGROUND_COLOUR + behind


def side_by_side(summary: FieldSummary) -> tuple[Codes, bytes]:
    """Codes and colour table of all planes of a summary, their axes named, one scale for all; or of its line.

    All codes mean something, so paper and letters take those of a few levels, whose cells get a neighbour's colour.
    """
    if summary.kind == "line":
        return line_pixels(summary)
    if not summary.others:
        return enlarged(summary)
    scale = min(map(_scale, summary.planes))
    pictures = [_with_names(plane, scale) for plane in summary.planes]
    rows = max(picture.shape[0] for picture in pictures)
    columns = sum(picture.shape[1] for picture in pictures) + _BETWEEN * (len(pictures) - 1)
    codes, left = _paper(rows, columns), 0
    for picture in pictures:
        codes[: picture.shape[0], left : left + picture.shape[1]] = picture
        left += picture.shape[1] + _BETWEEN
    table = bytearray(colour_table(summary.palette))
    for level, colour in _SPARED.items():
        table[3 * level : 3 * level + 3] = colour
    return codes, bytes(table)


def _with_names(plane: FieldSummary, scale: int) -> Codes:
    """A plane with the names of its axes at its left and below it."""
    cells = np.where(np.isin(plane.codes, list(_SPARED)), plane.codes - 1, plane.codes)
    picture = _repeated(cells, scale)
    rows, columns = picture.shape
    up = _lettered(plane.up.title(_LONGEST_NAME) if plane.up else "")
    across = _lettered(plane.across.title(columns // SMALL_WIDTH))
    left = up.shape[1] + _NAME_GAP
    named = _paper(rows + _NAME_GAP + SMALL_HEIGHT, left + columns)
    named[:rows, left:] = picture
    top = max(0, (rows - SMALL_HEIGHT) // 2)
    named[top : top + SMALL_HEIGHT, : up.shape[1]] = up
    start = left + (columns - across.shape[1]) // 2
    named[rows + _NAME_GAP :, start : start + across.shape[1]] = across
    return named


def _lettered(text: str) -> Codes:
    """Codes of words on paper."""
    paper, grey, ink = _SPARED
    black = small_letters(text)
    return np.select([black > 0.5, black > 0.2], [ink, grey], paper).astype(np.uint8)


def _paper(rows: int, columns: int) -> Codes:
    return np.full((rows, columns), next(iter(_SPARED)), np.uint8)


def line_pixels(summary: FieldSummary) -> tuple[Codes, bytes]:
    """Codes and colour table of a line."""
    return _drawn_line(summary), _LINE_TABLE


def _scale(summary: FieldSummary) -> int:
    rows, columns = summary.codes.shape
    scale: int = max(1, -(-SMALLEST_SIDE // max(rows, columns)))
    return scale


def _repeated(codes: Codes, scale: int) -> Codes:
    return codes if scale == 1 else np.repeat(np.repeat(codes, scale, axis=0), scale, axis=1)


def _drawn_line(summary: FieldSummary) -> Codes:
    """The points joined by vertical strokes, one column a pixel or more."""
    points = summary.points
    if points.size > LARGEST_SIDE:
        points = least_and_greatest(points, -(-2 * points.size // LARGEST_SIDE))
    columns = max(2 * SMALLEST_SIDE, points.size)
    at = np.interp(np.arange(columns), np.linspace(0, columns - 1, points.size), points)
    codes = np.full((LINE_ROWS, columns), _PAPER, np.uint8)
    with np.errstate(invalid="ignore", over="ignore"):
        height = shares(at, summary.low, summary.high)
        rows = np.clip((LINE_ROWS - 5) * (1 - height) + 2, 0, LINE_ROWS - 1)
    for column in np.flatnonzero(np.isfinite(height)):
        before = rows[column - 1] if column and np.isfinite(rows[column - 1]) else rows[column]
        first, last = sorted((int(before), int(rows[column])))
        codes[first : last + 2, column] = _INK
    return codes
