"""Ties: choices of one kind that searches change together first and split later, from how a program is written."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.graph import Graph
from workbench.planning.relatives import labels_of
from workbench.planning.tunables import Tunable

Tie = tuple[int, ...]


def ties_of(graph: Graph, rows: Sequence[Tunable]) -> tuple[Tie, ...]:
    """Numbers of rows that may be set to one value at once, the largest groups first.

    The storage of all values, of those that one line of the cell makes, and of those whose names differ in a number
    only, as components, axes and stages do; and all barriers, of which none is what helps most often.
    """
    groups: dict[tuple[str, ...], list[int]] = {}
    lines = _lines(graph)
    loose = _loose_labels(graph)
    for number, row in enumerate(rows):
        if row.section not in ("M", "S"):
            continue
        groups.setdefault((row.section,), []).append(number)
        if row.section == "M":
            groups.setdefault(("line", lines.get(row.key, row.key)), []).append(number)
            groups.setdefault(("like", loose.get(row.key, row.key)), []).append(number)
    found = dict.fromkeys(tuple(group) for group in groups.values() if len(group) > 1)
    return tuple(sorted(found, key=lambda tie: (-len(tie), tie)))


def _lines(graph: Graph) -> dict[str, str]:
    """The cell line that makes each value, by "kernel/key"."""
    found: dict[str, str] = {}
    for kernel in graph.kernels:
        for key, node in zip(kernel.keys(), kernel.nodes, strict=True):
            if node.spans:
                found.setdefault(f"{kernel.name}/{key}", f"{kernel.name} {node.spans[0].line}")
    return found


def _loose_labels(graph: Graph) -> dict[str, str]:
    """What plays the same part has the same label, by "kernel/key"."""
    found: dict[str, str] = {}
    for kernel in graph.kernels:
        for key, label in zip(kernel.keys(), labels_of(kernel).loose, strict=True):
            found.setdefault(f"{kernel.name}/{key}", f"{kernel.name} {label}")
    return found
