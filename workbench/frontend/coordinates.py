"""Coordinates: labels of the axes of a cell, by which pictures and data sets say where a value lies."""

from __future__ import annotations

from workbench.errors import TraceError
from workbench.frontend.promotion import constant, spread
from workbench.frontend.trace import CoordinateState, Term, Trace, current_trace
from workbench.frontend.value import Value, operand, wrap
from workbench.graph import Load
from workbench.graph.spaces import axis_name
from workbench.graph.types import F64


def coordinate(
    axis: int | None = None,
    expression: object = None,
    name: str = "x",
    unit: str = "m",
    *,
    spacing: object = None,
    origin: object = 0,
) -> Value | tuple[Value, ...]:
    """Label an axis: `expression` gives each cell's coordinate from indices, sizes, params and numbers.

    coordinate(spacing=dx, origin=0) labels all axes x, y, z with the centres of the cells: a cell is dx wide, and the
    first one begins at `origin`. spacing and origin are one number for all axes or a tuple with one for each axis.
    Returns a tuple of the coordinates, values per cell for use in formulas: x, y = coordinate(spacing=dx), in one
    dimension (x,) = ...
    """
    trace = current_trace("coordinate")
    if spacing is None:
        if axis is None or expression is None:
            raise TraceError(
                "coordinate needs an axis and an expression, or a spacing",
                advice="Write coordinate(spacing=dx), or coordinate(0, cell_centre(0, dx)).",
            )
        return _label(trace, trace.need_axis(axis, "coordinate"), expression, name, unit)
    if axis is not None or expression is not None:
        raise TraceError(
            "coordinate(spacing=) labels all axes, so it takes no axis and no expression",
            advice="Write coordinate(spacing=dx, origin=0).",
        )
    widths, origins = _each_axis(trace, spacing, "spacing"), _each_axis(trace, origin, "origin")
    return tuple(
        _label(trace, axis, _centre(trace, axis, width, begin), axis_name(axis), unit)
        for axis, (width, begin) in enumerate(zip(widths, origins, strict=True))
    )


def cell_centre(axis: int, dx: object, origin: object = 0) -> Value:
    """The coordinate of the cell's centre: (index + 0.5) * dx + origin."""
    trace = current_trace("cell_centre")
    return _centre(trace, trace.need_axis(axis, trace.text_here("cell_centre")), dx, origin)


def _centre(trace: Trace, axis: int, dx: object, origin: object) -> Value:
    index = Value(trace.emit(lambda pool: pool.index(axis, trace.grid)))
    return (index + 0.5) * wrap(operand(dx)) + wrap(operand(origin))


def _each_axis(trace: Trace, given: object, what: str) -> tuple[object, ...]:
    if not isinstance(given, tuple | list):
        return (given,) * trace.dim
    if len(given) != trace.dim:
        raise TraceError(
            f"coordinate: {what} has {len(given)} numbers, but the cell has {trace.dim} axes",
            advice=f"Give one for all axes, or {trace.dim}.",
        )
    return tuple(given)


def _label(trace: Trace, axis: int, expression: object, name: str, unit: str) -> Value:
    given = operand(expression)
    term = spread(given, trace.grid) if isinstance(given, Term) else constant(trace, given, F64, trace.grid)
    if any(c.axis == axis or c.name == name for c in trace.coordinates):
        raise TraceError(
            f"coordinate {name!r} of axis {axis}: axis or name has one already", advice="Give one per axis and name."
        )
    used = _loads(term) - {s.name for s in trace.statics.values() if s.role == "param"}
    if used:
        raise TraceError(
            f"coordinate {name!r} depends on {', '.join(sorted(used))}, which changes from step to step",
            advice="Use index(axis), size(axis), params and numbers only.",
        )
    trace.coordinates.append(CoordinateState(axis, str(name), str(unit), term))
    return Value(term)


def _loads(term: Term) -> set[str]:
    pool, waiting, seen, names = term.trace.pool, [term.index], set(), set()
    while waiting:
        index = waiting.pop()
        if index not in seen:
            seen.add(index)
            node = pool.node(index)
            if isinstance(node.instruction, Load):
                names.add(node.instruction.name)
            waiting += node.operands
    return names
