"""Stepwise schedule: one step after the other, each the launches of its plan; the schedule of depth 1."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from workbench.graph import Extend, Kernel
from workbench.planning.emission import Emission, reductions_below
from workbench.planning.grouping import Group
from workbench.planning.kernel_plan import Launch


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
    return _Ordering(kernel, groups, emissions, filled, apart).run()


class _Ordering:
    """The state of one ordering."""

    def __init__(
        self,
        kernel: Kernel,
        groups: Sequence[Group],
        emissions: Sequence[Emission],
        filled: Collection[int],
        apart: Collection[int],
    ) -> None:
        self.kernel, self.groups, self.emissions, self.apart = kernel, groups, emissions, apart
        self.unfilled = sorted(filled)
        self.group_of = {root: g for g, group in enumerate(groups) for root in (*group.manifest, *group.reductions)}
        self.done: set[int] = set()  # groups launched
        self.finished: dict[int, None] = {}
        self.fills: list[int] = []
        self.launches: list[Launch] = []
        self.open: list[int] = []  # groups of the launch that may still grow

    def run(self) -> Order:
        for index, emission in enumerate(self.emissions):
            reads = {node for node, _ in emission.reads}
            reads |= {o for node in reads for o in self._extended(node)}
            needed = [e for e in self.unfilled if e in reads]
            numbers = reductions_below(self.kernel, emission.globals)
            numbers |= {r for e in needed for r in self._numbers_of(e)}
            joins = self._may_join(index, reads, numbers, needed)
            if not joins:
                self._close()
            self._finish(numbers)
            if needed:
                self._fill()
            self.open.append(index)
        self._close()
        self._finish(frozenset(r for group in self.groups for r in group.reductions))
        return Order(tuple(self.launches), tuple(self.fills), tuple(self.finished))

    def _extended(self, node: int) -> tuple[int, ...]:
        """The value that an Extend extends; nothing for other nodes."""
        return self.kernel.nodes[node].operands[:1] if isinstance(self.kernel.nodes[node].instruction, Extend) else ()

    def _may_join(self, index: int, reads: set[int], numbers: frozenset[int], needed: list[int]) -> bool:
        if not self.open or needed or numbers - self.finished.keys():
            return False
        if index in self.apart or any(g in self.apart for g in self.open):
            return False
        group = self.groups[index]
        kind = (group.axes, group.reduced, group.alone)
        if any((self.groups[g].axes, self.groups[g].reduced, self.groups[g].alone) != kind for g in self.open):
            return False
        made = {root for g in self.open for root in self.groups[g].manifest}
        return not made & reads

    def _close(self) -> None:
        if self.open:
            self.launches.append(Launch("subkernel", tuple(self.open)))
            self.done.update(self.open)
            self.open = []

    def _numbers_of(self, extend: int) -> frozenset[int]:
        return reductions_below(self.kernel, self.kernel.nodes[extend].operands[1:])

    def _finish(self, numbers: frozenset[int]) -> None:
        if not numbers - self.finished.keys():
            return
        self._close()
        ready = [r for g in sorted(self.done) for r in self.groups[g].reductions if r not in self.finished]
        first = len(self.finished)
        self.finished.update(dict.fromkeys(ready))
        self.launches.append(Launch("finisher", tuple(range(first, len(self.finished)))))

    def _fill(self) -> None:
        ready = [e for e in self.unfilled if self._fillable(e)]
        self.unfilled = [e for e in self.unfilled if e not in ready]
        first = len(self.fills)
        self.fills.extend(ready)
        self.launches.append(Launch("fill", tuple(range(first, len(self.fills)))))

    def _fillable(self, extend: int) -> bool:
        node = self.kernel.nodes[extend]
        assert isinstance(node.instruction, Extend)
        made = node.operands[0] not in self.group_of or self.group_of[node.operands[0]] in self.done
        return made and all(r in self.finished for r in self._numbers_of(extend))
