"""Naming: what to call a value in front of a person, the same in every view and error; and what it computes, in words.

own_name     "flux"                         the user's, a field's, or ""
value_name   "flux", "u.next", "u[+1] - 2 * u (line 7)", "flux (line 7)" beside "flux (line 9)"
formula      "v + dt * a", "u[+1, 0]", "sum of e over all cells"
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import fields

from workbench.graph.graph import Kernel
from workbench.graph.identity import by_identity
from workbench.graph.instructions import (
    Arith,
    Broadcast,
    Combining,
    Extend,
    Fold,
    Gather,
    Imm,
    Join,
    Load,
    LoadIndex,
    LoadSize,
    Loop,
    Node,
    Rank,
    Reduce,
    Replicate,
    Scan,
    Scatter,
    SegmentedReduce,
    Shift,
    Store,
    traits_of,
)
from workbench.graph.operators import OPERATORS

LONGEST_FORMULA = 160  # characters; more is no help
LONGEST_SHORT_FORMULA = 36  # characters of a formula that stands for a name
_DEEPEST = 4  # operators of values without a name that are written out
_EMPTY_OPERATION = re.compile(r"\(… [^\w\s]+ …\)|-…")
_EMPTY_ARGUMENTS = re.compile(r"\((?:…, )+…\)")
_PART_OF_LOOP = re.compile(r"(.+)_(?:begin|turn)_\d+")
_PLAIN = (Imm, LoadIndex, LoadSize, Shift)  # their formulas say all, unless they are cut
_LINE, _COLUMN, _NUMBER = range(3)  # how exactly the place of a value is told


def own_name(kernel: Kernel, index: int) -> str:
    """The name that the value has in the cell, "" if it has none."""
    node = kernel.nodes[index]
    if isinstance(node.instruction, Load):
        return ".".join((static_name(kernel, node), *node.instruction.along))
    if isinstance(node.instruction, Store):
        return f"{static_name(kernel, node)}.next"
    return node.names[0] if node.names else ""


def static_name(kernel: Kernel, node: Node) -> str:
    """What to call the static of a Load or Store: its own name, or that of the value that a while_loop carries in it.

    The loop numbered n of a kernel k carries v in `v_k_n`, which its parts k_begin_n and k_turn_n store
    (frontend/while_loops.py). A Load of it has the name v; a static of the user's that is called so has not.
    """
    assert isinstance(node.instruction, Load | Store)
    static, home = node.instruction.name, kernel.name
    while True:
        carried = re.fullmatch(rf"(\w+)_{re.escape(home)}_\d+(_\d+)?", static)
        is_its_part = isinstance(node.instruction, Store) and home != kernel.name
        if carried and carried[1] != "while" and (is_its_part or carried[1] in node.names):
            return carried[1]
        part = _PART_OF_LOOP.fullmatch(home)
        if part is None:
            return static
        home = part[1]


def value_name(kernel: Kernel, index: int) -> str:
    """What to call a value: its own name, the field or scalar that it becomes, or a short formula with its line.

    Values of one name are told apart by their lines, else by columns, else by their numbers. Ghost cells, and a number
    in all cells, are called as the value that they are; a Store as what it writes.
    """
    return value_names(kernel)[index]


def value_names(kernel: Kernel) -> tuple[str, ...]:
    """The names of all values of a kernel, as `value_name` gives them."""
    return _value_names(kernel)


@by_identity(size=8)  # planner and views ask for one name after another, and a flip changes no kernel
def _value_names(kernel: Kernel) -> tuple[str, ...]:
    takers = _takers(kernel)
    meant = _meant(kernel)
    texts = [_called(kernel, index, takers) for index in range(len(kernel.nodes))]
    names = [text if says_all else _placed(kernel, meant[i], text, _LINE) for i, (text, says_all) in enumerate(texts)]
    for place in (_LINE, _COLUMN, _NUMBER):
        of_name: dict[str, set[int]] = {}
        for name, value in zip(names, meant, strict=True):
            of_name.setdefault(name, set()).add(value)
        for index, name in enumerate(names):
            if len(of_name[name]) > 1:
                names[index] = _placed(kernel, meant[index], texts[index][0], place)
    return tuple(names)


@by_identity(size=8)
def _takers(kernel: Kernel) -> dict[int, str]:
    """What each value that is stored becomes, "u.next"; the first of several."""
    stores = [(i, node) for i, node in enumerate(kernel.nodes) if isinstance(node.instruction, Store)]
    return {node.operands[0]: own_name(kernel, index) for index, node in reversed(stores)}


def _meant(kernel: Kernel) -> list[int]:
    """For each node the one whose value it is: equal constants are one, and neither ghost cells nor a Store another."""
    numbers: dict[bool | int | float, int] = {}
    meant: list[int] = []
    for index, node in enumerate(kernel.nodes):
        match node.instruction:
            case Imm(value):
                meant.append(numbers.setdefault(value, index))
            case Broadcast() | Replicate() | Store():
                meant.append(meant[node.operands[0]])
            case Extend() if _is_called_as_its_operand(kernel, node):
                meant.append(meant[node.operands[0]])
            case _:
                meant.append(index)
    return meant


def _placed(kernel: Kernel, index: int, text: str, place: int) -> str:
    """The text with where the value was written, as exactly as `place` says; lines and columns count from 1."""
    span = min(kernel.nodes[index].spans, key=lambda each: (each.line, each.column), default=None)
    parts = [] if span is None else [f"line {span.line}"]
    if span is not None and place == _COLUMN:
        parts.append(f"column {span.column + 1}")
    if place == _NUMBER:
        parts.append(f"value {index}")
    return f"{text} ({', '.join(parts)})" if parts else text


def record_name(kernel: Kernel, index: int) -> str:
    """What records and identifiers call a value: its name, that of what it is a part of, what it becomes ("u.next").

    A value that has none of these has its kind and number.
    """
    node = kernel.nodes[index]
    inside = kernel.nodes[node.operands[0]].instruction if isinstance(node.instruction, Extend) else None
    if traits_of(node.instruction).reads == "neighbour" and (isinstance(inside, Load) or not node.names):
        return record_name(kernel, node.operands[0])
    kind = node.instruction.operator if isinstance(node.instruction, Arith) else type(node.instruction).__name__
    return own_name(kernel, index) or _takers(kernel).get(index) or f"{str(kind).lower()} (value {index})"


def advice_on_names(kernels: Iterable[Kernel]) -> str:
    """What to do about a name that no value has: the names that there are, or how to give one."""
    known = sorted({name for kernel in kernels for node in kernel.nodes for name in node.names})
    return f"Use one of {', '.join(known)}." if known else "Give the value a name in the cell, such as flux = ..."


def formula(kernel: Kernel, index: int) -> str:
    """The node's own operation on named values; values without a name are written out, a few levels deep."""
    return cut(_formula(kernel, index, _DEEPEST, outermost=True), LONGEST_FORMULA)


def cut(text: str, longest: int) -> str:
    """At most so many characters, those in the middle left out, because both ends tell values apart."""
    if len(text) <= longest:
        return text
    end = (longest - 1) // 2
    return f"{text[: longest - 1 - end]}…{text[len(text) - end :]}"


def _called(kernel: Kernel, index: int, takers: dict[int, str]) -> tuple[str, bool]:
    """What to call a value before its line, and whether it needs none as long as no other is called so."""
    node = kernel.nodes[index]
    if isinstance(node.instruction, Extend) and _is_called_as_its_operand(kernel, node):
        return _called(kernel, node.operands[0], takers)
    name = own_name(kernel, index)
    if name:
        return name, True
    if index in takers:
        return takers[index], True
    if traits_of(node.instruction).repeats:
        return _called(kernel, node.operands[0], takers)
    text = _short_formula(kernel, index)
    return text, isinstance(node.instruction, _PLAIN) and "…" not in text


def _is_called_as_its_operand(kernel: Kernel, node: Node) -> bool:
    """Whether ghost cells have no name of their own; those of a field have none."""
    return not node.names or isinstance(_operand_of(kernel, node), Load)


def _axes_of_operand(kernel: Kernel, node: Node, axes: tuple[int, ...]) -> str:
    space = kernel.nodes[node.operands[0]].space
    return ", ".join(space.axes[axis].name for axis in axes) if space is not None else ""


def _operand_of(kernel: Kernel, node: Node) -> object:
    return kernel.nodes[node.operands[0]].instruction


def _short_formula(kernel: Kernel, index: int) -> str:
    """As deep as there is room for."""
    text = ""
    for depth in (3, 2, 1):
        text = _without_empty_parts(_formula(kernel, index, depth, outermost=True))
        if len(text) <= LONGEST_SHORT_FORMULA:
            break
    return cut(text, LONGEST_SHORT_FORMULA)


def _without_empty_parts(text: str) -> str:
    """Of operations on nothing that has a name only an ellipsis remains, and the name of a function."""
    before = ""
    while text != before:
        before = text
        text = _EMPTY_OPERATION.sub("…", _EMPTY_ARGUMENTS.sub("(…)", text))
    return text


def _formula(kernel: Kernel, index: int, depth: int, outermost: bool = False) -> str:
    node = kernel.nodes[index]
    name = own_name(kernel, index)
    if name and not outermost:
        return name
    match node.instruction:
        case Imm(value):
            return number_text(value)
        case Load():
            return f"{name}, as it was when the step began"
        case Store():
            return f"{name.removesuffix('.next')} becomes {_operand(kernel, node, 0, depth)}"
        case Arith(operator):
            return _arithmetic(kernel, node, operator, depth, outermost)
        case Shift(offset):
            return f"{_operand(kernel, node, 0, depth)}{offset_text(offset)}"
        case Gather():
            inside = [_operand(kernel, node, i, depth - 1) if depth else "…" for i in range(1, len(node.operands))]
            return f"{_operand(kernel, node, 0, depth)}[{', '.join(inside)}]"
        case Reduce() | Fold() | Scan() | SegmentedReduce() as combining:
            return _combining(kernel, node, combining, _operand(kernel, node, 0, depth))
        case Scatter() | Join() | Rank() | Loop() as several:
            return _of_several(kernel, node, several, depth)
        case Broadcast() | Replicate():
            return _operand(kernel, node, 0, depth)
        case Extend():
            inner = _operand(kernel, node, 0, depth)
            return f"{inner} with ghost cells" if outermost else inner
        case other:  # as a function of its fields and operands
            given = [str(getattr(other, field.name)) for field in fields(other)]
            operands = [_operand(kernel, node, i, depth - 1) if depth else "…" for i in range(len(node.operands))]
            return f"{traits_of(other).word}({', '.join([*given, *operands])})"


def _of_several(kernel: Kernel, node: Node, instruction: Scatter | Join | Rank | Loop, depth: int) -> str:
    """What is sent to places, or turned: of operands that mean different things."""
    match instruction:
        case Scatter(operator):
            named, sent = operator if isinstance(operator, str) else "fold", _operand(kernel, node, 1, depth)
            return f"{_operand(kernel, node, 0, depth)} with {named} of {sent} at computed places"
        case Join(axis):
            parts = [_operand(kernel, node, i, depth - 1) if depth else "…" for i in range(len(node.operands))]
            along = "" if node.space is None else f" along {node.space.axes[axis].name}"
            return f"{', then '.join(parts)} one after another{along}"
        case Rank(bits):
            return f"places in the order of {bits} bits of {_operand(kernel, node, 0, depth)}"
        case Loop(body, result):
            starts = [_operand(kernel, node, 1 + i, depth - 1) if depth else "…" for i in range(len(body.results) - 1)]
            return f"{body.parameters[result].name} after the turns of a loop from {', '.join(starts)}"


def _combining(kernel: Kernel, node: Node, instruction: Combining, operand: str) -> str:
    named = instruction.operator if isinstance(instruction.operator, str) else "fold"
    match instruction:
        case Reduce():
            return f"{named} of {operand} over all cells"
        case Fold(_, axes):
            return f"{named} of {operand} over {_axes_of_operand(kernel, node, axes)}"
        case Scan(_, axis):
            return f"{named} of {operand} along {_axes_of_operand(kernel, node, (axis,))}"
        case SegmentedReduce():
            return f"{named} of the segments of {operand}"
        case Scatter():
            return f"{named} at computed places of {operand}"


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
    index, known = node.operands[position], _formulas(kernel)
    text = known.get((index, depth))
    if text is None:
        text = known[index, depth] = _formula(kernel, index, depth)
    return text


@by_identity(size=8)
def _formulas(kernel: Kernel) -> dict[tuple[int, int], str]:  # whose they are
    """What values are as operands, by number and depth, as far as it is known: formulas have parts in common."""
    return {}


def offset_text(offset: tuple[int, ...]) -> str:
    """A Shift moves cells: what it reads lies the other way."""
    return "[" + ", ".join(f"{-d:+d}" if d else "0" for d in offset) + "]"


def number_text(value: bool | int | float) -> str:
    """As many digits as a reader wants."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
