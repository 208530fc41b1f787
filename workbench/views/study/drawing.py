"""Study drawing: scores by number with their spread, the best so far as a line, failures at the bottom."""

from __future__ import annotations

from workbench.views.drawing.shapes import Disc, Drawing, Line
from workbench.views.study.frame import Frame
from workbench.views.study.summary import Scores

WIDTH, HEIGHT = 720, 300
MEASURED, COPIED, BEST, FAILED, LINE = "#1a6fb5", "#a9cbe8", "#f0a830", "#c0392b", "#5b6675"


def draw_study(summary: Scores) -> Drawing:
    """The picture that stands where no page draws the study live."""
    low, high = score_range(summary)
    frame = Frame(WIDTH, HEIGHT, 1, max(len(summary.marks), 1), high, low)
    shapes = frame.shapes(f"{summary.program}: {len(summary.marks)} tried", summary.noun, summary.unit)
    steps = best_steps(summary)
    if len(steps) > 1:
        shapes.append(Line(tuple(frame.at(x, y) for x, y in steps), LINE, 1.5))
    for mark in summary.marks:
        if mark.score is None:
            x, y = frame.across(mark.number), frame.bottom + 6.0
            shapes += [Line(((x - 3, y - 3), (x + 3, y + 3)), FAILED), Line(((x - 3, y + 3), (x + 3, y - 3)), FAILED)]
        else:
            shapes.append(Line((frame.at(mark.number, mark.low), frame.at(mark.number, mark.high)), COPIED))
            colour = BEST if mark == summary.best else COPIED if mark.copied else MEASURED
            shapes.append(Disc(frame.at(mark.number, mark.score), 5.0 if mark == summary.best else 3.0, colour))
    return Drawing(WIDTH, HEIGHT, tuple(shapes), summary.text())


def score_range(summary: Scores) -> tuple[float, float]:
    """Both ends of the axis of scores: from 0, or below the least where scores may be negative."""
    passed = [mark for mark in summary.marks if mark.score is not None]
    low = min((mark.low for mark in passed), default=0.0)
    high = max((mark.high for mark in passed), default=1.0)
    return 1.05 * min(low, 0.0), 1.05 * max(high, 0.0) or 1.0


def best_steps(summary: Scores) -> list[tuple[float, float]]:
    """The corners of the line of the best so far, to the last individual."""
    corners: list[tuple[float, float]] = []
    for number, score in summary.line:
        if corners:
            corners.append((number, corners[-1][1]))
        corners.append((number, score))
    if corners:
        corners.append((len(summary.marks), corners[-1][1]))
    return corners
