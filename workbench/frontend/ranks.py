"""Ranks: the place of each element when all are sorted by some bits of whole numbers."""

from __future__ import annotations

from typing import Any

from workbench.errors import TraceError
from workbench.frontend.elements import is_array
from workbench.frontend.promotion import number_of
from workbench.frontend.trace import Term, current_trace
from workbench.frontend.value import operand, wrap
from workbench.graph.ranks import MOST_BITS
from workbench.graph.types import BOOL


def ranks(keys: object, bits: object = 8) -> Any:  # noqa: ANN401  # an array while it is traced
    """The position of each element, from 0, after a sort by the low bits of `keys`; equal keys keep their order.

    keys: whole numbers with one axis. bits: how many low bits of a key count, 1 to 11, read as a number from 0.
    scatter(None, xs, ranks(keys), xs) sorts by them; a radix sort is several passes, each by the next bits. The
    position minus that of the first equal key is an element's rank among equal keys.
    """
    trace = current_trace("ranks")
    text = trace.text_here("ranks")
    given = operand(keys)
    if isinstance(given, Term):
        given = number_of(given)
    if not isinstance(given, Term) or given.space.rank != 1 or not (given.order or is_array(given.space)):
        raise TraceError(f"{text}: the keys are no array of one axis", advice="Give one, such as A.reshape(-1).")
    if not given.type.is_integer or given.type == BOOL:
        raise TraceError(
            f"{text}: the keys are {given.type}, not whole numbers", advice='Cast them: keys.astype("u32").'
        )
    if isinstance(bits, bool) or not isinstance(bits, int) or not 1 <= bits <= MOST_BITS:
        raise TraceError(
            f"{text}: bits={bits!r} is no number of bits to sort by",
            advice=f"Give a number from 1 to {MOST_BITS}, and sort by the next bits after.",
        )
    inner, number = given, bits
    return wrap(trace.emit(lambda pool: pool.rank(inner.index, number)).in_order(inner.order))
