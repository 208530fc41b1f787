"""Outlook: what is known of a candidate before anything is planned: bytes, work, loops and barriers of its step."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import compress
from math import log2
from operator import eq, or_
from typing import NamedTuple

from workbench.planning.features import Features, StorageFeatures
from workbench.planning.plan import Plan
from workbench.planning.tunables import Setting, Tunable
from workbench.tuning.search_space import Point

_KEPT = 1024  # points


class _Rows(NamedTuple):
    """Parameters, the value of each that sets something, and the bit of the node at which it does."""

    parameters: tuple[int, ...] = ()
    values: tuple[int, ...] = ()
    nodes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class MachineOutlook:
    """What the features of a program's step say of points.

    axes: numbers of the parameters that it is about: storage, and barriers before and after. kept: nodes that are
    stored at every point though they need not be.
    """

    axes: tuple[int, ...]
    features: StorageFeatures
    storage: _Rows
    before: _Rows
    after: _Rows
    kept: int
    _found: OrderedDict[Point, tuple[int, Features]] = field(default_factory=OrderedDict, compare=False)

    def of(self, point: Point) -> tuple[float, ...]:
        """Logarithms to base 2 of a cell's bytes and work, of all loops, the longest one, and those with barriers."""
        _, found = self._at(point)
        numbers = (found.bytes_moved, found.work, found.loops, found.longest, found.barriers)
        return tuple(log2(1.0 + number) for number in numbers)

    def features_at(self, point: Point) -> Features:
        """All that is counted of a point's step."""
        return self._at(point)[1]

    def longest(self, point: Point) -> int:
        """Operations of the longest loop; loops are put together here however long they are then."""
        return self._at(point)[1].longest

    def without_storage(self, point: Point) -> Point:
        """The point with all values recomputed that may be."""
        found = list(point)
        for number, value in zip(self.storage.parameters, self.storage.values, strict=True):
            if found[number] == value:
                found[number] = 1 - value  # there are two: delayed, manifest
        return tuple(found)

    def key(self, point: Point) -> Hashable:
        """What is stored, which loops have barriers, and the values of all other parameters.

        Points of one key are one program in plain steps: a barrier at a value counts where a loop evaluates or reads
        the value, and once.
        """
        stored, found = self._at(point)
        described = set(self.axes)
        return stored, found.before, found.after, *(at for axis, at in enumerate(point) if axis not in described)

    def _at(self, point: Point) -> tuple[int, Features]:
        """What is stored at a point, and its features; the last points are remembered."""
        if point not in self._found:
            stored = self.kept | _chosen(point, self.storage)
            found = self.features.of(stored, _chosen(point, self.before), _chosen(point, self.after))
            self._found[point] = stored, found
            if len(self._found) > _KEPT:
                self._found.popitem(last=False)
        return self._found[point]


def _chosen(point: Point, rows: _Rows) -> int:
    """The nodes of the parameters that are at the value of their row, as bits."""
    return reduce(or_, compress(rows.nodes, map(eq, map(point.__getitem__, rows.parameters), rows.values)), 0)


def machine_outlook(
    plan: Plan, tunables: Sequence[Tunable], values: Sequence[tuple[Setting, ...]]
) -> MachineOutlook | None:
    """The outlook of a space of these tunables; None where none of them chooses what is stored.

    plan: that of the space's start, whose main kernel alone it is about.
    """
    features = StorageFeatures(plan)
    name = features.kernel.name
    nodes = {f"{name}/{key}": node for node, key in enumerate(features.kernel.keys())}
    rows: dict[str, list[tuple[int, int, int]]] = {"": [], "before": [], "after": []}
    kept = features.start
    for number, (row, settings) in enumerate(zip(tunables, values, strict=True)):
        bit = 1 << nodes[row.key] if row.key in nodes else 0
        if row.section == "M" and bit & features.free:
            rows[""].append((number, settings.index("manifest"), bit))
            kept &= ~bit
        elif row.section == "S" and bit:
            rows[row.member].append((number, settings.index(True), bit))
    if not rows[""]:
        return None
    storage, before, after = (_Rows(*zip(*found, strict=True)) if found else _Rows() for found in rows.values())
    axes = tuple(sorted((*storage.parameters, *before.parameters, *after.parameters)))
    return MachineOutlook(axes, features, storage, before, after, kept)
