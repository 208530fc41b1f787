"""Study drawing: scores by number with their spread, the best so far as a line, failures at the bottom."""

from __future__ import annotations

from workbench.views.drawing.numbers import short, ticks
from workbench.views.drawing.shapes import Disc, Drawing, Label, Line, Shape
from workbench.views.study.summary import StudySummary

WIDTH, HEIGHT = 720, 300
MEASURED, COPIED, BEST, FAILED, LINE = "#1a6fb5", "#a9cbe8", "#f0a830", "#c0392b", "#5b6675"
_LEFT, _RIGHT, _TOP, _BOTTOM = 72, 16, 40, 46
_INK, _SOFT, _GRID = "#1c2430", "#5b6675", "#e3e8ee"


def draw_study(summary: StudySummary) -> Drawing:
    """The picture that stands where no page draws the study live."""
    greatest = max((mark.high for mark in summary.marks if mark.score is not None), default=1.0) * 1.05
    last = max(len(summary.marks), 1)

    def across(number: float) -> float:
        return _LEFT + (number - 0.5) / last * (WIDTH - _LEFT - _RIGHT)

    def up(score: float) -> float:
        return HEIGHT - _BOTTOM - score / greatest * (HEIGHT - _TOP - _BOTTOM)

    shapes: list[Shape] = [Label((_LEFT, 16), f"{summary.program}: {len(summary.marks)} tried", _INK, 15)]
    for value in ticks(0.0, greatest, 6):
        if value <= greatest:
            shapes.append(Line(((_LEFT, up(value)), (WIDTH - _RIGHT, up(value))), _GRID))
            shapes.append(Label((_LEFT - 6, up(value)), short(value), _SOFT, 12, "right"))
    for value in ticks(1, max(last, 2), 10, nearest=1.0):
        if 1 <= value <= last:
            shapes.append(Label((across(value), HEIGHT - _BOTTOM + 22), short(value), _SOFT, 12, "centre"))
    shapes.append(Label((_LEFT + (WIDTH - _LEFT - _RIGHT) / 2, HEIGHT - 8), "individual", _SOFT, 12, "centre"))
    shapes.append(Label((16, _TOP + (HEIGHT - _TOP - _BOTTOM) / 2), "Gcells/s", _SOFT, 12, "centre", upwards=True))
    steps = best_steps(summary)
    if len(steps) > 1:
        shapes.append(Line(tuple((across(x), up(y)) for x, y in steps), LINE, 1.5))
    for mark in summary.marks:
        x = across(mark.number)
        if mark.score is None:
            y = HEIGHT - _BOTTOM + 6.0
            shapes += [Line(((x - 3, y - 3), (x + 3, y + 3)), FAILED), Line(((x - 3, y + 3), (x + 3, y - 3)), FAILED)]
        else:
            shapes.append(Line(((x, up(mark.low)), (x, up(mark.high))), COPIED))
            colour = BEST if mark == summary.best else COPIED if mark.copied else MEASURED
            shapes.append(Disc((x, up(mark.score)), 5.0 if mark == summary.best else 3.0, colour))
    return Drawing(WIDTH, HEIGHT, tuple(shapes), summary.text())


def best_steps(summary: StudySummary) -> list[tuple[float, float]]:
    """The corners of the line of the best so far, to the last individual."""
    corners: list[tuple[float, float]] = []
    for number, score in summary.line:
        if corners:
            corners.append((number, corners[-1][1]))
        corners.append((number, score))
    if corners:
        corners.append((len(summary.marks), corners[-1][1]))
    return corners
