"""Replay: a strategy on a recorded landscape, for which nothing is compiled or run."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from workbench.tuning.loop_times import LoopTimes
from workbench.tuning.race import Measure, in_pairs, interleaved, sampled
from workbench.tuning.search import Search
from workbench.tuning.search_space import Costs, Outlook, Point, SearchSpace, TuningParameter
from workbench.tuning.strategies.base import Strategy
from workbench.tuning.trees import VariableTree, parse_tree
from workbench.tuning.trials import Outcome


@dataclass(frozen=True, slots=True)
class Landscape:
    """Measured costs (lower is better) of every legal point; `samples` keeps each single measurement."""

    name: str
    space: SearchSpace
    costs: Mapping[Point, float]
    samples: Mapping[Point, tuple[float, ...]]

    @property
    def best(self) -> float:
        """The least cost."""
        return min(self.costs.values())

    def within(self, share: float) -> int:
        """How many points cost at most (1 + share) times the best."""
        return sum(cost <= (1 + share) * self.best for cost in self.costs.values())

    def expected_of_random(self, share: float) -> float:
        """Expected evaluations of random search without replacement until one is within `share`: (N + 1) / (K + 1)."""
        return (len(self.costs) + 1) / (self.within(share) + 1)


@dataclass(frozen=True, slots=True)
class Replayed:
    """One run: costs in the order of evaluation (None: failed), and the number of the first one within the share."""

    costs: tuple[float | None, ...]
    solved_after: int | None


def read_landscape(path: Path) -> Landscape:
    """A landscape from an .npz file: `idx` (points), `samples` (costs), `meta` (JSON: name and values by parameter)."""
    with np.load(path, allow_pickle=False) as file:
        meta: dict[str, Any] = json.loads(str(file["meta"]))
        points = [tuple(int(value) for value in row) for row in file["idx"]]
        rows = [tuple(float(value) for value in row) for row in file["samples"]]
    samples = dict(zip(points, rows, strict=True))
    parameters = tuple(
        TuningParameter(name, tuple(map(str, values)), ordered=True) for name, values in meta["params"].items()
    )
    space = SearchSpace(parameters, samples.__contains__)
    return Landscape(meta["name"], space, {point: min(row) for point, row in samples.items()}, samples)


@dataclass(frozen=True, slots=True)
class ClosedForm:
    """A landscape that is a formula; its least cost is 1. `tree` says what is independent of what."""

    space: SearchSpace
    tree: VariableTree
    cost: Callable[[Point], float | None]


def tree6(seed: int) -> ClosedForm:
    """Six parameters A to F of 8 values: a(A) b(B) c(C, D) e(E, F), of which 3 % fail, never the optimum.

    a and b are 1 + permutation / 4. c and e are 1 + 0.02 p^2 + 0.25 q^2 + 0.15 u, where (p, q) is the distance to a
    random origin turned by an angle from 0.3 to 1.2 rad and u uniform noise; they are 1 at their origin.
    """
    draw = np.random.default_rng(seed)
    singles = [1 + 2 * draw.permutation(8) / 8 for _ in "AB"]
    pairs = []
    at = np.arange(8.0)
    for _ in "CE":
        origin = draw.integers(0, 8, 2)
        angle = draw.uniform(0.3, 1.2)
        x, y = np.meshgrid(at - origin[0], at - origin[1], indexing="ij")
        p, q = np.cos(angle) * x + np.sin(angle) * y, np.cos(angle) * y - np.sin(angle) * x
        factor = 1 + 0.02 * p**2 + 0.25 * q**2 + 0.15 * draw.uniform(size=(8, 8))
        factor[tuple(origin)] = 1.0
        pairs.append(factor)
    fails = draw.uniform(size=(8,) * 6) < 0.03

    def cost(point: Point) -> float | None:
        a, b, c, d, e, f = point
        value = float(singles[0][a] * singles[1][b] * pairs[0][c, d] * pairs[1][e, f])
        return None if fails[point] and value > 1.0 else value

    values = tuple(map(str, range(8)))
    space = SearchSpace(tuple(TuningParameter(name, values) for name in "ABCDEF"))
    return ClosedForm(space, parse_tree("{{A}, {B}, {C, D}, {E, F}}"), cost)


def replay(
    strategy: Strategy,
    cost: Callable[[Point], float | None],
    budget: int,
    solved: Callable[[float], bool] = lambda cost: False,
    parts: Callable[[Point], Costs] = lambda point: (),
    outlook: Outlook | None = None,
) -> Replayed:
    """Drive a strategy by a function of cost, one point after the other, for `budget` new points.

    Points that are known are answered from memory and count nothing. Scores are 1 / cost. parts: the costs of the
    space's parts at a point that passed. outlook: as in `Search`.
    """
    search = Search(strategy, outlook=outlook)
    costs: list[float | None] = []
    while len(costs) < budget and (begun := search.begin()) is not None:
        value = cost(begun.point)
        costs.append(value)
        search.end(begun, *((None, ()) if value is None else (1.0 / value, parts(begun.point))))
        if value is not None and solved(value):
            return Replayed(tuple(costs), len(costs))
    return Replayed(tuple(costs), None)


@dataclass(frozen=True, slots=True)
class Recorded:
    """A landscape as the candidates of a study; the text of a point is the point itself."""

    landscape: Landscape
    start: Point

    @property
    def space(self) -> SearchSpace:
        """That of the landscape."""
        return self.landscape.space

    def text(self, point: Point) -> str:
        """A point as JSON."""
        return json.dumps(point)

    def costs(self, point: Point, loops: LoopTimes) -> Costs:
        """A landscape has no parts."""
        return ()

    def changes(self, point: Point) -> dict[str, str]:
        """The values that differ from the start's."""
        first = self.space.texts(self.start)
        return {name: value for name, value in self.space.texts(point).items() if value != first[name]}


class Replayer:
    """An evaluator that looks up a landscape: frozen, or with each measurement drawn from those that are stored."""

    def __init__(self, landscape: Landscape, draw: random.Random | None = None, samples: int = 7) -> None:
        """draw: None for frozen, where each measurement is the least one stored."""
        self._landscape = landscape
        self._draw = draw
        self._samples = samples

    def evaluate(
        self, text: str, *, against: str, best: float, timeout: float, within: float, known: Callable[[str], bool]
    ) -> tuple[Outcome | None, str]:
        """A success; each point is a phenotype of its own."""
        if known(text):
            return None, text
        if not against:
            return Outcome("success", sampled(self._measure(text), self._samples, best), text), text
        samples, beside = in_pairs(self._measure(text), self._measure(against), self._samples, best)
        return Outcome("success", samples, text, beside=beside), text

    def race(self, texts: Sequence[str], *, rounds: int, timeout: float, within: float) -> list[tuple[float, ...]]:
        """Samples of finalists in turn."""
        return [tuple(samples) for samples in interleaved([self._measure(text) for text in texts], rounds)]

    def close(self) -> None:
        """Nothing runs."""

    def _measure(self, text: str) -> Measure:
        point = tuple(json.loads(text))
        draw, samples = self._draw, self._landscape.samples[point]
        return (lambda: min(samples)) if draw is None else (lambda: draw.choice(samples))


def expected_evaluations(
    make: Callable[[int], Strategy],
    cost: Callable[[Point], float | None],
    threshold: float,
    *,
    budget: int,
    seeds: int,
) -> tuple[float, float]:
    """Evaluations per success over so many seeds, and the share of seeds that had one within the budget.

    The first is the sum of all evaluations over the number of successes (Price 1997; infinite without one).
    """
    runs = [replay(make(seed), cost, budget, lambda value: value <= threshold) for seed in range(seeds)]
    successes = sum(run.solved_after is not None for run in runs)
    total = sum(len(run.costs) for run in runs)
    return total / successes if successes else float("inf"), successes / seeds
