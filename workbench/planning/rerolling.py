"""Rerolling: loops that only reduce compute anew what could roll if they did not read it.

A value rolls only where only the members of one chain read it. The loop that finds the largest wave speed, say,
ends before the chain begins and can be no member; if it reads the pressure, the pressure of all cells goes to memory
and back. Where that costs more than to compute the value once more in the loop, the loop does so: it sees the value as
Delayed. All others see it as it is, and every value keeps its formula, so no bit changes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from workbench.graph import Kernel
from workbench.graph.instructions import traits_of
from workbench.planning.emission import Emission, emit
from workbench.planning.grouping import Group
from workbench.planning.kernel_plan import Chain, Step, Storage, Subkernel
from workbench.planning.rolling import find_chains
from workbench.planning.schedules.stepwise import Order, order_launches

_FLOPS_A_BYTE = 4.0  # what is computed while a byte moves, on processors and GPUs alike
_MOST = 1000  # operations of a loop that computes anew; what is more would not be won by any number of bytes


@dataclass(frozen=True, slots=True)
class Rolled:
    """What the loops of a step consist of, in which order they run, and which run together."""

    emissions: tuple[Emission, ...]
    order: Order
    chains: tuple[Chain, ...]


def reroll(
    kernel: Kernel,
    storage: Sequence[Storage],
    groups: Sequence[Group],
    now: Rolled,
    filled: Collection[int],
    apart: Collection[int],
    through_fills: bool = False,
) -> Rolled:
    """Return the step in which loops that only reduce compute anew what rolls then; `now` if nothing is won.

    filled and apart: as `order_launches` takes them; through_fills: as `find_chains`.
    """
    reducing = [
        g for g, group in enumerate(groups) if group.roots == group.reductions and g not in apart and not group.axes
    ]
    if not reducing:
        return now
    emissions, wanted = now.emissions, set[int]()
    while more := _arrays(kernel, storage, [emissions[g] for g in reducing]) - wanted:
        wanted |= more
        emissions = _reduced_anew(kernel, _without(storage, wanted), groups, now.emissions, reducing)
        if any(len(emissions[g].operations) > _MOST for g in reducing):
            return now
    while wanted:
        emissions = _reduced_anew(kernel, _without(storage, wanted), groups, now.emissions, reducing)
        order = order_launches(kernel, groups, emissions, filled, apart)
        chains = find_chains(kernel, groups, emissions, order, apart, through_fills)
        rolling = wanted & _rolling(chains)
        if rolling == wanted:
            moved = sum(2 * kernel.nodes[n].value_type.itemsize for n in wanted)  # written by one loop, read by others
            work = sum(emissions[g].flops(kernel) - now.emissions[g].flops(kernel) for g in reducing)
            return Rolled(emissions, order, chains) if work < _FLOPS_A_BYTE * moved else now
        wanted = rolling
    return now


def seen_by(storage: Sequence[Storage], step: Step, subkernel: Subkernel) -> tuple[Storage, ...]:
    """Return the storage of all nodes as a sub-kernel sees it: Delayed what rolls and it does not read."""
    if not subkernel.reductions or not step.chains:
        return tuple(storage)
    return _without(storage, _rolling(step.chains) - {home.node for home in subkernel.reads})


def _reduced_anew(
    kernel: Kernel,
    storage: Sequence[Storage],
    groups: Sequence[Group],
    emissions: Sequence[Emission],
    reducing: Collection[int],
) -> tuple[Emission, ...]:
    """The emissions of all groups, those that only reduce with other storage."""

    def anew(group: Group) -> Emission:
        used = tuple(kernel.nodes[r].operands[0] for r in group.reductions)
        return emit(kernel, storage, (), used, _MOST)

    return tuple(anew(groups[g]) if g in reducing else emission for g, emission in enumerate(emissions))


def _arrays(kernel: Kernel, storage: Sequence[Storage], emissions: Sequence[Emission]) -> set[int]:
    """The Manifest values that these loops read and that a formula makes; folds and scans have loops of their own."""
    read = {node for e in emissions for node, _ in e.reads if storage[node] is Storage.MANIFEST}
    return {node for node in read if traits_of(kernel.nodes[node].instruction).evaluated_in == "cells"}


def _rolling(chains: Sequence[Chain]) -> set[int]:
    return {value.node for chain in chains for value in chain.rolling}


def _without(storage: Sequence[Storage], nodes: Collection[int]) -> tuple[Storage, ...]:
    return tuple(Storage.DELAYED if index in nodes else s for index, s in enumerate(storage))
