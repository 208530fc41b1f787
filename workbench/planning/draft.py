"""Draft: a plan in the making, handed from pass to pass."""

from __future__ import annotations

from dataclasses import dataclass, field

from workbench.graph import Graph, Kernel
from workbench.planning.choices import Choices
from workbench.planning.emission import Emission
from workbench.planning.fields import FieldEnd
from workbench.planning.grouping import Group
from workbench.planning.kernel_plan import Chain, KernelPlan, Margins, Storage
from workbench.planning.plan import GlobalSlot, Slot
from workbench.planning.remembered import AllocationStore
from workbench.planning.schedules.stepwise import Order


@dataclass(frozen=True, slots=True)
class StepDraft:
    """One step: the nodes that take part, how far each is needed, what is computed together and in which order."""

    live: frozenset[int]
    margins: tuple[Margins, ...] = ()
    groups: tuple[Group, ...] = ()
    emissions: tuple[Emission, ...] = ()
    order: Order = field(default_factory=Order)
    chains: tuple[Chain, ...] = ()


@dataclass(frozen=True, slots=True)
class KernelDraft:
    """One kernel: `observed` is every node that a Store depends on, `plain` the same without diagnostic Stores.

    unrolled: nodes that ask to be stored where they roll and are known not to. search_ended: the budget ended the
    search for the allocation.
    """

    kernel: Kernel
    plain: StepDraft
    observed: StepDraft
    storage: tuple[Storage, ...] = ()
    forced: tuple[str, ...] = ()
    ends: tuple[FieldEnd, ...] = ()
    unrolled: frozenset[int] = frozenset()
    search_ended: bool = False


@dataclass(frozen=True, slots=True)
class Draft:
    """Graph and choices, and what the passes so far have decided.

    follows_chains: whether the backend can run loops together. allocations: where what a search found is kept.
    """

    graph: Graph
    choices: Choices
    follows_chains: bool = True
    kernels: tuple[KernelDraft, ...] = ()
    slots: tuple[Slot, ...] = ()
    global_slots: tuple[GlobalSlot, ...] = ()
    planned: tuple[KernelPlan, ...] = ()
    allocations: AllocationStore | None = None

    @property
    def together(self) -> bool:
        """Whether loops may run together over blocks."""
        return self.follows_chains and self.choices.plan.cpu.loops != "apart"

    @property
    def through_fills(self) -> bool:
        """Whether they run together although ghost cells are filled between them."""
        return self.choices.plan.cpu.stages
