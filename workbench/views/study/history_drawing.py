"""History drawing: all scores with the family tree of the best (Muranushi 2012, Fig. 11 to 14)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle, pairwise

from workbench.errors import TuningError
from workbench.tuning.history import BIRTHS, UNBRED, History, Member
from workbench.tuning.history_births import MixRuns
from workbench.views.drawing.shapes import Disc, Drawing, Line, Shape
from workbench.views.study.frame import INK, Frame

_WIDTH, _HEIGHT = 760, 340
_MEGA = 1e6
_OTHER, _TREE, _HIGH, _BEST = "#c3ccd6", "#8a949f", "#5b6675", "#f0a830"
_BIRTHS = dict(zip(BIRTHS, ("#1a6fb5", "#2c8c5a", "#b0458c"), strict=True)) | {UNBRED: INK}
_MIXES = ("#1a6fb5", "#2c8c5a", "#b0458c", "#b5651a", "#5b6675")
_ARM = 4.0  # pixels of a cross


def draw_history(history: History, first: int = 1, last: int | None = None, *, errors: bool = False) -> Drawing:
    """Means of individuals `first` to `last` by number; crosses are the best and its ancestors, lines go to parents.

    errors: bars of one sigma. Crosses have the colour of their birth.
    """
    end = history.members[-1].number if last is None else min(last, history.members[-1].number)
    shown = [one for one in history.members if first <= one.number <= end]
    family = {one.number: one for one in history.family}
    colours = {name: colour for name, colour in _BIRTHS.items() if name in {one.kind for one in family.values()}}
    frame = Frame(_WIDTH, _HEIGHT, first, end, _reach(shown), _floor(shown) if errors else 0.0, colours)
    words = f"{history.program}: individuals {first} to {end}, and the family tree of {history.top.number}"
    shapes = frame.shapes(words, "individual", "Mcells/s")
    for one in shown:
        if errors:
            low, high = (frame.at(one.number, max(frame.low, (one.mean + s * one.sigma) / _MEGA)) for s in (-1, 1))
            shapes.append(Line((low, high), _TREE if one.number in family else _OTHER))
        if one.number not in family:
            shapes.append(Disc(_place(frame, one), 2.0, _OTHER))
    for one in family.values():
        if first <= one.number <= end:
            kin = [family[parent] for parent in one.parents if first <= parent <= end]
            shapes += [Line((_place(frame, parent), _place(frame, one)), _TREE) for parent in kin]
    for one in family.values():
        if first <= one.number <= end:
            shapes += _cross(frame, one)
    if first <= history.top.number <= end:
        shapes.append(Disc(_place(frame, history.top), 5.0, _BEST))
    return Drawing(_WIDTH, _HEIGHT, tuple(shapes), words)


def draw_high_scores(histories: Mapping[str, History]) -> Drawing:
    """The best score so far over the number of the individual, a line for each study; beside that of its start.

    histories: by the name in the legend. Raises TuningError if there is none.
    """
    if not histories:
        raise TuningError("there is no history to draw", advice="Pass {name: study.history()}.")
    lines = {}
    for name, history in histories.items():
        rising = history.high_scores()
        last = (history.members[-1].number, rising[-1][1]) if rising else (0, 0.0)
        lines[name] = [(number, mean / history.first.mean) for number, mean in [*rising, last] if rising]
    colours = {name: colour for name, colour in zip(histories, cycle(_MIXES), strict=False)}
    high = max((gain for line in lines.values() for _, gain in line), default=1.0)
    last_number = max(history.members[-1].number for history in histories.values())
    frame = Frame(_WIDTH, _HEIGHT, 1, last_number, 1.05 * high, 0.0, colours)
    title = "High scores: " + ", ".join(histories)
    shapes = frame.shapes(title, "individual", "best so far, times the start")
    for name, line in lines.items():
        corners = [frame.at(*line[0])] if line else []
        for (_, before), (number, gain) in pairwise(line):
            corners += [frame.at(number, before), frame.at(number, gain)]
        if corners:
            shapes.append(Line(tuple(corners), colours[name], 2.0))
    return Drawing(_WIDTH, _HEIGHT, tuple(shapes), title)


def draw_mixes(found: Sequence[MixRuns]) -> Drawing:
    """Best scores over the number of evaluations: thin lines are seeds, thick ones their mean."""
    count = max(len(one.mean) for one in found)
    scores = [score for one in found for run in one.runs for score in run if score > 0]
    high = max(scores, default=1.0)
    low = min((one.mean[min(9, count - 1)] for one in found), default=0.0)  # the first ones differ by chance
    colours = {one.name: colour for one, colour in zip(found, _MIXES, strict=False)}
    frame = Frame(_WIDTH, _HEIGHT, 1, count, high + 0.05 * (high - low or 1.0), min(low, 0.9 * high), colours)
    title = "Mixes of births: " + ", ".join(one.name for one in found)
    shapes = frame.shapes(title, "evaluations", "best score so far")
    shapes += [Line(_steps(frame, run), colours[one.name], 0.7) for one in found for run in one.runs]
    shapes += [Line(_steps(frame, one.mean), colours[one.name], 3.0) for one in found]
    return Drawing(_WIDTH, _HEIGHT, tuple(shapes), title)


def _place(frame: Frame, one: Member) -> tuple[float, float]:
    return frame.at(one.number, max(one.mean / _MEGA, frame.low))


def _cross(frame: Frame, one: Member) -> list[Shape]:
    x, y = _place(frame, one)
    colour = _BIRTHS[one.kind]
    strokes = (((x - _ARM, y - _ARM), (x + _ARM, y + _ARM)), ((x - _ARM, y + _ARM), (x + _ARM, y - _ARM)))
    return [Line(stroke, colour, 1.8) for stroke in strokes]


def _reach(shown: Sequence[Member]) -> float:
    return 1.05 * max(((one.mean + one.sigma) / _MEGA for one in shown), default=1.0) or 1.0


def _floor(shown: Sequence[Member]) -> float:
    """The lower end of an enlarged view: below nine tenths of the scores that are shown."""
    means = sorted(one.mean / _MEGA for one in shown)
    return 0.95 * means[len(means) // 10] if means else 0.0


def _steps(frame: Frame, scores: Sequence[float]) -> tuple[tuple[float, float], ...]:
    """The corners of a line that rises at the number at which the score did."""
    corners: list[tuple[float, float]] = []
    for number, score in enumerate(scores, start=1):
        if score < frame.low:
            continue
        if corners and corners[-1][1] != frame.up(score):
            corners.append((frame.across(number), corners[-1][1]))
        if not corners or corners[-1][1] != frame.up(score) or number == len(scores):
            corners.append(frame.at(number, score))
    return tuple(corners)
