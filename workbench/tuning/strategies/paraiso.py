"""Paraiso: asynchronous genetic simulated annealing (Muranushi 2012, sections 3.2 and 3.3, equations 16 to 19)."""

from __future__ import annotations

import math
import random
import reprlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from workbench.errors import TuningError
from workbench.tuning.search_space import Costs, Point, SearchSpace
from workbench.tuning.strategies.base import PointOrigin

Birth = Literal["start", "random", "mutation", "crossover", "triangulation", "rule", "shared"]
EQUAL_BIRTHS: Mapping[Birth, float] = {"mutation": 1.0, "crossover": 1.0, "triangulation": 1.0}
RULES = 0.2  # of mutations set a tie to one value, such as "no barriers", where the space has ties
NOISE = 0.01  # relative standard deviation of a score whose own is not known
_HEATING = 1.2  # temperature after each genome that was there before
_RETRIES = 40
_MOST_CUTS = 4  # of a crossover
_MANY = 8  # mutated genes from which the result is crossed with the original
_WEIGHED = 16  # parameters from which mutations prefer those that mattered
_AGAIN = 10  # individuals after which what mattered is found anew
_FEWEST_TO_BREED = 4  # individuals with a score; before, points are drawn at random


@dataclass(frozen=True, slots=True)
class ScoredPoint:
    """A point with how it came to be, and its score; None while it is measured or if it failed."""

    point: Point
    birth: Birth
    parents: tuple[Point, ...] = ()
    score: float | None = None


@dataclass(slots=True)
class Paraiso:
    """A population that only grows; parents are drawn at a temperature, worse ones the likelier the hotter.

    `births`: weights of the three kinds. `sigma`: the relative standard deviation of scores, below which differences
    are ignored. Genes are parameters, which a bit of the paper's genome generalises: "all ones" and "all zeros" are
    the last and the first value, a flip is another value at random. Two things are new: where the space has ties, one
    mutation of five is a rule, which sets all parameters of one to one value (the paper's conclusions ask for "remove
    all synchronisation"); and where there are many parameters, mutations prefer those that mattered so far.
    """

    space: SearchSpace
    start: tuple[Point, ...] = ()
    seed: int = 0
    births: Mapping[Birth, float] = field(default_factory=lambda: EQUAL_BIRTHS)
    sigma: float = NOISE
    population: dict[Point, ScoredPoint] = field(default_factory=dict)
    _draw: random.Random = field(init=False)
    _weights: list[float] = field(init=False)
    _rows: dict[Point, NDArray[np.int64]] = field(default_factory=dict)  # points as arrays, made one by one
    _weighed: int = 0  # individuals that the weights are of

    def __post_init__(self) -> None:
        self._draw = random.Random(self.seed)
        self._weights = [1.0] * len(self.space.parameters)

    def ask(self) -> Point | None:
        """A new individual; None if no new one was found."""
        for given in self.start:
            if given not in self.population:
                return self._born(ScoredPoint(given, "start"))
        passed = [one for one in self.population.values() if one.score is not None]
        if len(passed) < _FEWEST_TO_BREED:
            for _ in range(_RETRIES):
                point = self.space.random_point(self._draw)
                if point is not None and point not in self.population:
                    return self._born(ScoredPoint(point, "random"))
            return None
        return self._bred(passed)

    def tell(self, point: Point, score: float | None, costs: Costs = ()) -> None:
        """The score of an individual; None leaves it out of breeding. Points of other searches join the population."""
        one = self.population.get(point) or ScoredPoint(point, "shared")
        self.population[point] = ScoredPoint(point, one.birth, one.parents, score)
        if len(point) >= _WEIGHED:
            self._rows[point] = np.array(point)

    def origin(self, point: Point) -> PointOrigin:
        """The birth and the parents of an individual."""
        one = self.population[point]
        return PointOrigin(one.birth, one.parents)

    def _born(self, one: ScoredPoint) -> Point:
        self.population[one.point] = one
        return one.point

    def _bred(self, passed: list[ScoredPoint]) -> Point | None:
        """A birth of a kind that is drawn; one that is there already becomes a mutation at a higher temperature."""
        kinds = [kind for kind, weight in self.births.items() if weight > 0]
        kind = self._draw.choices(kinds, [self.births[one] for one in kinds])[0]
        top = max(one.score or 0.0 for one in passed)
        low = self.sigma * top
        temperature = math.exp(self._draw.uniform(math.log(low), math.log(top))) if low > 0 else 1.0
        for _ in range(_RETRIES):
            parents = self._parents(passed, {"mutation": 1, "crossover": 2, "triangulation": 3}[kind], temperature)
            kind, child = self._child(kind, parents, passed)
            if child not in self.population and self.space.legal(child):
                return self._born(ScoredPoint(child, kind, tuple(one.point for one in parents)))
            kind = "mutation"
            temperature *= _HEATING
        point = self.space.random_point(self._draw)
        return None if point is None or point in self.population else self._born(ScoredPoint(point, "random"))

    def _child(self, kind: Birth, parents: list[ScoredPoint], passed: list[ScoredPoint]) -> tuple[Birth, Point]:
        match kind:
            case "crossover":
                return kind, _mixed(self._draw, parents[0].point, parents[1].point)
            case "triangulation":
                return kind, _triangulated(self._draw, self.space, parents)
            case _:
                ties = self.space.ties
                if ties and self._draw.random() < RULES:
                    tie = self._draw.choice(ties)
                    value = self._draw.randrange(len(self.space.parameters[tie[0]].values))
                    return "rule", self.space.tied(parents[0].point, tie, value)
                return "mutation", _mutated(self._draw, self.space, parents, self._mattering(passed))

    def _mattering(self, passed: list[ScoredPoint]) -> list[float]:
        """Weights of the parameters: 1, and more by their share of what single parameters explain of the scores."""
        count = len(self.space.parameters)
        if count >= _WEIGHED and len(passed) >= self._weighed + _AGAIN:
            self._weighed = len(passed)
            scored = [one for one in passed if one.score]
            points = np.stack([self._rows[one.point] for one in scored])
            shares = effects(points, np.log([one.score or 1.0 for one in scored]))
            self._weights = [1.0 + count * share for share in shares]
        return self._weights

    def _parents(self, passed: list[ScoredPoint], count: int, temperature: float) -> list[ScoredPoint]:
        """So many different ones, the best first; weight exp(-(mu_top - mu) / (T + sigma_top + sigma))."""
        top = max(one.score or 0.0 for one in passed)
        weights = [
            math.exp(-(top - (one.score or 0.0)) / max(temperature + self.sigma * (top + (one.score or 0.0)), 1e-300))
            for one in passed
        ]
        chosen: dict[Point, ScoredPoint] = {}
        for _ in range(_RETRIES * count):
            (one,) = self._draw.choices(passed, weights)
            chosen.setdefault(one.point, one)
            if len(chosen) == count:
                break
        for one in passed:  # where all weight is on a few
            if len(chosen) < count:
                chosen.setdefault(one.point, one)
        return sorted(chosen.values(), key=lambda one: -(one.score or 0.0))


def read_births(given: object) -> dict[Birth, float]:
    """A mix of births as a user gives it: weights by name, and 0 for what is not named. TuningError for no mix."""
    mix = given if isinstance(given, Mapping) else {}
    weights = {kind: mix.get(kind, 0) for kind in EQUAL_BIRTHS}  # in this order, in which they are drawn
    if set(mix) <= set(weights) and any(weights.values()) and all(map(_is_weight, weights.values())):
        return {kind: float(weight) for kind, weight in weights.items()}
    raise TuningError(
        f"births={reprlib.repr(given)} gives no weights of {', '.join(weights)}",
        advice='Pass shares from 0, such as births={"mutation": 3, "crossover": 7}.',
    )


def _is_weight(weight: object) -> bool:
    return isinstance(weight, int | float) and not isinstance(weight, bool) and 0 <= weight < math.inf


def _mutated(draw: random.Random, space: SearchSpace, parents: list[ScoredPoint], weights: list[float]) -> Point:
    """k = max(1, ceil(exp(U(-0.2, 1) ln n))) genes anew, drawn by weights; many are crossed twice with the original."""
    point = parents[0].point
    genes = len(point)
    count = min(genes, max(1, math.ceil(math.exp(draw.uniform(-0.2, 1.0) * math.log(genes)))))
    way = draw.choices(("other", "last", "first"), (2, 1, 1))[0]
    values = list(point)
    for axis in _drawn(draw, weights, count):
        most = len(space.parameters[axis].values)
        if way == "last":
            values[axis] = most - 1
        elif way == "first":
            values[axis] = 0
        elif most > 1:
            values[axis] = (values[axis] + draw.randrange(1, most)) % most
    mutant = tuple(values)
    if count > _MANY:
        mutant = _mixed(draw, _mixed(draw, mutant, point), point)
    return mutant


def _drawn(draw: random.Random, weights: list[float], count: int) -> list[int]:
    """So many different numbers, the heavier the likelier (Efraimidis and Spirakis 2006)."""
    if len(set(weights)) == 1:
        return draw.sample(range(len(weights)), count)
    keys = [draw.random() ** (1.0 / weight) for weight in weights]
    return sorted(range(len(weights)), key=lambda axis: -keys[axis])[:count]


def _mixed(draw: random.Random, one: Point, other: Point) -> Point:
    """Genes of both, from one to the other at some random cuts."""
    cuts = sorted(draw.sample(range(1, len(one)), min(draw.randint(1, _MOST_CUTS), len(one) - 1)))
    values: list[int] = []
    for part, (low, high) in enumerate(zip([0, *cuts], [*cuts, len(one)], strict=True)):
        values += (one, other)[part % 2][low:high]
    return tuple(values)


def _triangulated(draw: random.Random, space: SearchSpace, parents: list[ScoredPoint]) -> Point:
    """Changes from the worst that make the two better: a gene of Primary if it differs from Base, else Secondary's."""
    primary, secondary, base = (one.point for one in parents)
    triples = zip(primary, secondary, base, strict=True)
    return tuple(first if first != worst else second for first, second, worst in triples)


def effects(points: NDArray[np.int64], scores: NDArray[np.float64]) -> list[float]:
    """Each parameter's share, their sum 1, of the variance that the means of the scores of its values explain.

    points: a row each. What chance explains, a share of 1 / scores for each value but one, is taken off.
    """
    axes, width = points.shape[1], int(points.max()) + 1
    places = (points + width * np.arange(axes)).ravel()  # of each value of each parameter
    counts = np.bincount(places, minlength=axes * width).reshape(axes, width)
    sums = np.bincount(places, np.repeat(scores, axes), minlength=axes * width).reshape(axes, width)
    means = sums / np.maximum(counts, 1)
    explained = (counts * (means - scores.mean()) ** 2).sum(axis=1) / len(scores)
    by_chance = float(scores.var()) * ((counts > 0).sum(axis=1) - 1) / len(scores)
    found = np.maximum(0.0, explained - by_chance)
    whole = float(found.sum())
    return (found / whole).tolist() if whole > 0 else [1.0 / axes] * axes
