"""Walking: which values a loop touches at which offsets, and what that costs a cell, in additions of f64."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from workbench.graph import Broadcast, Kernel, Replicate, Scan, Scatter, Shift
from workbench.graph.instructions import traits_of
from workbench.planning.axes import axes_of, listed, widest_axes
from workbench.planning.emission import STORED, box_of
from workbench.planning.grouping import Group
from workbench.planning.kernel_plan import Axes, Box, Margins, Storage
from workbench.planning.reach import Offset
from workbench.planning.weights import PASSES, weight_in_turn, weight_of_cell

# Fixed figures, so that every machine makes the same plan; estimate.py has the others.
LOAD = 2.0
"""An f64 read in a cell, wherever it is."""
KEEP = 2.0
"""An f64 written in a cell, to a rolling buffer or, besides its bytes, to memory."""
BOOL = 8.0
"""How many times as much a bool takes to read and write as an f64: vectors of bytes and of numbers do not fit.
Where cells come one after the other there are no vectors."""
_PART_AGAIN = 8  # a walk looks at this part of a loop again at most: a node takes four times as long there
_PARTS = 1 << 10  # sums of multiples of 2^-10 are exact up to 2^43


@dataclass(frozen=True, slots=True)
class Walk:
    """What a loop computes and reads in a cell.

    work: weight of its operations, of what it reads and of what it writes; count: of its operations, each at each place
    where it is computed. bits: the nodes below its roots, with the offsets at which it touches them; reads: those that
    are stored. numbers: of the step that it needs, with how many of its nodes take each. arrays: the stored nodes that
    it reads or writes; passes: how often it computes each cell.
    """

    work: float
    count: int
    bits: dict[int, int]
    reads: dict[int, int]
    numbers: dict[int, int]
    arrays: frozenset[int]
    passes: int


@dataclass(frozen=True, slots=True)
class _Figures:
    """What each value costs a cell to compute, and to read or write."""

    weights: list[float]
    traffic: list[float]


class Walking:
    """Walks through the loops of one step under any allocation.

    margins: of all nodes along the kernel's axes. widest: the axes of loops that cost something (`widest_axes`). Sets
    of offsets are bit masks of `places` bits, the number of offsets at which a value may be needed: moving them all is
    one shift. are_exact: whether sums of weights are the same in any order. users: the nodes that evaluate a value, and
    how far their bits move on the way.
    """

    def __init__(self, kernel: Kernel, margins: Sequence[Margins]) -> None:
        self.kernel, self.dim = kernel, kernel.space.rank
        self.axes = [axes_of(n.space, kernel.space) for n in kernel.nodes]
        self.reach = tuple(max(max(m[k]) for m in margins) for k in range(self.dim))
        strides: list[int] = []
        self.origin, stride = 0, 1
        for reach in reversed(self.reach):
            strides.insert(0, stride)
            self.origin += reach * stride
            stride *= 2 * reach + 1
        self.strides, self.places = tuple(strides), stride
        self.below = [self._below(i) for i in range(len(kernel.nodes))]
        self.numbers = [n.operands if isinstance(n.instruction, Broadcast) else () for n in kernel.nodes]
        self.is_work = [traits_of(n.instruction).is_elementwise for n in kernel.nodes]
        self.weights = [weight_of_cell(kernel, i) for i in range(len(kernel.nodes))]
        sizes = [0 if n.type is None else n.type.itemsize for n in kernel.nodes]
        self.widest = widest_axes((n.space for n in kernel.nodes if n.space is not None and n.is_local), kernel.space)
        self.sizes = [size if axes in self.widest else 0 for size, axes in zip(sizes, self.axes, strict=True)]
        self.traffic, self.traffic_in_turn = ([b if n == 1 else n / 8 for n in sizes] for b in (BOOL, 1 / 8))
        in_turn = [weight_in_turn(kernel, i, weight) for i, weight in enumerate(self.weights)]
        figures = (*self.weights, *in_turn, *self.traffic)
        self.are_exact = all(float(each * _PARTS).is_integer() for each in figures)
        self.users: list[list[tuple[int, int | None]]] = [[] for _ in kernel.nodes]
        for i, (operands, move) in enumerate(self.below):
            for operand in dict.fromkeys(operands):
                self.users[operand].append((i, move))
        self.boxes: dict[int, Box] = {}
        self._figures: dict[tuple[Axes | None, bool], _Figures] = {}  # by the axes of a widest loop, and how it goes

    def _of_rows(self, loop: Axes | None) -> frozenset[int]:
        """The values that are the same in all cells of a row of a loop.

        Those that do not stand in it, or all without a loop: in a row of each of the widest ones that they stand in.
        """
        widest = [listed(axes, self.dim) for axes in self.widest]
        this = [] if loop is None else [listed(loop, self.dim)]
        found: set[int] = set()
        for i, axes in enumerate(self.axes):
            loops = [own for own in this if set(axes) <= set(own)] or [own for own in widest if set(axes) <= set(own)]
            if axes and not any(own[-1] in axes for own in loops):
                found.add(i)
        return frozenset(found)

    def _below(self, index: int) -> tuple[tuple[int, ...], int | None]:
        """The operands that a cell evaluates for the node, and how far the bits of its offsets move on the way.

        None: they become that of the cell alone, which is not exact for a value with fewer axes but enough.
        """
        node = self.kernel.nodes[index]
        if isinstance(node.instruction, Shift):
            strides = [self.strides[axis] for axis in listed(self.axes[index], self.dim)]
            return node.operands, sum(d * s for d, s in zip(node.instruction.offset, strides, strict=True))
        if isinstance(node.instruction, Replicate):
            return node.operands, None
        return (node.operands if traits_of(node.instruction).is_worth_storing else ()), 0

    def only_users(self, live: Collection[int]) -> list[int]:
        """For each node its only user, if that one uses it at the same cell and takes no more bytes to store; else -1.

        Also -1 if the user is read at other cells: then storing it changes what loops that run together recompute.
        """
        found, consumers = [-1] * len(self.users), self.kernel.consumers()
        for index, each in enumerate(consumers):
            users = [user for user in each if user in live]
            if len(users) != 1 or not self.is_work[users[0]] or index not in self.below[users[0]][0]:
                continue
            user, further = users[0], [next_user for next_user in consumers[users[0]] if next_user in live]
            is_as_cheap = self.axes[user] == self.axes[index] and self.traffic[user] <= self.traffic[index]
            if is_as_cheap and not any(self.below[next_user][1] for next_user in further):
                found[index] = user
        return found

    def of(self, storage: Sequence[Storage], group: Group) -> Walk:
        """What a loop touches, roots first."""
        below, is_work, numbers_of = self.below, self.is_work, self.numbers
        figures = self._figures_in(group)
        weights, traffic = figures.weights, figures.traffic
        here, manifest, existing = 1 << self.origin, Storage.MANIFEST, Storage.EXISTING
        bits = dict.fromkeys(self._given(group), here)
        reads = dict.fromkeys(group.copies, here)
        numbers: dict[int, int] = {}
        work, count = 0.0, 0
        evaluated = [] if group.takes else list(group.manifest)
        roots, left = iter(evaluated), len(below)
        waiting = bytearray(left)  # a mark for each node that waits: the last one is found faster than by a heap
        for index in bits:
            waiting[index] = 1
        # Roots by their formulas, then what they need, consumers first: a node's uses are known when it is its turn.
        while True:
            index = next(roots, -1)
            if index >= 0:
                where = here
            else:
                left = index = waiting.rfind(1, 0, left)
                if index < 0:
                    break
                where = bits[index]
                stored = storage[index]
                if stored is manifest or stored is existing:
                    reads[index] = reads.get(index, 0) | where
                    continue
            operands, move = below[index]
            moved = here if move is None else where >> move if move >= 0 else where << -move
            for operand in operands:
                known = bits.get(operand)
                if known is None:
                    waiting[operand] = 1
                    bits[operand] = moved
                else:
                    bits[operand] = known | moved
            if is_work[index]:
                times = where.bit_count()
                work += times * weights[index]
                count += times
            for number in numbers_of[index]:
                numbers[number] = numbers.get(number, 0) + 1
        work += KEEP * sum(traffic[n] for n in evaluated)
        work += LOAD * sum(places.bit_count() * traffic[n] for n, places in reads.items())
        passes = PASSES if self._is_in_turn(group) else 1
        return Walk(work, count, bits, reads, numbers, _arrays(group, reads), passes)

    def again(
        self, storage: Sequence[Storage], group: Group, base: Walk, before: Group, changed: Iterable[int]
    ) -> Walk | None:
        """The same where the walk through the loop was `base` before, when it made the roots of `before`.

        changed: the nodes below its roots that are stored and were not, or the other way. Only they, other roots and
        what is touched by way of them is looked at; None if that is so much that a walk from nothing is shorter. The
        result is that of `of`, where sums `are_exact`.
        """
        here, roots, figures = 1 << self.origin, _evaluated(group), self._figures_in(group)
        weights, traffic = figures.weights, figures.traffic
        given, copies = self._given(group), frozenset(group.copies)
        other_roots, left = roots ^ _evaluated(before), len(base.bits) // _PART_AGAIN
        asked = {operand for root in other_roots for operand in self.below[root][0]}
        asked |= (given ^ self._given(before)) | (copies ^ frozenset(before.copies)) | set(changed)
        if len(asked) > left:
            return None
        bits, reads, work, count = dict(base.bits), dict(base.reads), base.work, base.count
        numbers = dict(base.numbers)
        for root in other_roots:
            sign = 1 if root in roots else -1
            work += sign * (KEEP * traffic[root] + (weights[root] if self.is_work[root] else 0.0))
            count += sign * self.is_work[root]
            _count(numbers, self.numbers[root], sign)
        waiting = [-index for index in asked]
        heapify(waiting)
        while waiting:
            left -= 1
            if left < 0:
                return None
            index = -heappop(waiting)
            was, now = bits.get(index, 0), here if index in given else 0
            for user, move in self.users[index]:
                where = here if user in roots else bits.get(user, 0)
                if where and (user in roots or storage[user] not in STORED):
                    now |= here if move is None else where >> move if move >= 0 else where << -move
            was_stored, is_stored = index in reads, storage[index] in STORED
            _keep(bits, index, now)
            read = (now if is_stored else 0) | (here if index in copies else 0)
            work += LOAD * traffic[index] * (read.bit_count() - reads.get(index, 0).bit_count())
            _keep(reads, index, read)
            evaluated = (0 if was_stored else was, 0 if is_stored else now)
            if evaluated[0] == evaluated[1]:
                continue
            if self.is_work[index]:
                more = evaluated[1].bit_count() - evaluated[0].bit_count()
                work += more * weights[index]
                count += more
            _count(numbers, self.numbers[index], bool(evaluated[1]) - bool(evaluated[0]))
            for operand in self.below[index][0]:
                if operand not in asked:
                    asked.add(operand)
                    heappush(waiting, -operand)
        return Walk(work, count, bits, reads, numbers, _arrays(group, reads), base.passes)

    def _given(self, group: Group) -> frozenset[int]:
        """The operands that a loop takes at its cell."""
        taken = (*group.reductions, *group.manifest) if group.takes else group.reductions
        return frozenset(operand for root in taken for operand in self.kernel.nodes[root].operands)

    def _is_in_turn(self, group: Group) -> bool:
        """Whether the cells of a loop come one after the other."""
        return group.alone >= 0 and isinstance(self.kernel.nodes[group.alone].instruction, Scan | Scatter)

    def is_wide(self, group: Group) -> bool:
        """Whether a loop visits the cells of widest axes: its own, or those of what it brings to other places."""
        brought = self.kernel.nodes[group.alone].operands if group.alone >= 0 else ()
        return group.axes in self.widest or any(
            self.kernel.nodes[n].is_local and self.axes[n] in self.widest for n in brought
        )

    def _figures_in(self, group: Group) -> _Figures:
        """What values cost in the loop."""
        axes, in_turn = group.axes if group.axes in self.widest else None, self._is_in_turn(group)
        known = self._figures.get((axes, in_turn))
        if known is None:
            of_rows, each = self._of_rows(axes), range(len(self.weights))
            weights = [0.0 if i in of_rows else self.weights[i] for i in each]
            if in_turn:
                weights = [weight_in_turn(self.kernel, i, weight) for i, weight in enumerate(weights)]
            traffic = self.traffic_in_turn if in_turn else self.traffic
            known = _Figures(weights, [0.0 if i in of_rows else traffic[i] for i in each])
            self._figures[axes, in_turn] = known
        return known

    def box(self, bits: int) -> Box:
        """The smallest box that holds these offsets."""
        known = self.boxes.get(bits)
        if known is None:
            known = self.boxes[bits] = box_of(self._places(bits))
        return known

    def _places(self, bits: int) -> list[Offset]:
        found = []
        text = bin(bits)[:1:-1]
        place = text.find("1")
        while place >= 0:
            rest, offset = place, []
            for stride, reach in zip(self.strides, self.reach, strict=True):
                offset.append(rest // stride - reach)
                rest %= stride
            found.append(tuple(offset))
            place = text.find("1", place + 1)
        return found


def _evaluated(group: Group) -> frozenset[int]:
    """The roots that a loop computes by their formulas."""
    return frozenset(() if group.takes else group.manifest)


def _keep(found: dict[int, int], node: int, places: int) -> None:
    """Note at which places a node is touched; one that is not touched is not kept."""
    if places:
        found[node] = places
    else:
        found.pop(node, None)


def _count(numbers: dict[int, int], taken: Sequence[int], more: int) -> None:
    """Count nodes that take these numbers; those that none takes are not kept."""
    for number in taken:
        numbers[number] = numbers.get(number, 0) + more
        if not numbers[number]:
            del numbers[number]


def _arrays(group: Group, reads: Collection[int]) -> frozenset[int]:
    """The stored nodes that a loop reads or writes."""
    return frozenset(reads).union(group.manifest, group.copies)
