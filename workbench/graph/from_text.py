"""From text: reads a graph from its text form and verifies it."""

from __future__ import annotations

from workbench.graph.graph import Graph
from workbench.graph.parse import parse
from workbench.graph.text import HEADER
from workbench.graph.verify import verify


def graph_from_text(text: str) -> Graph:
    """Return the graph of a text in the form of `str(machine.graph)`; `Machine(graph)` makes it a machine.

    `workbench/FORMATS.md` has the grammar. Raises GraphError with the line that is no graph text, or with the value
    that breaks a rule of graphs.
    """
    verify(parse(text, by_own_lines=True))
    return parse(text)


def is_graph_text(text: str) -> bool:
    """Whether the first line that is not empty says so."""
    first = next((line.split() for line in text.splitlines() if line.strip()), [])
    return len(first) > 1 and first[0] == HEADER and first[1] != "="
