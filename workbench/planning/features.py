"""Features: bytes, operations, loops and arrays of a step under any allocation, without a plan for each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from workbench.graph.instructions import traits_of
from workbench.planning.estimate import Estimate
from workbench.planning.fields import copied_loads, end_fields
from workbench.planning.grouping import Group
from workbench.planning.kernel_plan import Storage
from workbench.planning.plan import Plan
from workbench.planning.reach import find_margins
from workbench.planning.variants import plain_nodes

_KEPT = 4096  # loops whose features are remembered


@dataclass(frozen=True, slots=True)
class Features:
    """Of a cell in a plain step, its loops one after the other.

    bytes_moved: every array that a loop reads or writes, once a loop. work: operations, reads and writes by weight, in
    additions of f64. operations: how many are computed; redundant: those of them that another place or loop computes as
    well. longest: operations of the longest loop. arrays: values that are stored. before, after: the loops that have
    a barrier there, as bits.
    """

    bytes_moved: int
    work: float
    operations: int
    redundant: int
    longest: int
    loops: int
    arrays: int
    before: int = 0
    after: int = 0

    @property
    def barriers(self) -> int:
        """Loops with a barrier on one side or on both."""
        return (self.before | self.after).bit_count()


class _Loop(NamedTuple):
    """What was found of a loop, and when it holds: of the nodes `touched` below its roots those in `stored` are stored.

    needed: all nodes that it evaluates or reads, its roots among them.
    """

    needed: int
    touched: int
    stored: int
    bytes_moved: int
    work: float
    operations: int
    computed: int


class StorageFeatures:
    """Features of the main kernel's step by which values are stored; sets of nodes are bits of a number.

    `start`: the nodes that the plan stores and need not; `free`: all that may be stored or recomputed.

    A loop is looked at again only where a value that it touches is stored in another way than before, so that
    allocations near each other take a fraction of a millisecond.
    """

    def __init__(self, plan: Plan) -> None:
        """plan: what is forced by it is so in every allocation; its schedule and its barriers say nothing here."""
        main = plan.main
        self.kernel = main.kernel
        self.free = _bits(i for i, reason in enumerate(main.forced) if not reason)
        self.start = self.free & _bits(i for i, storage in enumerate(main.storage) if storage is Storage.MANIFEST)
        self._storage = main.storage
        self._listed = [i for i in range(len(main.storage)) if self.free >> i & 1]
        self._evaluated = _bits(i for i, n in enumerate(main.kernel.nodes) if traits_of(n.instruction).is_elementwise)
        live = plain_nodes(plan.graph, main.kernel)
        copies = copied_loads(main.kernel, end_fields(plan.graph, main.kernel))
        margins = find_margins(main.kernel, live)
        self._estimate = Estimate(main.kernel, margins, live, copies, together=False)
        self._known: dict[tuple[int, ...], _Loop] = {}

    def of(self, stored: int, before: int = 0, after: int = 0) -> Features:
        """The features where those of the free values are stored that are in `stored`.

        before, after: nodes that ask for barriers; all loops that evaluate or read one of them have it.
        """
        storage = list(self._storage)
        for node in self._listed:
            storage[node] = Storage.MANIFEST if stored >> node & 1 else Storage.DELAYED
        groups = self._estimate.groups(storage)
        loops = [self._loop(storage, stored & self.free, group) for group in groups]
        operations = sum(loop.operations for loop in loops)
        computed = 0
        for loop in loops:
            computed |= loop.computed
        return Features(
            sum(loop.bytes_moved for loop in loops),
            sum(loop.work for loop in loops),
            operations,
            operations - computed.bit_count(),
            max((loop.operations for loop in loops), default=0),
            len(loops),
            sum(len(group.manifest) for group in groups),
            _bits(number for number, loop in enumerate(loops) if loop.needed & before),
            _bits(number for number, loop in enumerate(loops) if loop.needed & after),
        )

    def _loop(self, storage: list[Storage], stored: int, group: Group) -> _Loop:
        known = self._known.get(group.roots)
        if known is not None and known.touched & stored == known.stored:
            return known
        estimate = self._estimate
        walk = estimate.walk(storage, group)
        touched = _bits(walk.bits)
        computed = _bits(i for i in (*walk.bits, *group.manifest) if estimate.is_work[i] and i not in walk.reads)
        moved = sum(estimate.sizes[node] for node in walk.arrays)
        needed = touched & self._evaluated | _bits((*walk.reads, *group.roots, *walk.numbers))
        found = _Loop(needed, touched, touched & stored, moved, walk.passes * walk.work, walk.count, computed)
        if len(self._known) >= _KEPT:
            self._known.clear()
        self._known[group.roots] = found
        return found


def _bits(numbers: Iterable[int]) -> int:
    found = 0
    for number in numbers:
        found |= 1 << number
    return found
