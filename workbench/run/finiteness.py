"""Finiteness: the first value of a run that is infinite or not a number, and the node and cell that made it.

A run that watches keeps a copy of the state at each slice border. When a field is no longer finite at the next border,
the slice is repeated from the copy, by halves, to the step that made it, and that is traced backwards by the reference:
from the bad cell to the operand that is bad, until all operands are good.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from workbench.backends.base import Array, MarchRequest, Number
from workbench.errors import NonFiniteError, warn_user
from workbench.graph import Graph
from workbench.graph.arithmetic import stored
from workbench.run.origins import described, first_bad, trace_back
from workbench.run.probe import write
from workbench.run.state import STEP, State
from workbench.run.values import unwise_text

Cell = tuple[int, ...]
Bad = tuple[str, Cell, float]
"""A field, a cell of it, and what that holds."""


class NonFiniteWarning(UserWarning):
    """A scalar ceased to be a number during a run, and with it most likely the fields that it depends on."""


def lost_scalars(state: State) -> frozenset[str]:
    """Names of the scalars that are not numbers."""
    found = ((s.name, state.instance.read_global(s.name)) for s in state.graph.scalars)
    return frozenset(name for name, value in found if value != value)


def warn_of_lost_scalars(state: State, before: frozenset[str], step: int) -> None:
    """Warn of scalars that are not numbers, unless they were none `before`, at an earlier step."""
    lost = sorted(lost_scalars(state) - before)
    if lost:
        warn_user(
            f"{state.graph.name}: {', '.join(lost)} became nan between step {step} and step {state.steps}; "
            "begin again and pass finite=True to run, which stops where that happens and says why",
            NonFiniteWarning,
        )


class Finiteness:
    """Watches the fields of one run. Costs a copy of all fields and a look at each of them every slice."""

    def __init__(self, state: State) -> None:
        state.refuse_in_files("finite=True", "Run without it, or on a smaller grid.")
        self._state = state
        self._kept = kept_state(state)

    def keep(self) -> None:
        """Copy the state; raises NonFiniteError if a field is bad already."""
        state = self._state
        self._kept = kept_state(state)
        bad = find_bad(state.graph, self._kept.values)
        if bad is not None:
            name, cell, value = bad
            raise NonFiniteError(
                f"{name} is {value} in cell {cell} at step {state.steps}, before the run begins",
                advice="Correct the initial state.",
                field=name,
                cell=cell,
                step=state.steps,
            )

    def check(self) -> None:
        """Raise NonFiniteError if a field is bad now; the state is then that of the last good step."""
        if find_bad_now(self._state) is not None:
            error = last_good_step(self._state, self._kept)
            assert error is not None, "a step that is repeated gives other bits"
            self._state.forget_records()
            raise error


@dataclass(slots=True)
class StateCopy:
    """Fields and scalars of one whole step."""

    step: int
    observed_step: int
    values: dict[str, Array | Number]


def kept_state(state: State) -> StateCopy:
    """A copy of the present state."""
    values = {s.name: state.instance_value(s) for s in state.graph.declared if s.role != "param"}
    return StateCopy(state.steps, state.observed_step, values)


def put_back(state: State, kept: StateCopy) -> None:
    """Make that the present state; records stay."""
    for static in state.graph.declared:
        if static.role != "param":
            write(state.instance, static, kept.values[static.name])
    state.steps, state.observed_step = kept.step, kept.observed_step


@dataclass(slots=True)
class ParamHistory:
    """The params of a run, whenever they were set: (steps done by then, param -> value), in order.

    `before` holds them as they were at the copy with which a repetition begins.
    """

    before: dict[str, Number]
    later: list[tuple[int, dict[str, Number]]]

    def at(self, step: int) -> dict[str, Number]:
        """With which the step after so many was done."""
        return next((values for since, values in reversed(self.later) if since <= step), self.before)

    def after(self, step: int) -> int | None:
        """How many steps were done when they were set next."""
        return next((since for since, _ in self.later if since > step), None)


def params_of(state: State) -> dict[str, Number]:
    """All params as they are now."""
    return {static.name: state.instance.read_global(static.name) for static in state.graph.params}


def last_good_step(
    state: State, kept: StateCopy, fields: frozenset[str] | None = None, turns: ParamHistory | None = None
) -> NonFiniteError | None:
    """Go from the present state, in which one of `fields` (None: any) is bad, to the last step at which none was.

    `kept` is an earlier state in which all were good, `turns` how params were set since (None: not at all); they are as
    they were before the call afterwards. Returns what the next step makes bad; None, and then the state is any, if the
    steps of now do not make it, because something else has changed the state since.
    """
    now = params_of(state)
    try:
        return _last_good_step(state, kept, fields, turns or ParamHistory(now, []))
    finally:
        _set_params(state, now)


def _last_good_step(
    state: State, kept: StateCopy, fields: frozenset[str] | None, turns: ParamHistory
) -> NonFiniteError | None:
    end, good, observed = state.steps, kept.step, kept.observed_step
    values = dict(kept.values)
    put_back(state, kept)
    while end - good > 1:
        middle = (good + end) // 2
        _repeat(state, middle - good, good, turns)
        if find_bad_now(state, fields) is None:
            good = observed = middle  # _repeat observes its last step
            for static in state.graph.declared:
                if static.name in values:
                    values[static.name] = state.instance_value(static)  # one by one, to hold no third copy
        else:
            end = middle
            put_back(state, StateCopy(good, observed, values))
    _repeat(state, 1, good, turns)
    bad = find_bad_now(state, fields)
    put_back(state, StateCopy(good, observed, values))
    return None if bad is None else locate(state, *bad)


def _repeat(state: State, steps: int, done: int, turns: ParamHistory) -> None:
    """Do steps again, uncounted, with the params of then."""
    end = done + steps
    while done < end:
        _set_params(state, turns.at(done))
        until = min(end, turns.after(done) or end)
        state.instance.march(MarchRequest(STEP, until - done, first_step=done))
        done = until


def _set_params(state: State, params: Mapping[str, Number]) -> None:
    for name, value in params.items():
        state.instance.write_global(name, value)


def find_bad_now(state: State, fields: frozenset[str] | None = None) -> Bad | None:
    """As find_bad, in the present state."""
    for static in state.graph.fields:
        if (fields is None or static.name in fields) and static.type.is_float:
            found = find_bad(state.graph, {static.name: state.instance_value(static)})
            if found is not None:
                return found
    return None


def find_bad(graph: Graph, values: Mapping[str, Array | Number]) -> Bad | None:
    """The first field of `values`, in order of declaration, with a bad cell, the first such cell, and what it holds."""
    for static in graph.fields:
        array = np.asarray(values[static.name]) if static.name in values else None
        if array is not None and static.type.is_record:  # lo is finite where hi is
            array = array[static.type.parts[0]]
        cell = None if array is None or not static.type.is_float else first_bad(array)
        if array is not None and cell is not None:
            return static.name, cell, float(array[cell])
    return None


def locate(state: State, field: str, cell: Cell, value: float) -> NonFiniteError:
    """The error for a field that the next step of `state` makes bad."""
    graph, step = state.graph, state.steps + 1
    kernel = graph.kernel(STEP)
    what = f"{field} becomes {value} in cell {cell} at step {step} of {graph.name}"
    advice = unwise(state) + f"Look at the state before: sim[{field!r}] at step {state.steps}; "
    advice += "take shorter steps or limit the value."
    if graph.loops_before(STEP):
        what += "; its step has a while_loop, so that the operation is not known"
        return NonFiniteError(what, advice=advice, field=field, cell=cell, step=step)
    values = {s.name: stored(state.instance_value(s), s.type) for s in graph.declared}
    with np.errstate(all="ignore"):
        origin = trace_back(graph, state.extents, values, field, cell)
    if origin is None:
        what += "; the reference backend computes a finite value there"
        return NonFiniteError(what, advice=advice, field=field, cell=cell, step=step)
    spans = kernel.nodes[origin.node].spans
    return NonFiniteError(
        f"{what}: {described(kernel, origin)}",
        advice=advice,
        field=field,
        cell=cell,
        step=step,
        node=origin.node,
        line=spans[0].line if spans else None,
    ).belonging(graph.origin)


def unwise(state: State) -> str:
    """A sentence for each param that is larger than what the cell warns of: the likely cause."""
    found = (unwise_text(s, state.instance.read_global(s.name)) for s in state.graph.params)
    return "".join(f"{text}. " for text in found if text)
