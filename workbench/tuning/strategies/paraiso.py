"""Paraiso: asynchronous genetic simulated annealing (Muranushi 2012, sections 3.2 and 3.3, equations 16 to 19)."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from workbench.tuning.space import Point, Space
from workbench.tuning.strategies.base import Origin

Birth = Literal["start", "random", "mutation", "crossover", "triangulation", "shared"]
EQUAL_BIRTHS: Mapping[Birth, float] = {"mutation": 1.0, "crossover": 1.0, "triangulation": 1.0}
NOISE = 0.01  # relative standard deviation of a score whose own is not known
_HEATING = 1.2  # temperature after each genome that was there before
_RETRIES = 40
_MOST_CUTS = 4  # of a crossover
_MANY = 8  # mutated genes from which the result is crossed with the original
_FEWEST_TO_BREED = 4  # individuals with a score; before, points are drawn at random


@dataclass(frozen=True, slots=True)
class Individual:
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
    the last and the first value, a flip is another value at random.
    """

    space: Space
    start: tuple[Point, ...] = ()
    seed: int = 0
    births: Mapping[Birth, float] = field(default_factory=lambda: EQUAL_BIRTHS)
    sigma: float = NOISE
    population: dict[Point, Individual] = field(default_factory=dict)
    _draw: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self._draw = random.Random(self.seed)

    def ask(self) -> Point | None:
        """A new individual; None if no new one was found."""
        for given in self.start:
            if given not in self.population:
                return self._born(Individual(given, "start"))
        passed = [one for one in self.population.values() if one.score is not None]
        if len(passed) < _FEWEST_TO_BREED:
            for _ in range(_RETRIES):
                point = self.space.random_point(self._draw)
                if point is not None and point not in self.population:
                    return self._born(Individual(point, "random"))
            return None
        return self._bred(passed)

    def tell(self, point: Point, score: float | None) -> None:
        """The score of an individual; None leaves it out of breeding. Points of other searches join the population."""
        one = self.population.get(point) or Individual(point, "shared")
        self.population[point] = Individual(point, one.birth, one.parents, score)

    def origin(self, point: Point) -> Origin:
        """The birth and the parents of an individual."""
        one = self.population[point]
        return Origin(one.birth, one.parents)

    def _born(self, one: Individual) -> Point:
        self.population[one.point] = one
        return one.point

    def _bred(self, passed: list[Individual]) -> Point | None:
        """A birth of a kind that is drawn; one that is there already becomes a mutation at a higher temperature."""
        kinds = [kind for kind, weight in self.births.items() if weight > 0]
        kind = self._draw.choices(kinds, [self.births[one] for one in kinds])[0]
        top = max(one.score or 0.0 for one in passed)
        low = self.sigma * top
        temperature = math.exp(self._draw.uniform(math.log(low), math.log(top))) if low > 0 else 1.0
        for _ in range(_RETRIES):
            parents = self._parents(passed, {"mutation": 1, "crossover": 2, "triangulation": 3}[kind], temperature)
            child = _CHILD[kind](self._draw, self.space, parents)
            if child not in self.population and self.space.legal(child):
                return self._born(Individual(child, kind, tuple(one.point for one in parents)))
            kind = "mutation"
            temperature *= _HEATING
        point = self.space.random_point(self._draw)
        return None if point is None or point in self.population else self._born(Individual(point, "random"))

    def _parents(self, passed: list[Individual], count: int, temperature: float) -> list[Individual]:
        """So many different ones, the best first; weight exp(-(mu_top - mu) / (T + sigma_top + sigma))."""
        top = max(one.score or 0.0 for one in passed)
        weights = [
            math.exp(-(top - (one.score or 0.0)) / max(temperature + self.sigma * (top + (one.score or 0.0)), 1e-300))
            for one in passed
        ]
        chosen: dict[Point, Individual] = {}
        for _ in range(_RETRIES * count):
            (one,) = self._draw.choices(passed, weights)
            chosen.setdefault(one.point, one)
            if len(chosen) == count:
                break
        for one in passed:  # where all weight is on a few
            if len(chosen) < count:
                chosen.setdefault(one.point, one)
        return sorted(chosen.values(), key=lambda one: -(one.score or 0.0))


def _mutated(draw: random.Random, space: Space, parents: list[Individual]) -> Point:
    """k = max(1, ceil(exp(U(-0.2, 1) ln n))) genes anew; many of them are crossed twice with the original."""
    point = parents[0].point
    genes = len(point)
    count = min(genes, max(1, math.ceil(math.exp(draw.uniform(-0.2, 1.0) * math.log(genes)))))
    way = draw.choices(("other", "last", "first"), (2, 1, 1))[0]
    values = list(point)
    for axis in draw.sample(range(genes), count):
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


def _crossed(draw: random.Random, space: Space, parents: list[Individual]) -> Point:
    return _mixed(draw, parents[0].point, parents[1].point)


def _mixed(draw: random.Random, one: Point, other: Point) -> Point:
    """Genes of both, from one to the other at some random cuts."""
    cuts = sorted(draw.sample(range(1, len(one)), min(draw.randint(1, _MOST_CUTS), len(one) - 1)))
    values: list[int] = []
    for part, (low, high) in enumerate(zip([0, *cuts], [*cuts, len(one)], strict=True)):
        values += (one, other)[part % 2][low:high]
    return tuple(values)


def _triangulated(draw: random.Random, space: Space, parents: list[Individual]) -> Point:
    """Changes from the worst that make the two better: a gene of Primary if it differs from Base, else Secondary's."""
    primary, secondary, base = (one.point for one in parents)
    triples = zip(primary, secondary, base, strict=True)
    return tuple(first if first != worst else second for first, second, worst in triples)


_CHILD = {"mutation": _mutated, "crossover": _crossed, "triangulation": _triangulated}
