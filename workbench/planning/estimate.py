"""Estimate: how long a step takes a cell under an allocation, before any plan is made; in additions of f64.

The loops are those that the later passes make: grouped, in chains where they may run together. What differs from a
plan's `Cost` is that values in chains are counted as traffic of caches, that borders of tiles are computed twice, that
loops and launches cost something by themselves, and that division has its own price. Values without the last axis cost
nothing in loops with more axes, because rows compute them once; loops over some of the axes of another one cost a
launch only, beside the functions of those that make a Scan or a Scatter. Of loops none of which has all axes of another
one the cells of each count alike, because nobody knows how many there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from math import prod
from operator import add

from workbench.graph import Extend, Kernel, Reduce
from workbench.planning.axes import axes_of, in_frame
from workbench.planning.chaining import Chained, Together, chained
from workbench.planning.cost import default_extents
from workbench.planning.grouping import Group
from workbench.planning.kernel_plan import Box, Chain, Margins, Storage
from workbench.planning.placing import Placed, Placing
from workbench.planning.reach import no_margins
from workbench.planning.schedules.stepwise import LaunchParts, Ordering, Waits, waits_of
from workbench.planning.walking import Walk, Walking

# Fixed figures, so that every machine makes the same plan. The unit is an addition of f64 in a vector loop.
# Common processors start two such vectors a cycle, load one that is not aligned and store one.
BYTE = 2.0
"""A byte to or from memory. Machine balance (flop/s over byte/s) is 4 to 7; loops reach half of the peak flop/s."""
LOOP = 4.0
"""Beginning and end of the rows of a loop, a cell."""
LAUNCH = 8.0
"""A barrier of all threads, 5 us on 256 x 256 cells."""
_COMFORTABLE = 5_000  # operations in a loop beyond which compilers and registers suffer
_ORDERING, _CHAINING = 4, 24  # effort of placing a loop among the others, without chains and with them
_BUFFER_BYTES = 384 << 10  # what backends give to rolling values
_UNCUT_CELLS, _FEW_ROWS = 512, 8  # as in stencil_rolling.h
_EXTENTS = {1: (1 << 20,), 2: (1024, 1024), 3: (128, 128, 128)}


@dataclass(frozen=True, slots=True)
class _Body:
    """One loop: what it touches, and what a cell costs; what many estimates ask is kept.

    crowding: how much slower the loop is for being long. alone: what it costs in no chain, rows: its share of what
    loops over all axes cost by themselves. reads: the boxes of offsets at which it reads stored nodes, where loops may
    run together. moved: bytes of the arrays that it reads or writes. bits: those of its walk.
    """

    walk: Walk
    crowding: float
    alone: float
    rows: float
    waits: Waits
    reads: dict[int, Box]
    moved: int
    bits: dict[int, int]


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
        for walk in (body.walk for body in self.bodies.values()):
            found.update({index: walk.passes * bits.bit_count() for index, bits in walk.bits.items()})
        return found


class Estimate:
    """Estimates of one step under any allocation.

    margins and live: of the step; copies: Loads that another field takes a copy of. together: whether loops may run
    together; through_fills: as `find_chains` takes it. `effort` counts all loops and what those that change touch,
    about half a microsecond each, so that the budget of a search is no time; work that is taken over from an estimate
    before counts too. Barriers that a person asked for are not considered.
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
        self.copies, self.together, self.through_fills = tuple(copies), together, through_fills
        self.dim = kernel.space.rank
        every = [axes_of(n.space, kernel.space) for n in kernel.nodes]
        if any(every):
            self.margins = margins = [in_frame(m, axes, self.dim) for m, axes in zip(margins, every, strict=True)]
        self.order = sorted(live)
        self.filled = [
            i
            for i in self.order
            if isinstance(kernel.nodes[i].instruction, Extend) and margins[i] != no_margins(self.dim)
        ]
        self._walking = Walking(kernel, self.margins)
        self.places, self.sizes, self.is_work = self._walking.places, self._walking.sizes, self._walking.is_work
        self._reduced = _reduced(kernel)
        self._extended = {kernel.nodes[i].operands[0] for i in self.filled}
        self._placing = Placing(kernel, self.margins, live, copies)
        self.only_users = self._walking.only_users(live)
        self._effort_of_loop = _CHAINING if together and self.dim > 1 else _ORDERING
        self.effort = 0

    def of(self, storage: Sequence[Storage], base: Estimated | None = None, changed: Collection[int] = ()) -> Estimated:
        """The estimate of an allocation; `base` is one that differs from it in the nodes `changed` only."""
        placed = self._placing.of(storage, None if base is None else base.placed, changed)
        self.effort += placed.visited // 4 + self._effort_of_loop * len(placed.order)
        bodies, stale = self._bodies(storage, placed, base, changed)
        made_by = {n: placed.made[n] for n in self._extended if storage[n] is Storage.MANIFEST}
        ordering = Ordering(self.kernel, placed.groups, lambda number: bodies[number].waits, made_by, self.filled)
        parts = ordering.run(placed.order, None if base is None else base.parts, placed.changed)
        chains = self._chains(placed, bodies, parts, base, stale)
        return Estimated(tuple(storage), self._cost(placed.order, bodies, parts, chains), bodies, placed, parts, chains)

    def _bodies(
        self, storage: Sequence[Storage], placed: Placed, base: Estimated | None, changed: Collection[int]
    ) -> tuple[dict[int, _Body], set[int]]:
        """The loops by number, and those that are other ones than in `base`."""
        bodies, other = {} if base is None else dict(base.bodies), frozenset(changed)
        stale = {number for number, body in bodies.items() if not body.bits.keys().isdisjoint(other)}
        stale |= placed.changed
        for number in sorted(stale):  # loops that make values come before those that read them
            before, group = bodies.pop(number, None), placed.groups.get(number)
            if group is None:
                continue
            walk = None
            if base is not None and before is not None and self._walking.are_exact:
                touched = before.bits.keys() & other
                walk = self._walking.again(storage, group, before.walk, base.placed.groups[number], touched)
            bodies[number] = body = self._body(group, walk or self.walk(storage, group))
            self.effort += len(body.bits) * (1 + self.places // 4096)
        return bodies, stale

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

    def walk(self, storage: Sequence[Storage], group: Group) -> Walk:
        """What a loop touches."""
        return self._walking.of(storage, group)

    def _body(self, group: Group, walk: Walk) -> _Body:
        crowding = max(1.0, walk.count / _COMFORTABLE)
        rolls = self.together and self.dim > 1
        is_wide = self._walking.is_wide(group)
        return _Body(
            walk,
            crowding,
            walk.work * crowding if is_wide or walk.passes > 1 else 0.0,
            LOOP if is_wide else 0.0,
            waits_of(self.kernel, walk.reads, self._reduced.intersection(walk.numbers), self.filled),
            {n: self._walking.box(walk.reads[n]) for n in sorted(walk.reads)} if rolls else {},
            sum([self.sizes[n] for n in walk.arrays]),
            walk.bits,
        )

    def _worth(self, chain: Chain, bodies: Mapping[int, _Body]) -> Together:
        """What a chain saves, and what its loops cost in it."""
        own = [bodies[member.subkernel] for member in chain.members]
        arrays = frozenset[int]().union(*(body.walk.arrays for body in own)) - {value.node for value in chain.rolling}
        moved = sum(self.sizes[n] for n in arrays) - sum(body.moved for body in own)
        cells = self.computed_cells(chain)
        costs = [each * body.walk.work * body.crowding for each, body in zip(cells, own, strict=True)]
        numbers = [member.subkernel for member in chain.members]
        return Together(chain.launches[1] - chain.launches[0] - 1, moved, tuple(zip(numbers, costs, strict=True)))

    def _cost(
        self, order: Sequence[int], bodies: Mapping[int, _Body], parts: LaunchParts, chains: Chained | None
    ) -> float:
        waits = sum([len(part.launches) for part in parts.parts]) + len(parts.end)
        loops = [bodies[number] for number in order]
        moved = sum([body.moved for body in loops])  # to or from memory, once for each loop or chain
        rows = sum([body.rows for body in loops])
        costs = [body.alone for body in loops]
        if chains is not None and chains.together:
            in_chains = dict(zip(order, costs, strict=True))
            for together in chains.together:
                waits -= together.barriers
                moved += together.moved
                in_chains.update(together.costs)
            costs = list(in_chains.values())
        return reduce(add, costs, LAUNCH * waits + rows + BYTE * moved)

    def computed_cells(self, chain: Chain) -> tuple[float, ...]:
        """Return how many cells each member computes for each of the domain, in tiles as backends cut them."""
        sides = [[[m.grown[k][side] for m in chain.members] for side in (0, 1)] for k in range(self.dim)]
        around = [max(below) + max(above) for below, above in sides]
        cells = _BUFFER_BYTES // max(1, sum(v.planes * self.sizes[v.node] for v in chain.rolling))
        extents = _EXTENTS.get(self.dim) or default_extents(self.dim)
        size = [min(extents[0], max(extents[0] // 8, 8 * around[0] + 16))] * self.dim
        for k in range(self.dim - 1, 0, -1):
            least = 256 if k == self.dim - 1 else 4 * around[k] + 4
            whole = max(min(cells, _UNCUT_CELLS), cells // _FEW_ROWS)
            size[k] = min(extents[k], max(least, cells if k == 1 else whole))
            cells //= size[k] + around[k]
        return tuple(
            prod(1 + (below + above) / s for (below, above), s in zip(m.grown, size, strict=True))
            for m in chain.members
        )


def _reduced(kernel: Kernel) -> frozenset[int]:
    """The numbers of a step that depend on values in cells."""
    found: set[int] = set()
    for index, node in enumerate(kernel.nodes):
        if isinstance(node.instruction, Reduce) or (not node.is_local and not found.isdisjoint(node.operands)):
            found.add(index)
    return frozenset(found)
