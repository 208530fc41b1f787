"""Parts: parameters of which each group matters to one part of the cost only are searched in the same evaluations.

Each evaluation gives every part other values, and the cost of each part says which of its own are best: as many
evaluations as the largest part takes, however many parts there are. The best of all parts are measured together; where
they then cost more than they did one by one, they are searched as everything else is.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable
from dataclasses import dataclass, field
from itertools import product

from workbench.tuning.search_space import Costs, Point, SearchSpace
from workbench.tuning.strategies.base import Known, Scores

_WORSE = 1.2  # costs of the best together, over the sum of what each cost before, above which parts are not believed in
_PASSES = 3  # over values of a line, as one that fails takes those of the other parts with it

Axes = tuple[int, ...]
Asking = Generator[tuple[Point, ...], Scores, Point]
"""Yields points that need no score of each other, is sent the score of each, and returns the point it arrived at."""


@dataclass(slots=True)
class Parts:
    """What each part of a space has cost, by its own values and by those of all parameters that are in no part."""

    space: SearchSpace
    _costs: dict[Point, list[dict[Point, float]]] = field(default_factory=dict)
    _latest: dict[Point, Costs] = field(default_factory=dict)
    _believed: bool = True

    def note(self, point: Point, costs: Costs) -> None:
        """The cost of each part at a point; of several the least counts."""
        if costs:
            self._latest[point] = costs
            for part, known, cost in zip(self.space.parts, self._around(point), costs, strict=True):
                own = _values(point, part)
                if cost is not None:
                    known[own] = min(cost, known.get(own, cost))

    def axes(self, point: Point) -> frozenset[int]:
        """Parameters that `sweep` searches from this point: those of the parts whose costs are known there."""
        if not self._believed:
            return frozenset()
        return frozenset(axis for part, _ in self._searched(point) for axis in part)

    def sweep(self, point: Point, known: Known, enumerated: int = 0) -> Asking:
        """One parameter of each part at a time until no part improves; the best of all parts, measured together.

        known: scores, to which those of the points that were asked for are added. enumerated: of parts with at most so
        many combinations all are tried then.
        """
        current: Point = point
        before: Point = ()
        while current != before and self.axes(current):
            before = current
            for turn in range(max(map(len, self.space.parts))):
                lines = [self._line(current, part, turn) for part, _ in self._searched(current)]
                current = yield from self._tried(current, known, lines)
            if current not in known:
                known.update((yield (current,)))
            if current == before and enumerated:
                whole = [self._all(part, enumerated) for part, _ in self._searched(current)]
                current = yield from self._tried(current, known, whole)
        if current not in known:
            known.update((yield (current,)))
        self._judge(current)
        return current

    def _tried(self, point: Point, known: Known, wanted: list[list[Point]]) -> Asking:
        """Measure these values of each part side by side; the point with the best values of each part."""
        for number in range(_PASSES):
            lines: list[tuple[Axes, list[Point]]] = []
            for (part, costs), values in zip(self._searched(point), wanted, strict=True):
                new = [own for own in values if own not in costs]
                shift = number * len(lines) % max(len(new), 1)
                lines.append((part, new[shift:] + new[:shift]))
            rows = []
            for place in range(max((len(new) for _, new in lines), default=0)):
                rows.append(_with(point, ((part, new[place]) for part, new in lines if place < len(new))))
            asked = tuple(row for row in dict.fromkeys(rows) if row not in known and self.space.legal(row))
            if not asked:
                break
            known.update((yield asked))
        best = _with(point, ((part, self._best(costs, _values(point, part))) for part, costs in self._searched(point)))
        return best if self.space.legal(best) else point

    def _line(self, point: Point, part: Axes, turn: int) -> list[Point]:
        """The values of a part that differ in one parameter at most."""
        own, at = _values(point, part), turn % len(part)
        values = range(len(self.space.parameters[part[at]].values))
        return [(*own[:at], value, *own[at + 1 :]) for value in values]

    def _all(self, part: Axes, most: int) -> list[Point]:
        sizes = [len(self.space.parameters[axis].values) for axis in part]
        return list(product(*map(range, sizes))) if math.prod(sizes) <= most else []

    def _best(self, costs: dict[Point, float], own: Point) -> Point:
        """The values of least cost; a part's own where others are equal."""
        return min(costs, key=lambda values: (costs[values], values != own))

    def _judge(self, point: Point) -> None:
        """Whether parts together cost what each of them cost with other values of the others."""
        costs = self._latest.get(point, ())
        expected = spent = 0.0
        for part, known, cost in zip(self.space.parts, self._around(point), costs, strict=bool(costs)):
            if cost is not None:
                expected += known[_values(point, part)]
                spent += cost
        if spent > _WORSE * expected:
            self._believed = False

    def _searched(self, point: Point) -> list[tuple[Axes, dict[Point, float]]]:
        """The parts whose own values at this point have a cost, with all costs beside the same values of the rest."""
        rows = zip(self.space.parts, self._around(point), strict=True)
        return [(part, costs) for part, costs in rows if _values(point, part) in costs]

    def _around(self, point: Point) -> list[dict[Point, float]]:
        inside = {axis for part in self.space.parts for axis in part}
        rest = tuple(value for axis, value in enumerate(point) if axis not in inside)
        return self._costs.setdefault(rest, [{} for _ in self.space.parts])


def _values(point: Point, part: Axes) -> Point:
    return tuple(point[axis] for axis in part)


def _with(point: Point, settings: Iterable[tuple[Axes, Point]]) -> Point:
    values = list(point)
    for part, own in settings:
        for axis, value in zip(part, own, strict=True):
            values[axis] = value
    return tuple(values)
