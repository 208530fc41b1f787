"""Branches: one of two functions of whole arrays, by a condition that is known when the program runs.

A branch is two loops over whole arrays (`while_loops`) of one turn or none: the first makes its turn if the condition
holds, the second one if it does not. `where` chooses for each cell, and computes both of its operands.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.errors import TraceError
from workbench.frontend.carried import carried
from workbench.frontend.loops import carried_types, next_values
from workbench.frontend.operations import apply
from workbench.frontend.promotion import without_ones
from workbench.frontend.trace import Operand, Term, current_trace
from workbench.frontend.value import operand, wrap
from workbench.frontend.while_loops import no_condition, once_if, own_value
from workbench.graph.types import BOOL


def branch(
    condition: object, then: Callable[..., object], otherwise: Callable[..., object] | None, start: object
) -> Any:  # noqa: ANN401  # as the start: one value or a tuple
    """Apply `then` to the values of `start` if a condition holds, else `otherwise`; only one of them runs.

    condition: one for all cells, such as reduce_max(u) > 1. then, otherwise: functions that take as many values as
    `start` has and return as many, of the same types and lengths; they may do what the body of a while_loop may, and
    values may be records as there. None leaves the values as they are. If the condition is known when the program is
    traced, the other function is left out.
    """
    trace = current_trace("branch")
    text = trace.text_here("branch")
    no_condition(trace, text)
    given = carried("branch", start)
    starts = [without_ones(own_value(operand(each))) for each in given.values]
    for what, function in (("then", then), ("otherwise", otherwise)):
        if not callable(function) and not (function is None and what == "otherwise"):
            raise TraceError(f"{text}: {what} is {function!r}", advice="Give a function: lambda u: 0.5 * u.")
    if not starts:
        raise TraceError(f"{text} carries no value", advice="Give a value or a tuple of values as its last argument.")
    holds = own_value(operand(condition))
    if not isinstance(holds, bool) and not (isinstance(holds, Term) and holds.type == BOOL):
        shown = holds.type if isinstance(holds, Term) else repr(holds)
        raise TraceError(f"{text}: the condition is {shown}", advice="Compare: branch(reduce_max(u) > 1, ...).")
    if isinstance(holds, Term) and holds.is_local:
        advice = f"Reduce it: {'reduce_any' if trace.positions is None else 'np.any'}(condition), or use where."
        raise TraceError(f"{text}: the condition has a value in each cell, but one function runs", advice=advice)
    types, names = carried_types(trace, starts), given.names(then)

    def checked(function: Callable[..., object]) -> Callable[..., list[object]]:
        inner = given.body(function)

        def made(*values: object) -> list[object]:
            return [wrap(each) for each in next_values(trace, "branch", names, types, inner(*values))]

        return made

    other: Operand = not holds if isinstance(holds, bool) else apply("logical_not", holds)
    values: list[Any] = list(starts)
    if holds is not False:
        other, *values = once_if(trace, holds, ("other", *names), _passing(checked(then)), [other, *values])
    if otherwise is not None and holds is not True:
        values = list(once_if(trace, other, names, checked(otherwise), values))
    return given.result([wrap(each) for each in values])


def _passing(function: Callable[..., list[object]]) -> Callable[..., list[object]]:
    """The function of all values but the first, which stays."""
    return lambda first, *values: [first, *function(*values)]
