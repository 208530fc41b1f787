"""Study drawing: scores by number with their spread, the best so far as a line, failures at the bottom."""

from __future__ import annotations

from workbench.views.drawing.shapes import Disc, Drawing, Label, Line, Shape, rectangle
from workbench.views.study.frame import BEST, FAILED, GRID, SOFT, Frame
from workbench.views.study.launch_drawing import launch_shapes, launches_height
from workbench.views.study.summary import Scores

WIDTH, HEIGHT = 720, 300
_FAMILY = "#f8dfb3"
_MAP_TOP, _PITCH, _BAR = 16, 26, 9  # pixels: above the first bar, from row to row, of a bar
MEASURED, COPIED, LINE = "#1a6fb5", "#a9cbe8", "#5b6675"


def draw_study(summary: Scores) -> Drawing:
    """The picture that stands where no page draws the study live."""
    low, high = score_range(summary)
    rows = summary.chosen.rows
    below = HEIGHT + (_MAP_TOP + _PITCH * len(rows) if rows else 0)
    launches = launch_shapes(summary.launches, WIDTH, below)
    height = below + launches_height(summary.launches)
    frame = Frame(WIDTH, HEIGHT, 1, max(len(summary.marks), 1), high, low)
    shapes = frame.shapes(f"{summary.program}: {len(summary.marks)} tried", summary.noun, summary.unit)
    shapes += [Line((frame.at(*parent), frame.at(*child)), _FAMILY) for parent, child in family_lines(summary)]
    steps = best_steps(summary)
    if len(steps) > 1:
        shapes.append(Line(tuple(frame.at(x, y) for x, y in steps), LINE, 1.5))
    for mark in summary.marks:
        if mark.score is None:
            x, y = frame.across(mark.number), frame.bottom + 6.0
            shapes += [Line(((x - 3, y - 3), (x + 3, y + 3)), FAILED), Line(((x - 3, y + 3), (x + 3, y - 3)), FAILED)]
        else:
            seen = frame.at(mark.number, min(mark.high, high))
            shapes.append(Line((frame.at(mark.number, mark.low), seen), COPIED))
            colour = BEST if mark == summary.best else COPIED if mark.copied else MEASURED
            shapes.append(Disc(frame.at(mark.number, mark.score), 5.0 if mark == summary.best else 3.0, colour))
    return Drawing(WIDTH, height, (*shapes, *_map_shapes(summary, frame), *launches), summary.text())


def _map_shapes(summary: Scores, frame: Frame) -> list[Shape]:
    """A bar for each changed choice, below the scores, row by row with names and shares above the bars."""
    left, right = frame.across(frame.first - 0.5), frame.across(frame.last + 0.5)
    shapes: list[Shape] = []
    tops = [HEIGHT + _MAP_TOP + _PITCH * at for at in range(len(summary.chosen.rows))]
    for row, top in zip(summary.chosen.rows, tops, strict=True):
        share = "" if row.share is None else f", {100 * row.share:.0f} % of variance"
        shapes.append(Label((left, top - 7), f"{row.called}{share}", SOFT, 11))
        shapes.append(rectangle(left, top, right - left, _BAR, GRID))
    width = max(0.5, 0.9 * (right - left) / (frame.last - frame.first + 1))
    for cell in summary.chosen.cells:
        shapes.append(rectangle(frame.across(cell.number) - width / 2, tops[cell.row], width, _BAR, cell.colour))
    return shapes


def score_range(summary: Scores) -> tuple[float, float]:
    """Both ends of the axis of scores: from 0, or below the least where scores may be negative.

    Single samples end at twice the largest score: one far off would press all others flat.
    """
    scores = [mark.score for mark in summary.marks if mark.score is not None]
    low = min((mark.low for mark in summary.marks if mark.score is not None), default=0.0)
    high = max((mark.high for mark in summary.marks if mark.score is not None), default=1.0)
    if scores and max(scores) > 0:
        high = min(high, 2 * max(scores))
    return 1.05 * min(low, 0.0), 1.05 * max(high, 0.0) or 1.0


def family_lines(summary: Scores) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    """Number and score of parent and child, for each pair in the family tree of the best; those that failed at 0."""
    scores = {mark.number: mark.score or 0.0 for mark in summary.marks}
    family = summary.chosen.family
    return [((parent, scores[parent]), (child, scores[child])) for parent, child in family]


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
