"""Placing: which roots share a loop under an allocation, as group_writes finds them, but fast enough for a search."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from workbench.graph import Kernel, Reduce
from workbench.graph.instructions import places_on_domain, traits_of
from workbench.planning.grouping import Group, loop_of, reductions_below_locals
from workbench.planning.kernel_plan import Axes, Margins, Storage
from workbench.planning.reach import no_margins

_Last = tuple[tuple[int, ...], tuple[int, ...]]  # copies, and reductions that no cell reads


@dataclass(frozen=True, slots=True)
class Placed:
    """The loops of an allocation, and how they came about, from which placing another allocation may start.

    groups: by the numbers of the loops, `order` has these as the loops run. A loop has the number of its first root, so
    that it keeps it whatever loops come before it; one whose roots all come last has a number beyond all nodes. made:
    for each node the last loop that must have run before its value is there, -1 for none; of a root its own. loops: the
    roots of each, ascending, and of_kind: the numbers of those that may share roots, ascending; both without what comes
    `last`. changed: loops that are there no more or that have other roots than those of the allocation before.
    visited: nodes from the first one that changed on.
    """

    groups: dict[int, Group]
    order: list[int]
    made: list[int]
    loops: dict[int, tuple[int, ...]]
    of_kind: dict[int, list[int]]
    last: dict[int, _Last]
    changed: frozenset[int]
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
        self._fed = reductions_below_locals(kernel, live)
        self._waits = self._find_deciding(sorted(live))
        self._numbers = list(self._waits)
        self._consumers: dict[int, list[int]] = {i: [] for i in self._numbers}
        for i, waits in self._waits.items():
            for other in waits:
                self._consumers[other].append(i)
        reductions = [i for i in self._numbers if isinstance(kernel.nodes[i].instruction, Reduce)]
        self._copies = len(dict.fromkeys(copies))
        self._last = (*dict.fromkeys(copies), *(i for i in reductions if i not in self._fed))
        self._kinds: dict[tuple[Margins, Axes, Axes, int], int] = {}
        self._kind_of = [self._kind(i) for i in range(len(kernel.nodes))]
        self._kind_of += [self._kind_of[i] for i in self._last]
        self._own = tuple(self._kinds)
        self._nothing = Placed({}, [], [-1] * len(kernel.nodes), {}, {}, {}, frozenset(), 0)

    def _kind(self, root: int) -> int:
        """A number for the margins and axes of a root's loop, the same for all roots that may share one."""
        node = self._kernel.nodes[root]
        axes, reduced, alone = loop_of(self._kernel, root)
        copied = not (node.is_local and traits_of(node.instruction).evaluated_in == "cells") and not reduced
        own = no_margins(self._kernel.space.rank) if copied else self._margins[root]
        return self._kinds.setdefault((own, axes, reduced, alone), len(self._kinds))

    def _find_deciding(self, order: Sequence[int]) -> dict[int, tuple[int, ...]]:
        """What all live nodes wait for that may be roots of loops, ascending.

        A node waits for the nearest such nodes below it. The others, half of them Shifts, are looked through here once.
        """
        nodes = self._kernel.nodes
        held = {n.operands[k] for n in nodes for k in places_on_domain(n.instruction)}  # by dead Stores as well
        found: dict[int, tuple[int, ...]] = {}
        through: dict[int, tuple[int, ...]] = {}
        for i in order:
            instruction = nodes[i].instruction
            waits = tuple(dict.fromkeys(w for o in nodes[i].operands for w in through[o]))
            storable = nodes[i].is_local and traits_of(instruction).is_worth_storing
            if i in held or storable or traits_of(instruction).reads == "all":
                found[i] = waits
                waits = (i,)
            through[i] = waits
        return found

    def of(self, storage: Sequence[Storage], base: Placed | None = None, changed: Collection[int] = ()) -> Placed:
        """What group_writes finds, without its bound on operations.

        `base` is of an allocation that differs in the nodes `changed` only: what does not depend on them is taken from
        it.
        """
        visited = len(self._numbers)
        if base is None or not changed:
            base, waiting = self._nothing, self._numbers
        else:
            waiting = [i for i in changed if i in self._waits]
            visited -= bisect_left(self._numbers, min(changed))
        turn = _Turn(base, self._kind_of, waiting)
        for i in turn.nodes():
            needed = -1
            for other in self._waits[i]:
                if turn.made[other] > needed:
                    needed = turn.made[other]
            is_root = storage[i] is Storage.MANIFEST or i in self._fed
            if turn.put(i, turn.first(i, needed) if is_root else -1, needed):
                turn.again(self._consumers[i])
        last = self._find_last(turn)
        groups, changes, order = dict(base.groups), set[int](), base.order
        for number in turn.changed.union(n for n in last.keys() | base.last.keys() if last.get(n) != base.last.get(n)):
            group = self._group(turn.loops.get(number, ()), number, last.get(number, ((), ())))
            if group == groups.get(number):
                continue
            changes.add(number)
            if group is None:
                del groups[number]
            else:
                groups[number] = group
        if len(groups) != len(order) or any(number not in base.groups for number in changes):
            order = sorted(groups)
        return Placed(groups, order, turn.made, turn.loops, turn.of_kind, last, frozenset(changes), visited)

    def _find_last(self, turn: _Turn) -> dict[int, _Last]:
        """The loops of copies and of reductions that no cell reads: coming last they find most loops to join."""
        found: dict[int, _Last] = {}
        beyond: dict[int, list[int]] = {}
        for place, root in enumerate(self._last):
            kind, is_copy = self._kind_of[root], place < self._copies
            needed = -1 if is_copy else turn.made[root]
            there = turn.of_kind.get(kind, [])
            at = bisect_right(there, needed)
            ends = beyond.setdefault(kind, [])
            if at == len(there) and not ends:
                ends.append(len(turn.made) + place)
            number = there[at] if at < len(there) else ends[0]
            copies, reductions = found.get(number, ((), ()))
            found[number] = ((*copies, root), reductions) if is_copy else (copies, (*reductions, root))
        return found

    def _group(self, roots: Sequence[int], number: int, last: _Last) -> Group | None:
        """The loop of this number, None if it makes nothing."""
        copies, reductions = last
        if not (roots or copies or reductions):
            return None
        margins, axes, reduced, alone = self._own[self._kind_of[number]]
        manifest = tuple(i for i in roots if i not in self._fed)
        fed = tuple(i for i in roots if i in self._fed)
        return Group(margins, manifest, copies, (*fed, *reductions), axes, reduced, alone)


class _Turn:
    """Loops on the way from one allocation to another: nodes whose loop may be another one are looked at, ascending."""

    def __init__(self, base: Placed, kind_of: Sequence[int], waiting: Iterable[int]) -> None:
        self.made, self.loops, self.of_kind = list(base.made), dict(base.loops), dict(base.of_kind)
        self.changed: set[int] = set()  # loops
        self._kind_of = kind_of
        self._waiting, self._asked = list(waiting), set(waiting)
        heapify(self._waiting)

    def nodes(self) -> Iterable[int]:
        """Those to look at, also what `again` adds meanwhile."""
        while self._waiting:
            yield heappop(self._waiting)

    def again(self, nodes: Iterable[int]) -> None:
        """Look at these nodes, which come after the one that is looked at, too."""
        for node in nodes:
            if node not in self._asked:
                self._asked.add(node)
                heappush(self._waiting, node)

    def first(self, root: int, needed: int) -> int:
        """The loop for a root: the first of its kind that is later than `needed`, its own if there is none."""
        there = self.of_kind.get(self._kind_of[root], [])
        at = bisect_right(there, needed)
        return there[at] if at < len(there) and there[at] < root else root

    def put(self, node: int, loop: int, needed: int) -> bool:
        """Put a node into a loop, or into none (-1), and out of the one it is in; whether `made` changes."""
        before = self.made[node]
        roots = self.loops.get(before, ())
        at = bisect_left(roots, node)
        inside = at < len(roots) and roots[at] == node
        if inside and before != loop:
            self._take_out(node, before)
        if loop >= 0 and not (inside and before == loop):
            self._put_in(node, loop)
        self.made[node] = loop if loop >= 0 else needed
        return self.made[node] != before

    def _take_out(self, node: int, loop: int) -> None:
        self.changed.add(loop)
        roots = list(self.loops[loop])
        del roots[bisect_left(roots, node)]
        left = tuple(roots)
        if loop != node:
            self.loops[loop] = left
            return
        kind = self._kind_of[node]
        del self.loops[loop]
        self.of_kind[kind] = [number for number in self.of_kind[kind] if number != loop]
        self.again(left)  # the loop was there for its first root

    def _put_in(self, node: int, loop: int) -> None:
        self.changed.add(loop)
        if loop != node:
            roots = list(self.loops[loop])
            insort(roots, node)
            self.loops[loop] = tuple(roots)
            return
        self.loops[loop] = (node,)
        kind = self._kind_of[node]
        there = list(self.of_kind.get(kind, []))
        at = bisect_left(there, node)
        there.insert(at, node)
        self.of_kind[kind] = there
        if at + 1 < len(there):  # roots of the next one may have taken this one, had it been there
            self.again(self.loops[there[at + 1]])
