"""Labels: a simulation as text, and as an xarray data set with coordinates and units."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from workbench.backends.base import Array, Number
from workbench.backends.registry import REFERENCE
from workbench.graph import Coordinate, Graph, Load
from workbench.graph.spaces import axis_name
from workbench.run.arrays import to_data_set as make_data_set
from workbench.run.memory import in_words
from workbench.run.probe import probe_node
from workbench.run.state import State


def describe(state: State, running: bool) -> str:
    """Two lines: what runs where, and what it holds."""
    graph, compiled = state.graph, state.compiled
    if state.closed:
        return f"simulation of {graph.name}: closed at step {state.steps}"
    cells = " x ".join(map(str, state.extents))
    doing = ", running" if running else ""
    where = f"{compiled.selection.name} ({compiled.selection.reason})"
    memory = in_words(state.instance.memory_bytes)
    held = ", ".join(f"{s.name}: {s.role} {s.type}" for s in graph.statics)
    return f"simulation of {graph.name}: {cells} cells, step {state.steps}{doing}, {where}, {memory}\n  {held}"


def to_data_set(graph: Graph, extents: tuple[int, ...], values: Mapping[str, Array | Number]) -> Any:  # noqa: ANN401
    """Return an xarray.Dataset of the statics' values; axes are named x, y, z, or as the cell's coordinates say."""
    names = {coordinate.axis: coordinate.name for coordinate in graph.coordinates}
    axes = tuple(names.get(axis, axis_name(axis)) for axis in range(graph.dim))
    taken = {static.name for static in graph.statics}
    axes = tuple(f"axis_{name}" if name in taken else name for name in axes)
    coordinates = {}
    for coordinate in graph.coordinates:
        along, labels = evaluate_coordinate(graph, coordinate, extents, values)
        coordinates[axes[coordinate.axis]] = (tuple(axes[k] for k in along), labels, coordinate.unit)
    return make_data_set(
        {s.name: np.asarray(values[s.name]) for s in graph.fields},
        {s.name: np.asarray(values[s.name]) for s in (*graph.scalars, *graph.params)},
        axes,
        coordinates,
        {s.name: s.unit for s in graph.statics},
    )


def evaluate_coordinate(
    graph: Graph, coordinate: Coordinate, extents: tuple[int, ...], values: Mapping[str, Array | Number]
) -> tuple[tuple[int, ...], Array]:
    """Return the axes that the label varies along (its own, as a rule) and its values, by the reference backend."""
    loaded = {node.instruction.name for node in coordinate.nodes if isinstance(node.instruction, Load)}
    probe = probe_node(graph, coordinate.nodes, len(coordinate.nodes) - 1, REFERENCE)
    labels = np.asarray(probe.evaluate({name: values[name] for name in loaded}, extents, 0))
    if labels.ndim == 0:
        return (coordinate.axis,), np.full(extents[coordinate.axis], labels)
    line = np.moveaxis(labels, coordinate.axis, 0).reshape(extents[coordinate.axis], -1)
    if np.array_equal(line, line[:, :1].repeat(line.shape[1], axis=1), equal_nan=True):
        return (coordinate.axis,), line[:, 0].copy()
    return tuple(range(graph.dim)), labels
