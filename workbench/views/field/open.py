"""Opening: from a simulation and a name to a view, live if the library that speaks to pages is installed."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec

import numpy as np

from workbench.errors import RunError
from workbench.planning.axes import along
from workbench.planning.axes import axes_of as axes_in
from workbench.run.hooks import lies_in_files
from workbench.run.labels import evaluate_coordinate
from workbench.run.parts import whole
from workbench.run.simulation import Simulation
from workbench.run.snapshots import take_snapshot
from workbench.views.field.palettes import DEFAULT, PALETTES
from workbench.views.field.particles import window_of
from workbench.views.field.scatter import first_colour, is_vector_of_particles, space_of
from workbench.views.field.summary import AxisLabel, Look, plain_axes
from workbench.views.field.view import FieldView


def open_field_view(
    simulation: Simulation,
    name: str,
    *,
    palette: str = DEFAULT,
    limits: tuple[float, float] | None = None,
) -> FieldView:
    """A view of a field or a named intermediate. Raises FieldError for what has no picture, RunError for a bad look."""
    if palette not in PALETTES:
        raise RunError(f"palette {palette!r} is unknown", advice=f"Use one of {', '.join(PALETTES)}.")
    if limits is not None and not limits[0] < limits[1]:
        raise RunError(f"limits={limits!r} are no interval", advice="Pass limits=(low, high) with low < high.")
    look = Look(palette, limits)
    graph = simulation.graph
    if is_vector_of_particles(graph, name):
        unit = next((static.unit for static in graph.statics if static.group == name), "")
        look = replace(look, window=window_of(name, unit, whole(take_snapshot(simulation, name).values)))
        name = first_colour(graph, name)
    axes = along(axes_of(simulation), axes_in(space_of(graph, name), graph.space))
    if len(axes) == 3 and lies_in_files(simulation):
        look = replace(look, across=1, up=2)  # a plane that lies together in its file
    if find_spec("ipywidgets") is None:
        return FieldView(simulation, name, axes, look)
    from workbench.views.page.canvas import Canvas

    view = FieldView(simulation, name, axes, look)  # refuses before there is a page
    page = Canvas()
    page.listener = view
    view.attach(page)
    return view


def axes_of(simulation: Simulation) -> tuple[AxisLabel, ...]:
    """The axes of the domain, with the cell's coordinates where those grow along their own axis alone."""
    axes = list(plain_axes(simulation.extents, simulation.graph.space))
    values = {param.name: simulation[param.name] for param in simulation.graph.params}
    for coordinate in simulation.graph.coordinates:
        along, labels = evaluate_coordinate(simulation.graph, coordinate, simulation.extents, values)
        if along == (coordinate.axis,) and np.isfinite(labels[[0, -1]]).all():
            axes[coordinate.axis] = AxisLabel(
                coordinate.name, coordinate.unit, labels.size, float(labels[0]), float(labels[-1])
            )
    return tuple(axes)
