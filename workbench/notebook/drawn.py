"""Drawn: machines, graphs and plans that a cell ends with are live views, texts are coloured; their own text beside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

from workbench.backends.registry import names_with_text
from workbench.codegen.source import Source
from workbench.graph import Graph
from workbench.machine import Machine
from workbench.pipeline import plan_for
from workbench.planning.plan import Plan

Bundle = dict[str, object]


def draw_machine(machine: Machine, include: object = None, exclude: object = None) -> Bundle:
    """The graph view of a machine with its choices, and the machine's own text."""
    bundle: Bundle = machine.view("graph")._repr_mimebundle_()
    return bundle | {"text/plain": repr(machine)}


def draw_graph(graph: Graph, include: object = None, exclude: object = None) -> Bundle:
    """The graph view of a program that nobody has made choices for, and the graph's own text."""
    return draw_machine(Machine(graph)) | {"text/plain": str(graph)}


def draw_plan(plan: Plan, include: object = None, exclude: object = None) -> Bundle:
    """The plan view, and the plan's own text."""
    backend = next((b for b in names_with_text() if plan_for(plan.graph, plan.choices, b) == plan), "auto")
    view = Machine(plan.graph, plan.choices, backend=backend).view("plan")
    bundle: Bundle = view._repr_mimebundle_()
    return bundle | {"text/plain": str(plan)}


def draw_source(source: Source, include: object = None, exclude: object = None) -> Bundle:
    """The generated text in colours; `machine.view("source")` is the live one."""
    from workbench.views.source import summarise_text  # colours are loaded when somebody looks
    from workbench.views.source_html import source_html

    summary = summarise_text(source, "generated text")
    return {"text/html": source_html(summary), "text/plain": str(source)}


DRAWN: tuple[tuple[type, Callable[..., Bundle]], ...] = (
    (Machine, draw_machine),
    (Graph, draw_graph),
    (Plan, draw_plan),
    (Source, draw_source),
)


def draw_in(shell: InteractiveShell) -> None:
    """From now on cells of this shell draw them."""
    for kind, drawing in DRAWN:
        _formatter(shell).for_type(kind, drawing)


def stop_drawing_in(shell: InteractiveShell) -> None:
    """Cells print them again."""
    for kind, _ in DRAWN:
        _formatter(shell).pop(kind, None)


def _formatter(shell: InteractiveShell) -> Any:  # noqa: ANN401  # IPython types the table of formatters too widely
    return shell.display_formatter.mimebundle_formatter  # type: ignore[union-attr]  # every shell has one
