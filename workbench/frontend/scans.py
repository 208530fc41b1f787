"""Scans: what is combined of the elements of an array up to each one, in a fixed order."""

from __future__ import annotations

from typing import Any

from workbench.errors import TraceError
from workbench.frontend.axis_numbers import own_axes
from workbench.frontend.combination import combining
from workbench.frontend.scan_reads import before, last
from workbench.frontend.trace import current_trace


def scan(
    op: object,
    xs: object,
    axis: object = -1,
    *,
    reverse: bool = False,
    exclusive: bool = False,
    start: object = None,
    identity: object = None,
    total: bool = False,
) -> Any:  # noqa: ANN401  # an array or a record of them; with total= a tuple of two
    """Combine an array along one axis up to each element: scan(add, xs) has the running sums.

    op, xs, axis, start, identity: as in `fold`. reverse: from the last element to the first. exclusive: without the
    element itself, so that the first one is `start`, or the operator's identity. total=True also returns the
    combination of all elements, without the axis. The element type is kept.
    """
    trace = current_trace("scan")
    combined = combining(op, xs, identity, "scan")
    given, operator = combined.given, combined.operator
    if trace.positions is not None:
        given, along = trace.positions.own_axis(given, axis, "scan")
    else:
        found = own_axes(given, axis, "scan")
        if len(found) > 1:
            raise TraceError(f"scan over the axes {axis!r}", advice="Name one axis; scan the result along another one.")
        along = found[0]
    whole = not exclusive or total
    made = trace.emit(
        lambda pool: pool.scan(operator, given.index, along, reverse=bool(reverse), exclusive=not whole)
    ).in_order(given.order)
    result = before(made, combined, along, reverse=bool(reverse)) if exclusive and whole else made
    if not total:
        return combined.started(start, result)
    end = last(made, combined, along, reverse=bool(reverse))
    return combined.started(start, result), combined.started(start, end)
