"""Equal ranks: values of fewer axes beside others, as NumPy's broadcasting has them, and where that is refused."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.errors import TraceError
from workbench.frontend.trace import Term


def of_rank(term: Term, rank: int) -> Term:
    """The value with axes of None before its own, so that it has so many."""
    order = term.order or ()
    return term if len(order) == rank else term.in_order((*(None,) * (rank - len(order)), *order))


def need_equal_ranks(terms: Sequence[Term]) -> None:
    """Raise TraceError for values of which one has fewer axes than another."""
    ranks = [len(term.order or ()) for term in terms]
    low, high = min(ranks), max(ranks)
    if low != high:
        example = ", ".join(["None"] * (high - low) + [":"] * low)
        raise TraceError(
            f"{terms[0].trace.text_here()}: a value of {low} ax{'i' if low == 1 else 'e'}s "
            f"cannot be combined with one of {high}",
            advice=f"Say which axes it has: x[{example}] is the same along the others.",
        )
