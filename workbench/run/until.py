"""Until: the end of a run by a time or a condition, and the error of a run that never gets there.

A condition becomes comparisons of scalars that compiled code tests after every step. The param "until" holds the time,
so that a program can shorten its last step to fit.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isinf

import numpy as np

from workbench.backends.base import Condition, Number
from workbench.errors import RunError
from workbench.frontend.predicate import trace_predicate
from workbench.graph import Graph
from workbench.run.origins import first_bad
from workbench.run.state import State
from workbench.run.storage import files_of

UNTIL = "until"
TIME_NAMES = ("t", "time")  # scalars that tell the time
PATIENCE = 1000  # steps in which a time may rest, for instance while an inner iteration goes on or a first step grows
# Not "until all scalars rest": `dt` flickers where the time no longer moves. Conditions of others are not watched.
FAR = 1e12  # steps: more than ten days of the shortest ones there are


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


class UntilParam:
    """While inside, the param "until" (where there is one) holds the end of the run."""

    def __init__(self, state: State, end: float | None) -> None:
        self._state = state
        self._end = end if any(p.name == UNTIL for p in state.graph.params) else None
        self._before: Number = inf

    def __enter__(self) -> None:
        if self._end is not None:
            self._before = self._state.instance.read_global(UNTIL)
            self._state.instance.write_global(UNTIL, self._end)

    def __exit__(self, *_: object) -> None:
        if self._end is not None:
            self._state.instance.write_global(UNTIL, self._before)


class TimeProgress:
    """Watches the scalar of one time condition (`time >= end`) of one run."""

    def __init__(self, state: State, condition: Condition) -> None:
        self._state = state
        self._condition = condition
        self._resting = 0  # steps, up to now, in which the time got no nearer to the end

    @property
    def time(self) -> float:
        """What the scalar holds now."""
        return float(self._state.instance.read_global(self._condition.scalar))

    def check(self, before: float, steps: int) -> None:
        """After `steps` steps from time `before`, none of which reached the end: RunError if none ever will.

        That is so if PATIENCE steps on end did not change the time by a bit, or by so little that at their pace the
        end is more than FAR steps away.
        """
        name, end, now, state = self._condition.scalar, self._condition.value, self.time, self._state
        if isinf(now):  # below any end: nothing brings it back
            raise RunError(self._said(f"{name} is {now} at step {state.steps}"), advice=self._advice())
        gained, left = now - before, end - now
        rests = gained <= 0 if isinf(left) else gained * FAR < left * steps
        self._resting = self._resting + steps if rests else 0
        if self._resting < PATIENCE:
            return
        what = (
            f"{name} stands at {now!r}"
            if gained == 0
            else f"{name} is {now!r} and changes by {gained / steps:g} a step"
        )
        what += f" in {self._resting} steps up to step {state.steps}"
        raise RunError(self._said(what), advice=self._advice())

    def _said(self, what: str) -> str:
        """That, of which program, and between what limits its fields are: one of them makes the steps short."""
        condition = self._condition
        never = f"{condition.scalar} >= {condition.value:g} is never reached"
        return f"{what} of {self._state.graph.name}, so that {never}; {self._fields()}"

    def _fields(self) -> str:
        """The first cell that is infinite or not a number, or the limits of every field."""
        limits = []
        if files_of(self._state.instance) is not None:
            return "its fields lie in files"
        for static in self._state.graph.fields:
            values = np.asarray(self._state.instance_value(static))
            cell = first_bad(values) if static.type.is_float else None
            if cell is not None:
                return f"{static.name} is {values[cell]} in cell {cell}"
            limits.append(f"{static.name} is between {values.min():g} and {values.max():g}")
        return ", ".join(limits)

    def _advice(self) -> str:
        name, end = self._condition.scalar, self._condition.value
        return (
            f"Look for what makes the steps short in these values, or begin again with finite=True; for a {name} that "
            f"rests on purpose pass until=lambda s: s.{name} >= {end:g}."
        )
