"""Surrogate: a model of all scores so far says where the next one is likely to be better (Jones et al. 1998).

The model is a Gaussian process of Matérn covariance 5/2 on the logarithms of the scores (Rasmussen and Williams 2006,
algorithm 2.1). NumPy is enough for it. On the recorded landscapes it takes half of the evaluations of sweeps; a
forest of extremely randomised trees, for which another library is needed, took more than they.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.tuning.space import Costs, Point, Space
from workbench.tuning.strategies.base import Known, Origin

FIRST = 4  # scores from which a model is made; before, points are drawn at random
_RANGE = 4.0  # of an ordered parameter, from its first to its last value, in the units of the lengths below
_APART = 2.0  # of two values of a parameter without order
_LENGTHS = (1.0, 2.0, 4.0, 8.0, 16.0)  # of the covariance, the likeliest of which is taken
_NOISE = 0.01  # variance of a score, as a share of the covariance
_LISTED = 20_000  # combinations up to which all legal points are candidates
_NUMBERS = 12_000  # else so many values are drawn: for random points, and for changes of the best
_FEWEST = 60  # points that these are at least
_CHANGED = 3  # best points, of which all changes of one parameter are candidates
_MOST = 200  # scores that a model is made of, the best and the last: a proposal takes their square
_TRIES = 40
Matrix = NDArray[np.floating[Any]]


@dataclass(slots=True)
class Surrogate:
    """Proposes the point of the largest expected improvement; what failed counts as the worst score that passed.

    Points whose scores are missing count as average ones, so that several may be asked for at once.
    """

    space: Space
    start: tuple[Point, ...] = ()
    seed: int = 0
    _draw: random.Random = field(init=False)
    _known: Known = field(default_factory=dict)
    _asked: dict[Point, None] = field(default_factory=dict)  # without a score so far
    _all: tuple[list[Point], Matrix] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self._draw = random.Random(self.seed)

    def ask(self) -> Point | None:
        """A new point; None if none was found."""
        point = next((one for one in self.start if self._is_new(one)), None) or self._chosen()
        if point is not None:
            self._asked[point] = None
        return point

    def tell(self, point: Point, score: float | None, costs: Costs = ()) -> None:
        """A score, of whoever asked for it."""
        self._asked.pop(point, None)
        self._known[point] = score

    def origin(self, point: Point) -> Origin:
        """It is made of no others."""
        return Origin()

    def _is_new(self, point: Point) -> bool:
        return point not in self._known and point not in self._asked

    def _chosen(self) -> Point | None:
        if sum(score is not None for score in self._known.values()) < FIRST:
            drawn = (self.space.random_point(self._draw) for _ in range(_TRIES))
            return next((point for point in drawn if point is not None and self._is_new(point)), None)
        points, features = self._candidates()
        new = [number for number, point in enumerate(points) if self._is_new(point)]
        if not new:
            return None
        gains = self._expected_gains(features[new])
        return points[new[int(np.argmax(gains))]]

    def _expected_gains(self, candidates: Matrix) -> Matrix:
        """Expected improvement of the logarithm over the best, in standard deviations of all scores."""
        told = self._told()
        worst = min(score for _, score in told if score is not None)
        logs = np.array([math.log(score or worst) for _, score in told])
        spread = float(logs.std()) or 1.0
        values = np.concatenate([(logs - logs.mean()) / spread, np.zeros(len(self._asked))])
        known = self._features([*(point for point, _ in told), *self._asked])
        length, inverse, weights, variance = _likeliest(known, values)
        covariance = _matern(_distances(candidates, known), length)
        mean = covariance @ weights
        left = 1.0 - np.einsum("ij,ij->i", covariance @ inverse, covariance)
        deviation = np.sqrt(np.maximum(variance * left, 1e-12))
        above = (mean - values[: len(told)].max()) / deviation
        below = 0.5 * (1.0 + _erf(above / math.sqrt(2.0)))
        gains: Matrix = deviation * (above * below + np.exp(-0.5 * above**2) / math.sqrt(2.0 * math.pi))
        return gains

    def _told(self) -> list[tuple[Point, float | None]]:
        """Scores that the model is made of: half of them the best, half the last."""
        told = list(self._known.items())
        if len(told) <= _MOST:
            return told
        best = sorted(told, key=lambda one: -(one[1] or 0.0))[: _MOST // 2]
        return list(dict([*best, *told[-(_MOST // 2) :]]).items())

    def _candidates(self) -> tuple[list[Point], Matrix]:
        if self._all is not None:
            return self._all
        if self.space.combinations <= _LISTED:
            points = list(self.space)
            self._all = points, self._features(points)
            return self._all
        wide = len(self.space.parameters)
        count = max(_FEWEST, _NUMBERS // wide) // 3
        found = dict.fromkeys(filter(None, (self.space.random_point(self._draw) for _ in range(count))))
        best = sorted((one for one in self._known.items() if one[1]), key=lambda one: -(one[1] or 0.0))[:_CHANGED]
        for point, _ in best:
            for axis in self._draw.sample(range(wide), min(wide, count // _CHANGED)):
                found |= dict.fromkeys(self.space.line(point, axis))
        for _ in range(count):
            values = list(best[0][0])
            for axis in self._draw.sample(range(wide), min(2, wide)):
                values[axis] = self._draw.randrange(len(self.space.parameters[axis].values))
            if self.space.legal(tuple(values)):
                found[tuple(values)] = None
        points = list(found)
        return points, self._features(points)

    def _features(self, points: list[Point]) -> Matrix:
        """A place in a space of numbers: ordered values on a line, others all at one distance of each other."""
        table = np.array(points, dtype=np.int64).reshape(len(points), len(self.space.parameters))
        columns: list[Matrix] = []
        for axis, parameter in enumerate(self.space.parameters):
            count = len(parameter.values)
            if count == 1:
                continue
            if parameter.ordered:
                columns.append(table[:, axis : axis + 1] * (_RANGE / (count - 1)))
            elif count == 2:
                columns.append(table[:, axis : axis + 1] * _APART)
            else:
                columns.append((table[:, axis : axis + 1] == np.arange(count)) * (_APART / math.sqrt(2.0)))
        return np.concatenate(columns, axis=1) if columns else np.zeros((len(points), 1))


def _likeliest(known: Matrix, values: Matrix) -> tuple[float, Matrix, Matrix, float]:
    """Length of the covariance of the largest likelihood, the inverse, the weights of the mean, and the variance."""
    distances = _distances(known, known)
    best: tuple[float, float, Matrix, Matrix, float] | None = None
    for length in _LENGTHS:
        covariance = _matern(distances, length) + _NOISE * np.eye(len(values))
        inverse = np.linalg.inv(covariance)
        weights = inverse @ values
        variance = max(float(values @ weights) / len(values), 1e-12)
        likelihood = -0.5 * (len(values) * math.log(variance) + float(np.linalg.slogdet(covariance)[1]))
        if best is None or likelihood > best[0]:
            best = likelihood, length, inverse, weights, variance
    assert best is not None
    return best[1:]


def _distances(one: Matrix, other: Matrix) -> Matrix:
    """Of each of one to each of the other; made in place, as memory is what it takes."""
    distances: Matrix = one @ (-2.0 * other.T)
    distances += (one**2).sum(axis=1)[:, None]
    distances += (other**2).sum(axis=1)
    np.maximum(distances, 0.0, out=distances)
    return np.sqrt(distances, out=distances)


def _matern(distances: Matrix, length: float) -> Matrix:
    """(1 + s + s² / 3) exp(-s) of the scaled distances s; made in place."""
    scaled: Matrix = distances * (math.sqrt(5.0) / length)
    covariance: Matrix = scaled / 3.0
    covariance += 1.0
    covariance *= scaled
    covariance += 1.0
    covariance *= np.exp(np.negative(scaled, out=scaled), out=scaled)
    return covariance


_erf = np.vectorize(math.erf, otypes=[np.float64])
