"""Towers: the text's record of DiamondTorre's kernel and the launches of a move of several steps."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.codegen.access import Linear, Near
from workbench.codegen.cuda.device import (
    ArrayOperand,
    KernelParameter,
    LaunchCode,
    StepLaunches,
    TorreCode,
    TowerLaunches,
)
from workbench.codegen.expressions import emit_cell
from workbench.codegen.names import NameBook
from workbench.codegen.spelling import type_name
from workbench.codegen.statement import Statement
from workbench.graph.types import U64
from workbench.planning.loop_keys import loop_key
from workbench.planning.towered import Towers

if TYPE_CHECKING:
    from workbench.codegen.writer import KernelWriter

NAMES = frozenset(
    {
        *(
            "Tower",
            "Flag",
            "Turn",
            "Stage",
            "tower",
            "around",
            "works",
            "length",
            "columns",
            "column",
            "level",
            "stage",
        ),
        *("flag", "turn", "now", "next", "from", "into", "load", "value", "outside", "first", "each", "side", "even"),
        *("odd", "beside", "a", "b", "t", "x", "y", "z", "at", "cell", "ALONG", "PITCH", "GROUP", "GROUPS", "WHOLE"),
        *("Index", "Margins", "LevelGlobals", "blocks"),
    }
)


def write_towers(
    writer: KernelWriter, plain: StepLaunches, scalars: tuple[Statement, ...]
) -> tuple[tuple[TorreCode, ...], TowerLaunches | None]:
    """The kernels of a move and its launches, if plain steps run together; `scalars` are what ends each step."""
    name, towers = writer.kernel.kernel.name, writer.kernel.towers
    if towers is None:
        return (), None
    code, stage = _torre_code(writer, towers, writer.functions.claim(f"torre_{name}"))
    fills = [launch for launch in plain.launches if launch.kind == "ghosts"]
    before = tuple(_at_slot(fill, slot) for fill in fills for slot in (towers.even, towers.odd))
    if not towers.ahead:
        return (code,), TowerLaunches(towers, before, None, stage)
    code = replace(code, ahead=writer.functions.claim(f"ahead_{name}"), scalars=scalars)
    blocks = ArrayOperand("blocks", "ahead", 0, U64)
    ahead = LaunchCode(code.ahead, "scalars", (blocks,))
    return (code,), TowerLaunches(towers, before, ahead, replace(stage, arrays=(*stage.arrays, blocks)))


def _torre_code(writer: KernelWriter, towers: Towers, preferred: str) -> tuple[TorreCode, LaunchCode]:
    """The kernel that computes a stage of towers of a plain step, and its launch; `preferred` is its name."""
    (loop,) = writer.kernel.plain.subkernels
    names, numbered = NameBook(NAMES | writer.reserved()), dict[int, str]()
    output = loop.outputs[0].node
    type_ = writer.nodes[output].value_type
    own = {towers.even: "", towers.odd: ""}
    access: dict[int, Linear | Near] = {}
    others: dict[int, KernelParameter] = {}
    operands: list[ArrayOperand] = []
    near = names.claim(f"{writer.value_name(writer.kernel.plain.fills[towers.fill].node, numbered)}_near")
    older = names.claim("older") if towers.older else ""
    for slot, name in ((towers.even, "even_array"), (towers.odd, "odd_array")):
        own[slot] = names.claim(name)
        operands.append(ArrayOperand(own[slot], "slot", slot, type_))
    for read in loop.reads:
        if read.slot in own:
            access[read.node] = Near(own[read.slot], near if read.slot == towers.even else older)
            continue
        if read.slot not in others:
            array, kind = (
                names.claim(f"{writer.value_name(read.node, numbered)}_array"),
                writer.nodes[read.node].value_type,
            )
            others[read.slot] = KernelParameter(array, f"const {type_name(kind)}")
            operands.append(ArrayOperand(array, "slot", read.slot, kind, written=False))
        access[read.node] = Linear(others[read.slot].name)
    scope = replace(writer.scope(frozenset(access)), access=access)
    code = emit_cell(scope, (output,), (), names, numbered)
    (result,) = code.results
    value = names.claim("computed")
    last = Statement(f"const {type_name(type_)} {value} = {result.text};", tuple(sorted({output, *result.nodes})))
    both = tuple(KernelParameter(own[slot], type_name(type_)) for slot in own)
    made = TorreCode(
        preferred,
        loop.name,
        towers,
        type_name(type_),
        (*both, *others.values()),
        own[towers.even],
        own[towers.odd],
        near,
        older,
        code.uniform,
        (*code.row, *code.cell, last),
        value,
    )
    return made, LaunchCode(preferred, "stage", tuple(operands), loop=loop_key(writer.kernel, loop))


def _at_slot(launch: LaunchCode, slot: int) -> LaunchCode:
    """The launch of a fill for the array in a slot."""
    return replace(launch, arrays=tuple(replace(array, index=slot) for array in launch.arrays))
