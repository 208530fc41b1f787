"""Enumeration: every legal point, in order or at random; what other strategies are measured against."""

from __future__ import annotations

import random
from collections.abc import Iterator

from workbench.tuning.search_space import Costs, Point, SearchSpace
from workbench.tuning.strategies.base import PointOrigin


class Exhaustive:
    """All legal points in the order of the space."""

    def __init__(self, space: SearchSpace, start: tuple[Point, ...] = (), seed: int = 0) -> None:
        self._points = _first(start, iter(space))

    def ask(self) -> Point | None:
        """The next point; None after the last one."""
        return next(self._points, None)

    def tell(self, point: Point, score: float | None, costs: Costs = ()) -> None:
        """Scores change nothing."""

    def origin(self, point: Point) -> PointOrigin:
        """An enumeration makes no point of others."""
        return PointOrigin()


class Randomly:
    """Legal points drawn at random, none twice."""

    def __init__(self, space: SearchSpace, start: tuple[Point, ...] = (), seed: int = 0) -> None:
        self._points = _first(start, _drawn(space, random.Random(seed)))

    def ask(self) -> Point | None:
        """The next point; None after the last one."""
        return next(self._points, None)

    def tell(self, point: Point, score: float | None, costs: Costs = ()) -> None:
        """Scores change nothing."""

    def origin(self, point: Point) -> PointOrigin:
        """An enumeration makes no point of others."""
        return PointOrigin()


_LISTED = 200_000  # points of a space that is shuffled as a list


def _first(start: tuple[Point, ...], rest: Iterator[Point]) -> Iterator[Point]:
    """The points to start with, then the others."""
    yield from start
    yield from (point for point in rest if point not in start)


def _drawn(space: SearchSpace, draw: random.Random) -> Iterator[Point]:
    if space.combinations <= _LISTED:
        points = list(space)
        draw.shuffle(points)
        yield from points
        return
    seen: set[Point] = set()
    while (point := space.random_point(draw)) is not None:
        if point not in seen:
            seen.add(point)
            yield point
