"""Search: the allocation with the lowest estimate that flips of single values and of whole frontiers lead to."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from workbench.graph import Reduce, Shift
from workbench.planning.estimate import Estimate, Estimated
from workbench.planning.kernel_plan import Storage

_SMALL = 32  # free values up to which the search starts from both ends
EFFORT = 1_000_000
"""The budget of a search: of an estimate, after which nothing more is tried; one to four seconds."""
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
    Then one value after the other is flipped until no flip gains anything. Of equal allocations it keeps the one that
    stores less. The result depends on the program alone, not on a clock: the budget EFFORT counts work. Where it ends
    before all frontiers are tried, the rest is stored at regular distances, such as every fifth of equal steps. Of
    programs that reach very far, all values that are read beside their cell are stored instead.
    """
    free = frozenset(i for i, storage in enumerate(wanted) if storage is None and i in estimate.live)
    start = [storage or Storage.DELAYED for storage in wanted]
    if not free:
        return Found(tuple(start))
    if estimate.places > _PLACES:
        nodes = estimate.kernel.nodes
        moved = free & {n.operands[0] for n in nodes if isinstance(n.instruction, Shift)}
        return Found(tuple(Storage.MANIFEST if i in moved else s for i, s in enumerate(start)))
    best = _descend(estimate, estimate.of(start), free)
    if len(free) <= _SMALL:
        other = estimate.of([Storage.MANIFEST if i in free else storage for i, storage in enumerate(start)])
        other = _descend(estimate, other, free)
        best = other if other.cost < best.cost else best
    return Found(best.storage, estimate.effort >= EFFORT)


def _descend(estimate: Estimate, now: Estimated, free: frozenset[int]) -> Estimated:
    before = float("inf")
    while now.cost < before and (before == float("inf") or estimate.effort < EFFORT):  # the frontiers once in any case
        before = now.cost
        now = _without_idle(estimate, _store_frontiers(estimate, now, free), free)
    before = float("inf")
    while now.cost < before and estimate.effort < EFFORT:
        before = now.cost
        times = now.times()
        for node in sorted(free, reverse=True):
            if estimate.effort >= EFFORT:
                break
            if now.storage[node] is Storage.MANIFEST:
                now = _better(estimate, now, (node,), Storage.DELAYED)
            elif times[node] > 1:
                now = _better(estimate, now, (node,), Storage.MANIFEST)
    return now


def _store_frontiers(estimate: Estimate, now: Estimated, free: frozenset[int]) -> Estimated:
    frontiers = _frontiers(estimate, now, free)
    for number, nodes in enumerate(frontiers):
        if estimate.effort >= EFFORT:
            return _strided(estimate, now, frontiers[number:])
        now = _better(estimate, now, nodes, Storage.MANIFEST)
    return now


def _without_idle(estimate: Estimate, now: Estimated, free: frozenset[int]) -> Estimated:
    """Recompute what is not worth its array alone."""
    stored = [node for node in sorted(free, reverse=True) if now.storage[node] is Storage.MANIFEST]
    for number, node in enumerate(stored):
        if estimate.effort >= EFFORT:
            return _strided(estimate, now, [(each,) for each in stored[number:]])
        now = _better(estimate, now, (node,), Storage.DELAYED)
    return now


def _strided(estimate: Estimate, now: Estimated, frontiers: Sequence[Sequence[int]]) -> Estimated:
    """The cheapest allocation that stores each so many-th of the frontiers, or what it was; few estimates.

    Programs that come here repeat a step hundreds of times.
    """
    without = _changed(now.storage, chain(*frontiers), Storage.DELAYED)
    kept = (_changed(without, chain(*frontiers[::stride]), Storage.MANIFEST) for stride in _STRIDES)
    trials = [estimate.of(storage) for storage in kept]
    return min((*trials, now), key=lambda each: each.cost)


def _changed(storage: Sequence[Storage], nodes: Iterable[int], to: Storage) -> list[Storage]:
    changed = list(storage)
    for node in nodes:
        changed[node] = to
    return changed


def _better(estimate: Estimate, now: Estimated, nodes: Sequence[int], to: Storage) -> Estimated:
    """What is cheaper: the allocation as it is, or with these nodes changed."""
    storage = list(now.storage)
    for node in nodes:
        storage[node] = to
    trial = estimate.of(storage, now, nodes)
    gained = now.cost - trial.cost
    return trial if gained > 1e-9 or (to is Storage.DELAYED and gained >= 0) else now


def _frontiers(estimate: Estimate, now: Estimated, free: Collection[int]) -> list[list[int]]:
    """The free Delayed values that leave a region, of each region evaluated more than once; consumers first."""
    found: dict[int, list[tuple[int, int]]] = {}
    for number, uses in enumerate(now.uses):
        for index, bits in uses.items():
            found.setdefault(index, []).append((number, bits))
    regions: dict[int, _Region] = {index: tuple(uses) for index, uses in found.items()}
    consumers = estimate.kernel.consumers()
    frontiers: dict[_Region, list[int]] = {}
    for index, region in regions.items():
        if index not in free or now.storage[index] is Storage.MANIFEST:
            continue
        if sum(bits.bit_count() for _, bits in region) > 1 and any(
            regions.get(c) != region or isinstance(estimate.kernel.nodes[c].instruction, Shift | Reduce)
            for c in consumers[index]
            if c in estimate.live
        ):
            frontiers.setdefault(region, []).append(index)
    return sorted(frontiers.values(), key=max, reverse=True)
