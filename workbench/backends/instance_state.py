"""Instance state: what all instances do to take over the state of another one."""

from __future__ import annotations

from collections.abc import Callable

from workbench.backends.base import Instance
from workbench.graph import Graph


def take_state(mine: Instance, graph: Graph, other: Instance, take_field: Callable[[str, Instance], None]) -> None:
    """Let `mine` have the fields, scalars and params of `other`; `take_field` copies one field where it lies."""
    for static in graph.declared:
        if static.role == "field":
            take_field(static.name, other)
        else:
            mine.write_global(static.name, other.read_global(static.name))
