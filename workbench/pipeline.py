"""Pipeline: the whole line from a cell's text to a kernel that runs, one function an arrow.

    text ──trace──> Traced ──> Graph ──plan──> Plan ──render──> source ──build──> Program

`compile_graph` walks it for those who only want to run.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass

from workbench.backends.base import Program
from workbench.backends.build_cache import Counters, counters
from workbench.backends.registry import Selection, select_backend
from workbench.graph import Graph
from workbench.planning import plan_graph
from workbench.planning.choices import Choices
from workbench.planning.plan import Plan
from workbench.planning.simplify import simplify

__all__ = ["Compiled", "Counters", "build", "compile_graph", "counters", "plan_graph", "simplify"]

_KEPT_PROGRAMS = 64
_programs: OrderedDict[tuple[Plan, str], Program] = OrderedDict()
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class Compiled:
    """A program ready to run, with all it came from and the backend it is for."""

    graph: Graph
    plan: Plan
    program: Program
    selection: Selection


def build(plan: Plan, selection: Selection) -> Program:
    """Plan -> program. Equal plans are built once for each backend in a process."""
    key = (plan, selection.name)
    with _lock:
        if key in _programs:
            _programs.move_to_end(key)
            return _programs[key]
    program = selection.backend.compile(plan)
    with _lock:
        _programs[key] = program
        while len(_programs) > _KEPT_PROGRAMS:
            _programs.popitem(last=False)
    return program


def compile_graph(graph: Graph, choices: Choices, backend: str = "auto") -> Compiled:
    """Graph -> plan -> program on a backend, "auto" for the fastest that is available."""
    selection = select_backend(backend)
    plan = plan_graph(graph, choices)
    return Compiled(plan.graph, plan, build(plan, selection), selection)
