"""Sweep: one parameter at a time, all its values, until none improves; then again from a perturbed best point.

Spencer's search with every variable declared independent, repeated as an iterated local search (Lourenço, Martin and
Stützle, 2003), so that what is not independent is found as well.
"""

from __future__ import annotations

import random

from workbench.tuning.space import Point, Space
from workbench.tuning.strategies.base import Batches, BatchStrategy

_PERTURBED = 2  # parameters that are drawn anew before another descent
_STALE = 200  # perturbations in a row that lead to nothing new until the search ends


class Sweep(BatchStrategy):
    """Coordinate sweeps with perturbed restarts, from the first of `start` or from a random point."""

    def __init__(self, space: Space, start: tuple[Point, ...] = (), seed: int = 0) -> None:
        super().__init__(_sweeps(space, start, random.Random(seed)))


def _sweeps(space: Space, start: tuple[Point, ...], draw: random.Random) -> Batches:
    known: dict[Point, float | None] = {}

    def rank(point: Point) -> float:
        score = known.get(point)
        return float("-inf") if score is None else score

    first = start or tuple(filter(None, [space.random_point(draw)]))
    known.update((yield first))
    while first and all(known[point] is None for point in first):  # where the start fails, any point that passes
        point = space.random_point(draw)
        if point is None:
            return
        known.update((yield (point,)))
        first = (point,)
    if not first:
        return
    incumbent = max(first, key=rank)
    current = incumbent
    stale = 0
    while stale < _STALE:
        size = len(known)
        improved = True
        while improved:
            improved = False
            for axis in _order(space, draw):
                line = space.line(current, axis)
                new = tuple(point for point in line if point not in known)
                if new:
                    known.update((yield new))
                best = max(line, key=rank, default=current)
                if rank(best) > rank(current):
                    current, improved = best, True
        if rank(current) >= rank(incumbent):
            incumbent = current
        stale = stale + 1 if len(known) == size else 0
        current = _perturbed(space, incumbent, draw, _PERTURBED + stale // 20)
        if current not in known:
            known.update((yield (current,)))


def _order(space: Space, draw: random.Random) -> list[int]:
    """All parameters, those of equal rank at random."""
    axes = draw.sample(range(len(space.parameters)), len(space.parameters))
    return sorted(axes, key=lambda axis: space.parameters[axis].rank)


def _perturbed(space: Space, point: Point, draw: random.Random, count: int) -> Point:
    """Some parameters drawn anew, all if that finds nothing legal."""
    for _ in range(100):
        values = list(point)
        for axis in draw.sample(range(len(values)), min(count, len(values))):
            values[axis] = draw.randrange(len(space.parameters[axis].values))
        if space.legal(tuple(values)):
            return tuple(values)
    return space.random_point(draw) or point
