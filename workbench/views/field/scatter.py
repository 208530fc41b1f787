"""Scatter: a vector of particles as points at its first two components, coloured by a value that each of them has."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from workbench.graph import Graph, Space
from workbench.run.parts import whole
from workbench.run.probe import component_names
from workbench.run.snapshots import Snapshot
from workbench.run.state import STEP
from workbench.run.values import groups
from workbench.views.field.flags import Wrong
from workbench.views.field.particles import MOST, Window, placed
from workbench.views.field.summary import AxisLabel, Clock, FieldSummary, Look, quantise, summarise


def is_vector_of_particles(graph: Graph, name: str) -> bool:
    """Whether the name is that of a vector of particles, declared or computed."""
    names = _components(graph, name)
    return len(names) > 1 and space_of(graph, names[0]).named


def _components(graph: Graph, name: str) -> tuple[str, ...]:
    members = groups(graph).get(name)
    return tuple(member.name for member in members) if members else component_names(graph, name)[0]


def space_of(graph: Graph, name: str) -> Space:
    """The space of a field or of a named value; that of all axes where nothing carries the name."""
    spaces = [static.space for static in graph.declared if name in (static.name, static.group)]
    for kernel in sorted(graph.kernels, key=lambda kernel: kernel.name != STEP):  # as a probe looks for it
        index = kernel.find(name)
        space = None if index is None else kernel.nodes[index].space
        spaces += [] if space is None else [space]
    return spaces[0] if spaces and not spaces[0].is_global else graph.space


def names_beside(graph: Graph, name: str) -> tuple[str, ...]:
    """All that has one value for each particle that has this one: fields, then named intermediates of a step."""
    space = space_of(graph, name)
    names = [static.name for static in graph.fields if static.space == space]
    for kernel in graph.kernels:
        for node in kernel.nodes if kernel.name == STEP else ():
            names += node.names if node.type is not None and node.space == space else ()
    return tuple(dict.fromkeys(names))


def first_colour(graph: Graph, vector: str) -> str:
    """By what the points of a vector are coloured at first: its third component.

    Of two components both are places already, so it is the first other value there, or else the second component.
    """
    components = _components(graph, vector)
    others = [name for name in names_beside(graph, components[0]) if name not in components]
    return components[2] if len(components) > 2 else next(iter(others), components[1])


def window_axes(window: Window) -> tuple[AxisLabel, AxisLabel]:
    """The axes of a picture; numbers stand at places, not at cells."""
    across, up = (
        AxisLabel(f"{window.name}{k}", window.unit, 0, centre - window.half, centre + window.half)
        for k, centre in enumerate(window.centre)
    )
    return across, up


def summarise_particles(
    snapshot: Snapshot,
    vector: Snapshot,
    axes: tuple[AxisLabel, ...],
    unit: str,
    look: Look,
    wrong: Wrong | None,
    clock: Clock | None,
) -> FieldSummary:
    """What is to be seen of particles at the first two components of `vector`, coloured by `snapshot`, shape (n,).

    Both are of one step. look.window says what is shown. NaN and infinity are counted among places, too.
    """
    assert look.window is not None
    line = summarise(snapshot, axes, unit, look, wrong, clock)
    places, values = whole(vector.values)[:2], np.asarray(whole(snapshot.values), np.float64)
    every = max(1, -(-values.size // MOST))
    across, up = window_axes(look.window)
    both = np.vstack([values, places])
    not_numbers = np.isnan(both).any(axis=0)
    return replace(
        line,
        kind="points",
        across=across,
        up=up,
        stride=every,
        values=values[np.newaxis],
        points=np.empty(0),
        not_numbers=int(np.count_nonzero(not_numbers)),
        infinite=int(np.count_nonzero(np.isinf(both).any(axis=0) & ~not_numbers)),
        particles=placed(look.window, places[:, ::every], quantise(values[::every], line.low, line.high)),
    )
