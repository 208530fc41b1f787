"""Compression: the elements of an array for which a condition holds; how many there are no trace knows.

In a function of arrays they are an array of a length that becomes known when the program has run that finds them: what
is computed of it is in a later program (`frontend.sequences`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from workbench.errors import TraceError
from workbench.frontend.axis_table import SelectedOrigin
from workbench.frontend.positions import FunctionPositions, order_of
from workbench.frontend.promotion import cast_term, constant, meet, meeting_space, spread
from workbench.frontend.regions import last_sent
from workbench.frontend.selections import Selected, function_inside
from workbench.frontend.trace import Term, current_trace
from workbench.frontend.value import Value, operand, wrap
from workbench.graph.types import BOOL, I64


def _refuse(self: Compressed, *arguments: object, **options: object) -> NoReturn:
    """What a cell compresses is an output and nothing else."""
    del self, arguments, options
    text = current_trace("a compressed array").text_here()
    raise TraceError(
        f"{text}: a compressed array, whose length is known after the call, cannot be computed with",
        advice="Keep all elements, where(condition, x, 0), or write a function of arrays, which may go on with it.",
    )


@dataclass(frozen=True, eq=False, slots=True)
class Compressed:
    """The first `count` elements of an array: an output of a cell."""

    elements: Value
    count: Value

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refuse
    __pow__ = __rpow__ = __floordiv__ = __mod__ = __neg__ = __abs__ = __getitem__ = __len__ = __iter__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __and__ = __or__ = __invert__ = __bool__ = _refuse
    __array_ufunc__ = __array_function__ = __getattr__ = _refuse


def compress(xs: object, condition: object) -> Any:  # noqa: ANN401  # no Value: nothing can be computed with it
    """The elements of an array for which a condition holds, in their order.

    In a function of arrays the result is an array of just these elements, as x[condition] is. In a cell it is an
    output, which has them first and zeros after them, and a second output, NAME_length, is their number.
    """
    trace = current_trace("compress")
    given, kept = operand(xs), operand(condition)
    text = trace.text_here("compress")
    if not isinstance(given, Term) or not isinstance(kept, Term) or kept.type != BOOL:
        shown = kept.type if isinstance(kept, Term) else repr(kept)
        what = f"the condition is {shown}" if isinstance(given, Term) else f"{given!r} is one number"
        raise TraceError(f"{text}: {what}", advice="Give an array and a condition on it: compress(xs, xs > 0).")
    return compressed(given, kept)


def compressed(given: Term, condition: Term) -> Any:  # noqa: ANN401  # a Value, or a Compressed of a cell
    """Return the elements for which the condition holds, in their order: x[x > 0].

    Both have one axis, of one length. Each element is sent to the number of those before it that are kept (an exclusive
    Scan of the condition, and a Scatter).
    """
    trace = given.trace
    text = trace.text_here("this subscript")
    _check_place((given, condition), text)
    ranks = [len(order_of(term)) for term in (given, condition)] if trace.positions is not None else [0, 0]
    if ranks[0] > ranks[1] > 0:
        axes = "1 axis" if ranks[1] == 1 else f"{ranks[1]} axes"
        raise TraceError(
            f"{text}: a condition of {axes} on {ranks[0]}",
            advice="Write x[condition], which selects along the first axes.",
        )
    met, order = meet([given, condition])
    space = meeting_space(trace, met)
    rank = space.rank if order is None else len(order)
    if rank != 1 or space.rank != 1:
        raise TraceError(
            f"{text}: a condition of {rank} axes",
            advice="Select by a condition on arrays of one axis, x.ravel()[condition.ravel()], or write "
            "np.where(condition, x, 0).",
        )
    sent, kept = (spread(term, space) for term in met if isinstance(term, Term))
    ones = cast_term(kept, I64)
    places = trace.emit(lambda pool: pool.scan("sum", ones.index, 0, exclusive=True))
    none = constant(trace, False if sent.type == BOOL else 0, sent.type, space)
    last = last_sent(trace, sent.type)
    made = trace.emit(lambda pool: pool.scatter(last, none.index, sent.index, [places.index], kept.index))
    count = trace.emit(lambda pool: pool.fold("sum", ones.index, [0])).in_order(None if order is None else ())
    if isinstance(trace.positions, FunctionPositions):
        return wrap(_array_of(trace.positions, made.in_order(order), kept, count, text))
    return Compressed(wrap(made), wrap(count))


def _check_place(terms: Sequence[Term], text: str) -> None:
    """Raise TraceError in a function that runs again and again, or only if a condition holds, inside of one program."""
    function = function_inside(terms[0].trace, terms)
    if function:
        raise TraceError(
            f"{text}: the length of what is selected becomes known between two programs, and this function of "
            f"{function} is part of one",
            advice="Select before or after it, or keep all elements inside: np.where(condition, x, 0).",
        )


def _array_of(positions: FunctionPositions, elements: Term, kept: Term, count: Term, text: str) -> Term:
    """The array of the selected elements, which is an argument of later programs. One condition gives one length."""
    number = len(positions.selections) + 1  # of the call, so that an attempt to trace has the names of those before
    known = [each for each in positions.selections.values() if each.condition == kept.index]
    same = next((each for each in known if each.elements.index == elements.index), None)
    if same is not None:
        positions.selections[f"again{number}"] = same
        return positions.argument(same.name, elements.type, [positions.table.length(same.length)])
    name = f"selected{number}"
    while {name, f"{name}_length"} & positions.trace.statics.keys():  # of the user
        name += "_"
    line = positions.trace.here().line
    length = known[0].length if known else SelectedOrigin(f"{name}_length", text, line)
    positions.selections[name] = Selected(name, elements, kept.index, count, length, text)
    return positions.argument(name, elements.type, [positions.table.length(length)])
