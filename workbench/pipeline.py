"""Pipeline: from the text of a cell to a running kernel, one function for each stage.

    text ──trace──> Traced ──simplify──> Graph ──plan_for──> Plan ──render──> Source ──build──> Program

`build` calls `render` inside the backend, and compiles what the build cache does not have; `compile_graph` does all
stages from a graph to a program. tests/test_stages.py prints every stage of one small program.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module

from workbench.backends.base import Program
from workbench.backends.build_cache import Counters, counters
from workbench.backends.kept_allocations import KeptAllocations
from workbench.backends.kept_stages import STAGES
from workbench.backends.looping import LoopingProgram
from workbench.backends.registry import (
    REFERENCE,
    SHOWN,
    Selection,
    begin_objects,
    get_backend,
    names_with_text,
    row_of,
    select_backend,
)
from workbench.codegen.source import Source
from workbench.errors import BackendError, PlanError, StencilError, warn_user
from workbench.forking import forkable_lock
from workbench.frontend.cell import Traced, trace_function
from workbench.frontend.cell import trace_cell as trace
from workbench.graph import Graph
from workbench.planning import plan_graph
from workbench.planning.choices import Choices
from workbench.planning.plan import Plan
from workbench.planning.plan_figures import slot_bytes
from workbench.planning.strided import strided_fields

__all__ = [
    "Compiled",
    "Counters",
    "Traced",
    "build",
    "compile_graph",
    "counters",
    "memory_of",
    "plan_again",
    "plan_for",
    "planned_backend",
    "render",
    "simplify",
    "slots_of",
    "trace",
    "trace_function",
]

_ALLOCATIONS = KeptAllocations()
_KEPT_PROGRAMS = 64
_KEPT_PLANS = 32

_programs: OrderedDict[tuple[Plan, str], Program] = OrderedDict()
_plans: OrderedDict[tuple[Graph, Choices, bool], Plan] = OrderedDict()
_lock = forkable_lock()


class InterpreterWarning(UserWarning):
    """backend="auto" found nothing that is fast here."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """A program ready to run, with all it came from and the backend it is for."""

    graph: Graph
    plan: Plan
    program: Program
    selection: Selection


def simplify(graph: Graph) -> Graph:
    """Graph -> graph without what costs something and changes no bit (planning/simplify)."""
    return STAGES.simplified(graph)


def _plan_once(graph: Graph, choices: Choices, *, follows_chains: bool, begin: Callable[[], None]) -> Plan:
    """Graph and choices -> plan, for a backend that follows chains or one that does not.

    begin: called before the plan of a long program is made, which no process has kept.

    The last few are kept, so that views and simulations that ask for one plan share it.

    Raises PlanError if the choices cannot be met.
    """
    key = (graph, choices, follows_chains)
    with _lock:
        if key in _plans:
            _plans.move_to_end(key)
            return _plans[key]

    def make() -> Plan:
        if STAGES.keeps(graph):
            begin()
        return plan_graph(graph, choices, follows_chains=follows_chains, allocations=_ALLOCATIONS)

    try:
        plan = STAGES.planned(graph, choices, follows_chains, make)
    except StencilError as error:
        raise error.belonging(graph.origin)  # noqa: B904  # the same error
    with _lock:
        _plans[key] = plan
        while len(_plans) > _KEPT_PLANS:
            _plans.popitem(last=False)
    return plan


def render(plan: Plan, backend: str) -> Source:
    """Plan -> generated text, with a map from its lines to nodes and cell lines. BackendError if it has none."""
    if backend not in names_with_text():
        named = ", ".join(names_with_text())
        raise BackendError(f"no source is generated for backend {backend!r}", advice=f"Use one of: {named}.")
    module, _, function = row_of(backend).renderer.partition(":")
    rendered = getattr(import_module(module), function)(plan)
    source: Source = rendered if isinstance(rendered, Source) else rendered.source
    return source


def find_built(plan: Plan, selection: Selection) -> Program | None:
    """The program of a plan that this process has built lately, None if it has not."""
    key = (plan, selection.name)
    with _lock:
        if key in _programs:
            _programs.move_to_end(key)
        return _programs.get(key)


def build(plan: Plan, selection: Selection, cancel: threading.Event | None = None) -> Program:
    """Plan -> program. Equal plans are built once for each backend in a process.

    Raises BuildCancelledError if `cancel` is set before a compiler has ended.
    """
    known = find_built(plan, selection)
    if known is not None:
        return known
    program = selection.backend.compile(plan, cancel)
    if plan.graph.loops:
        program = LoopingProgram(program)
    with _lock:
        _programs[(plan, selection.name)] = program
        while len(_programs) > _KEPT_PROGRAMS:
            _programs.popitem(last=False)
    return program


def plan_for(graph: Graph, choices: Choices, backend: str, begin: Callable[[], None] = lambda: None) -> Plan:
    """Plan for one backend. One that runs all launches one by one gets no chains, for which fewer arrays will do.

    begin: called first where planning takes long. Raises PlanError if the backend does not have the schedule; an
    interpreter, which follows no plan, takes any.
    """
    row, schedule = row_of(backend), choices.plan.tiling.schedule
    if not row.has_schedule(schedule):
        raise PlanError(
            f"backend {backend!r} has no schedule {schedule!r}", advice='Choose schedule="stepwise" or another backend.'
        )
    return _plan_once(graph, choices, follows_chains=row.follows_chains, begin=begin)


def plan_again(plan: Plan, choices: Choices, backend: str) -> Plan:
    """Plan the graph of a plan by other choices of the same meaning, which its graph has: it is not applied twice."""
    if not choices.meaning.precision:
        return plan_for(plan.graph, choices, backend)
    bare = replace(choices, meaning=replace(choices.meaning, precision=()))
    return replace(plan_for(plan.graph, bare, backend), choices=choices)


def slots_of(plan: Plan, extents: tuple[int, ...], backend: str) -> dict[int, int]:
    """Bytes of each array of a simulation of these extents, by its slot, as it lies on that backend ("auto" too)."""
    return slot_bytes(plan, extents, on_device=row_of(planned_backend(backend)).runs_on == "blocks")


def memory_of(plan: Plan, extents: tuple[int, ...], backend: str) -> int:
    """The same of all arrays."""
    return sum(slots_of(plan, extents, backend).values())


def planned_backend(name: str) -> str:
    """The backend for which plans are shown: "auto" is the one that would run here, `SHOWN` where none can.

    Raises BackendError for an unknown name.
    """
    if name != "auto":
        return get_backend(name).name
    try:
        return select_backend().name
    except BackendError:
        return SHOWN


def compile_graph(
    graph: Graph, choices: Choices, backend: str = "auto", steps: Mapping[str, int] | None = None
) -> Compiled:
    """Graph -> plan -> program on a backend, "auto" for the fastest that is available.

    steps: of arrays that calls give and that are not dense, by field: elements between neighbours along the last axis.
    """
    selection = select_backend(backend)
    if backend == "auto" and selection.name == REFERENCE:
        _warn_of_reference(selection)
    begin = partial(begin_objects, selection.name, graph.dim, choices.plan.build.compiler)
    plan = plan_for(graph, choices, selection.name, begin)
    if steps and row_of(selection.name).reads_strided:
        plan = replace(plan, strided=strided_fields(plan, steps))
    return Compiled(plan.graph, plan, build(plan, selection), selection)


def _warn_of_reference(selection: Selection) -> None:
    """Once a process and reason: the interpreter was not asked for, and a script shows no card that would say so."""
    advice = get_backend(SHOWN).availability().advice
    warn_user(
        f"this runs on the reference interpreter, which is right and slow: {selection.reason}. {advice.rstrip('.')}, "
        'or pass backend="reference" if that is what you want.',
        InterpreterWarning,
    )
