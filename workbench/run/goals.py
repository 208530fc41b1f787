"""Goals: how far a run goes, read from the arguments of `run` and `start`."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from workbench.backends.base import Condition
from workbench.errors import RunError
from workbench.graph import Graph
from workbench.run.state import STEP
from workbench.run.until import time_condition, trace_condition

Until = float | Callable[..., object]


@dataclass(frozen=True, slots=True)
class Goal:
    """How far a run goes: `steps` whole steps (None: no end) or until all conditions hold, whichever is first.

    advances: `until` is one condition on a time, which has to grow until it holds.
    """

    steps: int | None
    until: tuple[Condition, ...] = ()
    advances: bool = False


def read_goal(
    graph: Graph, steps: object, until: Until | None, time: str, at_most: object, now: Callable[[str], float]
) -> Goal:
    """Check the arguments of a run; `now` reads a scalar. Raises RunError naming what does not fit."""
    if STEP not in {kernel.name for kernel in graph.kernels}:
        raise RunError(f"{graph.name} has no kernel {STEP!r}", advice="Assign x.next at the top level, or use call().")
    limit = None if at_most is None else whole_number("at_most", at_most)
    if until is None:
        if steps is None:
            raise RunError("run() needs to know how far", advice="Pass a number of steps, or until=.")
        number = whole_number("steps", steps)
        return Goal(number if limit is None else min(number, limit))
    if steps is not None:
        raise RunError(f"run({steps!r}, until=...) names two ends", advice=f"Pass until= and at_most={steps!r}.")
    if until == np.inf and limit is None:
        raise RunError("run(until=inf) never ends", advice="Pass a time, at_most=, or use start() and stop().")
    end = end_time(until)
    if end is None:
        assert callable(until)
        return Goal(limit, trace_condition(graph, until))
    condition = time_condition(graph, time, end)
    return Goal(0) if now(time) >= end else Goal(limit, (condition,), advances=True)  # 0: the time has come already


def end_time(until: object) -> float | None:
    """The time that until= names, or None for a predicate or nothing."""
    if until is None or callable(until):
        return None
    if isinstance(until, bool) or not isinstance(until, int | float | np.integer | np.floating) or until != until:
        raise RunError(
            f"until={until!r} is neither a time nor a condition",
            advice="Pass a number, or lambda s: s.residual < 1e-6.",
        )
    return float(until)


def integer_of(value: object) -> int | None:
    """A number of any integer type, NumPy's too; None for anything else, True and False among it."""
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]  # any integer type, others raise
    except TypeError:
        return None


def whole_number(name: str, value: object) -> int:
    """An argument of any integer type, zero or more. Raises RunError that names it."""
    number = integer_of(value)
    if number is None:
        raise RunError(f"{name}={value!r} is no whole number", advice=f"Pass an int: {name}=1000.")
    if number < 0:
        raise RunError(f"{name}={number} is negative", advice="Pass zero or more; a run cannot go back.")
    return number
