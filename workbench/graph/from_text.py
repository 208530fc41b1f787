"""From text: reads a graph from its text form and verifies it."""

from __future__ import annotations

from workbench.graph.graph import Graph
from workbench.graph.parse import parse
from workbench.graph.text import HEADER
from workbench.graph.verify import verify


def graph_from_text(text: str) -> Graph:
    """Return the graph of a text in the form that `str(machine.graph)` has; `Machine(graph)` runs it.

    The form is in `workbench/FORMATS.md`. Raises GraphError with the line for what is no graph text, and GraphError
    naming the value for a graph that breaks a rule.
    """
    graph = parse(text)
    verify(graph)
    return graph


def is_graph_text(text: str) -> bool:
    """Whether the first line that is not empty says so."""
    first = next((line.split() for line in text.splitlines() if line.strip()), [])
    return len(first) > 1 and first[0] == HEADER and first[1] != "="
