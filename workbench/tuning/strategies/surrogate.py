"""Surrogate: a model of all scores so far says where the next one is likely to be better (Jones et al. 1998).

The model is a Gaussian process of the logarithms of the scores. NumPy is enough for it. On the recorded landscapes it
takes half of the evaluations of sweeps; a forest of extremely randomised trees, for which another library is needed,
took more than they.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from threadpoolctl import ThreadpoolController

from workbench.tuning.search_space import Costs, Point, SearchSpace
from workbench.tuning.strategies.base import Known, PointOrigin
from workbench.tuning.strategies.gaussian_process import Groups, Matrix, fitted, usual_lengths

FIRST = 4  # scores from which a model is made; before, points are drawn at random
_RANGE = 4.0  # of an ordered parameter, from its first to its last value, in the units of the model's lengths
_APART = 2.0  # of two values of a parameter without order
_LISTED = 20_000  # combinations up to which all legal points are candidates
_NUMBERS = 12_000  # else so many values are drawn: for random points, and for changes of the best
_FEWEST = 60  # points that these are at least
_MOST_MOVES, _FEWEST_MOVES, _WEIGHED = 24, 8, 20_000  # changes of the best point that an outlook weighs: so many of all
_CHANGED = 3  # best points, of which all changes of one parameter are candidates
_MOST = 200  # scores that a model is made of, the best and the last: a proposal takes their square
_TRIES = 40
_LAUNCHES = 0.5  # of a factor of two in what launches take
_RIDGE = 1.0  # of the trend's slopes, so that few scores make none of them steep
Move = int | tuple[int, ...]
"""A parameter, or a tie."""


@dataclass(slots=True)
class Surrogate:
    """Proposes the point of the largest expected improvement; what failed counts as the worst score that passed.

    Points whose scores are missing count as average ones, so that several may be asked for at once.
    """

    space: SearchSpace
    start: tuple[Point, ...] = ()
    seed: int = 0
    _draw: random.Random = field(init=False)
    _known: Known = field(default_factory=dict)
    _asked: dict[Point, None] = field(default_factory=dict)  # without a score so far
    _said: dict[Point, tuple[float, ...]] = field(default_factory=dict)  # by the outlook, of what is known or asked for
    _taken: dict[Point, tuple[float, ...]] = field(default_factory=dict)  # by their launches, of the same
    _met: set[Hashable] = field(default_factory=set)  # keys of these
    _own: tuple[int, ...] = field(init=False)  # parameters that the outlook says nothing about
    _all: tuple[list[Point], Matrix] | None = field(init=False, default=None)
    _lengths: Matrix | None = field(init=False, default=None)  # of the last model, as logarithms

    def __post_init__(self) -> None:
        self._draw = random.Random(self.seed)
        described = frozenset(self.space.outlook.axes if self.space.outlook is not None else ())
        self._own = tuple(axis for axis in range(len(self.space.parameters)) if axis not in described)

    def ask(self) -> Point | None:
        """A new point; None if none was found."""
        point = next((one for one in self.start if self._is_new(one)), None) or self._chosen()
        if point is not None:
            self._asked[point] = None
            self._look_at(point)
        return point

    def tell(self, point: Point, score: float | None, costs: Costs = ()) -> None:
        """A score, of a point that this or another strategy asked for."""
        self._asked.pop(point, None)
        self._known[point] = score
        self._look_at(point)

    def origin(self, point: Point) -> PointOrigin:
        """It is made of no others."""
        return PointOrigin()

    def _look_at(self, point: Point) -> None:
        """Remember what the outlook says of a point that is known or asked for, and what its launches take."""
        if self.space.launches is not None and point not in self._taken:
            self._taken[point] = self.space.launches(point)
        outlook = self.space.outlook
        if outlook is not None and point not in self._said:
            self._said[point] = outlook.of(point)
            self._met.add(outlook.key(point))

    def _new(self, points: list[Point]) -> list[Point]:
        """Those that were not asked for yet; of several that are one program, by the outlook, one."""
        outlook = self.space.outlook
        if outlook is None:
            return [point for point in points if self._is_new(point)]
        found: dict[Hashable, Point] = {}
        for point in points:
            found.setdefault(outlook.key(point), point)
        return [point for key, point in found.items() if key not in self._met]

    def _is_new(self, point: Point) -> bool:
        return point not in self._known and point not in self._asked

    def _chosen(self) -> Point | None:
        best = sorted((one for one in self._known.items() if one[1]), key=lambda one: -(one[1] or 0.0))
        passed = [point for point, _ in best]
        if self.space.outlook is not None and len(passed) > 0 and len({self._said[p] for p in passed}) < FIRST:
            # Of the slowest point, because what is farthest from the best tells most of the slopes.
            lines = (point for tie in self.space.ties for point in self.space.tied_line(passed[-1], tie))
            if (tied := next((point for point in lines if self._new([point])), None)) is not None:
                return tied
        if len(passed) < FIRST:
            drawn = (self.space.random_point(self._draw) for _ in range(_TRIES))
            return next((point for point in drawn if point is not None and self._is_new(point)), None)
        new, features = self._candidates(passed[:_CHANGED])
        if not new:
            return None
        with _libraries().limit(limits=1, user_api="blas"):
            return new[int(np.argmax(self._expected_gains(features)))]

    def _expected_gains(self, candidates: Matrix) -> Matrix:
        """Expected improvement of the logarithm over the best, in standard deviations of all scores."""
        told = self._told()
        worst = min(score for _, score in told if score is not None)
        logs = np.array([math.log(score or worst) for _, score in told])
        known = self._features([*(point for point, _ in told), *self._asked])
        trend = self._trend(known[: len(told)], logs)
        left = logs - trend(known[: len(told)])
        spread = float(left.std()) or 1.0
        values = np.concatenate([(left - left.mean()) / spread, np.zeros(len(self._asked))])
        best = float(((logs - left.mean()) / spread).max())
        expected = trend(candidates) / spread
        groups = self._groups()
        model = fitted(known, groups, values, usual_lengths(groups) if self._lengths is None else self._lengths)
        self._lengths = model.lengths
        mean, deviation = model.at(candidates)
        above = (mean + expected - best) / deviation
        below = 0.5 * (1.0 + _erf(above / math.sqrt(2.0)))
        gains: Matrix = deviation * (above * below + np.exp(-0.5 * above**2) / math.sqrt(2.0 * math.pi))
        return gains

    def _trend(self, places: Matrix, logs: Matrix) -> Callable[[Matrix], Matrix]:
        """The line through the logarithms by what the outlook says; nothing without an outlook."""
        if self.space.outlook is None:
            return lambda places: np.zeros(len(places))
        count = len(next(iter(self._said.values())))
        columns = places[:, -count:]
        centre = columns.mean(axis=0)
        moved = columns - centre
        slopes = np.linalg.solve(moved.T @ moved + _RIDGE * np.eye(count), moved.T @ (logs - logs.mean()))
        return lambda places: (places[:, -count:] - centre) @ slopes

    def _told(self) -> list[tuple[Point, float | None]]:
        """Scores that the model is made of: half of them the best, half the last."""
        told = list(self._known.items())
        if len(told) <= _MOST:
            return told
        best = sorted(told, key=lambda one: -(one[1] or 0.0))[: _MOST // 2]
        return list(dict([*best, *told[-(_MOST // 2) :]]).items())

    def _candidates(self, best: list[Point]) -> tuple[list[Point], Matrix]:
        """New points, and where they lie."""
        if self.space.outlook is None and self.space.combinations <= _LISTED:
            if self._all is None:
                points = list(self.space)
                self._all = points, self._features(points)
            points, features = self._all
            new = [number for number, point in enumerate(points) if self._is_new(point)]
            return [points[number] for number in new], features[new]
        found = self._new(self._drawn(best) if self.space.outlook is None else self._near(best))
        if not found and self.space.outlook is not None:
            found = self._new(self._drawn(best))
        return found, self._features(found) if found else np.zeros((0, 1))

    def _drawn(self, best: list[Point]) -> list[Point]:
        """Random points, changes of one parameter of the best ones, and of two of the very best."""
        wide = len(self.space.parameters)
        count = max(_FEWEST, _NUMBERS // wide) // 3
        found = dict.fromkeys(filter(None, (self.space.random_point(self._draw) for _ in range(count))))
        for point in best:
            for axis in self._draw.sample(range(wide), min(wide, count // _CHANGED)):
                found |= dict.fromkeys(self.space.line(point, axis))
        for _ in range(count):
            values = list(best[0])
            for axis in self._draw.sample(range(wide), min(2, wide)):
                values[axis] = self._draw.randrange(len(self.space.parameters[axis].values))
            if self.space.legal(tuple(values)):
                found[tuple(values)] = None
        return list(found)

    def _near(self, best: list[Point]) -> list[Point]:
        """Changes of the best points: of parameters that the outlook says nothing of, of ties, and of single values.

        A random point of many parameters is like no point that is known, and the worse the more there are.
        """
        draw = self._draw
        described = self.space.outlook.axes if self.space.outlook is not None else ()
        structured: list[Move] = [*self.space.ties, *described]
        count = max(_FEWEST_MOVES, min(_MOST_MOVES, _WEIGHED // len(structured)))
        moves = [*self._own, *structured]
        found: dict[Point, None] = {}
        for number, point in enumerate(best):
            few = [*self._own, *_sample(draw, structured, count)] if number == 0 else _sample(draw, moves, count // 2)
            for move in few:
                found |= dict.fromkeys(self._line(point, move))
            for _ in range(count // 2):
                twice = point
                for move in _sample(draw, moves, 2):
                    twice = draw.choice(self._line(twice, move) or (twice,))
                found[twice] = None
        return list(found)

    def _line(self, point: Point, move: Move) -> tuple[Point, ...]:
        """The legal points that one move leads to: a parameter, or a tie, at any value."""
        return self.space.tied_line(point, move) if isinstance(move, tuple) else self.space.line(point, move)

    def _features(self, points: list[Point]) -> Matrix:
        """A place in a space of numbers: ordered values on a line, others all at one distance of each other.

        Instead of the parameters that the space's outlook is about there is what it says of the point; what its
        launches take is there beside their parameters.
        """
        outlook = self.space.outlook
        table = np.array([[point[axis] for axis in self._own] for point in points], dtype=np.int64)
        columns: list[Matrix] = []
        for place, axis in enumerate(self._own):
            parameter, column = self.space.parameters[axis], table[:, place : place + 1]
            count = len(parameter.values)
            if count == 1:
                continue
            if parameter.ordered:
                columns.append(column * (_RANGE / (count - 1)))
            elif count == 2:
                columns.append(column * _APART)
            else:
                columns.append((column == np.arange(count)) * (_APART / math.sqrt(2.0)))
        if self.space.launches is not None:
            taken = [self._taken.get(point) or self.space.launches(point) for point in points]
            columns.append(np.array(taken) * _LAUNCHES)
        if outlook is not None:
            said = [self._said.get(point) or outlook.of(point) for point in points]
            columns.append(np.array(said) * _APART)
        return np.concatenate(columns, axis=1) if columns else np.zeros((len(points), 1))

    def _groups(self) -> Groups:
        """The parameter, or the number of launches or outlook, that each column of the features is of."""
        counts = [len(self.space.parameters[axis].values) for axis in self._own]
        ordered = [self.space.parameters[axis].ordered for axis in self._own]
        widths = [1 if line or n == 2 else n for n, line in zip(counts, ordered, strict=True) if n > 1]
        for numbers in (self._taken, self._said):
            widths += [1] * len(next(iter(numbers.values()), ()))
        return np.repeat(np.arange(len(widths)), widths) if widths else np.zeros(1, dtype=np.int64)


@cache
def _libraries() -> ThreadpoolController:
    """Those of linear algebra that are loaded. Their threads would take time from what is measured, and wait for it."""
    return ThreadpoolController()


def _sample(draw: random.Random, moves: list[Move], most: int) -> list[Move]:
    return draw.sample(moves, min(most, len(moves)))


_erf = np.vectorize(math.erf, otypes=[np.float64])
