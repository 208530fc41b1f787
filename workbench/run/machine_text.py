"""Machine text: a machine in a few lines, for a terminal, and what is said of an attribute that it does not have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from workbench.errors import MissingAttributeError
from workbench.graph import Graph
from workbench.planning.choices import Choices
from workbench.planning.precision import change_lines
from workbench.run.calling import is_called, kind_of
from workbench.run.labels import program_lines
from workbench.run.simulation import Simulation


def machine_text(graph: Graph, choices: Choices, captured: Sequence[object], carried: object) -> str:
    """A machine in a few lines: its program, what it took from outside, and what was chosen that changes it."""
    fields = "arrays" if is_called(graph) else "fields"
    lines = [f"machine {graph.name}: {kind_of(graph)}", *program_lines(graph, fields)]
    lines += [f"  {graph.part}"] if graph.part else []
    if captured:
        lines.append(f"  taken from outside of its text: {', '.join(map(str, captured))}")
    lines += [f"  precision: {line}" for line in change_lines(graph, choices.meaning)]
    if carried is not None:
        lines.append(f"  choices of another machine: {carried}")
    return "\n".join(lines)


def refuse_attribute(machine: Any, name: str) -> NoReturn:  # noqa: ANN401  # a machine, which knows this module
    """Say that a machine has no attribute `name`, and which object has it: its simulations have states and runs."""
    if name.startswith("_"):  # asked by copy, pickle and IPython, perhaps before there is a graph
        raise AttributeError(name)
    graph = machine.graph
    names = [static.name for static in graph.declared]
    if is_called(graph) or not (name in names or hasattr(Simulation, name)):
        raise MissingAttributeError(f"machine {graph.name} has no {name!r}", advice="help(machine) lists what it has.")
    what = f"{graph.name} is a machine, a program without data: {name!r} belongs to its simulations"
    raise MissingAttributeError(what, advice=f"Write sim = {graph.name}.simulate(...), then sim.{name}.")
