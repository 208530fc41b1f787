"""Rolling: which loops run together over blocks, so that values between them live for a few planes only.

A chain of sub-kernels without a barrier between them may work through the domain block by block: each computes a plane
of cells (along axis 0) as soon as the planes that it reads are there, on the block grown by what later members read.
Values that no other loop needs then stay in a small buffer of the thread, which caches hold, and memory is spared the
way there and back (`workbench.planning.rerolling` keeps loops that only reduce from needing them). Cells at borders
of blocks are computed twice. Every value keeps its formula, so no bit changes. Ghost cells of such values are written
into the buffers (`workbench.planning.rolling_ghosts` says which may be).

Backends may follow `Step.chains` or run the launches one by one: a plan is complete without them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from workbench.graph import Kernel
from workbench.graph.identity import by_identity
from workbench.planning.emission import Emission, boxes_of, gathered_by
from workbench.planning.grouping import Group
from workbench.planning.kernel_plan import Box, Chain, ChainMember, Launch, Margins, RollingValue, Step
from workbench.planning.reach import no_margins, union
from workbench.planning.rolling_ghosts import RollingGhosts
from workbench.planning.schedules.stepwise import Order

LONGEST = 24
"""Launches that are tried together."""


def find_chains(
    kernel: Kernel,
    groups: Sequence[Group],
    emissions: Sequence[Emission],
    order: Order,
    apart: Collection[int] = (),
    through_fills: bool = False,
) -> tuple[Chain, ...]:
    """Return the chains of a step, disjoint and in order: from its first launch on always the longest that is sound.

    Before: launches are in an order that respects all dependencies; `apart` are groups that want barriers. Loops
    over some axes and those that fold belong to no chain. through_fills: whether ghost cells may be filled in one.
    After: see `Chain`; arrays that a member reads must be left alone until the chain ends. In one dimension there are
    no chains, because a plane is one cell there.
    """
    if kernel.space.rank < 2:
        return ()
    boxes = [boxes_of(e.reads) for e in emissions]
    ghosts = RollingGhosts(kernel, dict(enumerate(order.fills)), boxes, wanted=through_fills)
    readers = readers_of(enumerate(boxes), ghosts)
    made_by = {node: g for g, group in enumerate(groups) for node in group.manifest}
    idle = [g for g, group in enumerate(groups) if not any(node in readers for node in group.manifest)]
    loops = Loops(dict(enumerate(groups)), dict(enumerate(boxes)), readers, made_by.get, idle, apart)
    search = ChainSearch(kernel, loops, order.launches, ghosts)
    found: list[Chain] = []
    first = 0
    while first < len(order.launches):
        chain = search.longest(first)
        if chain is not None:
            found.append(chain)
        first = first + 1 if chain is None else chain.launches[1]
    return tuple(found)


def rolling_planes(step: Step) -> dict[int, int]:
    """Node -> planes of the rolling buffer that it is kept in, for the values of a step that roll."""
    return {value.node: value.planes for chain in step.chains for value in chain.rolling}


@by_identity(size=4)
def _needed_whole(kernel: Kernel) -> frozenset[int]:
    """Values that are stored in fields or read at computed places."""
    stores = frozenset(node for _, node in kernel.stores())
    return stores | gathered_by(kernel, range(len(kernel.nodes)))


def readers_of(boxes: Iterable[tuple[int, Mapping[int, Box]]], ghosts: RollingGhosts) -> dict[int, frozenset[int]]:
    """Return for each value the loops that read it, the operand where they read ghost cells; boxes: what each reads."""
    found: dict[int, set[int]] = {}
    for loop, reads in boxes:
        for read in reads:
            found.setdefault(ghosts.operand_of.get(read, read), set()).add(loop)
    return {node: frozenset(loops) for node, loops in found.items()}


@dataclass(frozen=True, slots=True)
class Loops:
    """What a step's sub-kernels read and write; their numbers ascend as they run.

    reads: boxes of offsets, by loop and node; readers: of each value. made_by: the loop that makes a value; any number
    that is no loop's, or None, for a value that none makes. idle: loops whose values are not read; apart: those that
    want barriers.
    """

    groups: Mapping[int, Group]
    reads: Mapping[int, Mapping[int, Box]]
    readers: Mapping[int, Set[int]]
    made_by: Callable[[int], int | None]
    idle: Collection[int] = ()
    apart: Collection[int] = ()


class ChainSearch:
    """The longest chain from a launch on, if there is one."""

    def __init__(self, kernel: Kernel, loops: Loops, launches: Sequence[Launch], ghosts: RollingGhosts) -> None:
        self.kernel, self.loops, self.launches, self.ghosts = kernel, loops, launches, ghosts
        self.groups, self.reads, self.readers = loops.groups, loops.reads, loops.readers
        self.taken: set[int] = set()  # members of chains found so far
        self.asked: set[int] = set()  # earlier loops of which it was asked whether they may move
        extended = set(kernel.extends().values())
        self.kept = _needed_whole(kernel) | (extended - ghosts.extend_of.keys())

    def longest(self, first: int) -> Chain | None:
        """The longest chain that begins with this launch, whose members no other one gets then."""
        end = self.run_end(first)
        blocked = self._blocked(first, end)
        for last in range(end, first, -1):
            chain = None if blocked >> last & 1 else self.chain(first, last)
            if chain is not None:
                self.taken.update(member.subkernel for member in chain.members)
                return chain
        return None

    def is_alone(self, loop: int) -> bool:
        """Whether a loop belongs to no chain."""
        group = self.groups[loop]
        return loop in self.loops.apart or bool(group.reductions or group.axes) or group.takes

    def _blocked(self, first: int, end: int) -> int:
        """The ends, as bits, that a chain of some of these launches cannot have if it begins with the first.

        A value that the chain makes and one of its members reads would have another reader after such an end, or is
        needed in its array anyway.
        """
        launches = enumerate(self.launches[first:end], first)
        of_kernels = [(number, m) for number, launch in launches if launch.kind == "subkernel" for m in launch.members]
        place = {m: number for number, m in of_kernels}
        blocked = 0
        for _, m in of_kernels:
            for node in self.groups[m].manifest:
                readers = [place.get(reader, end) for reader in self.readers.get(node, ())]
                nearest = min(readers, default=end)
                if nearest < end:
                    last = end if node in self.kept else max(readers)
                    blocked |= (2 << last) - (2 << nearest)
        return blocked

    def run_end(self, first: int) -> int:
        """The end of the longest row of launches from `first` on between which nothing stands."""
        end = first
        while end < min(len(self.launches), first + LONGEST):
            launch = self.launches[end]
            if launch.kind == "subkernel" and any(map(self.is_alone, launch.members)):
                break
            if launch.kind == "finisher" or (launch.kind == "fill" and not self.ghosts.may_roll(launch)):
                break
            end += 1
        return end

    def chain(self, first: int, end: int) -> Chain | None:
        """The chain that replaces launches [first, end), None if it would not be sound or nothing would roll."""
        launches = self.launches[first:end]
        if "fill" in (launches[0].kind, launches[-1].kind):
            return None
        own = tuple(m for launch in launches if launch.kind == "subkernel" for m in launch.members)
        inside = set(own)  # what moves in reads none of their values
        made_here = {n for m in own for n in self.groups[m].manifest}
        fills = self.ghosts.fills_in(launches)
        filled = {self.ghosts.operand(fill) for fill in fills}
        if not filled <= made_here or not self.ghosts.alike(fills):
            return None
        if any(
            not inside.isdisjoint(self.readers.get(n, ())) for n in made_here & self.ghosts.extend_of.keys() - filled
        ):
            return None
        moved = self._moved(own)
        members = (*moved, *own)
        inside.update(moved)
        made = {node: m for m in members for node in self.groups[m].manifest}
        rolling = {n for n in made if self._stays(n, inside, filled)}
        if not rolling or any(not inside.isdisjoint(self.readers.get(n, ())) for n in made.keys() - rolling):
            return None
        if not filled <= rolling or (fills and any(any(map(any, self.groups[m].margins)) for m in members)):
            return None
        ends = [m for m in members if self.groups[m].copies or set(self.groups[m].manifest) - rolling]
        margins = {self.groups[m].margins for m in ends}
        if len(margins) != 1:
            return None
        growth = _Growth(self.reads, members, made, rolling, self.kernel.space.rank, self.ghosts)
        if any(growth.grown[m] != no_margins(len(growth.grown[m])) for m in ends):
            return None
        values = tuple(RollingValue(n, growth.planes[n]) for n in sorted(rolling))
        rows = tuple(ChainMember(m, growth.grown[m], growth.ahead[m]) for m in members)
        return Chain((first, end), margins.pop(), rows, values, moved, fills)

    def _stays(self, node: int, members: set[int], filled: Collection[int] = ()) -> bool:
        """Whether only these sub-kernels need the value; `filled` are those that are extended between them."""
        if node in self.ghosts.extend_of and node not in filled:
            return False
        return node not in self.kept and self.readers.get(node, set()) <= members

    def _moved(self, own: tuple[int, ...]) -> tuple[int, ...]:
        """Sub-kernels of earlier launches that may as well run in the chain: only its members read what they make."""
        inside, seen = set(own), set(own)
        waiting = [-loop for loop in self.loops.idle if loop < own[0]]
        waiting += self._makers(own, seen)
        heapify(waiting)
        while waiting:  # the last ones first, because they are what others are read by
            loop = -heappop(waiting)
            if loop in seen:
                continue
            seen.add(loop)
            group = self.groups[loop]
            bound = group.copies or self.is_alone(loop) or loop in self.taken
            if not bound and all(self._stays(n, inside) for n in group.manifest):
                inside.add(loop)
                for maker in self._makers((loop,), seen):
                    heappush(waiting, maker)
        self.asked |= seen - set(own)
        return tuple(sorted(inside - set(own)))

    def _makers(self, loops: Iterable[int], seen: Collection[int]) -> list[int]:
        """The loops that make what these read, as negative numbers."""
        nodes = {self.ghosts.operand_of.get(node, node) for loop in loops for node in self.reads[loop]}
        makers = {maker for maker in map(self.loops.made_by, nodes) if maker is not None and maker in self.groups}
        return [-maker for maker in makers if maker not in seen]


class _Growth:
    """For each member how far it grows and how many planes it is ahead; for each value how many planes are kept.

    Found by following the reads of rolling values from the last member back to the first.
    """

    def __init__(
        self,
        reads: Mapping[int, Mapping[int, Box]],
        members: tuple[int, ...],
        made: dict[int, int],
        rolling: set[int],
        dim: int,
        ghosts: RollingGhosts,
    ) -> None:
        self.grown: dict[int, Margins] = dict.fromkeys(members, no_margins(dim))
        self.ahead = dict.fromkeys(members, 0)
        self.planes = dict.fromkeys(rolling, 1)
        uses = [
            (reader, ghosts.operand_of.get(node, node), box, node in ghosts.operand_of)
            for reader in reversed(members)
            for node, box in reads[reader].items()
            if ghosts.operand_of.get(node, node) in rolling
        ]
        for reader, node, box, outside in uses:
            maker, around = made[node], zip(self.grown[reader], box, strict=True)
            needed = tuple((max(low - first, 0), max(high + last, 0)) for (low, high), (first, last) in around)
            if outside:  # where ghost cells come from is on the other side of them
                needed = tuple((max(pair),) * 2 for pair in needed)
            self.grown[maker] = union(self.grown[maker], needed)
            reach = max(map(abs, box[0])) if outside else box[0][1]
            self.ahead[maker] = max(self.ahead[maker], self.ahead[reader] + reach)
        for reader, node, box, outside in uses:
            kept = self.ahead[made[node]] - (self.ahead[reader] + box[0][0]) + 1
            if outside and not ghosts.rings_of(node)[0]:  # planes outside are there as soon as those they come from
                kept += 2 * ghosts.reach_of(node)
            self.planes[node] = max(self.planes[node], 1 << (kept - 1).bit_length())
