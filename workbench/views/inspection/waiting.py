"""Waiting: what the views of a large machine say while they are made, or made anew."""

from __future__ import annotations

from workbench.planning.plan import Plan

LARGE = 400  # values; more take a second or longer to lay out, to draw or to write


def waiting_text(doing: str, name: str, values: int) -> str:
    """What is done to how many values, as in "laying out the graph of hydro, 2806 values ..."."""
    return f"{doing} of {name}, {values} values ..."


def large_plan_text(doing: str, plan: Plan) -> str:
    """The same of a plan; "" for one that takes no time."""
    values = max(len(kernel.kernel.nodes) for kernel in plan.kernels)
    return waiting_text(doing, plan.graph.name, values) if values > LARGE else ""
