"""Symbols: what stands inside the mark of a value, and which values are numbers that a drawing may leave out."""

from __future__ import annotations

from workbench.graph import (
    OPERATORS,
    Arith,
    Broadcast,
    Extend,
    Imm,
    Kernel,
    Load,
    LoadIndex,
    LoadSize,
    Reduce,
    Shift,
    Store,
)
from workbench.graph.naming import number_text, offset_text
from workbench.graph.spaces import axis_name

_SYMBOLS = {
    "select": "where", "multiply": "×", "divide": "/", "negative": "−", "minimum": "min", "maximum": "max",
    "absolute": "abs", "copysign": "csign", "isfinite": "finite",
}  # fmt: skip


def symbol(kernel: Kernel, index: int) -> str:
    """What stands inside the node: an operator, a name, a constant, an offset; at most seven characters."""
    node = kernel.nodes[index]
    match node.instruction:
        case Imm(value):
            text = number_text(value)
        case Load(name):
            text = name if len(name) <= 4 else ""  # a long name stands above
        case Store():
            text = "="
        case Arith(operator):
            text = _SYMBOLS.get(operator, OPERATORS[operator].symbol or operator)
        case Shift(offset):
            text = offset_text(offset) if len(offset) == 1 else offset_text(offset)[1:-1].replace(" ", "")
        case Reduce(operator):
            text = _SYMBOLS.get(operator, operator) if isinstance(operator, str) else "fold"
        case Broadcast():
            text = "all"
        case LoadIndex(axis):
            text = f"i {axis_name(axis)}"
        case LoadSize(axis):
            text = f"n {axis_name(axis)}"
        case Extend():
            text = "…"
    return text if len(text) <= 7 else text[:6] + "…"


def numbers(kernel: Kernel) -> tuple[bool, ...]:
    """For each node whether it is the same number in all cells and known before the step: constants, params, sizes.

    Formulas show them; a drawing need not.
    """
    known: list[bool] = []
    for node in kernel.nodes:
        match node.instruction:
            case Imm() | LoadSize():
                known.append(True)
            case Load():
                known.append(node.is_global)
            case Arith() | Broadcast():
                known.append(all(known[operand] for operand in node.operands))
            case Store() | Reduce() | Shift() | LoadIndex() | Extend():
                known.append(False)
    return tuple(known)
