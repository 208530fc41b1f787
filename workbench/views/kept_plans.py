"""Kept plans: the plans of one program that were looked at last, for the backends that would run them."""

from __future__ import annotations

import threading
from collections import OrderedDict

from workbench.graph import Graph
from workbench.pipeline import plan_for
from workbench.planning.choices import Choices
from workbench.planning.plan import Plan

_KEPT = 32


class KeptPlans:
    """Plans by choices and backend; undoing a change costs no planning. Any thread may use it."""

    def __init__(self, graph: Graph) -> None:
        """graph: what is planned."""
        self._graph = graph
        self._plans: OrderedDict[tuple[Choices, str], Plan] = OrderedDict()
        self._lock = threading.Lock()

    def planned(self, choices: Choices, backend: str) -> Plan:
        """The plan for one backend; raises PlanError if the choices cannot be met."""
        with self._lock:
            known = self._plans.get((choices, backend))
        return known or self.keep(plan_for(self._graph, choices, backend), backend)

    def keep(self, plan: Plan, backend: str) -> Plan:
        """Remember a plan that was made elsewhere, for its own choices."""
        key = (plan.choices, backend)
        with self._lock:
            self._plans[key] = plan
            self._plans.move_to_end(key)
            while len(self._plans) > _KEPT:
                self._plans.popitem(last=False)
        return plan
