"""Search space: what may be chosen in a tuning: named parameters with a few values each, and which points are legal."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Protocol

from workbench.tuning.trees import VariableTree

Point = tuple[int, ...]
"""For each parameter the index of its value."""

Costs = tuple[float | None, ...]
"""What each part of a space costs at a point, such as seconds; None where it is not known, () where no part is."""

_TRIES = 10_000  # random points until a space counts as having no legal one


@dataclass(frozen=True, slots=True)
class TuningParameter:
    """One choice. `values` are told apart by their text; `ordered` if neighbours in the list act alike.

    `rank`: sweeps take parameters of low rank first, because they are few and matter much. `label`: what views call it
    if that is more than its name.
    """

    name: str
    values: tuple[str, ...]
    ordered: bool = False
    rank: int = 0
    label: str = ""


class Outlook(Protocol):
    """What is known of a point before it is measured."""

    @property
    def axes(self) -> tuple[int, ...]:
        """Numbers of the parameters that it is about."""

    def of(self, point: Point) -> tuple[float, ...]:
        """Numbers of a point, such as the logarithm to base 2 of the bytes that it moves; as many of each point.

        Points that differ by one in one of them are as far apart as two values of a parameter.
        """

    def key(self, point: Point) -> Hashable:
        """Points of one key cost the same."""


LaunchNumbers = Callable[[Point], tuple[float, ...]]
"""What a point's launches take of caches or devices, such as the logarithm to base 2 of bytes over those of a cache."""


def everywhere(point: Point) -> bool:
    """The constraint of a space without one."""
    return True


@dataclass(frozen=True, slots=True)
class SearchSpace:
    """All combinations of the parameters' values that `legal` admits; legality costs no measurement.

    tree: what is believed to be independent of what, of all parameters; searches that count on it test it. ties:
    parameters with as many values each that are changed together before they are changed one by one, largest first.
    parts: parameters that matter to one part of the cost alone, which is measured beside the whole; no two overlap.
    outlook: what can be said of a point without measuring it, None if nothing. launches: numbers by which models see
    beside the values of parameters how they act together, None for none.
    """

    parameters: tuple[TuningParameter, ...]
    legal: Callable[[Point], bool] = everywhere
    tree: VariableTree | None = None
    ties: tuple[tuple[int, ...], ...] = ()
    parts: tuple[tuple[int, ...], ...] = ()
    outlook: Outlook | None = None
    launches: LaunchNumbers | None = None

    @property
    def combinations(self) -> int:
        """How many points there are, legal or not."""
        return math.prod(len(parameter.values) for parameter in self.parameters)

    def __iter__(self) -> Iterator[Point]:
        """Every legal point, in the order of the values, the last parameter fastest."""
        for point in product(*(range(len(parameter.values)) for parameter in self.parameters)):
            if self.legal(point):
                yield point

    def texts(self, point: Point) -> dict[str, str]:
        """The values of a point by name."""
        return {parameter.name: parameter.values[at] for parameter, at in zip(self.parameters, point, strict=True)}

    def line(self, point: Point, axis: int) -> tuple[Point, ...]:
        """The legal points that differ from `point` in one parameter at most, in the order of its values."""
        values = range(len(self.parameters[axis].values))
        points = ((*point[:axis], value, *point[axis + 1 :]) for value in values)
        return tuple(one for one in points if self.legal(one))

    def tied(self, point: Point, tie: tuple[int, ...], value: int) -> Point:
        """The point with all parameters of a tie at one value, legal or not."""
        together = set(tie)
        return tuple(value if axis in together else own for axis, own in enumerate(point))

    def tied_line(self, point: Point, tie: tuple[int, ...]) -> tuple[Point, ...]:
        """The point, and the legal ones with all parameters of a tie at one value."""
        values = range(len(self.parameters[tie[0]].values))
        points = (self.tied(point, tie, value) for value in values)
        return (point, *(one for one in points if one != point and self.legal(one)))

    def random_point(self, draw: random.Random) -> Point | None:
        """A legal point, all equally likely; None if none was found in 10,000 draws."""
        for _ in range(_TRIES):
            point = tuple(draw.randrange(len(parameter.values)) for parameter in self.parameters)
            if self.legal(point):
                return point
        return None
