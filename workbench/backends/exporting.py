"""Exporting: the CPU's text of a program that runs once, as files from which a C compiler's users make a library."""

from __future__ import annotations

from workbench.backends.toolchain import export_flags
from workbench.codegen.cpp.exported import Building, render_export
from workbench.graph import Graph
from workbench.planning import plan_graph
from workbench.planning.choices import Choices
from workbench.planning.cost import SMALL_STEP
from workbench.planning.plan_figures import operations_of


def export_texts(graph: Graph, choices: Choices) -> dict[str, str]:
    """Header, source and Makefile by their file names, planned as for the CPU here."""
    plan = plan_graph(graph, choices)
    return render_export(plan, Building(*export_flags(), operations_of(plan), SMALL_STEP))
