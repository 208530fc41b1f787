"""Planning: from a graph and choices to a plan: stored values, loops, halos, memory, and the order of launches."""

from workbench.planning.choices import Choices, Meaning, PlanChoices
from workbench.planning.kernel_plan import (
    Cost,
    Fill,
    Finisher,
    Home,
    KernelPlan,
    Launch,
    Margins,
    Read,
    ScalarStore,
    Step,
    Storage,
    Subkernel,
)
from workbench.planning.passes import PASSES, plan_graph
from workbench.planning.plan import GlobalSlot, Plan, Slot

__all__ = [
    "PASSES",
    "Choices",
    "Cost",
    "Fill",
    "Finisher",
    "GlobalSlot",
    "Home",
    "KernelPlan",
    "Launch",
    "Margins",
    "Meaning",
    "Plan",
    "PlanChoices",
    "Read",
    "ScalarStore",
    "Slot",
    "Step",
    "Storage",
    "Subkernel",
    "plan_graph",
]
