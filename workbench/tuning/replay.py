"""Replay: a strategy on a recorded landscape, for which nothing is compiled or run."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from workbench.tuning.space import Parameter, Point, Space
from workbench.tuning.strategies.base import Strategy

_UNPRODUCTIVE = 10_000  # proposals in a row of points that are known


@dataclass(frozen=True, slots=True)
class Landscape:
    """Measured costs (lower is better) of every legal point; `samples` keeps each single measurement."""

    name: str
    space: Space
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
        Parameter(name, tuple(map(str, values)), ordered=True) for name, values in meta["params"].items()
    )
    space = Space(parameters, samples.__contains__)
    return Landscape(meta["name"], space, {point: min(row) for point, row in samples.items()}, samples)


def replay(
    strategy: Strategy,
    cost: Callable[[Point], float | None],
    budget: int,
    solved: Callable[[float], bool] = lambda cost: False,
) -> Replayed:
    """Drive a strategy by a function of cost, one point after the other, for `budget` new points.

    Points that are known are answered from memory and count nothing. Scores are 1 / cost.
    """
    known: dict[Point, float | None] = {}
    costs: list[float | None] = []
    repeated = 0
    while len(costs) < budget and repeated < _UNPRODUCTIVE:
        point = strategy.ask()
        if point is None:
            break
        repeated += 1
        if point not in known:
            repeated = 0
            known[point] = cost(point)
            costs.append(known[point])
        value = known[point]
        strategy.tell(point, None if value is None else 1.0 / value)
        if value is not None and not repeated and solved(value):
            return Replayed(tuple(costs), len(costs))
    return Replayed(tuple(costs), None)


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
