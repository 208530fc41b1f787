"""Telling: what is selected, in one sentence."""

from __future__ import annotations

from workbench.graph import value_name
from workbench.planning.allocation import hint_reasons
from workbench.planning.kernel_plan import Storage
from workbench.planning.plan import Plan
from workbench.views.inspection.selection import CellLine, Selection, SubkernelRef, ValueRef, cell_lines_of


def describe_selection(plan: Plan, selection: Selection | None) -> str:
    """What is selected, in one sentence; empty for nothing."""
    match selection:
        case None:
            return ""
        case CellLine(line):
            return f"line {line} of the cell"
        case SubkernelRef(kernel, name):
            return f"sub-kernel {name} of kernel {kernel}"
        case ValueRef(kernel, node):
            planned = plan.kernel(kernel)
            storage = planned.storage[node]
            reasons = hint_reasons(planned.kernel, plan.choices.plan.values, planned.storage)
            why = planned.forced[node] or reasons.get(node, "")
            lines = cell_lines_of(plan, selection)
            where = f", line {', '.join(map(str, lines))} of the cell" if lines else ""
            reason = f" ({why})" if why and storage is not Storage.GLOBAL else ""
            return f"{name_of(plan, selection)}: {storage.value}{reason}{where}"


def name_of(plan: Plan, value: ValueRef) -> str:
    """What every view calls a value."""
    return value_name(plan.kernel(value.kernel).kernel, value.node)
