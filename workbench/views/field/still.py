"""Still: what is seen of a field as one PNG file with its words; what a notebook shows where no view lives."""

from __future__ import annotations

import numpy as np

from workbench.views.drawing.bitmap_font import SMALL_HEIGHT, SMALL_WIDTH, small_letters
from workbench.views.drawing.numbers import beside
from workbench.views.drawing.png import encode_rgb
from workbench.views.field.palettes import LEVELS, colour_table
from workbench.views.field.picture import enlarged, line_pixels
from workbench.views.field.summary import AxisLabel, Codes, FieldSummary
from workbench.views.field.words import time_text

_LEFT, _TOP, _BOTTOM, _GAP = 69, 22, 20, 12
_LONGEST_NAME = 9  # letters of the name of the axis up
_BAR, _BAR_NUMBERS = 14, 70


def png_of(summary: FieldSummary) -> bytes:
    """Title, the pictures with the ends of their axes, and the colour bar (lowest value below); or the line.

    NaN has a colour that no table holds.
    """
    panels = [_panel(plane) for plane in summary.planes]
    if summary.kind != "line":
        panels.append(_bar(summary, panels[0].shape[0] - _BOTTOM))
    rows = max(panel.shape[0] for panel in panels)
    pixels = np.hstack([_white(rows + _TOP, panel.shape[1]) for panel in panels])
    left = 0
    for panel in panels:
        pixels[_TOP : _TOP + panel.shape[0], left : left + panel.shape[1]] = panel
        left += panel.shape[1]
    what = "cell" if summary.particles is None else "particle"
    thinned = "" if summary.kind == "line" or summary.stride == 1 else f", one {what} of {summary.stride} drawn"
    _write(pixels, 4, _LEFT, f"{summary.subject}, step {summary.step}{time_text(summary)}{thinned}")
    return encode_rgb(pixels)


def _panel(summary: FieldSummary) -> Codes:
    """One plane or line, with what its axes begin and end with."""
    codes, palette = line_pixels(summary) if summary.kind == "line" else enlarged(summary)
    image = np.frombuffer(palette, np.uint8).reshape(-1, 3)[codes]
    rows, columns = codes.shape
    panel = _white(rows + _BOTTOM, _LEFT + columns + _GAP)
    panel[:rows, _LEFT : _LEFT + columns] = image
    up = summary.up or AxisLabel(summary.name, summary.unit, 0, summary.low, summary.high)
    for text, row in zip(beside((up.last, up.first)), (0, rows - SMALL_HEIGHT), strict=True):
        _write(panel, row, _LEFT - 6, text, align=1.0)
    _write(panel, rows // 2 - SMALL_HEIGHT // 2, _LEFT - 6, up.title(_LONGEST_NAME), align=1.0)
    across, below = summary.across, rows + 4
    first, last = beside((across.first, across.last))
    _write(panel, below, _LEFT, first)
    _write(panel, below, _LEFT + columns, last, align=1.0)
    _write(panel, below, _LEFT + columns // 2, across.title(columns // SMALL_WIDTH), align=0.5)
    return panel


def _bar(summary: FieldSummary, rows: int) -> Codes:
    """The colours from the lowest value to the highest, with numbers, and what they mean below."""
    table = np.frombuffer(colour_table(summary.palette), np.uint8).reshape(-1, 3)
    panel = _white(rows + _BOTTOM, _BAR + _BAR_NUMBERS)
    panel[:rows, :_BAR] = table[np.linspace(LEVELS - 1, 0, rows).astype(np.uint8)][:, np.newaxis]
    for text, row in zip(beside((summary.high, summary.low)), (0, rows - SMALL_HEIGHT), strict=True):
        _write(panel, row, _BAR + 4, text)
    title = AxisLabel(summary.name, summary.unit, 0, summary.low, summary.high).title(panel.shape[1] // SMALL_WIDTH)
    _write(panel, rows + 4, 0, title)
    return panel


def _write(pixels: Codes, row: int, column: int, text: str, align: float = 0.0) -> None:
    """Black letters whose left end (align 0), middle (0.5) or right end (1) is at `column`, cut at the border."""
    row, left = max(0, row), max(0, column - round(align * SMALL_WIDTH * len(text)))
    ink = small_letters(text)[: max(0, pixels.shape[0] - row), : max(0, pixels.shape[1] - left)]
    place = pixels[row : row + ink.shape[0], left : left + ink.shape[1]]
    place[:] = (place * (1 - ink[..., np.newaxis])).astype(np.uint8)


def _white(rows: int, columns: int) -> Codes:
    return np.full((rows, columns, 3), 255, np.uint8)
