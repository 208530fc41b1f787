"""Rolling: which loops run together over blocks, so that values between them live for a few planes only.

A chain of sub-kernels without a barrier between them may work through the domain block by block: each computes a plane
of cells (along axis 0) as soon as the planes that it reads are there, on the block grown by what later members read.
Values that nobody else needs then stay in a small buffer of the thread, which caches hold, and memory is spared the
way there and back (`workbench.planning.rerolling` keeps loops that only reduce from needing them). Cells at borders
of blocks are computed twice. Every value keeps its formula, so no bit changes. Ghost cells of such values are written
into the buffers (`workbench.planning.rolling_ghosts` says which may be).

Backends may follow `Step.chains` or run the launches one by one: a plan is complete without them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from workbench.graph import Kernel
from workbench.graph.identity import by_identity
from workbench.planning.emission import Emission, boxes_of, gathered_by
from workbench.planning.grouping import Group
from workbench.planning.kernel_plan import Box, Chain, ChainMember, Margins, RollingValue, Step
from workbench.planning.reach import no_margins, union
from workbench.planning.rolling_ghosts import RollingGhosts, extends_of
from workbench.planning.schedules.stepwise import Order

_LONGEST = 24  # launches that are tried together


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
    search, launches = _Search(kernel, groups, emissions, order, apart, through_fills), order.launches
    found: list[Chain] = []
    first = 0
    while first < len(launches):
        for end in range(search.run_end(first), first, -1):
            chain = None if search.blocked[first] >> end & 1 else search.chain(first, end)
            if chain is not None:
                found.append(chain)
                search.taken.update(m.subkernel for m in chain.members)
                first = end
                break
        else:
            first += 1
    return tuple(found)


def rolling_planes(step: Step) -> dict[int, int]:
    """Node -> planes of the rolling buffer that it is kept in, for the values of a step that roll."""
    return {value.node: value.planes for chain in step.chains for value in chain.rolling}


@by_identity(size=4)
def _needed_whole(kernel: Kernel) -> frozenset[int]:
    """Values that are stored in fields or read at computed places."""
    stores = frozenset(node for _, node in kernel.stores())
    return stores | gathered_by(kernel, range(len(kernel.nodes)))


class _Search:
    """What a step's sub-kernels read and write, and the chain of some launches if there is one."""

    def __init__(
        self,
        kernel: Kernel,
        groups: Sequence[Group],
        emissions: Sequence[Emission],
        order: Order,
        apart: Collection[int],
        through_fills: bool,
    ) -> None:
        self.kernel, self.groups, self.launches = kernel, groups, order.launches
        self.reads = [boxes_of(e.reads) for e in emissions]
        self.ghosts = RollingGhosts(kernel, order, self.reads, wanted=through_fills)
        self.alone = {
            g for g, group in enumerate(groups) if g in apart or group.reductions or group.axes or group.takes
        }
        self.taken: set[int] = set()  # members of chains found so far
        extended = {operand for operand, _ in extends_of(kernel)}
        self.kept = _needed_whole(kernel) | (extended - self.ghosts.extend_of.keys())
        self.readers: dict[int, set[int]] = {}
        for index, each in enumerate(self.reads):
            for read in each:
                self.readers.setdefault(self.ghosts.operand_of.get(read, read), set()).add(index)
        self.blocked = self._blocked()

    def _blocked(self) -> list[int]:
        """For each launch the ends, as bits, that a chain beginning there cannot have.

        A value that the chain makes and one of its members reads would have another reader after such an end, or is
        needed in its array anyway.
        """
        launches = list(enumerate(self.launches))
        of_kernels = [(number, m) for number, launch in launches if launch.kind == "subkernel" for m in launch.members]
        place = {m: number for number, m in of_kernels}
        blocked = [0] * len(self.launches)
        for number, m in of_kernels:
            for node in self.groups[m].manifest:
                readers = [place[reader] for reader in self.readers.get(node, ())]
                if readers:
                    last = len(self.launches) if node in self.kept else max(readers)
                    blocked[number] |= (2 << last) - (2 << min(readers))
        for number in range(len(blocked) - 2, -1, -1):
            blocked[number] |= blocked[number + 1]
        return blocked

    def run_end(self, first: int) -> int:
        """The end of the longest row of launches from `first` on between which nothing stands."""
        end = first
        while end < min(len(self.launches), first + _LONGEST):
            launch = self.launches[end]
            if launch.kind == "subkernel" and self.alone & set(launch.members):
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
        moved = self._moved(own, first)
        members = (*moved, *own)
        made = {node: m for m in members for node in self.groups[m].manifest}
        rolling = {n for n in made if self._stays(n, set(members), filled)}
        if not rolling or any(self.readers.get(n, set()) & set(members) for n in made.keys() - rolling):
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

    def _moved(self, own: tuple[int, ...], first: int) -> tuple[int, ...]:
        """Sub-kernels of earlier launches that may as well run in the chain: only its members read what they make."""
        inside = set(own)
        for launch in reversed(self.launches[:first]):
            for member in launch.members if launch.kind == "subkernel" else ():
                group = self.groups[member]
                bound = group.copies or member in self.alone or member in self.taken
                if not bound and all(self._stays(n, inside) for n in group.manifest):
                    inside.add(member)
        return tuple(sorted(inside - set(own)))


class _Growth:
    """For each member how far it grows and how many planes it is ahead; for each value how many planes are kept.

    Found by following the reads of rolling values from the last member back to the first.
    """

    def __init__(
        self,
        reads: Sequence[Mapping[int, Box]],
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
