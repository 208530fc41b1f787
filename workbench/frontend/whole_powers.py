"""Whole powers: whole numbers to the power of whole numbers that the program computes, in functions of arrays."""

from __future__ import annotations

from typing import Any

from workbench.frontend.loops import iterate
from workbench.frontend.operations import apply, where
from workbench.frontend.trace import Operand
from workbench.frontend.value import operand, wrap


def whole_power(base: Operand, exponent: Operand) -> Operand:
    """x**n of whole numbers as NumPy has it: by squares and products, which wrap, and 0 where n is below 0."""
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
