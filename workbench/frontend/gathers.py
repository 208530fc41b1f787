"""Gathers: values at absolute cells, gather(u, i, j); outside of the domain by a rule, or an error of the run."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.errors import TraceError
from workbench.frontend.attempts import DimensionFoundError
from workbench.frontend.componentwise import componentwise
from workbench.frontend.elements import element, is_array
from workbench.frontend.outside import Outside
from workbench.frontend.promotion import cast_term, constant, meeting_space, spread
from workbench.frontend.trace import Operand, Term, Trace, current_trace, show_dim
from workbench.frontend.value import Value, operand
from workbench.graph import GLOBAL, Extend, Space
from workbench.graph.types import BOOL, I64


@componentwise
def gather(value: object, *cells: object) -> Value:
    """The value in the cell with the given indices, one whole number or index value per axis: gather(u, i, j).

    Indices count from 0: u[+1, 0] is relative to the cell, gather(u, i, j) is absolute. A vector is gathered component
    by component. An index outside the domain ends the run with an error, even if the field has a boundary rule;
    gather(extend(u, rule), i, j) follows the rule.
    """
    trace = current_trace("gather")
    given, text = operand(value), trace.text_here("gather")
    indices = [operand(cell) for cell in cells]
    if trace.positions is not None:
        raise TraceError(f"{text} stands in a function of arrays", advice="Write x[i, j].")
    if not isinstance(given, Term) or not given.is_local:
        raise TraceError(f"{text} reads one number, which is the same for all cells", advice="Leave gather out.")
    if is_array(given.space):
        return Value(element(given, indices))
    if any(axis.kind != "grid" for axis in given.space.axes):
        raise TraceError(
            f"{text} reads a value with the axes {given.space.axis_names}, of pairs",
            advice="Gather what a field, an array or the particles have.",
        )
    _check_count(trace, given.space, len(indices), text)
    numbers = [_number(trace, index, axis, text) for axis, index in enumerate(indices)]
    space = meeting_space(trace, indices)
    is_declared = isinstance(value, Value) and bool(value._static)
    return Value(_gathered(trace, given, numbers, given.space if space.is_global else space, is_declared))


def _gathered(trace: Trace, given: Term, numbers: Sequence[Term], space: Space, is_declared: bool) -> Term:
    """The cell of what is extended, if anything is; a declared field's own rule is not asked."""
    node = given.node
    if not isinstance(node.instruction, Extend):
        return _read(trace, given, numbers, space)
    inner = Term(trace, node.operands[0])
    if is_declared:
        return _read(trace, inner, numbers, space)
    return Outside(trace, given, space).follow(numbers)


def _read(trace: Trace, value: Term, numbers: Sequence[Term], space: Space) -> Term:
    """The cells of a value by i64 numbers, each in `space`."""
    indices = [spread(number, space).index for number in numbers]
    return trace.emit(lambda pool: pool.gather(value.index, indices))


def _check_count(trace: Trace, space: Space, count: int, text: str) -> None:
    """An index for each axis; while the dimension is a guess, their number may correct it."""
    if count == space.rank:
        trace.fixed = True
        return
    if count > space.rank and not trace.fixed:
        raise DimensionFoundError(count, fixed=True)
    has = f"the axes {space.axis_names}" if space != trace.grid else show_dim(space.rank)
    raise TraceError(
        f"{text} has {count} ind{'ices' if count != 1 else 'ex'}, but the value has {has}",
        advice=f"Write one index for each axis: gather(u, {', '.join('ijk'[: space.rank] or 'i')}).",
    )


def _number(trace: Trace, index: Operand, axis: int, text: str) -> Term:
    """An index along one axis, as i64."""
    if isinstance(index, Term) and index.type.is_integer and index.type != BOOL:
        return cast_term(index, I64)
    if isinstance(index, Term):
        raise TraceError(
            f"{text}: index {axis} is {index.type}, not whole numbers",
            advice='Cast it: astype(floor(x / dx), "i64").' if index.type != BOOL else "Write where(condition, 1, 0).",
        )
    if isinstance(index, bool) or not isinstance(index, int):
        raise TraceError(f"{text}: index {axis} is {index!r}", advice="Give a whole number or an index value.")
    return constant(trace, index, I64, GLOBAL)
