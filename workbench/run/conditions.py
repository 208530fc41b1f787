"""Conditions: `until=` becomes comparisons of scalars that compiled code tests after every step."""

from __future__ import annotations

from collections.abc import Callable

from workbench.backends.base import Condition
from workbench.errors import RunError
from workbench.frontend.predicate import trace_predicate
from workbench.graph import Graph


def trace_condition(graph: Graph, predicate: Callable[..., object]) -> tuple[Condition, ...]:
    """Call the predicate once on names instead of numbers and return what it compares."""
    return tuple(Condition(c.scalar, c.sign, c.value) for c in trace_predicate(graph, predicate))


def time_condition(graph: Graph, time: str, end: float) -> Condition:
    """The condition that ends a run with the first whole step whose scalar `time` is at least `end`."""
    if time not in {s.name for s in graph.scalars}:
        raise RunError(
            f"run(until={end!r}) needs a scalar that holds the time, and {graph.name} has no scalar {time!r}",
            advice=f'Add {time} = scalar("{time}") and {time}.next = {time} + dt to the cell, or pass time="...".',
        )
    return Condition(time, ">=", end)
