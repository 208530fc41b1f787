"""Compression: the elements of an array for which a condition holds; how many there are is known after the call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

from workbench.errors import TraceError
from workbench.frontend.positions import order_of
from workbench.frontend.promotion import cast_term, constant, meet, meeting_space, spread
from workbench.frontend.regions import last_sent
from workbench.frontend.trace import Term, current_trace
from workbench.frontend.value import Value, operand, wrap
from workbench.graph.types import BOOL, I64


def _refuse(self: Compressed, *arguments: object, **options: object) -> NoReturn:
    """What is compressed can be returned and nothing else."""
    del self, arguments, options
    text = current_trace("a compressed array").text_here()
    raise TraceError(
        f"{text}: a compressed array, whose length is known after the call, cannot be computed with",
        advice="Return it, and use it in a second function; or keep all elements: np.where(condition, x, 0).",
    )


@dataclass(frozen=True, eq=False, slots=True)
class Compressed:
    """The first `count` elements of an array; the function returns an array of that length."""

    elements: Value
    count: Value

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refuse
    __pow__ = __rpow__ = __floordiv__ = __mod__ = __neg__ = __abs__ = __getitem__ = __len__ = __iter__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __and__ = __or__ = __invert__ = __bool__ = _refuse
    __array_ufunc__ = __array_function__ = __getattr__ = _refuse


def compress(xs: object, condition: object) -> Any:  # noqa: ANN401  # no Value: nothing can be computed with it
    """The elements of an array for which a condition holds, in their order.

    A function of arrays can only return the result, an array of just these elements. In a cell the output has them
    first and zeros after them, and a second output, NAME_length, is their number.
    """
    trace = current_trace("compress")
    given, kept = operand(xs), operand(condition)
    text = trace.text_here("compress")
    if not isinstance(given, Term) or not isinstance(kept, Term) or kept.type != BOOL:
        shown = kept.type if isinstance(kept, Term) else repr(kept)
        what = f"the condition is {shown}" if isinstance(given, Term) else f"{given!r} is one number"
        raise TraceError(f"{text}: {what}", advice="Give an array and a condition on it: compress(xs, xs > 0).")
    return compressed(given, kept)


def compressed(given: Term, condition: Term) -> Any:  # noqa: ANN401  # no Value: nothing can be computed with it
    """Return the elements for which the condition holds, in their order, as a Compressed: x[x > 0].

    Both have one axis, of one length. Each element is sent to the number of those before it that are kept (an exclusive
    Scan of the condition, and a Scatter).
    """
    trace = given.trace
    ranks = [len(order_of(term)) for term in (given, condition)] if trace.positions is not None else [0, 0]
    if ranks[0] > ranks[1] > 0:
        axes = "1 axis" if ranks[1] == 1 else f"{ranks[1]} axes"
        raise TraceError(
            f"{trace.text_here('this subscript')}: a condition of {axes} on {ranks[0]}",
            advice="Return the places, compress(generate(x.shape[0], lambda i: i), condition), and take x[places] "
            "after the call, or write np.where(condition[:, None], x, 0).",
        )
    met, order = meet([given, condition])
    space = meeting_space(trace, met)
    rank = space.rank if order is None else len(order)
    if rank != 1 or space.rank != 1:
        raise TraceError(
            f"{trace.text_here('this subscript')}: a condition of {rank} axes",
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
    return Compressed(wrap(made.in_order(order)), wrap(count))
