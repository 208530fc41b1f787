"""Value names: what values are called in generated text before names are made unique."""

from __future__ import annotations

from workbench.graph import Extend, Load, Node


def display_name(nodes: tuple[Node, ...], index: int) -> str:
    """The user's first name of a value; else that of the static or of what it extends; "" if it has none."""
    node = nodes[index]
    if node.names:
        return node.names[0]
    match node.instruction:
        case Load(name):
            return name
        case Extend():
            return display_name(nodes, node.operands[0])
        case _:
            return ""


def numbered_name(numbered: dict[int, str], index: int) -> str:
    """What a value without a name is called in one text: t1, t2, ... in order of appearance."""
    return numbered.setdefault(index, f"t{len(numbered) + 1}")
