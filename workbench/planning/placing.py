"""Placing: which roots share a loop under an allocation, as group_writes finds them, but fast enough for a search."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from workbench.graph import Fold, Kernel, Reduce
from workbench.graph.instructions import Collective, traits_of
from workbench.planning.grouping import Group, loop_of, reductions_below_locals
from workbench.planning.kernel_plan import Axes, Margins, Storage
from workbench.planning.reach import no_margins


class _Loops:
    """Loops while roots are put into them, in the order in which they run."""

    def __init__(self) -> None:
        self.kinds: list[int] = []  # a number for the margins and axes of each
        self.manifest: list[list[int]] = []  # roots of each, ascending
        self.reductions: list[list[int]] = []

    def place(self, kind: int, earliest: int) -> int:
        """The first loop of this kind that is not earlier, a new one if there is none."""
        for number in range(earliest, len(self.kinds)):
            if self.kinds[number] == kind:
                return number
        self.kinds.append(kind)
        self.manifest.append([])
        self.reductions.append([])
        return len(self.kinds) - 1

    def before(self, node: int) -> _Loops:
        """A copy of what this was when placing came to a node: loops come in the order of their first roots."""
        found = _Loops()
        for kind, manifest, reductions in zip(self.kinds, self.manifest, self.reductions, strict=True):
            kept = manifest[: bisect_left(manifest, node)], reductions[: bisect_left(reductions, node)]
            if not any(kept):
                break
            found.kinds.append(kind)
            found.manifest.append(kept[0])
            found.reductions.append(kept[1])
        return found


@dataclass(frozen=True, slots=True)
class Placed:
    """The loops of an allocation, and how they came about, from which placing another allocation may start.

    made: for each node the last loop that must have run before its value is there, -1 for none. loops: without copies
    and without reductions that no cell reads, which come last. visited: the nodes that placing looked at.
    """

    groups: tuple[Group, ...]
    made: list[int]
    loops: _Loops
    visited: int


class Placing:
    """The loops of one step under any allocation.

    margins: of all nodes along the kernel's axes; live: the nodes of the step; copies: Loads that another field takes a
    copy of.
    """

    def __init__(
        self, kernel: Kernel, margins: Sequence[Margins], live: frozenset[int], copies: Collection[int]
    ) -> None:
        self._kernel, self._margins = kernel, margins
        self._copies = tuple(dict.fromkeys(copies))
        self._fed = reductions_below_locals(kernel, live)
        self._deciding = self._find_deciding(sorted(live))
        self._numbers = [i for i, _, _ in self._deciding]
        self._last = [i for i, _, reduces in self._deciding if reduces and i not in self._fed]
        self._kinds: dict[tuple[Margins, Axes, Axes, int], int] = {}
        self._kind_of = [self._kind(i) for i in range(len(kernel.nodes))]

    def _kind(self, root: int) -> int:
        """A number for the margins and axes of a root's loop, the same for all roots that may share one."""
        node = self._kernel.nodes[root]
        axes, reduced, alone = loop_of(self._kernel, root)
        copied = not (node.is_local and traits_of(node.instruction).evaluated_in == "cells") and not reduced
        own = no_margins(self._kernel.space.rank) if copied else self._margins[root]
        return self._kinds.setdefault((own, axes, reduced, alone), len(self._kinds))

    def _find_deciding(self, order: Sequence[int]) -> list[tuple[int, tuple[int, ...], bool]]:
        """(node, what it waits for, whether it is a Reduce) of all live nodes that may be roots of loops, ascending.

        A node waits for the nearest such nodes below it. The others, half of them Shifts, are looked through here once.
        """
        nodes = self._kernel.nodes
        held = {n.operands[0] for n in nodes if traits_of(n.instruction).on_domain}  # by dead Stores as well
        found: list[tuple[int, tuple[int, ...], bool]] = []
        through: dict[int, tuple[int, ...]] = {}
        for i in order:
            instruction = nodes[i].instruction
            waits = tuple(dict.fromkeys(w for o in nodes[i].operands for w in through[o]))
            reduces = isinstance(instruction, Reduce)
            storable = nodes[i].is_local and traits_of(instruction).is_worth_storing
            if reduces or i in held or storable or isinstance(instruction, Fold | Collective):
                found.append((i, waits, reduces))
                waits = (i,)
            through[i] = waits
        return found

    def of(self, storage: Sequence[Storage], base: Placed | None = None, changed: Collection[int] = ()) -> Placed:
        """What group_writes finds, without its bound on operations.

        `base` is of an allocation that differs in the nodes `changed` only: what comes before them is taken from it.
        """
        first, made, loops = 0, [-1] * len(storage), _Loops()
        if base is not None and changed:
            first = bisect_left(self._numbers, min(changed))
            made, loops = list(base.made), base.loops.before(min(changed))
        kind_of = self._kind_of
        for i, waits, reduces in self._deciding[first:]:
            needed = -1
            for other in waits:
                if made[other] > needed:
                    needed = made[other]
            if storage[i] is Storage.MANIFEST:
                needed = loops.place(kind_of[i], needed + 1)
                loops.manifest[needed].append(i)
            elif reduces and i in self._fed:
                needed = loops.place(kind_of[i], needed + 1)
                loops.reductions[needed].append(i)
            made[i] = needed
        return Placed(self._groups(loops.before(len(storage)), made), made, loops, len(self._deciding) - first)

    def _groups(self, loops: _Loops, made: Sequence[int]) -> tuple[Group, ...]:
        """All loops, those too that copy Loads or reduce what no cell reads: there they find most loops to join."""
        copies: dict[int, list[int]] = {}
        for i in self._copies:
            copies.setdefault(loops.place(self._kind_of[i], 0), []).append(i)
        for i in self._last:
            loops.reductions[loops.place(self._kind_of[i], made[i] + 1)].append(i)
        kinds = tuple(self._kinds)
        roots = zip(loops.kinds, loops.manifest, loops.reductions, strict=True)
        return tuple(
            Group(kinds[kind][0], tuple(a), tuple(copies.get(number, ())), tuple(b), *kinds[kind][1:])
            for number, (kind, a, b) in enumerate(roots)
        )
