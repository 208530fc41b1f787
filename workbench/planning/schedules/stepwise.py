"""Stepwise schedule: one step after the other, each the launches of its plan; the schedule of depth 1."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from workbench.graph import Extend, Kernel
from workbench.planning.emission import Emission, reductions_below
from workbench.planning.grouping import Group
from workbench.planning.kernel_plan import Launch
from workbench.planning.schedules.schedule import Schedule

STEPWISE = Schedule("stepwise", "any")


@dataclass(frozen=True, slots=True)
class Order:
    """Launches of a step, and the Extend nodes and Reduce nodes that the members of fills and finishers stand for."""

    launches: tuple[Launch, ...] = ()
    fills: tuple[int, ...] = ()
    finishers: tuple[int, ...] = ()


def order_launches(
    kernel: Kernel,
    groups: Sequence[Group],
    emissions: Sequence[Emission],
    filled: Collection[int],
    apart: Collection[int] = (),
) -> Order:
    """Decide the order of sub-kernels, fills and finishers, and what runs between two barriers.

    Before: groups are in an order that respects their dependencies. `filled` are the Extend nodes with ghost cells,
    `apart` the groups with a barrier before and after them. After: a fill comes after the group that makes its
    operand and before the first group that reads it; a finisher comes after its group and before the first reader
    of its number; members of one launch do not need each other and run over the same axes. Fills are late, so that
    their copies live shortly, but all that can be done at a barrier are done there.
    """
    loops, made_by = dict(enumerate(groups)), {root: g for g, group in enumerate(groups) for root in group.manifest}
    waits = {g: waits_of(kernel, (n for n, _ in e.reads), e.globals, filled) for g, e in enumerate(emissions)}
    parts = Ordering(kernel, loops, waits.__getitem__, made_by, filled, apart).run(range(len(groups)))
    launches, numbered = list[Launch](), {"fill": list[int](), "finisher": list[int]()}
    for launch in parts.launches():
        if launch.kind == "subkernel":
            launches.append(launch)
            continue
        known = numbered[launch.kind]
        launches.append(Launch(launch.kind, tuple(range(len(known), len(known) + len(launch.members)))))
        known.extend(launch.members)
    return Order(tuple(launches), tuple(numbered["fill"]), tuple(numbered["finisher"]))


@dataclass(frozen=True, slots=True)
class Waits:
    """What has to be there before a loop.

    reads: the values that it reads and those that Extends among them extend. fills: the Extends among all these whose
    ghost cells are filled, ascending. numbers: the Reduce nodes whose results it uses.
    """

    reads: frozenset[int]
    fills: tuple[int, ...]
    numbers: frozenset[int]


def waits_of(kernel: Kernel, reads: Iterable[int], numbers: Iterable[int], filled: Collection[int]) -> Waits:
    """Return what a loop needs that reads these stored nodes and these Globals; `filled` as above."""
    found = set(reads)
    extends = kernel.extends()
    found.update([extends[n] for n in extends.keys() & found])
    fills = tuple(sorted(found.intersection(filled)))
    return Waits(frozenset(found), fills, reductions_below(kernel, numbers))


@dataclass(frozen=True, slots=True)
class Done:
    """How far a step is between two launches.

    unfilled: Extends that wait. finished: Reduce nodes; ready: those whose loops have run, in the order of these.
    """

    unfilled: tuple[int, ...]
    finished: frozenset[int] = frozenset()
    ready: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class LaunchPart:
    """A launch of loops, of which `first` is the first, and the fill and the finisher before it; done: before them."""

    first: int
    done: Done
    launches: tuple[Launch, ...]


@dataclass(frozen=True, slots=True)
class LaunchParts:
    """The order of a step: its parts, and finishers at the end.

    Members of launches are numbers of loops, Extend nodes and Reduce nodes.
    """

    parts: tuple[LaunchPart, ...]
    end: tuple[Launch, ...]

    def launches(self) -> tuple[Launch, ...]:
        """All of them in order."""
        return (*chain.from_iterable([part.launches for part in self.parts]), *self.end)


class Ordering:
    """The state of one ordering. Loops have numbers that ascend as they run; made_by: who makes a Manifest value."""

    def __init__(
        self,
        kernel: Kernel,
        groups: Mapping[int, Group],
        waits: Callable[[int], Waits],
        made_by: Mapping[int, int],
        filled: Collection[int],
        apart: Collection[int] = (),
    ) -> None:
        self.kernel, self.groups, self.waits, self.made_by, self.apart = kernel, groups, waits, made_by, apart
        self.done = Done(tuple(sorted(filled)))
        self.parts: list[LaunchPart] = []
        self.launches: list[Launch] = []  # of the part that is not complete yet
        self.begun: tuple[int, Done] = (-1, self.done)  # its first loop, and what was done before it
        self.open: list[int] = []  # groups of the launch that may still grow
        self.makes: set[int] = set()  # their values

    def run(self, order: Sequence[int], base: LaunchParts | None = None, changed: Collection[int] = ()) -> LaunchParts:
        """The parts of a step whose loops run in this order.

        base: of a step in which the loops `changed` made something else or were not there; what is the same is taken
        from it. Other loops need something else only in place of what these make: it is there before these.
        """
        if base is not None and not changed:
            return base
        position, last = self._resume(order, base, min(changed, default=0)), max(changed, default=0)
        for index in order[position:]:
            wait = self.waits(index)
            needed = [e for e in wait.fills if e in self.done.unfilled]
            numbers = wait.numbers.union(*map(self._numbers_of, needed)) if needed else wait.numbers
            if not self._may_join(index, wait.reads, numbers, needed):
                self._close()
                rest = () if base is None or index <= last else self._rest(base, index)
                if base is not None and rest:
                    return LaunchParts((*self.parts, *rest), base.end)
                self.begun = index, self.done
            self._finish(numbers)
            if needed:
                self._fill()
            self.open.append(index)
            self.makes.update(self.groups[index].manifest)
        self._close()
        self._finish(frozenset(self.done.ready))
        return LaunchParts(tuple(self.parts), tuple(self.launches))

    def _resume(self, order: Sequence[int], base: LaunchParts | None, first: int) -> int:
        """Take all parts over but the one that a loop `first` would join or end; return where to go on in `order`."""
        place = 0 if base is None else bisect_left(base.parts, first, key=_first_of) - 1
        if base is None or place <= 0:
            return 0
        self.parts, self.done = list(base.parts[:place]), base.parts[place].done
        return bisect_left(order, base.parts[place].first)

    def _rest(self, base: LaunchParts, index: int) -> tuple[LaunchPart, ...]:
        """What base does from this loop on, if it was as far as this ordering is; else nothing."""
        place = bisect_left(base.parts, index, key=_first_of)
        same = place < len(base.parts) and base.parts[place].first == index and base.parts[place].done == self.done
        return base.parts[place:] if same else ()

    def _may_join(self, index: int, reads: frozenset[int], numbers: frozenset[int], needed: list[int]) -> bool:
        if not self.open or needed or numbers - self.done.finished:
            return False
        if index in self.apart or any(g in self.apart for g in self.open):
            return False
        group, other = self.groups[index], self.groups[self.open[0]]
        if (group.axes, group.reduced, group.alone) != (other.axes, other.reduced, other.alone):
            return False
        return self.makes.isdisjoint(reads)

    def _close(self) -> None:
        if self.open:
            self.launches.append(Launch("subkernel", tuple(self.open)))
            self.parts.append(LaunchPart(*self.begun, tuple(self.launches)))
            made = tuple(r for g in self.open for r in self.groups[g].reductions)
            if made:
                self.done = replace(self.done, ready=(*self.done.ready, *made))
            self.launches, self.open, self.makes = [], [], set()

    def _numbers_of(self, extend: int) -> frozenset[int]:
        return reductions_below(self.kernel, self.kernel.nodes[extend].operands[1:])

    def _finish(self, numbers: frozenset[int]) -> None:
        if not numbers - self.done.finished:
            return
        self._close()
        ready = self.done.ready
        self.done = Done(self.done.unfilled, self.done.finished.union(ready))
        self.launches.append(Launch("finisher", ready))

    def _fill(self) -> None:
        ready = tuple(e for e in self.done.unfilled if self._fillable(e))
        self.done = replace(self.done, unfilled=tuple(e for e in self.done.unfilled if e not in ready))
        self.launches.append(Launch("fill", ready))

    def _fillable(self, extend: int) -> bool:
        node = self.kernel.nodes[extend]
        assert isinstance(node.instruction, Extend)
        made = self.made_by.get(node.operands[0], -1) < self.begun[0]
        return made and all(r in self.done.finished for r in self._numbers_of(extend))


def _first_of(part: LaunchPart) -> int:
    return part.first
