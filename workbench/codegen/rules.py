"""Rules and regions: boundary rules as table rows, operators given as small graphs as statements."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.codegen.names import NameBook
from workbench.codegen.spelling import TargetLanguage, Text, literal, spell, type_name
from workbench.codegen.statement import Statement
from workbench.codegen.turns import Operand, Turns, turns_of
from workbench.errors import GraphError
from workbench.graph import (
    Arith,
    Extend,
    Fixed,
    Imm,
    Load,
    Loop,
    Node,
    Prescribed,
    Region,
    SideRule,
)
from workbench.graph.instructions import Instruction, array_places, traits_of
from workbench.graph.side_rules import rule_name
from workbench.planning.extents import MOST_REFLECTIONS
from workbench.planning.kernel_plan import Margins


@dataclass(frozen=True, slots=True)
class RollingFill:
    """Rules for the ghost cells of a value that rolls: its buffer and how many planes that keeps."""

    rules: str
    buffer: str
    planes: int


def region_body(
    nodes: tuple[Node, ...], parameters: dict[str, str], target: TargetLanguage, names: NameBook
) -> tuple[Statement, ...]:
    """A region as statements, the last of which returns; one line a node, because regions are short, and its loops."""
    texts: list[Text] = []
    lines: list[Statement] = []
    loops: dict[tuple[Region, tuple[int, ...]], Turns] = {}
    for index, node in enumerate(nodes):
        match node.instruction:
            case Imm(value):
                texts.append(literal(value, node.value_type))
            case Load(name):
                texts.append(Text(parameters[name]))
            case Arith(operator):
                type_ = nodes[node.operands[-1]].value_type
                text = spell(operator, tuple(texts[i] for i in node.operands), type_, node.value_type, target)
                name = names.claim(node.names[0] if node.names else f"t{index}")
                lines.append(Statement(f"const {type_name(node.value_type)} {name} = {text.text};", ()))
                texts.append(Text(name))
            case Loop(body, result):
                key = body, node.operands
                if key not in loops:
                    given = [Operand(texts[i].text, is_cell=False) for i in node.operands]
                    loops[key] = turns_of(body, given, names, target)
                    lines += (Statement(line, ()) for line in loops[key].lines())
                texts.append(Text(loops[key].names[result]))
            case _:
                raise GraphError(
                    f"{node.instruction} inside a region", advice="Use constants, parameters and operators."
                )
    return (*lines, Statement(f"return {texts[-1].text};", ()))


def is_steady(nodes: tuple[Node, ...], extend: Node) -> bool:
    """Whether the ghost cells never change: every side has values that depend on indices, sizes and constants alone."""
    assert isinstance(extend.instruction, Extend)
    if not all(isinstance(rule, Prescribed) for pair in extend.instruction.sides for rule in pair):
        return False
    waiting, seen = list(extend.operands[1:]), set[int]()
    while waiting:
        index = waiting.pop()
        if index not in seen:
            seen.add(index)
            waiting.extend(nodes[index].operands)
    return not any(_reads_state(nodes[i].instruction) for i in seen)


def _reads_state(instruction: Instruction) -> bool:
    is_load = isinstance(instruction, Load)
    return is_load or traits_of(instruction).reads == "all" or bool(array_places(instruction))


def rule_row(rule: SideRule) -> tuple[str, int, int]:
    """(kind, sign, operand) as SideRule of stencil_sides.h wants it, where RuleKind names each of graph's RULES."""
    return (rule_name(rule).upper(), getattr(rule, "sign", 1), getattr(rule, "operand", 0))


def most_steps(sides: tuple[tuple[SideRule, SideRule], ...], grown: Margins) -> int:
    """How much may remain to be done to the value of a ghost cell once the cell it comes from is found.

    Where one cell lies between a wall and a fixed face, a walk comes one cell nearer in two steps. Other rules leave
    one change of sign and one rise along a slope, however often the cell is reflected.
    """
    limits = (MOST_REFLECTIONS + 2 if any(isinstance(rule, Fixed) for rule in pair) else 4 for pair in sides)
    return sum(min(2 * max(pair) + 2, limit) for pair, limit in zip(grown, limits, strict=True))
