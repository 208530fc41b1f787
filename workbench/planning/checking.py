"""Checking: whether every graph and plan is verified as it is made; WORKBENCH_CHECK=1, or `set_checking(True)`."""

from __future__ import annotations

import os

from workbench.errors import GraphError, PlanError
from workbench.graph import Graph
from workbench.graph.identity import Remembered
from workbench.graph.parse import parse
from workbench.graph.verify import CHECKS
from workbench.graph.verify_outside import loads_stay_inside
from workbench.planning.plan import Plan
from workbench.planning.verify import find_faults

VARIABLE = "WORKBENCH_CHECK"
_OFF = ("", "0", "no", "off", "false")
_ADVICE = f"Report this program: the fault is the workbench's. To go on unchecked, set {VARIABLE}=0."

# A read outside without a rule is the user's mistake, which the pass reach explains better.
_GRAPH_CHECKS = tuple(check for check in CHECKS if check is not loads_stay_inside)
_PASSED = Remembered[Graph](8)  # a graph does not change: planning one with many choices checks it once
_switch: bool | None = None


def is_checking() -> bool:
    """Whether graphs and plans are verified: what was set last, else what the environment says; off by default."""
    return os.environ.get(VARIABLE, "").strip().lower() not in _OFF if _switch is None else _switch


def set_checking(on: bool | None) -> None:
    """Verify everything from now on, or nothing; None leaves it to the environment again. For the whole process."""
    global _switch
    _switch = on


def check_graph(graph: Graph, where: str) -> None:
    """Raise GraphError unless the graph passes all checks and its text reads back as the same graph.

    `where` completes the sentence "... the graph `where`", as in "after the pass simplify".
    """
    if graph in _PASSED:
        return
    try:
        for check in _GRAPH_CHECKS:
            check(graph)
    except GraphError as error:
        raise GraphError(f"a check failed on the graph {where}: {error.what}", advice=_ADVICE) from error
    try:
        read = parse(str(graph))
    except GraphError as error:
        raise GraphError(f"the text of the graph {where} cannot be read back: {error.what}", advice=_ADVICE) from error
    if read != graph:
        raise GraphError(f"the text of the graph {where} reads back as another graph", advice=_ADVICE)
    _PASSED.add(graph)


def check_plan(plan: Plan) -> None:
    """Raise PlanError with every promise that the plan breaks."""
    faults = find_faults(plan)
    if faults:
        listed = "\n".join(f"    {fault}" for fault in faults)
        raise PlanError(f"checks failed on the plan of {plan.graph.name}\n{listed}", advice=_ADVICE)
