"""Tests figure: scores of all tests in order above the values of each variable (Spencer 2011, Fig. 4.4 to 4.20)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from workbench.tuning.general import Trial, Tuned
from workbench.tuning.importance import importance
from workbench.views.drawing.numbers import short, ticks
from workbench.views.drawing.shapes import Drawing, Label, Line, Point, Shape, rectangle, text_width

_WIDTH = 760
_LEFT = 150
_RIGHT = 24
_TOP = 44
_SCORES_HEIGHT = 260
_GAP = 34
_LANE = 15  # pixels of one value of a variable
_MOST_LANES = 12
_WIDE_RANGE = 20.0  # greatest over least score from which the axis is logarithmic
_INK, _SOFT, _GRID = "#1c2430", "#5b6675", "#e3e8ee"
_BAR, _BEST, _CROSS, _FAILED, _VALUE = "#a9cbe8", "#f0a830", "#1a4f7a", "#c0392b", "#1a6fb5"


@dataclass(frozen=True, slots=True)
class TestsSummary:
    """What the figure shows: tests in order, names and values of the variables, shares of variance, the best test."""

    __test__ = False  # no test of pytest's, despite its name

    title: str
    unit: str
    names: tuple[str, ...]
    values: Mapping[str, tuple[str, ...]]
    tests: tuple[Trial, ...]
    shares: Mapping[str, float]
    best: int | None


def summarise_tests(tuned: Tuned, title: str) -> TestsSummary:
    """The summary of a general tuning; `title` names it."""
    setting = tuned.configuration
    names = setting.tree.flatten()
    passed = [(test.valuation, test.overall) for test in tuned.tests if test.overall is not None]
    logarithm = bool(passed) and min(score for _, score in passed) > 0
    best = next((t.number for t in tuned.tests if tuned.optimum and t.valuation == tuned.optimum.valuation), None)
    unit = "seconds" if setting.scoring == "time" else "score"
    shares = importance(names, passed, logarithm=logarithm)
    return TestsSummary(title, unit, names, setting.values, tuned.tests, shares, best)


def draw_tests(summary: TestsSummary) -> Drawing:
    """Crosses are repeats, bars overall scores, a gap with a red mark a failed test; below, a row a variable."""
    scale = _Scale.of(summary)
    lanes = {name: min(len(summary.values[name]), _MOST_LANES) for name in summary.names}
    height = _TOP + _SCORES_HEIGHT + sum(count * _LANE + _GAP for count in lanes.values()) + _GAP + 10
    shapes: list[Shape] = [Label((_LEFT, 16), summary.title, _INK, 15)]
    shapes += _axis(summary, scale)
    for at, test in enumerate(summary.tests):
        shapes += _test_shapes(summary, scale, at, test)
    top = float(_TOP + _SCORES_HEIGHT + _GAP)
    for at, name in enumerate(summary.names):
        shapes += _rows(summary, at, name, top, lanes[name])
        top += lanes[name] * _LANE + _GAP
    shapes += _numbers_of_tests(summary, top - _GAP / 2)
    return Drawing(_WIDTH, height, tuple(shapes), summary.title)


@dataclass(frozen=True, slots=True)
class _Scale:
    """From a score to its height on the page; logarithmic if scores are positive and far apart."""

    low: float
    high: float
    logarithmic: bool

    @classmethod
    def of(cls, summary: TestsSummary) -> _Scale:
        scores = [score for test in summary.tests for score in (*test.scores, test.overall) if score is not None]
        if not scores:
            return cls(0.0, 1.0, False)
        low, high = min(scores), max(scores)
        if low > 0 and high / low > _WIDE_RANGE:
            return cls(low / 1.3, high * 1.1, True)
        low, high = min(0.0, low), max(0.0, high)
        return cls(low, high + 0.05 * (high - low) if high > low else low + 1.0, False)

    def height(self, score: float) -> float:
        low, high, value = self.low, self.high, score
        if self.logarithmic:
            low, high, value = math.log(low), math.log(high), math.log(score)
        return _TOP + _SCORES_HEIGHT * (1 - (value - low) / (high - low))

    def ticks(self) -> list[float]:
        if not self.logarithmic:
            return [value for value in ticks(self.low, self.high, 6) if self.low <= value <= self.high]
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        marks = [digit * 10.0**power for power in range(first, last + 1) for digit in (1, 2, 5)]
        return [mark for mark in marks if self.low <= mark <= self.high]


def _column(summary: TestsSummary) -> float:
    return (_WIDTH - _LEFT - _RIGHT) / max(1, len(summary.tests))


def _middle(summary: TestsSummary, at: int) -> float:
    return _LEFT + (at + 0.5) * _column(summary)


def _axis(summary: TestsSummary, scale: _Scale) -> list[Shape]:
    shapes: list[Shape] = []
    for mark in scale.ticks():
        y = scale.height(mark)
        shapes.append(Line(((_LEFT, y), (_WIDTH - _RIGHT, y)), _GRID))
        shapes.append(Label((_LEFT - 8, y), short(mark), _SOFT, 12, "right"))
    words = f"{summary.unit} (logarithmic)" if scale.logarithmic else summary.unit
    shapes.append(Label((18, _TOP + _SCORES_HEIGHT / 2), words, _SOFT, 12, "centre", upwards=True))
    return shapes


def _test_shapes(summary: TestsSummary, scale: _Scale, at: int, test: Trial) -> list[Shape]:
    x = _middle(summary, at)
    width = max(1.0, 0.7 * _column(summary))
    bottom = _TOP + _SCORES_HEIGHT
    if test.overall is None:
        return [rectangle(x - width / 2, bottom + 3, width, 5, _FAILED)]
    y = scale.height(test.overall)
    base = scale.height(0.0) if not scale.logarithmic else bottom
    upper, lower = min(y, base), max(y, base)
    colour = _BEST if test.number == summary.best else _BAR
    shapes: list[Shape] = [rectangle(x - width / 2, upper, width, max(1.0, lower - upper), colour)]
    arm = min(4.0, max(1.5, width / 3))
    for score in test.scores:
        height = scale.height(score)
        strokes: tuple[tuple[Point, Point], ...] = (
            ((x - arm, height - arm), (x + arm, height + arm)),
            ((x - arm, height + arm), (x + arm, height - arm)),
        )
        shapes += [Line(stroke, _CROSS) for stroke in strokes]
    return shapes


def _rows(summary: TestsSummary, at: int, name: str, top: float, lanes: int) -> list[Shape]:
    """A lane a value; where there are more values than lanes, they share them in order."""
    values = summary.values[name]
    shapes: list[Shape] = [
        Label((_LEFT, top - 11), f"{name}   {100 * summary.shares[name]:.0f} % of the variance", _INK, 12)
    ]
    lane_of = {value: row * lanes // len(values) for row, value in enumerate(values)}
    for lane in range(lanes):
        y = top + (lane + 0.5) * _LANE
        shared = [value for value in values if lane_of[value] == lane]
        words = shared[0] if len(shared) == 1 else f"{shared[0]} ... {shared[-1]}"
        shapes.append(Line(((_LEFT, y), (_WIDTH - _RIGHT, y)), _GRID))
        shapes.append(Label((_LEFT - 8, y), _cut(words), _SOFT, 12, "right"))
    half = max(0.5, 0.35 * _column(summary))
    for place, test in enumerate(summary.tests):
        y = top + (lane_of[test.valuation[at]] + 0.5) * _LANE
        x = _middle(summary, place)
        shapes.append(rectangle(x - half, y - 3, 2 * half, 6, _BEST if test.number == summary.best else _VALUE))
    return shapes


def _numbers_of_tests(summary: TestsSummary, y: float) -> list[Shape]:
    count = len(summary.tests)
    marks = [int(mark) for mark in ticks(1, max(count, 2), 12, nearest=1.0) if 1 <= mark <= count]
    shapes: list[Shape] = [Label((_middle(summary, mark - 1), y), str(mark), _SOFT, 12, "centre") for mark in marks]
    return [*shapes, Label((_LEFT - 8, y), "test", _SOFT, 12, "right")]


def _cut(words: str) -> str:
    while text_width(words, 12) > _LEFT - 40:
        words = words.removesuffix("…")[:-1] + "…"
    return words
