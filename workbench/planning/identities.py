"""Identities: what an operator becomes when an operand is a known constant, without changing a bit.

Only what IEEE 754 allows. x + 0.0 is not x, because -0.0 + 0.0 is +0.0; x + (-0.0) and x - 0.0 are. x * 0.0 is not
0.0 (NaN, infinity, sign). x - x is not 0.0. NaN stays NaN; which one does not count (semantics §3).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from math import copysign

import numpy as np

from workbench.graph import OPERATORS, Arith, Imm, Node
from workbench.graph.builder import KernelBuilder
from workbench.graph.operators import PAIR_RULES, cast
from workbench.graph.types import BOOL


def fold(builder: KernelBuilder, node: Node, makers: Sequence[Node]) -> int | None:
    """Return the constant that an exact operator makes of constants, by the table's own NumPy meaning; else None.

    makers: the nodes of the operands. Operators with a bound in ulp are left to the backend, so that a plan cannot
    change their rounding.
    """
    assert isinstance(node.instruction, Arith)
    row = OPERATORS[node.instruction.operator]
    if row.ulp or not all(isinstance(m.instruction, Imm) for m in makers):
        return None
    if row.rule in PAIR_RULES or node.value_type.is_record or any(m.value_type.is_record for m in makers):
        return None
    values = [np.asarray(m.instruction.value, m.value_type.numpy) for m in makers if isinstance(m.instruction, Imm)]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if row.rule == "cast":
            result = np.asarray(cast(values[0], node.value_type))
        else:
            result = np.asarray(row.meaning(*values))
    # The node is still on its old operands: find the type anew, as the builder would.
    type_ = node.value_type if row.rule == "cast" else BOOL if row.rule == "bool" else makers[-1].value_type
    space = makers[-1].space
    assert space is not None
    return builder.imm(result.astype(type_.numpy).item(), type_, space)


def identity(builder: KernelBuilder, node: Node, operands: tuple[int, ...], makers: Sequence[Node]) -> int | None:
    """Return the value that the operator always gives for these operands, if that is one of them; else None.

    makers: the nodes of the operands.
    """
    assert isinstance(node.instruction, Arith)
    operator = node.instruction.operator
    if any(maker.value_type.is_record for maker in makers):  # x + 0 and x * 1 turn -0.0 into 0.0
        return None
    if len(operands) == 1:
        return _involution(builder, operator, operands[0])
    constants = [maker.instruction.value if isinstance(maker.instruction, Imm) else None for maker in makers]
    if operator == "select":
        return _select(constants[0], operands)
    if len(operands) > 2:
        return None
    left, right = operands
    if left == right and operator in ("minimum", "maximum", "logical_and", "logical_or", "bitwise_and", "bitwise_or"):
        return left
    if constants == [None, None]:
        return None
    is_float = makers[0].value_type.is_float
    if _is_neutral(operator, constants[1], is_float, right=True):
        return left
    if _is_neutral(operator, constants[0], is_float, right=False):
        return right
    if operator == "multiply" and not is_float and 0 in constants:
        return operands[constants.index(0)]
    return None


def _is_neutral(operator: str, constant: bool | int | float | None, is_float: bool, *, right: bool) -> bool:
    """Whether the other operand comes back unchanged; `right` says that the constant stands on the right."""
    if constant is None:
        return False
    is_zero = constant == 0
    is_negative_zero = is_zero and copysign(1.0, constant) < 0
    match operator:
        case "add":
            return is_negative_zero if is_float else is_zero
        case "subtract":
            return right and is_zero and not (is_float and is_negative_zero)
        case "multiply":
            return constant == 1
        case "divide":
            return right and constant == 1
        case "floor_divide":
            return right and constant == 1 and not is_float
        case "logical_and":
            return constant is True
        case "logical_or" | "logical_xor":
            return constant is False
        case "bitwise_or" | "bitwise_xor":
            return is_zero
        case "shift_left" | "shift_right":
            return right and is_zero
        case _:  # operators without a neutral constant; the table is open, so they are not listed
            return False


def _involution(builder: KernelBuilder, operator: str, operand: int) -> int | None:
    """Minus minus x and not not x are x; |x| of |x| and floor of floor change nothing more."""
    node = builder.node(operand)
    if not isinstance(node.instruction, Arith) or node.instruction.operator != operator:
        return None
    if operator in ("negative", "logical_not", "bitwise_not"):
        return node.operands[0]
    if operator in ("absolute", "floor", "ceil", "trunc", "round"):
        return operand
    return None


def _select(condition: bool | int | float | None, operands: tuple[int, ...]) -> int | None:
    if operands[1] == operands[2]:
        return operands[1]
    return None if condition is None else operands[1] if condition else operands[2]
