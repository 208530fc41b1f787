"""Chaining: which loops run together under an allocation, as find_chains finds them, but fast enough for a search."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from workbench.graph import Kernel
from workbench.planning.kernel_plan import Box, Chain, Launch
from workbench.planning.placing import Placed
from workbench.planning.rolling import LONGEST, ChainSearch, Loops, readers_of
from workbench.planning.rolling_ghosts import RollingGhosts

_Reads = Mapping[int, Mapping[int, Box]]  # what each loop reads


@dataclass(frozen=True, slots=True)
class Together:
    """What a chain is worth: barriers that it saves, bytes that it moves more than its loops do alone, their costs."""

    barriers: int
    moved: int
    costs: tuple[tuple[int, float], ...]


@dataclass(frozen=True, slots=True)
class _Look:
    """What was found from a launch on, and what that depends on.

    launches: as many as a chain may have. loops: of these launches, and earlier ones of which it was asked whether they
    may move; of the latter some were free, the others members of chains before.
    """

    launches: tuple[Launch, ...]
    loops: frozenset[int]
    free: frozenset[int]
    taken: frozenset[int]
    chain: Chain | None
    together: Together | None


@dataclass(frozen=True, slots=True)
class Chained:
    """The chains of an allocation, and how they came about, from which those of another allocation may start.

    reads: of each loop, readers: of each value. looks: by the first launch of each.
    """

    reads: _Reads
    readers: dict[int, frozenset[int]]
    ghosts: RollingGhosts
    looks: dict[tuple[str, int], _Look]

    @property
    def together(self) -> list[Together]:
        """What each chain is worth."""
        return [look.together for look in self.looks.values() if look.together is not None]


def chained(
    kernel: Kernel,
    placed: Placed,
    reads: _Reads,
    launches: Sequence[Launch],
    worth: Callable[[Chain], Together],
    through_fills: bool = False,
    base: Chained | None = None,
    changed: Collection[int] = (),
) -> Chained:
    """Return the chains of a step; launches: with numbers of loops and nodes of fills. through_fills: as find_chains.

    base: of an allocation that differs in the loops `changed` only, in what they make or read or in that they are
    there; what does not depend on them is taken from it. worth: asked for chains that are not.
    """
    fills = {n: n for launch in launches if launch.kind == "fill" for n in launch.members} if through_fills else {}
    ghosts = RollingGhosts(kernel, fills, reads.values(), wanted=through_fills)
    if base is None or not ghosts.same_as(base.ghosts):
        readers, touched, known = readers_of(reads.items(), ghosts), frozenset[int](), dict[tuple[str, int], _Look]()
    else:
        readers, touched, known = _readers_again(base, reads, changed), frozenset(changed), base.looks
    loops = Loops(placed.groups, reads, readers, placed.made.__getitem__)
    search = ChainSearch(kernel, loops, launches, ghosts)
    looks: dict[tuple[str, int], _Look] = {}
    first = 0
    while first < len(launches):
        key = (launches[first].kind, launches[first].members[0])
        look = known.get(key)
        if look is None or not _is_same(look, launches[first : first + LONGEST], touched, search.taken):
            look = _look(search, first, worth)
        looks[key] = look
        if look.chain is None:
            first += 1
        else:
            search.taken.update(member.subkernel for member in look.chain.members)
            first += look.chain.launches[1] - look.chain.launches[0]
    return Chained(reads, readers, ghosts, looks)


def _readers_again(base: Chained, reads: _Reads, changed: Collection[int]) -> dict[int, frozenset[int]]:
    """Which loops read each value.

    Where a loop reads a value that no loop outside of a look read, one of the look's loops has changed: before, all
    that is made of the value was made or evaluated there.
    """
    readers, operand_of = dict(base.readers), base.ghosts.operand_of
    for loop in changed:
        before, now = ({operand_of.get(n, n) for n in each.get(loop, ())} for each in (base.reads, reads))
        for value in before ^ now:
            readers[value] = readers.get(value, frozenset()) ^ {loop}
    return readers


def _is_same(look: _Look, launches: Sequence[Launch], touched: frozenset[int], taken: Collection[int]) -> bool:
    return (
        look.launches == launches
        and look.loops.isdisjoint(touched)
        and look.free.isdisjoint(taken)
        and look.taken.issubset(taken)
    )


def _look(search: ChainSearch, first: int, worth: Callable[[Chain], Together]) -> _Look:
    taken = frozenset(search.taken)
    search.asked.clear()
    chain = search.longest(first)
    launches = tuple(search.launches[first : first + LONGEST])
    looked = (m for launch in launches if launch.kind == "subkernel" for m in launch.members)
    asked = frozenset(search.asked)
    together = None if chain is None else worth(chain)
    return _Look(launches, asked.union(looked), asked - taken, asked & taken, chain, together)
