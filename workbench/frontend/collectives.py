"""Collectives: what is made of many elements of an array in a fixed order, beside folds."""

from __future__ import annotations

from workbench.errors import TraceError
from workbench.frontend.arrays import combining, own_axes, started
from workbench.frontend.places import along_own
from workbench.frontend.promotion import cast_term
from workbench.frontend.trace import Term, Trace, current_trace
from workbench.frontend.value import Value, operand
from workbench.graph import Region
from workbench.graph.types import BOOL, I64


def scan(
    op: object,
    xs: object,
    axis: object = -1,
    *,
    reverse: bool = False,
    exclusive: bool = False,
    start: object = None,
    identity: object = None,
) -> Value:
    """Combine an array along one axis up to each element: scan(add, xs) has the running sums.

    op, axis, start, identity: as of fold. reverse: from the last element to the first. exclusive: without the element
    itself, so that the first one is `start`, or the operator's identity. The element type is kept.
    """
    trace = current_trace("scan")
    given = operand(xs)
    operator = combining(op, given, identity, "scan")
    assert isinstance(given, Term)
    if trace.positions is not None:
        along = trace.positions.own_axis(given, axis, "scan")
    else:
        found = own_axes(given, axis, "scan")
        if len(found) > 1:
            raise TraceError(f"scan over the axes {axis!r}", advice="Name one axis; scan the result along another one.")
        along = found[0]
    inner, ways = given.index, {"reverse": bool(reverse), "exclusive": bool(exclusive)}
    result = trace.emit(lambda pool: pool.scan(operator, inner, along, **ways)).in_order(given.order)
    return started(op, operator, start, result)


def fold_segments(op: object, xs: object, lengths: object, start: object = None, *, identity: object = None) -> Value:
    """Combine the elements of each segment of an array; lengths has the number of elements of each, one after another.

    op, start, identity: as of fold. xs has one axis, lengths another one, which the result has too. Lengths that do not
    add up to the elements of xs are an error of the call.
    """
    trace = current_trace("fold_segments")
    given, counts = operand(xs), operand(lengths)
    operator = combining(op, given, identity, "fold_segments")
    assert isinstance(given, Term)
    if not isinstance(counts, Term) or not counts.is_local or not counts.type.is_integer or counts.type == BOOL:
        shown = f"{counts.type}" if isinstance(counts, Term) else repr(counts)
        raise TraceError(
            f"{trace.text_here('fold_segments')}: the lengths are {shown}",
            advice='Give an array of whole numbers: lengths = array("lengths", "rows", dtype="i32").',
        )
    given, counts = along_own(trace, given), along_own(trace, counts)
    for term, what in ((given, "the elements"), (counts, "the lengths")):
        if term.space.rank != 1:
            raise TraceError(
                f"{trace.text_here('fold_segments')}: {what} have the axes {term.space.axis_names}",
                advice="Give elements of one axis and lengths of one.",
            )
    if trace.positions is not None:
        counts = trace.positions.apart(given, counts)
    return started(op, operator, start, _segments(trace, operator, given, counts).in_order(counts.order))


def _segments(trace: Trace, operator: str | Region, given: Term, counts: Term) -> Term:
    """Each segment begins where those before end: at the exclusive scan of the lengths."""
    sizes = cast_term(counts, I64)
    begins = trace.emit(lambda pool: pool.scan("sum", sizes.index, 0, exclusive=True))
    return trace.emit(lambda pool: pool.segments(operator, given.index, begins.index, sizes.index))
