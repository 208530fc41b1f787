"""Sweep: one parameter at a time, all its values, until none improves; then again from a perturbed best point.

Spencer's search with every variable declared independent, repeated as an iterated local search (Lourenço, Martin and
Stützle, 2003), so that what is not independent is found as well.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import partial

from workbench.tuning.search_space import Point, SearchSpace
from workbench.tuning.strategies.base import Batches, BatchStrategy, Known
from workbench.tuning.strategies.parts import Parts

ENUMERATED = 64  # combinations of a group or part up to which all are tried; of larger ones lines only
_PERTURBED = 2  # parameters that are drawn anew before another descent
_STALE = 200  # perturbations in a row that lead to nothing new until the search ends


class CoordinateSweep(BatchStrategy):
    """Coordinate sweeps with perturbed restarts, from the first of `start` or from a random point."""

    def __init__(self, space: SearchSpace, start: tuple[Point, ...] = (), seed: int = 0) -> None:
        parts = Parts(space)
        super().__init__(_sweeps(space, start, random.Random(seed), parts), parts.note)


def _sweeps(space: SearchSpace, start: tuple[Point, ...], draw: random.Random, parts: Parts) -> Batches:
    known: Known = {}
    yield from beginning(space, start, draw, known)
    yield from descents(space, draw, known, parts)


def rank(known: Known, point: Point) -> float:
    """The score of a point; what failed or is not known is the worst."""
    score = known.get(point)
    return float("-inf") if score is None else score


def best_of(known: Known) -> Point | None:
    """The best point that passed, the first of equals; None if none did."""
    best = max(known, key=lambda point: rank(known, point), default=None)
    return None if best is None or known[best] is None else best


def beginning(space: SearchSpace, start: tuple[Point, ...], draw: random.Random, known: Known) -> Batches:
    """The points of `start`, or a random one; where they fail, random points until one passes."""
    first = start or tuple(filter(None, [space.random_point(draw)]))
    while first:
        known.update((yield first))
        if best_of(known) is not None:
            return
        first = tuple(filter(None, [space.random_point(draw)]))


def descents(space: SearchSpace, draw: random.Random, known: Known, parts: Parts) -> Batches:
    """Sweeps from the best point that is known, then again and again from it perturbed.

    Parameters of parts whose costs are known are swept together, the first time that one of them has its turn; small
    parts are enumerated from the second descent on.
    """
    incumbent = best_of(known)
    if incumbent is None:
        return
    current = incumbent
    stale, first = 0, True
    while stale < _STALE:
        size = len(known)
        improved = True
        while improved:
            improved = False
            for move in _moves(space, draw):
                if move in parts.axes(current):
                    found = yield from parts.sweep(current, known, 0 if first else ENUMERATED)
                    if rank(known, found) > rank(known, current):
                        current, improved = found, True
                    continue
                line = space.tied_line(current, move) if isinstance(move, tuple) else space.line(current, move)
                new = tuple(point for point in line if point not in known)
                if new:
                    known.update((yield new))
                best = max(line, key=partial(rank, known), default=current)
                if rank(known, best) > rank(known, current):
                    current, improved = best, True
        if rank(known, current) >= rank(known, incumbent):
            incumbent = current
        better = best_of(known)  # another search may have told of it
        if better is not None and rank(known, better) > rank(known, incumbent):
            incumbent = better
        stale = stale + 1 if len(known) == size else 0
        current, first = _perturbed(space, incumbent, draw, _PERTURBED + stale // 20), False
        if current not in known:
            known.update((yield (current,)))


def _moves(space: SearchSpace, draw: random.Random) -> list[int | tuple[int, ...]]:
    """Parameters in the order of their rank, and before those of a rank the ties of such, largest first."""
    moves: list[int | tuple[int, ...]] = [*space.ties, *order(space, range(len(space.parameters)), draw)]
    return sorted(moves, key=lambda move: space.parameters[move[0] if isinstance(move, tuple) else move].rank)


def order(space: SearchSpace, axes: Sequence[int], draw: random.Random) -> list[int]:
    """These parameters, those of equal rank at random."""
    return sorted(draw.sample(axes, len(axes)), key=lambda axis: space.parameters[axis].rank)


def _perturbed(space: SearchSpace, point: Point, draw: random.Random, count: int) -> Point:
    """Some parameters drawn anew, all if that finds nothing legal."""
    for _ in range(100):
        values = list(point)
        for axis in draw.sample(range(len(values)), min(count, len(values))):
            values[axis] = draw.randrange(len(space.parameters[axis].values))
        if space.legal(tuple(values)):
            return tuple(values)
    return space.random_point(draw) or point
