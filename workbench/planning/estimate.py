"""Estimate: how long a step takes a cell under an allocation, before any plan is made; in additions of f64.

The loops are those that the later passes make: grouped, in chains where they may run together. What differs from a
plan's `Cost` is that values in chains are counted as traffic of caches, that borders of tiles are computed twice, that
loops and launches cost something by themselves, and that division has its own price. Values without the last axis cost
nothing in loops over all axes, because rows compute them once; loops over some axes cost a launch only, beside the
functions of those that make a Scan or a Scatter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from heapq import heappop, heappush
from math import prod
from operator import add

from workbench.graph import (
    Arith,
    Broadcast,
    Extend,
    Kernel,
    Loop,
    Replicate,
    Scan,
    Scatter,
    Shift,
)
from workbench.graph.instructions import traits_of
from workbench.planning.axes import axes_of, in_frame, listed
from workbench.planning.chaining import Chained, Together, chained
from workbench.planning.cost import default_extents
from workbench.planning.emission import STORED, box_of
from workbench.planning.grouping import Group
from workbench.planning.kernel_plan import Box, Chain, Margins, Storage
from workbench.planning.placing import Placed, Placing
from workbench.planning.reach import Offset, no_margins
from workbench.planning.schedules.stepwise import LaunchParts, Ordering, Waits, waits_of
from workbench.planning.weights import PASSES, weight_in_turn, weight_of_cell

# Fixed figures, so that every machine makes the same plan. The unit is an addition of f64 in a vector loop.
# Common processors start two such vectors a cycle, load one that is not aligned and store one.
BYTE = 2.0
"""A byte to or from memory. Machine balance (flop/s over byte/s) is 4 to 7; loops reach half of the peak flop/s."""
LOAD = 2.0
"""An f64 read in a cell, wherever it is."""
KEEP = 2.0
"""An f64 written in a cell, to a rolling buffer or, besides its bytes, to memory."""
BOOL = 8.0
"""How many times as much a bool takes to read and write as an f64: vectors of bytes and of numbers do not fit."""
LOOP = 4.0
"""Beginning and end of the rows of a loop, a cell."""
LAUNCH = 8.0
"""A barrier of all threads, 5 us on 256 x 256 cells."""
_COMFORTABLE = 5_000  # operations in a loop beyond which compilers and registers suffer
_ORDERING, _CHAINING = 4, 24  # effort of placing a loop among the others, without chains and with them
_BUFFER_BYTES = 384 << 10  # what backends give to rolling values
_EXTENTS = {1: (1 << 20,), 2: (1024, 1024), 3: (128, 128, 128)}


@dataclass(frozen=True, slots=True)
class _Body:
    """One loop: what a cell costs, and all nodes that it touches below its roots; what many estimates ask is kept.

    work: weight of a cell's operations and of what it reads and writes; crowding: how much slower the loop is for
    being long. alone: what it costs in no chain, rows: its share of what loops over all axes cost by themselves.
    reads: the stored nodes that it reads, where loops may run together with boxes of offsets. arrays: these and those
    that it writes, moved: their bytes. Sets of offsets are bits of a number: moving them all is one shift. passes: how
    often it computes each cell.
    """

    work: float
    crowding: float
    alone: float
    rows: float
    waits: Waits
    reads: dict[int, Box]
    arrays: frozenset[int]
    moved: int
    bits: dict[int, int]
    passes: int = 1


@dataclass(frozen=True, slots=True)
class Walk:
    """What a loop computes and reads in a cell.

    work: weight of its operations, of what it reads and of what it writes; count: of its operations, each at each place
    where it is computed. bits: the nodes below its roots, with the offsets at which it touches them; reads: those that
    are stored. numbers: of the step that it needs. arrays: the stored nodes that it reads or writes; passes: how often
    it computes each cell.
    """

    work: float
    count: int
    bits: dict[int, int]
    reads: dict[int, int]
    numbers: frozenset[int]
    arrays: frozenset[int]
    passes: int


@dataclass(frozen=True, slots=True)
class Estimated:
    """An allocation, what it costs a cell, and its loops by their numbers."""

    storage: tuple[Storage, ...]
    cost: float
    bodies: dict[int, _Body]
    placed: Placed
    parts: LaunchParts
    chained: Chained | None

    @property
    def uses(self) -> tuple[dict[int, int], ...]:
        """For each loop the nodes that it touches below its roots, and the offsets at which it does, as bits."""
        return tuple(self.bodies[number].bits for number in self.placed.order)

    def times(self) -> Counter[int]:
        """How often a cell of each value is computed or read, all loops together."""
        found = Counter[int]()
        for body in self.bodies.values():
            found.update({index: body.passes * bits.bit_count() for index, bits in body.bits.items()})
        return found


class Estimate:
    """Estimates of one step under any allocation.

    margins and live: of the step; copies: Loads that another field takes a copy of. together: whether loops may run
    together; through_fills: as `find_chains` takes it. Sets of offsets are bit masks of `places` bits, the number of
    offsets at which a value may be needed. `effort` counts the work done, about a microsecond each, so that the budget
    of a search is no time. Barriers that a person asked for are not considered.
    """

    def __init__(
        self,
        kernel: Kernel,
        margins: Sequence[Margins],
        live: frozenset[int],
        copies: Sequence[int],
        together: bool,
        through_fills: bool = False,
    ) -> None:
        self.kernel, self.margins, self.live = kernel, margins, live
        self.together, self.through_fills = together, through_fills
        self.dim = kernel.space.rank
        self.axes = [axes_of(n.space, kernel.space) for n in kernel.nodes]
        if any(self.axes):
            margins = [in_frame(m, axes, self.dim) for m, axes in zip(margins, self.axes, strict=True)]
            self.margins = margins
        self.order = sorted(live)
        self.filled = [
            i
            for i in self.order
            if isinstance(kernel.nodes[i].instruction, Extend) and margins[i] != no_margins(self.dim)
        ]
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
        self.is_work = [isinstance(n.instruction, Arith | Loop) for n in kernel.nodes]
        self.weights = [weight_of_cell(kernel, i) for i in range(len(kernel.nodes))]
        sizes = [0 if n.type is None else n.type.itemsize for n in kernel.nodes]
        self.sizes = [0 if axes else size for size, axes in zip(sizes, self.axes, strict=True)]
        self.traffic = [BOOL if size == 1 else size / 8 for size in sizes]
        for i in self._of_rows():
            self.weights[i] = self.traffic[i] = 0.0
        self.weights_in_turn = [weight_in_turn(kernel, i, weight) for i, weight in enumerate(self.weights)]
        self.offsets: dict[int, tuple[Offset, ...]] = {}
        self._extended = {kernel.nodes[i].operands[0] for i in self.filled}
        self._placing = Placing(kernel, self.margins, live, copies)
        self._effort_of_loop = _CHAINING if together and self.dim > 1 else _ORDERING
        self.effort = 0

    def _of_rows(self) -> list[int]:
        """The values that are the same in all cells of a row."""
        return [i for i, axes in enumerate(self.axes) if axes and self.dim - 1 not in axes]

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

    def of(self, storage: Sequence[Storage], base: Estimated | None = None, changed: Collection[int] = ()) -> Estimated:
        """The estimate of an allocation; `base` is one that differs from it in the nodes `changed` only."""
        placed = self._placing.of(storage, None if base is None else base.placed, changed)
        self.effort += placed.visited // 4 + self._effort_of_loop * len(placed.order)
        bodies = {} if base is None else dict(base.bodies)
        stale = {number for number, body in bodies.items() if not body.bits.keys().isdisjoint(changed)}
        stale |= placed.changed
        moved = set(placed.changed)  # loops that may have another place among the launches
        for number in stale:
            before, group = bodies.pop(number, None), placed.groups.get(number)
            if group is not None:
                bodies[number] = body = self._body(storage, group)
                self.effort += len(body.bits) * (1 + self.places // 4096)
                if before is None or before.waits != body.waits:
                    moved.add(number)
        made_by = {n: placed.made[n] for n in self._extended if storage[n] is Storage.MANIFEST}
        waits = {number: body.waits for number, body in bodies.items()}
        ordering = Ordering(self.kernel, placed.groups, waits, made_by, self.filled)
        parts = ordering.run(placed.order, None if base is None else base.parts, moved)
        chains = self._chains(placed, bodies, parts, base, stale)
        return Estimated(tuple(storage), self._cost(placed.order, bodies, parts, chains), bodies, placed, parts, chains)

    def _chains(
        self,
        placed: Placed,
        bodies: Mapping[int, _Body],
        parts: LaunchParts,
        base: Estimated | None,
        changed: Collection[int],
    ) -> Chained | None:
        """What may run together; None where nothing may."""
        if not self.together or self.dim < 2:
            return None
        reads = {number: body.reads for number, body in bodies.items()}

        def worth(chain: Chain) -> Together:
            return self._worth(chain, bodies)

        before = None if base is None else base.chained
        return chained(self.kernel, placed, reads, parts.launches(), worth, self.through_fills, before, changed)

    def groups(self, storage: Sequence[Storage]) -> tuple[Group, ...]:
        """The loops of an allocation."""
        placed = self._placing.of(storage)
        return tuple(placed.groups[number] for number in placed.order)

    def _body(self, storage: Sequence[Storage], group: Group) -> _Body:
        walk = self.walk(storage, group)
        crowding = max(1.0, walk.count / _COMFORTABLE)
        rolls = self.together and self.dim > 1
        return _Body(
            walk.work,
            crowding,
            0.0 if group.axes and walk.passes == 1 else walk.work * crowding,
            0.0 if group.axes else LOOP,
            waits_of(self.kernel, walk.reads, walk.numbers, self.filled),
            {n: box_of(self._places(walk.reads[n])) for n in sorted(walk.reads)} if rolls else {},
            walk.arrays,
            sum(self.sizes[n] for n in walk.arrays),
            walk.bits,
            walk.passes,
        )

    def walk(self, storage: Sequence[Storage], group: Group) -> Walk:
        """What a loop touches, roots first."""
        below, weights, is_work, passes = self.below, self.weights, self.is_work, 1
        if group.alone >= 0 and isinstance(self.kernel.nodes[group.alone].instruction, Scan | Scatter):
            weights, passes = self.weights_in_turn, PASSES
        here = 1 << self.origin
        manifest = () if group.takes else group.manifest
        taken = (*group.reductions, *group.manifest) if group.takes else group.reductions
        bits: dict[int, int] = {operand: here for root in taken for operand in self.kernel.nodes[root].operands}
        reads = dict.fromkeys(group.copies, here)
        numbers: set[int] = set()
        work, count = 0.0, 0
        waiting: list[int] = []
        evaluated = [(root, here) for root in manifest]
        # Roots by their formulas, then what they need, consumers first: a node's uses are known when it is its turn.
        for index in bits:
            heappush(waiting, -index)
        while evaluated or waiting:
            if evaluated:
                index, where = evaluated.pop(0)
            else:
                index = -heappop(waiting)
                where = bits[index]
                if storage[index] in STORED:
                    reads[index] = reads.get(index, 0) | where
                    continue
            operands, move = below[index]
            moved = here if move is None else where >> move if move >= 0 else where << -move
            for operand in operands:
                known = bits.get(operand)
                if known is None:
                    heappush(waiting, -operand)
                    bits[operand] = moved
                else:
                    bits[operand] = known | moved
            if is_work[index]:
                times = where.bit_count()
                work += times * weights[index]
                count += times
            else:
                numbers.update(self.numbers[index])
        work += KEEP * sum(self.traffic[n] for n in manifest)
        work += LOAD * sum(places.bit_count() * self.traffic[n] for n, places in reads.items())
        arrays = frozenset(reads).union(group.manifest, group.copies)
        return Walk(work, count, bits, reads, frozenset(numbers), arrays, passes)

    def _places(self, bits: int) -> tuple[Offset, ...]:
        known = self.offsets.get(bits)
        if known is None:
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
            known = self.offsets[bits] = tuple(found)
        return known

    def _worth(self, chain: Chain, bodies: Mapping[int, _Body]) -> Together:
        """What a chain saves, and what its loops cost in it."""
        own = [bodies[member.subkernel] for member in chain.members]
        arrays = frozenset().union(*(body.arrays for body in own)) - {value.node for value in chain.rolling}
        moved = sum(self.sizes[n] for n in arrays) - sum(body.moved for body in own)
        cells = self.computed_cells(chain)
        costs = [each * body.work * body.crowding for each, body in zip(cells, own, strict=True)]
        numbers = [member.subkernel for member in chain.members]
        return Together(chain.launches[1] - chain.launches[0] - 1, moved, tuple(zip(numbers, costs, strict=True)))

    def _cost(
        self, order: Sequence[int], bodies: Mapping[int, _Body], parts: LaunchParts, chains: Chained | None
    ) -> float:
        waits = sum([len(part.launches) for part in parts.parts]) + len(parts.end)
        moved = sum([body.moved for body in bodies.values()])  # to or from memory, once for each loop or chain
        costs = {number: bodies[number].alone for number in order}
        for together in () if chains is None else chains.together:
            waits -= together.barriers
            moved += together.moved
            costs.update(together.costs)
        total = LAUNCH * waits + sum([body.rows for body in bodies.values()]) + BYTE * moved
        return reduce(add, costs.values(), total)

    def computed_cells(self, chain: Chain) -> tuple[float, ...]:
        """Return how many cells each member computes for each of the domain, in tiles as backends cut them."""
        sides = [[[m.grown[k][side] for m in chain.members] for side in (0, 1)] for k in range(self.dim)]
        around = [max(below) + max(above) for below, above in sides]
        cells = _BUFFER_BYTES // max(1, sum(v.planes * self.sizes[v.node] for v in chain.rolling))
        extents = _EXTENTS.get(self.dim) or default_extents(self.dim)
        size = [min(extents[0], max(extents[0] // 8, 8 * around[0] + 16))] * self.dim
        for k in range(self.dim - 1, 0, -1):
            least = 256 if k == self.dim - 1 else 4 * around[k] + 4
            size[k] = min(extents[k], max(least, cells if k == 1 else min(cells, 512)))
            cells //= size[k] + around[k]
        return tuple(
            prod(1 + (below + above) / s for (below, above), s in zip(m.grown, size, strict=True))
            for m in chain.members
        )
