"""Labels: a simulation as text, and as an xarray data set with coordinates and units."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import fill
from typing import Any

import numpy as np

from workbench.amounts import COLUMNS, bytes_text
from workbench.backends.base import Array, Number
from workbench.backends.interpreter import Evaluation
from workbench.graph import Coordinate, Graph, Kernel, Load, LoadIndex
from workbench.graph.arithmetic import stored
from workbench.graph.spaces import Space, axis_name
from workbench.planning.axes import along, axes_of
from workbench.run.arrays import to_data_set as make_data_set
from workbench.run.schedules import schedule_text
from workbench.run.state import State
from workbench.run.storage import files_text


def describe(state: State, running: bool) -> str:
    """What runs where, what it holds, and what was chosen; a line each, or more where a line would be too long."""
    graph, compiled = state.graph, state.compiled
    if state.closed:
        return f"simulation of {graph.name}: closed at step {state.steps}"
    cells = " x ".join(map(str, graph.space.shape_of(state.extents)))
    doing = ", running" if running else ""
    where = f"{compiled.selection.name} ({compiled.selection.reason})"
    memory = bytes_text(state.instance.memory_bytes)
    held = ", ".join(f"{s.name}: {s.role} {s.type}" for s in graph.declared)
    cells = f"{cells} {graph.space.elements}"
    lines = [f"simulation of {graph.name}: {cells}, step {state.steps}{doing}, {where}, {memory}", f"  {held}"]
    choices, origin = state.chosen
    if origin and compiled.plan.choices == choices:  # it may have been planned anew
        lines.append(f"  choices: {origin}")
    schedule = schedule_text(compiled.plan, state.instance)
    if not schedule and compiled.plan.choices == choices:
        schedule = state.schedule
    if schedule:
        lines.append(f"  schedule: {schedule}")
    if files := files_text(compiled.plan, state.instance):
        lines.append(f"  arrays: {files}")
    if state.outdated:
        lines.append(state.outdated)
    return "\n".join(fill(line, COLUMNS, subsequent_indent=" " * 4, break_on_hyphens=False) for line in lines)


def program_lines(graph: Graph, fields: str) -> list[str]:
    """What the program calls its `fields`, scalars and params, with types and boundary rules, and its kernels."""
    lines = []
    for role, statics in ((fields, graph.fields), ("scalars", graph.scalars), ("params", graph.params)):
        if statics:
            shown = (f"{s.name} {s.type}{f' ({s.boundary})' if s.boundary else ''}" for s in statics)
            lines.append(f"  {role}: {', '.join(shown)}")
    return lines + [f"  kernel {kernel.name}: {len(kernel.nodes)} nodes" for kernel in graph.kernels]


def to_data_set(graph: Graph, extents: tuple[int, ...], values: Mapping[str, Array | Number]) -> Any:  # noqa: ANN401
    """Return an xarray.Dataset of the statics' values; axes are named x, y, z, or as the cell's coordinates say."""
    names = {coordinate.axis: coordinate.name for coordinate in graph.coordinates}
    axes = tuple(
        names.get(k, axis.name if axis.kind == "array" else axis_name(k)) for k, axis in enumerate(graph.space.axes)
    )
    taken = {static.name for static in graph.declared}
    axes = tuple(f"axis_{name}" if name in taken else name for name in axes)
    coordinates = {}
    for coordinate in graph.coordinates:
        along, labels = evaluate_coordinate(graph, coordinate, extents, values)
        coordinates[axes[coordinate.axis]] = (tuple(axes[k] for k in along), labels, coordinate.unit)
    return make_data_set(
        {s.name: (_names(axes, s.space, graph.space), np.asarray(values[s.name])) for s in graph.fields},
        {s.name: stored(values[s.name], s.type) for s in (*graph.scalars, *graph.params)},
        coordinates,
        {s.name: s.unit for s in graph.declared},
    )


def _names(names: tuple[str, ...], space: Space, frame: Space) -> tuple[str, ...]:
    """The names of the axes that a field has, of those of all."""
    return along(names, axes_of(space, frame))


def evaluate_coordinate(
    graph: Graph, coordinate: Coordinate, extents: tuple[int, ...], values: Mapping[str, Array | Number]
) -> tuple[tuple[int, ...], Array]:
    """Return the axes that the label varies along (its own, as a rule) and its values, by the reference's interpreter.

    `values` has the params, by name.
    """
    statics = {static.name: static for static in graph.declared}
    numbers = {name: stored(values[name], statics[name].type) for name in loads_of(coordinate)}
    evaluation = Evaluation(Kernel(coordinate.name, coordinate.nodes, graph.space), extents, numbers)
    space = coordinate.nodes[-1].space
    assert space is not None
    grid = space.extents_in(graph.space, extents)
    axes = {node.instruction.axis for node in coordinate.nodes if isinstance(node.instruction, LoadIndex)}
    if axes <= {coordinate.axis}:
        line = tuple((0, n) if axis == coordinate.axis else (0, 1) for axis, n in enumerate(grid))
        return (coordinate.axis,), evaluation.local(len(coordinate.nodes) - 1, line).flatten()
    labels = evaluation.on_domain(len(coordinate.nodes) - 1)
    line_labels = np.moveaxis(labels, coordinate.axis, 0).reshape(extents[coordinate.axis], -1)
    if np.array_equal(line_labels, line_labels[:, :1].repeat(line_labels.shape[1], axis=1), equal_nan=True):
        return (coordinate.axis,), line_labels[:, 0].copy()
    return tuple(range(space.rank)), labels.copy()


def loads_of(coordinate: Coordinate) -> frozenset[str]:
    """The params that a label depends on."""
    return frozenset(node.instruction.name for node in coordinate.nodes if isinstance(node.instruction, Load))
