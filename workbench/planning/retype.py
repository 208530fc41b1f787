"""Retype: apply the meaning part of choices, graph to graph, before anything else."""

from __future__ import annotations

from workbench.graph import Graph
from workbench.planning.choices import Meaning


def retype(graph: Graph, meaning: Meaning) -> Graph:
    """Return the graph with values in the precision that `meaning` asks for."""
    return graph
