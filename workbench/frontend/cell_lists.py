"""Cell lists: elements sorted by the cells of a coarse grid about them, so that near ones are found in linear time.

Cells are at least as wide as the cutoff and as many as there are elements at most, so what is near an element lies in
its own cell or in one beside it. Cells of one row lie one after another: what is near lies in 3**(d - 1) parts of the
sorted list. Those of one cell keep their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from workbench.frontend.operations import apply, where
from workbench.frontend.promotion import cast_term
from workbench.frontend.sorting import sorted_by
from workbench.frontend.trace import Operand, Term, Trace
from workbench.graph import Hint, Space
from workbench.graph.types import DD, F64, I64

BITS = 18
"""There are 2**BITS cells at most; with more elements a cell has more of them."""
WIDER = 1 + 2.0**-18
"""By how much cells are wider than the cutoff: more than what rounding moves an element, in cells."""


@dataclass(frozen=True, slots=True)
class ListRange:
    """A part of the sorted list for each target: where it begins and how many elements it has, i64."""

    begin: Term
    length: Term


@dataclass(frozen=True, slots=True)
class CellLists:
    """order: the number of the source at each place of the sorted list. parts: where those near each target lie."""

    order: Term
    parts: tuple[ListRange, ...]


def cell_lists(trace: Trace, targets: Sequence[Term], sources: Sequence[Term], cutoff: Operand) -> CellLists:
    """Return the lists of sources near targets; one term a dimension, along one axis each. cutoff: one number."""
    space = sources[0].space
    lows = [_global(trace, "min", x) for x in sources]
    widths = [_minus(_global(trace, "max", x), low) for x, low in zip(sources, lows, strict=True)]
    least = apply("multiply", apply("absolute", cutoff), WIDER)
    counts = _counts(trace, space, [apply("divide", width, least) for width in widths])
    wide = [apply("maximum", apply("divide", width, count), least) for width, count in zip(widths, counts, strict=True)]
    grid = list(zip(lows, wide, counts, strict=True))
    cells = [
        _within(_place(x, low, width), 0, apply("subtract", n, 1))
        for x, (low, width, n) in zip(sources, grid, strict=True)
    ]
    cell = _stored(trace, _number(cells, counts))
    _, order = sorted_by(trace, cell, BITS)
    one, zero = _imm(trace, 1, space), _imm(trace, 0, space)
    filled = trace.emit(lambda pool: pool.scatter("sum", zero.index, one.index, [cell.index]))
    ends = _stored(trace, trace.emit(lambda pool: pool.scan("sum", filled.index, 0)))
    begins = _stored(trace, _of(apply("subtract", ends, filled)))
    places = [
        _stored(trace, _within(_place(x, low, width), -2, apply("add", n, 1)))
        for x, (low, width, n) in zip(targets, grid, strict=True)
    ]
    rows = product((-1, 0, 1), repeat=len(targets) - 1)
    return CellLists(order, tuple(_part(trace, places, counts, row, begins, ends) for row in rows))


def _global(trace: Trace, name: str, x: Term) -> Term:
    """The least or largest position, f64 or dd."""
    wide = x if x.type == DD else cast_term(x, F64)
    return trace.emit(lambda pool: pool.reduce(name, wide.index))


def _minus(a: Term, b: Term) -> Operand:
    """The difference as f64, of positions in f64 or dd."""
    wide = [x if x.type == DD else cast_term(x, F64) for x in (a, b)]
    return cast_term(_of(apply("subtract", *wide)), F64)


def _counts(trace: Trace, space: Space, wanted: Sequence[Operand]) -> list[Term]:
    """How many cells there are along each dimension, all together as many as elements at most; the last ones first."""
    number = trace.axis_names.index(space.axes[0].name)
    left: Operand = apply("minimum", trace.emit(lambda pool: pool.size(number)), 2**BITS)
    found: list[Term] = []
    for each in reversed(wanted):
        found.append(_of(_within(cast_term(_of(each), I64), 1, apply("maximum", left, 1))))
        left = apply("floor_divide", left, found[-1])
    return found[::-1]


def _place(x: Term, low: Operand, width: Operand) -> Term:
    """The number of the cell along one dimension, which may lie outside; 0 for what is not a number."""
    assert isinstance(low, Term)
    return cast_term(_of(apply("floor", apply("divide", _minus(x, low), width))), I64)


def _within(number: Term, least: Operand, most: Operand) -> Term:
    return _of(apply("minimum", apply("maximum", number, least), most))


def _number(cells: Sequence[Term], counts: Sequence[Term]) -> Term:
    """The number of a cell in C order."""
    number: Operand = cells[0]
    for cell, count in zip(cells[1:], counts[1:], strict=True):
        number = apply("add", apply("multiply", number, count), cell)
    return _of(number)


def _part(
    trace: Trace, places: Sequence[Term], counts: Sequence[Term], row: Sequence[int], begins: Term, ends: Term
) -> ListRange:
    """The part of the list that a row of cells beside a target's has: three cells along the last dimension at most."""
    across = [apply("add", place, step) if step else place for place, step in zip(places, row, strict=False)]
    last = apply("subtract", counts[-1], 1)
    low = apply("maximum", apply("subtract", places[-1], 1), 0)
    high = apply("minimum", apply("add", places[-1], 1), last)
    there = apply("less_equal", low, high)
    for cell, count in zip(across, counts, strict=False):
        inside = apply("logical_and", apply("greater_equal", cell, 0), apply("less", cell, count))
        there = apply("logical_and", there, inside)
    first = _of(where(there, _number([*map(_of, across), _of(low)], counts), 0))
    final = _of(where(there, _number([*map(_of, across), _of(high)], counts), 0))
    begin = _stored(trace, trace.emit(lambda pool: pool.gather(begins.index, [first.index])))
    end = trace.emit(lambda pool: pool.gather(ends.index, [final.index]))
    return ListRange(begin, _stored(trace, _of(where(there, apply("subtract", end, begin), 0))))


def _imm(trace: Trace, value: int, space: Space) -> Term:
    return trace.emit(lambda pool: pool.imm(value, I64, space))


def _stored(trace: Trace, term: Term) -> Term:
    """In an array, because it is read at computed places or often."""
    trace.pool.annotate(term.index, hint=Hint("manifest"))
    return term


def _of(value: Operand) -> Term:
    assert isinstance(value, Term)
    return value
