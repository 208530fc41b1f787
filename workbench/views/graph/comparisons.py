"""Graph comparisons: the other plans that a reader may have a graph compared with."""

from __future__ import annotations

from workbench.planning.choices import Choices, PlanChoices
from workbench.planning.plan import Plan
from workbench.views.inspection.inspection import Inspection

COMPARISONS = (
    "nothing",
    "as it was opened",
    "before the last change",
    "all Delayed",
    "all Manifest",
    "decided by cost",
)


def compared(comparison: str, inspection: Inspection, opened: Choices) -> Plan | Choices | None:
    """The plan of one of COMPARISONS, or the choices that give it; `opened`: those when the view was opened."""
    meaning = inspection.choices.meaning
    match comparison:
        case "as it was opened":
            return opened
        case "before the last change":
            return inspection.previous or inspection.plan
        case "all Delayed":
            return Choices(meaning, PlanChoices().changed(preset="as_delayed"))
        case "all Manifest":
            return Choices(meaning, PlanChoices().changed(preset="as_manifest"))
        case "decided by cost":
            return Choices(meaning)
        case _:
            return None
