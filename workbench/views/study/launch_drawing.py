"""Launch drawing: a launch map as a picture below a study's scores."""

from __future__ import annotations

from workbench.amounts import counted
from workbench.views.drawing.numbers import short
from workbench.views.drawing.shapes import Label, Shape, rectangle, text_width
from workbench.views.study.frame import BEST, FAILED, GRID, INK, SOFT
from workbench.views.study.launch_map import LaunchMap

_LEFT, _RIGHT, _HEAD, _FOOT, _ROW = 110, 16, 40, 44, 24  # pixels; of a row


def launches_height(shown: LaunchMap) -> int:
    """Pixels that the map takes; 0 if it is empty."""
    return _HEAD + _ROW * len(shown.rows) + _FOOT if shown.cells else 0


def launch_shapes(shown: LaunchMap, width: int, top: float) -> list[Shape]:
    """The map below `top`: a cell for each pair, its best score in Gcells/s written in it, the best one framed."""
    if not shown.cells:
        return []
    begin, pitch = top + _HEAD, (width - _LEFT - _RIGHT) / len(shown.columns)
    bottom = begin + _ROW * len(shown.rows)
    shapes: list[Shape] = [Label((_LEFT, top + 20), "Best Gcells/s by launch numbers", INK, 13)]
    shapes.append(rectangle(_LEFT, begin, width - _LEFT - _RIGHT, bottom - begin, GRID))
    for cell in shown.cells:
        x, y = _LEFT + pitch * cell.across, bottom - _ROW * (cell.upwards + 1)
        shapes.append(rectangle(x + 1, y + 1, pitch - 2, _ROW - 2, cell.colour or FAILED))
        words = short(float(f"{cell.score:.3g}")) if cell.number else counted(cell.failed, "failure")
        if text_width(words, 11) <= pitch - 6:
            ink = "#ffffff" if cell.share > 0.75 or not cell.number else INK
            shapes.append(Label((x + pitch / 2, y + _ROW / 2), words, ink, 11, "centre"))
    best = shown.best
    if best is not None:
        x, y = _LEFT + pitch * best.across, bottom - _ROW * (best.upwards + 1)
        shapes.append(rectangle(x + 1, y + _ROW - 5, pitch - 2, 4, BEST))
    for at, value in enumerate(shown.columns):
        shapes.append(Label((_LEFT + pitch * (at + 0.5), bottom + 12), value, SOFT, 12, "centre"))
    for at, value in enumerate(shown.rows):
        shapes.append(Label((_LEFT - 8, bottom - _ROW * (at + 0.5)), value, SOFT, 12, "right"))
    shapes.append(Label((_LEFT + (width - _LEFT - _RIGHT) / 2, bottom + 32), shown.across, SOFT, 12, "centre"))
    shapes.append(Label((_LEFT - 8, begin - 14), shown.upwards, SOFT, 12, "right"))
    return shapes
