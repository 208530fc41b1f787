"""Boxes of cells, inside the domain or not: what the interpreter evaluates at a time."""

from __future__ import annotations

from workbench.backends.images import Interval
from workbench.graph.operators import Array

Box = tuple[Interval, ...]
"""An interval for each axis."""


def shape_of(box: Box) -> tuple[int, ...]:
    """Return how many cells the box has along each axis."""
    return tuple(high - low for low, high in box)


def with_interval(box: Box, axis: int, interval: Interval) -> Box:
    """Return the box with another interval along one axis."""
    return (*box[:axis], interval, *box[axis + 1 :])


def varying_along(values: Array, axis: int, rank: int) -> Array:
    """Return a 1-D array as one of `rank` axes that varies along one of them."""
    return values.reshape([-1 if a == axis else 1 for a in range(rank)])
