"""Symbols: what stands inside the mark of a value, and which values are numbers that a drawing may leave out."""

from __future__ import annotations

from workbench.graph import (
    OPERATORS,
    Arith,
    Fold,
    Imm,
    Kernel,
    Load,
    LoadIndex,
    LoadSize,
    Loop,
    Reduce,
    Scan,
    Scatter,
    SegmentedReduce,
    Shift,
)
from workbench.graph.instructions import traits_of
from workbench.graph.naming import number_text, offset_text

_SYMBOLS = {
    "select": "where", "multiply": "×", "divide": "/", "negative": "−", "minimum": "min", "maximum": "max",
    "absolute": "abs", "copysign": "csign", "isfinite": "finite",
}  # fmt: skip
_WORDS = {"store": "=", "broadcast": "all", "replicate": "all", "extend": "…"}


def symbol(kernel: Kernel, index: int) -> str:
    """What stands inside the node: an operator, a name, a constant, an offset; at most seven characters."""
    node = kernel.nodes[index]
    match node.instruction:
        case Imm(value):
            text = number_text(value)
        case Load(name, along):
            text = name if len(name) <= 4 and not along else ""  # a long name stands above
        case Arith(operator):
            text = _SYMBOLS.get(operator, OPERATORS[operator].symbol or operator)
        case Shift(offset):
            text = offset_text(offset) if len(offset) == 1 else offset_text(offset)[1:-1].replace(" ", "")
        case Reduce(operator) | Fold(operator) | Scan(operator) | SegmentedReduce(operator) | Scatter(operator):
            text = _SYMBOLS.get(operator, operator) if isinstance(operator, str) else "fold"
        case Loop(body, result):
            text = f"↻ {body.parameters[result].name}"
        case LoadIndex(axis):
            text = f"i {node.space.axes[axis].name}" if node.space is not None else "i"
        case LoadSize(axis):
            text = f"n {kernel.space.axes[axis].name}"
        case _:
            word = traits_of(node.instruction).word
            text = _WORDS.get(word, word)
    return text if len(text) <= 7 else text[:6] + "…"


def numbers(kernel: Kernel) -> tuple[bool, ...]:
    """For each node whether it is the same number in all cells and known before the step: constants, params, sizes.

    Formulas show them; a drawing need not.
    """
    known: list[bool] = []
    for node in kernel.nodes:
        traits = traits_of(node.instruction)
        if traits.is_leaf:
            known.append(node.is_global or traits.uniform)
        else:
            known.append((traits.is_elementwise or traits.uniform) and all(known[o] for o in node.operands))
    return tuple(known)
