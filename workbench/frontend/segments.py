"""Segments: runs of elements of an array, one after another, that are folded or scanned each for itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from workbench.errors import TraceError
from workbench.frontend.combination import Combination, combining, identity_parts
from workbench.frontend.operations import apply, where
from workbench.frontend.positions import FunctionPositions, order_of
from workbench.frontend.promotion import cast_term, number_of, spread
from workbench.frontend.records import Record, leaves_of, packed, unpacked
from workbench.frontend.regions import last_sent, region_of
from workbench.frontend.scan_reads import before, size_of
from workbench.frontend.shapes import reshape
from workbench.frontend.trace import Term, Trace, current_trace
from workbench.frontend.value import operand, wrap
from workbench.graph import REDUCTIONS, Axis
from workbench.graph.types import BOOL, I64


def fold_segments(op: object, xs: object, lengths: object, start: object = None, *, identity: object = None) -> Any:  # noqa: ANN401  # one value, or a record of them
    """Combine the elements of each segment of an array; lengths has the number of elements of each segment, in order.

    op, xs, start, identity: as in `fold`. xs has one axis, lengths another one, which is the axis of the result; in a
    function of arrays xs may have further axes before its last one, and all rows are cut alike. Lengths that do not add
    up to the number of elements of xs are an error at the call.
    """
    cut = _cut("fold_segments", op, xs, lengths, identity)
    trace, combined, given, operator = cut.trace, cut.combined, cut.given, cut.combined.operator
    begins = _begins(cut)
    found = trace.emit(lambda pool: pool.segments(operator, given.index, begins.index, cut.sizes.index))
    return combined.started(start, _in_rows(cut, found.in_order(cut.sizes.order), cut.segments))


def scan_segments(
    op: object,
    xs: object,
    lengths: object,
    *,
    reverse: bool = False,
    exclusive: bool = False,
    start: object = None,
    identity: object = None,
) -> Any:  # noqa: ANN401  # one value, or a record of them
    """Combine the elements of each segment of an array up to each element, as `scan` does with a whole array.

    op, xs, lengths: as in `fold_segments`; reverse, exclusive, start, identity: as in `scan`, for each segment.
    """
    cut = _cut("scan_segments", op, xs, lengths, identity)
    trace, combined, given = cut.trace, cut.combined, cut.given
    inner = combined.record or Record((given.type,), lambda parts: parts[0])
    heads = _heads(cut, reverse=bool(reverse))
    marked = packed(trace, [heads, *unpacked(given, len(inner.types))])
    record = Record((BOOL, *inner.types), tuple)
    identities = (False, *identity_parts(combined))

    def restarting(left: tuple[object, ...], right: tuple[object, ...]) -> tuple[object, ...]:
        """(f, x) with (g, y): y where a segment begins there, else what x and y combine to (Blelloch 1990)."""
        together = _combine(combined, inner, left[1:], right[1:])
        kept = (
            wrap(where(operand(right[0]), operand(y), operand(z))) for y, z in zip(right[1:], together, strict=True)
        )
        return wrap(apply("logical_or", operand(left[0]), operand(right[0]))), *kept

    region = region_of(trace, restarting, record, identities)
    made = trace.emit(lambda pool: pool.scan(region, marked.index, 0, reverse=bool(reverse))).in_order(given.order)
    if exclusive:
        whole = Combination(restarting, region, marked, record)
        made = before(made, whole, 0, reverse=bool(reverse), heads=heads)
    _, *parts = unpacked(made, len(record.types))
    found = packed(trace, parts).in_order(given.order)
    return combined.started(start, _in_rows(cut, found, cut.cells))


class _Cut:
    """Elements along one axis and the number of them in each segment; rows, cells, segments: axes before, if any."""

    def __init__(self, trace: Trace, combined: Combination, given: Term, sizes: Term) -> None:
        self.trace, self.combined, self.given, self.sizes = trace, combined, given, sizes
        self.rows: tuple[Axis, ...] = ()
        self.cells: tuple[Axis, ...] = ()
        self.segments: tuple[Axis, ...] = ()


def _cut(what: str, op: object, xs: object, lengths: object, identity: object) -> _Cut:
    trace = current_trace(what)
    counts = operand(lengths)
    combined = combining(op, xs, identity, what)
    if not isinstance(counts, Term) or not counts.is_local or not counts.type.is_integer or counts.type == BOOL:
        shown = f"{counts.type}" if isinstance(counts, Term) else repr(counts)
        raise TraceError(
            f"{trace.text_here(what)}: the lengths are {shown}",
            advice='Give an array of whole numbers: lengths = array("lengths", "rows", dtype="i32").',
        )
    given, counts = number_of(combined.given), number_of(counts)
    positions = trace.positions
    in_rows = isinstance(positions, FunctionPositions) and given.space.rank > 1 and None not in order_of(given)
    for term, named, most in ((given, "the elements", None if in_rows else 1), (counts, "the lengths", 1)):
        if most is not None and term.space.rank != most:
            raise TraceError(
                f"{trace.text_here(what)}: {named} have the axes {term.space.axis_names}",
                advice="Give elements of one axis and lengths of one.",
            )
    if positions is not None:
        counts = positions.apart(given, counts)
    sizes = cast_term(counts, I64)
    if not in_rows:
        return _Cut(trace, combined, given, sizes)
    assert isinstance(positions, FunctionPositions)
    *rows, cells = cast(tuple[Axis, ...], order_of(given))
    (segments,) = cast(tuple[Axis, ...], order_of(sizes))
    wide = spread(sizes, positions.space([*rows, segments])).in_order((*rows, segments))
    flat = reshape(positions, given, (-1,))
    cut = _Cut(trace, replace(combined, given=flat), flat, reshape(positions, wide, (-1,)))
    cut.rows, cut.cells, cut.segments = tuple(rows), (cells,), (segments,)
    return cut


def _in_rows(cut: _Cut, found: Term, axes: tuple[Axis, ...]) -> Term:
    """The result along the axes that the elements had."""
    positions = cut.trace.positions
    if not cut.rows:
        return found
    assert isinstance(positions, FunctionPositions)
    return reshape(positions, found, [wrap(size_of(cut.trace, axis).in_order(())) for axis in (*cut.rows, *axes)])


def _begins(cut: _Cut) -> Term:
    """Each segment begins where those before end: at the exclusive scan of the lengths."""
    return cut.trace.emit(lambda pool: pool.scan("sum", cut.sizes.index, 0, exclusive=True))


def _heads(cut: _Cut, *, reverse: bool) -> Term:
    """Whether a segment begins at an element, from the last one to the first: ends there.

    The place is found by a fold of each segment over the elements' own indices, which also checks that lengths fit.
    """
    trace, given, sizes, begins = cut.trace, cut.given, cut.sizes, _begins(cut)
    index = trace.emit(lambda pool: pool.index(0, given.space))
    least = "max" if reverse else "min"
    places = trace.emit(lambda pool: pool.segments(least, index.index, begins.index, sizes.index))
    keeps = last_sent(trace, BOOL)
    sent = trace.emit(lambda pool: pool.imm(True, BOOL, sizes.space))
    none = trace.emit(lambda pool: pool.imm(False, BOOL, given.space))
    filled = trace.emit(lambda pool: pool.arith("greater", sizes.index, pool.imm(0, I64, sizes.space)))
    return trace.emit(lambda pool: pool.scatter(keeps, none.index, sent.index, [places.index], filled.index))


def _combine(combined: Combination, inner: Record, left: tuple[object, ...], right: tuple[object, ...]) -> list[object]:
    """What the user's operator makes of two elements, component by component."""
    if isinstance(combined.operator, str):
        name = REDUCTIONS[combined.operator].operator
        return [wrap(apply(name, operand(left[0]), operand(right[0])))]
    assert callable(combined.op)
    found, _ = leaves_of(combined.op(inner.rebuild(left), inner.rebuild(right)))
    return found
