"""Conditions: `until=` becomes comparisons of scalars that compiled code tests after every step."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from workbench.backends.base import Condition
from workbench.errors import RunError
from workbench.frontend.predicate import trace_predicate
from workbench.graph import Graph

TIME_NAMES = ("t", "time")  # scalars that tell the time


def time_name(graph: Graph) -> str:
    """The scalar that tells the time by its name; empty if there is none."""
    return next((name for name in TIME_NAMES if name in {static.name for static in graph.scalars}), "")


def trace_condition(graph: Graph, predicate: Callable[..., object]) -> tuple[Condition, ...]:
    """Call the predicate once on names instead of numbers and return what it compares."""
    return tuple(Condition(c.scalar, c.sign, c.value) for c in trace_predicate(graph, predicate))


def time_condition(graph: Graph, time: str, end: float) -> Condition:
    """The condition that ends a run with the first whole step whose scalar `time` is at least `end`.

    `end` is rounded to the scalar's type, as the param "until" is, because a time in single precision never gets to a
    number of double precision that is just above it.
    """
    types = {s.name: s.type for s in graph.scalars}
    if time not in types:
        known = time_name(graph)
        new = f'Add {time} = scalar("{time}") and {time}.next = {time} + dt to the cell, or pass time="...".'
        raise RunError(
            f"run(until={end!r}) needs a scalar that holds the time, and {graph.name} has no scalar {time!r}",
            advice=new if not known else f'Pass time="{known}".',
        )
    with np.errstate(over="ignore"):
        return Condition(time, ">=", float(types[time].numpy.type(end)) if types[time].is_float else end)
