"""Joins: the text of a loop that writes arrays one after another, for a host and for a device."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.codegen.cell_code import ArrayName, CellCode, Pointer, RootText
from workbench.codegen.collectives import operands_code, pointers_of
from workbench.codegen.joining import JoinedPart, Joining
from workbench.codegen.loops import Array, Sweep
from workbench.codegen.names import NameBook
from workbench.codegen.scatters import once
from workbench.codegen.scope import Scope
from workbench.codegen.shapes import ArrayShape
from workbench.codegen.spelling import type_name
from workbench.codegen.statement import Statement
from workbench.codegen.writer import KernelWriter
from workbench.graph import Join
from workbench.graph.joins import own_axis
from workbench.planning.kernel_plan import Axes, Subkernel

JOIN_NAMES = frozenset({"joined", "begin", "cells", "target"})
"""Names that no value may have in such a text."""


@dataclass(frozen=True, slots=True)
class PartCode:
    """What one operand computes in its own cells, which have `axes`, () for all; the rest as in JoinedPart."""

    node: int
    axes: Axes
    code: CellCode
    result: RootText
    shape: str
    along: tuple[int, ...]
    own: int
    begin: str


def join_code(
    writer: KernelWriter, subkernel: Subkernel, scope: Scope, names: NameBook, numbered: dict[int, str]
) -> tuple[PartCode, ...]:
    """Write the operands of the Join that a loop makes; `scope` is that of its own axes."""
    node, made, begins = writer.nodes[subkernel.alone], [], ["0"]
    assert isinstance(node.instruction, Join)
    assert node.space is not None
    axis = node.instruction.axis
    for operand in node.operands:
        space = writer.nodes[operand].space
        assert space is not None
        axes = writer.axes_of(operand)
        own = own_axis(space, node.space, axis)
        shape = shape_in_loop(writer, axes)
        code, (result,) = operands_code(writer.scope_of_others(scope, axes), (operand,), names, numbered)
        along = tuple(axis if each == own else node.space.axes.index(each) for each in space.axes)
        place = -1 if own is None else space.axes.index(own)
        made.append(PartCode(operand, axes, code, result, shape, along, place, " + ".join(begins)))
        begins.append("1" if own is None else f"{shape}.extents[{place}]")
        begins = begins if begins[0] != "0" else begins[1:]
    return tuple(made)


def shape_in_loop(writer: KernelWriter, axes: Axes) -> str:
    """Return what the shape of arrays with these axes is called in a loop over others."""
    return "whole_shape" if not axes else next(s.name for s in writer.shapes if s.axes == axes)


def join_shapes(writer: KernelWriter, subkernel: Subkernel, parts: tuple[PartCode, ...]) -> tuple[ArrayShape, ...]:
    """Return the shapes that the text of a Join names: of its parts, of itself, of what they read."""
    read = (array.node for part in parts for array in part.code.arrays)
    return writer.shapes_in((*read, *(part.node for part in parts), subkernel.alone), (-1,))


def arrays_of(parts: tuple[PartCode, ...]) -> tuple[ArrayName, ...]:
    """Return all arrays that are read, in order of appearance."""
    return tuple(array for part in parts for array in part.code.arrays)


def place_of(part: PartCode, axis: int, rank: int, inner: str, shape: str) -> tuple[str, ...]:
    """Return the summands of where a part's cell lies in the result; inner: its index along its last axis, "" for 0."""
    found, last = [f"{shape}.start"], len(part.along) - 1
    for number in range(rank):
        indices = [inner if k == last else f"at[{k}]" for k, along in enumerate(part.along) if along == number]
        if number == axis and part.begin != "0":
            indices.append(part.begin)
        if text := " + ".join(each for each in indices if each):
            stride = "" if number == rank - 1 else f" * {shape}.strides[{number}]"
            found.append(f"({text}){stride}" if stride and " + " in text else f"{text}{stride}")
    return tuple(found)


def join_sweep(writer: KernelWriter, subkernel: Subkernel) -> tuple[Sweep, dict[str, str]]:
    """Return the loop nest for a host, and its own names as `Shared` wants them."""
    slots = {home.node: home.slot for home in subkernel.reads}
    names, numbered = NameBook(writer.reserved() | JOIN_NAMES), dict[int, str]()
    (home,) = subkernel.outputs
    out = names.claim(f"out_{writer.output_name(home, numbered)}_array")
    parts = join_code(writer, subkernel, writer.scope(frozenset(slots), subkernel.axes), names, numbered)
    node = writer.nodes[subkernel.alone]
    assert isinstance(node.instruction, Join)
    type_, axis, rank = type_name(node.value_type), node.instruction.axis, len(subkernel.axes) or writer.dim
    gathers = any(part.code.gathers for part in parts)
    made = tuple(
        JoinedPart(
            part.shape,
            len(part.along),
            part.along,
            part.own,
            part.begin,
            (*pointers_of(writer, part.code), _target(part, axis, rank, type_, out)),
            part.code.row,
            (*part.code.cell, _writing(part, rank)),
            subkernel.name,
            writer.plan.outside if gathers else -1,
            writer.extends((*part.code.cell, _writing(part, rank))),
        )
        for part in parts
    )
    sweep = Sweep(
        "",
        subkernel.name,
        tuple(Array(a.name, f"const {type_name(a.type)}*", slots[a.node]) for a in arrays_of(parts)),
        (Array(out, f"{type_}*", home.slot),),
        (),
        once(statement for part in parts for statement in part.code.uniform),
        (),
        (),
        (),
        False,
        rank,
        join_shapes(writer, subkernel, parts),
        outside=writer.plan.outside if gathers else -1,
        joining=Joining(axis, made),
    )
    return sweep, {out: "out 0"}


def _target(part: PartCode, axis: int, rank: int, type_: str, out: str) -> Pointer:
    """Where in the result the row of a part has its cell 0."""
    return Pointer("target", f"{type_}*", out, " + ".join(place_of(part, axis, rank, "", "joined")))


def _writing(part: PartCode, rank: int) -> Statement:
    """The line that writes a cell of a part."""
    along = part.along[-1]
    stride = "" if along == rank - 1 else f" * joined.strides[{along}]"
    inside = tuple(sorted({part.node, *part.result.nodes}))
    return Statement(f"target[i{stride}] = {part.result.text};", inside)
