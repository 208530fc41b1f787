"""Search: the allocation with the lowest estimate that flips of single values and of whole frontiers lead to."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from workbench.graph import Reduce, Shift
from workbench.planning.estimate import Estimate, Estimated
from workbench.planning.kernel_plan import Storage

_SMALL = 32  # free values up to which the search starts from both ends
EFFORT = 400_000
"""The budget of a search: of an estimate, after which nothing more is tried; a quarter to half a second."""
_STRIDES = range(1, 9)  # of the frontiers that the budget left untried, each so many-th is stored
_PLACES = 1 << 16  # offsets up to which estimates are made; farther moves are beyond what loops reuse of what they read
_Region = tuple[tuple[int, int], ...]  # the loops that evaluate a value, each with the offsets as bits


@dataclass(frozen=True, slots=True)
class Found:
    """An allocation, and whether the budget ended the search for it."""

    storage: tuple[Storage, ...]
    ended: bool = False


def cheapest_allocation(estimate: Estimate, wanted: Sequence[Storage | None]) -> Found:
    """Decide the values of the estimate's step that are None in `wanted`; those of other steps become Delayed.

    Starts from all Delayed, in small programs also from all Manifest. Frontiers first: the outermost values of a
    region that is evaluated at the same cells, such as all fluxes through a face, are worth storing only together.
    Then one value after the other is flipped until no flip gains anything; a value that only one other value uses is
    not tried, because that other one is. Of equal allocations it keeps the one that stores less. The result depends
    on the program alone, not on a clock: the budget EFFORT counts work. Where it ends before all frontiers are tried,
    the rest is stored at regular distances, such as every fifth of equal steps. Of programs that reach very far, all
    values that are read beside their cell are stored instead.
    """
    free = frozenset(i for i, storage in enumerate(wanted) if storage is None and i in estimate.live)
    start = [storage or Storage.DELAYED for storage in wanted]
    if not free:
        return Found(tuple(start))
    if estimate.places > _PLACES:
        nodes = estimate.kernel.nodes
        moved = free & {n.operands[0] for n in nodes if isinstance(n.instruction, Shift)}
        return Found(tuple(Storage.MANIFEST if i in moved else s for i, s in enumerate(start)))
    best = _Descent(estimate, estimate.of(start), free).run()
    if len(free) <= _SMALL:
        other = estimate.of([Storage.MANIFEST if i in free else storage for i, storage in enumerate(start)])
        other = _Descent(estimate, other, free).run()
        best = other if other.cost < best.cost else best
    return Found(best.storage, estimate.effort >= EFFORT)


class _Descent:
    """The way down from one allocation: the cheapest so far, and which changes of it were tried and cost more."""

    def __init__(self, estimate: Estimate, start: Estimated, free: frozenset[int]) -> None:
        self._estimate, self._free, self._now = estimate, free, start
        self._refused: set[tuple[tuple[int, ...], Storage]] = set()

    def run(self) -> Estimated:
        before = float("inf")
        while self._now.cost < before and (before == float("inf") or not self._is_over()):  # frontiers once in any case
            before = self._now.cost
            self._store_frontiers()
            self._without_idle()
        before = float("inf")
        while self._now.cost < before and not self._is_over():
            before = self._now.cost
            counted, times = self._now, self._now.times()
            for node in sorted(self._free, reverse=True):
                if self._is_over():
                    break
                if counted is not self._now:
                    counted, times = self._now, self._now.times()
                if self._now.storage[node] is Storage.MANIFEST:
                    self._change((node,), Storage.DELAYED)
                elif times[node] > 1 and not self._is_taken_up(node):
                    self._change((node,), Storage.MANIFEST)
        return self._now

    def _is_taken_up(self, node: int) -> bool:
        """Whether only one other value uses it, at the same cell, and that one could be stored for no more bytes.

        The other value was tried before. To store it saves its own operations too, so that this one hardly ever gains.
        """
        user = self._estimate.only_users[node]
        return user in self._free and self._now.storage[user] is not Storage.MANIFEST

    def _is_over(self) -> bool:
        return self._estimate.effort >= EFFORT

    def _store_frontiers(self) -> None:
        frontiers = _frontiers(self._estimate, self._now, self._free)
        for number, nodes in enumerate(frontiers):
            if self._is_over():
                self._stride(frontiers[number:])
                return
            self._change(tuple(nodes), Storage.MANIFEST)

    def _without_idle(self) -> None:
        """Recompute what is not worth its array alone."""
        stored = [node for node in sorted(self._free, reverse=True) if self._now.storage[node] is Storage.MANIFEST]
        for number, node in enumerate(stored):
            if self._is_over():
                self._stride([(each,) for each in stored[number:]])
                return
            self._change((node,), Storage.DELAYED)

    def _stride(self, frontiers: Sequence[Sequence[int]]) -> None:
        """Store each so many-th of the frontiers where that is cheaper than what was found so far; few estimates.

        Programs that come here repeat a step hundreds of times. Once two longer strides in turn cost more, others do.
        """
        changed = tuple(chain(*frontiers))
        without = _changed(self._now.storage, changed, Storage.DELAYED)
        trials: list[Estimated] = []
        for stride in _STRIDES:
            trials.append(self._trial(_changed(without, chain(*frontiers[::stride]), Storage.MANIFEST), changed))
            if len(trials) > 2 and trials[-3].cost < trials[-2].cost < trials[-1].cost:
                break
        self._now = min((*trials, self._now), key=lambda each: each.cost)

    def _change(self, nodes: tuple[int, ...], to: Storage) -> None:
        """Change these nodes if that is cheaper; of equal allocations the one that stores less is kept."""
        if (nodes, to) in self._refused:
            return
        trial = self._trial(_changed(self._now.storage, nodes, to), nodes)
        gained = self._now.cost - trial.cost
        if gained > 1e-9 or (to is Storage.DELAYED and gained >= 0):
            self._now = trial
            self._refused.clear()
        else:
            self._refused.add((nodes, to))

    def _trial(self, storage: Sequence[Storage], changed: Collection[int]) -> Estimated:
        """The estimate of an allocation that differs from the one so far in the nodes `changed` at most."""
        same = tuple(storage) == self._now.storage  # as all of what is stored already is
        return self._now if same else self._estimate.of(storage, self._now, changed)


def _changed(storage: Sequence[Storage], nodes: Iterable[int], to: Storage) -> list[Storage]:
    changed = list(storage)
    for node in nodes:
        changed[node] = to
    return changed


def _frontiers(estimate: Estimate, now: Estimated, free: Collection[int]) -> list[list[int]]:
    """The free Delayed values that leave a region, of each region evaluated more than once; consumers first."""
    regions: dict[int, _Region] = {}
    for number, uses in enumerate(now.uses):
        for index, bits in uses.items():
            regions[index] = (*regions.get(index, ()), (number, bits))
    nodes, live, consumers = estimate.kernel.nodes, estimate.live, estimate.kernel.consumers()
    frontiers: dict[_Region, list[int]] = {}
    for index in free:
        region = regions.get(index)
        if region is None or now.storage[index] is Storage.MANIFEST:
            continue
        if (len(region) > 1 or region[0][1].bit_count() > 1) and any(
            regions.get(c) != region or isinstance(nodes[c].instruction, Shift | Reduce)
            for c in consumers[index]
            if c in live
        ):
            frontiers.setdefault(region, []).append(index)
    return sorted(frontiers.values(), key=max, reverse=True)
