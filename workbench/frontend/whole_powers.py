"""Whole powers: whole numbers to the power of whole numbers that the program computes, in functions of arrays."""

from __future__ import annotations

from typing import Any

from workbench.frontend.loops import iterate
from workbench.frontend.operations import apply, power, where
from workbench.frontend.trace import Operand, Term
from workbench.frontend.value import operand, wrap
from workbench.graph.types import BOOL


def array_power(base: Operand, exponent: Operand) -> Operand:
    """x**n as NumPy has it: whole where both are; by squares and products, which wrap, and 0 where n is below 0."""
    if not isinstance(exponent, Term) or not (_is_whole(base) and _is_whole(exponent)):
        return power(base, exponent)
    nothing = apply("multiply", exponent, 0)

    def turn(result: Any, square: Any, left: Any) -> Any:  # noqa: ANN401  # traced values
        odd = where(operand((left & 1) != 0), operand(result * square), operand(result))
        return wrap(odd), square * square, left >> 1

    square = apply("add", base, nothing)
    one = apply("add", apply("multiply", square, 0), 1)
    found = iterate(
        turn, while_=lambda _, __, left: left > 0, start=(wrap(one), wrap(square), wrap(exponent)), at_most=64
    )
    return where(apply("less", exponent, 0), 0, operand(found[0]))


def _is_whole(given: Operand) -> bool:
    if isinstance(given, Term):
        return given.type.is_integer and given.type != BOOL
    return isinstance(given, int) and not isinstance(given, bool)
