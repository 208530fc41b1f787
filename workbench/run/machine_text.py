"""Machine text: a machine in a few lines, for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.graph import Graph
from workbench.planning.choices import Choices
from workbench.planning.precision import change_lines
from workbench.run.calling import is_called, kind_of
from workbench.run.labels import program_lines


def machine_text(graph: Graph, choices: Choices, captured: Sequence[object], carried: object) -> str:
    """A machine in a few lines: its program, what it took from outside, and what was chosen that changes it."""
    fields = "arrays" if is_called(graph) else "fields"
    lines = [f"machine {graph.name}: {kind_of(graph)}", *program_lines(graph, fields)]
    if captured:
        lines.append(f"  taken from outside of its text: {', '.join(map(str, captured))}")
    lines += [f"  precision: {line}" for line in change_lines(graph, choices.meaning)]
    if carried is not None:
        lines.append(f"  choices of another machine: {carried}")
    return "\n".join(lines)
