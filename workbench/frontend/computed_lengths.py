"""Computed lengths: n - 1, n // 2 and n + m of lengths of arrays are lengths, of which new axes and slices are made."""

from __future__ import annotations

from collections.abc import Callable

from workbench.frontend.axis_table import LENGTH_OPERATORS, AnyOrigin, ComputedOrigin, Origin
from workbench.frontend.trace import Term
from workbench.graph import Arith, Imm, KernelBuilder, LoadSize
from workbench.graph.types import I64


def computed_origin(term: Term, size_of: Callable[[int], AnyOrigin]) -> AnyOrigin | None:
    """Where the length comes from that a value is; None where it depends on more than lengths.

    size_of: the origin of the length of an axis, by its number among the names of axes.
    """
    match term.node.instruction:
        case LoadSize(axis):
            return size_of(axis)
        case Imm(int() as number) if not isinstance(number, bool):
            return Origin("", number)
        case Arith(operator) if operator in LENGTH_OPERATORS or operator == "negative":
            parts = [computed_origin(Term(term.trace, index), size_of) for index in term.node.operands]
            if operator == "negative":
                operator, parts = "subtract", [Origin("", 0), *parts]
            if any(part is None for part in parts):
                return None
            line = term.node.spans[0].line if term.node.spans else None
            return ComputedOrigin(operator, tuple(part for part in parts if part is not None), line)
        case _:
            return None


def computed_number(pool: KernelBuilder, origin: AnyOrigin, size_of: Callable[[AnyOrigin], int]) -> int:
    """The node of the number that a bound of a slice is, an i64 Global. size_of: the node of a length."""
    match origin:
        case Origin("", number):
            return pool.imm(number, I64)
        case ComputedOrigin(operator, of_all):
            return pool.arith(operator, *(computed_number(pool, each, size_of) for each in of_all))
        case _:
            return size_of(origin)
