"""Formulas: what a node computes, in the words of the cell: "v + dt * a", "u[+1, 0]", "the sum of e over all cells"."""

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
    Node,
    Reduce,
    Shift,
    Store,
)
from workbench.graph.spaces import axis_name

LONGEST = 160  # characters of a formula; more is no help
_SYMBOLS = {
    "select": "where", "multiply": "×", "divide": "/", "negative": "−", "minimum": "min", "maximum": "max",
    "absolute": "abs", "copysign": "csign", "isfinite": "finite",
}  # fmt: skip
_DEEPEST = 4  # operators of values without a name that are written out


def formula(kernel: Kernel, index: int) -> str:
    """The node's own operation on named values; values without a name are written out, a few levels deep."""
    text = _formula(kernel, index, _DEEPEST, outermost=True)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def symbol(kernel: Kernel, index: int) -> str:
    """What stands inside the node: an operator, a name, a constant, an offset; at most seven characters."""
    node = kernel.nodes[index]
    match node.instruction:
        case Imm(value):
            text = _number(value)
        case Load(name):
            text = name if len(name) <= 4 else ""  # a long name stands above
        case Store():
            text = "="
        case Arith(operator):
            text = _SYMBOLS.get(operator, OPERATORS[operator].symbol or operator)
        case Shift(offset):
            text = _read_offset(offset) if len(offset) == 1 else _read_offset(offset)[1:-1].replace(" ", "")
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


def title(kernel: Kernel, index: int) -> str:
    """The name that the value has in the cell, "" if it has none."""
    node = kernel.nodes[index]
    if isinstance(node.instruction, Load):
        return node.instruction.name
    if isinstance(node.instruction, Store):
        return f"{node.instruction.name}.next"
    return node.names[-1] if node.names else ""


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


def _formula(kernel: Kernel, index: int, depth: int, outermost: bool = False) -> str:
    node = kernel.nodes[index]
    name = title(kernel, index)
    if name and not outermost:
        return name
    match node.instruction:
        case Imm(value):
            return _number(value)
        case Load(static):
            return f"{static}, as it was when the step began"
        case Store(static):
            return f"{static} becomes {_operand(kernel, node, 0, depth)}"
        case Arith(operator):
            return _arithmetic(kernel, node, operator, depth, outermost)
        case Shift(offset):
            return f"{_operand(kernel, node, 0, depth)}{_read_offset(offset)}"
        case Reduce(operator):
            named = operator if isinstance(operator, str) else "fold"
            return f"{named} of {_operand(kernel, node, 0, depth)} over all cells"
        case Broadcast():
            return _operand(kernel, node, 0, depth)
        case LoadIndex(axis):
            return f"index({axis})"
        case LoadSize(axis):
            return f"size({axis})"
        case Extend():
            inner = _operand(kernel, node, 0, depth)
            return f"{inner} with ghost cells" if outermost else inner


def _arithmetic(kernel: Kernel, node: Node, operator: str, depth: int, outermost: bool) -> str:
    if depth == 0:
        return "…"
    operands = [_operand(kernel, node, i, depth - 1) for i in range(len(node.operands))]
    sign = OPERATORS[operator].symbol
    if operator == "cast":
        return f"{node.value_type}({operands[0]})"
    if operator == "select":
        return f"where({', '.join(operands)})"
    if sign and len(operands) == 2:
        text = f"{operands[0]} {sign} {operands[1]}"
        return text if outermost else f"({text})"
    if sign:
        return f"{sign}{operands[0]}"
    return f"{operator}({', '.join(operands)})"


def _operand(kernel: Kernel, node: Node, position: int, depth: int) -> str:
    return _formula(kernel, node.operands[position], depth)


def _read_offset(offset: tuple[int, ...]) -> str:
    """A Shift moves cells: what it reads lies the other way."""
    return "[" + ", ".join(f"{-d:+d}" if d else "0" for d in offset) + "]"


def _number(value: bool | int | float) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
