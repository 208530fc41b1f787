"""Scatter: elements sent to computed places, where they are combined in the order of the senders."""

from __future__ import annotations

from typing import Any

from workbench.errors import TraceError
from workbench.frontend.combination import reduction_of
from workbench.frontend.operations import check_storable
from workbench.frontend.positions import FunctionPositions
from workbench.frontend.promotion import cast_term, constant, meet, meeting_space, spread
from workbench.frontend.records import Record, is_record, leaves_of, packed, record_of
from workbench.frontend.regions import last_sent, region_of
from workbench.frontend.trace import Operand, Term, Trace, current_trace
from workbench.frontend.value import operand, wrap
from workbench.graph import OPERATORS, REDUCTIONS, Region
from workbench.graph.operators import accepts
from workbench.graph.types import BOOL, I64

_NAMES = ("new", "old")


def scatter(op: object, defaults: object, indices: object, values: object, where: object = None) -> Any:  # noqa: ANN401  # one array, or a record of them
    """Combine values into the elements of `defaults` at given indices: scatter(add, zeros, bins, 1) is a histogram.

    op: as in `fold`, or any function of a new and an old element; None keeps the last value. indices: whole numbers; a
    tuple of them if the result has several axes. where: a condition; values for which it is false are left out. Each
    element starts as its default and takes its values in the order in which they stand in `values`. An index outside
    the result is an error at the call.
    """
    trace = current_trace("scatter")
    text = trace.text_here("scatter")
    record: Record | None = None
    if is_record(defaults):
        given: Operand
        given, record = record_of(trace, defaults, "scatter")
    else:
        given = operand(defaults)
    if not isinstance(given, Term) or not (given.order if trace.positions is not None else given.is_local):
        raise TraceError(
            f"{text}: the defaults are one number", advice="Give an array: one element for each place of the result."
        )
    if trace.positions is not None:
        given = trace.positions.with_own_axes(given)
    operator = _operator(trace, op, given, record)
    parts = [operand(part) for part in (indices if isinstance(indices, tuple | list) else (indices,))]
    axes = given.space.axes if given.order is None else given.order
    if len(parts) != len(axes):
        raise TraceError(
            f"{text} has {len(parts)} ind{'ices' if len(parts) != 1 else 'ex'} for {len(axes)} axes of the defaults",
            advice="Give one for each axis: scatter(add, image, (rows, columns), 1).",
        )
    sent = operand(values) if record is None else _like(trace, values, record, text)
    mask: Operand = True if where is None else operand(where)
    numbers = [_index(trace, part, number, text) for number, part in enumerate(parts)]
    _check_mask(mask, text)
    if isinstance(sent, Term) and record is None:
        check_storable(trace, "the result", given.type, sent.type, written=text)
        sent = cast_term(sent, given.type)
    met, order = meet([*numbers, sent, mask])
    if isinstance(trace.positions, FunctionPositions):
        trace.positions.note_access(axes, order or ())
    space = meeting_space(trace, met)
    if space.is_global:
        raise TraceError(f"{text} sends one number", advice="Give an array of indices, or of values.")
    types = (*[I64] * len(numbers), given.type, BOOL)
    made = [
        spread(o, space) if isinstance(o, Term) else constant(trace, o, type_, space)
        for o, type_ in zip(met, types, strict=True)
    ]
    places = [made[axes.index(axis)].index for axis in given.space.axes]
    value, condition = made[-2].index, None if mask is True else made[-1].index
    inner = given.index
    result = trace.emit(lambda pool: pool.scatter(operator, inner, value, places, condition)).in_order(given.order)
    return wrap(result) if record is None else record.wrapped(result)


def _like(trace: Trace, values: object, record: Record, text: str) -> Term:
    """What is sent, as a record of the defaults' types."""
    found, _ = leaves_of(values)
    if len(found) != len(record.types):
        raise TraceError(
            f"{text} sends {len(found)} value{'s' * (len(found) != 1)} to a record of {len(record.types)}",
            advice="Send as many as the defaults have, in their order.",
        )
    met, order = meet([operand(each) for each in found])
    space = meeting_space(trace, met)
    parts = []
    for each, type_ in zip(met, record.types, strict=True):
        if isinstance(each, Term):
            check_storable(trace, "the result", type_, each.type, written=text)
            parts.append(spread(cast_term(each, type_), space) if not space.is_global else cast_term(each, type_))
        else:
            parts.append(constant(trace, each, type_, space))
    return packed(trace, parts).in_order(order)


def _operator(trace: Trace, op: object, given: Term, record: Record | None) -> str | Region:
    """How a new element is combined with the one that is there."""
    if op is None:
        return last_sent(trace, given.type if record is None else record)
    name = reduction_of(op)
    if name is not None and record is not None:
        raise TraceError(
            f"scatter by {REDUCTIONS[name].operator} of a record",
            advice="Give a function of two records, or None to keep the last.",
        )
    if name is not None:
        named = REDUCTIONS[name].operator
        if not accepts(OPERATORS[named], given.type):
            raise TraceError(
                f"scatter by {named} does not take {given.type}", advice='Cast the defaults: astype(xs, "i64").'
            )
        return name
    if not callable(op):
        known = ", ".join(sorted(row.operator for row in REDUCTIONS.values()))
        raise TraceError(
            f"scatter by {op!r}", advice=f"Use one of {known}, a function of two elements, or None to keep the last."
        )
    return region_of(trace, op, given.type if record is None else record, None, _NAMES)


def _index(trace: Trace, given: Operand, number: int, text: str) -> Operand:
    """An index as i64."""
    if isinstance(given, Term) and given.type.is_integer and given.type != BOOL:
        return cast_term(given, I64)
    if isinstance(given, int) and not isinstance(given, bool) and given >= 0:
        return given
    shown = given.type if isinstance(given, Term) else repr(given)
    raise TraceError(
        f"{text}: index {number} is {shown}, not whole numbers from 0", advice='Cast it: astype(i, "i64").'
    )


def _check_mask(mask: Operand, text: str) -> None:
    type_ = mask.type if isinstance(mask, Term) else type(mask).__name__
    if str(type_) != "bool":
        raise TraceError(f"{text}: where is {type_}, not true or false", advice="Compare: where=x > 0.")
