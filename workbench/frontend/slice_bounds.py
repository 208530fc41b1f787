"""Bounds of slices that are lengths, or computed of them: x[:n - 1], x[: n // 2] and x[i : i + n]."""

from __future__ import annotations

from workbench.frontend.axis_table import AnyOrigin, AxisTable, CutOrigin, Origin, SumOrigin, trimmed
from workbench.frontend.positions import FunctionPositions
from workbench.frontend.trace import Term
from workbench.frontend.value import Value, term_of
from workbench.graph import Arith, Axis, Imm, LoadSize

_LEAST = -2
"""A length less more than this may be a negative bound, which NumPy counts from the end again: n - 3 of n = 2."""


def bound_of(positions: FunctionPositions, axis: Axis, bound: object, *, is_stop: bool = False) -> object:
    """The bound as a whole number if it is so far from the end of the axis for all arguments, else as a length.

    is_stop: where a slice with a positive step stops; at the end or behind it that is None. What is no bound is itself.
    """
    if not isinstance(bound, Value):
        return bound
    term = term_of(bound)
    found = _of_length(positions, term)
    own = _of_origin(positions.table, positions.table.origin(axis))
    if found is not None and own is not None and found[0] == own[0] and found[1] >= _LEAST:
        behind = found[1] - own[1]
        if behind < 0:
            return behind
        if is_stop:
            return None
    origin = positions.computed(term)
    return bound if origin is None else origin


def _of_length(positions: FunctionPositions, term: Term) -> tuple[int, int] | None:
    """A value as the number of a length in the table, and what is added to it."""
    match term.node.instruction:
        case LoadSize(axis):
            name = positions.trace.axis_names[axis]
            own = next((each for each in positions.trace.space.axes if each.name == name), None)
            return None if own is None else _of_origin(positions.table, positions.table.origin(own))
        case Arith("add" | "subtract" as operator):
            left, right = (Term(positions.trace, operand) for operand in term.node.operands)
            for length, other in ((left, right), (right, left)):
                number, found = other.node.instruction, _of_length(positions, length)
                is_order = operator == "add" or other is right
                if isinstance(number, Imm) and isinstance(number.value, int) and found is not None and is_order:
                    return found[0], found[1] + (number.value if operator == "add" else -number.value)
            return None
        case _:
            return None


def _of_origin(table: AxisTable, origin: AnyOrigin) -> tuple[int, int] | None:
    """A length as that of an argument, by its number in the table, and what is added to it."""
    match origin:
        case Origin(argument, _):
            return (table.length(origin), 0) if argument else None
        case CutOrigin(of, cut):
            found, ends = _of_origin(table, table.origins[table.length(of)]), trimmed(cut)
            return None if found is None or ends is None else (found[0], found[1] - sum(ends))
        case SumOrigin(of_all):
            parts = [each for each in of_all if not (isinstance(each, Origin) and not each.argument)]
            whole = len(parts) == 1 and not isinstance(
                parts[0], CutOrigin
            )  # a slice of few elements has none, not fewer
            found = _of_origin(table, table.origins[table.length(parts[0])]) if whole else None
            added = sum(each.number for each in of_all if isinstance(each, Origin) and not each.argument)
            return None if found is None else (found[0], found[1] + added)
        case _:
            return None
