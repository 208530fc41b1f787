"""Gathers: the text of reads at computed places, which are checked: nothing outside an array is read (semantics §2)."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.codegen.names import NameBook
from workbench.codegen.scope import Scope
from workbench.codegen.spelling import Text
from workbench.graph import Gather, Node
from workbench.graph.identity import by_identity
from workbench.graph.instructions import traits_of

OUTSIDE = "outside"
"""The variable of a text with a bit for each node of the kernel that met what lies outside."""
_MOST = 64


@dataclass(frozen=True, slots=True)
class Index:
    """An index of a Gather. is_inside: it is known to lie inside of the array, so it is not checked."""

    text: str
    is_inside: bool = False


@dataclass(frozen=True, slots=True)
class GatherCode:
    """Lines that come before, which know only the indices that are checked, and the element of the array."""

    lines: tuple[str, ...]
    value: Text


def gather_code(
    scope: Scope,
    gather: int,
    array: str,
    indices: tuple[Index, ...],
    names: NameBook,
    preferred: str,
    strides: tuple[str, ...] | None = None,
) -> GatherCode:
    """Write the read of a cell by its indices; where one lies outside, that is noted and another cell is read.

    It is the first one along the axes whose indices are checked. Along the others each cell reads beside its neighbour,
    whatever is checked, so that a row of them is one load. Where the loop stops at such a cell, nothing is noted
    and nothing read. strides: of an array that has its own, the texts of these.
    """
    shape = scope.shape_of(scope.axes_of(scope.nodes[gather].operands[0]))
    along = strides or (*(f"{shape}.strides[{axis}]" for axis in range(len(indices) - 1)), "1")
    steps = [f"({i.text})" if s == "1" else f"({i.text}) * {s}" for i, s in zip(indices, along, strict=True)]
    begin = "0" if strides else f"{shape}.start"
    own = [step for step, index in zip(steps, indices, strict=True) if index.is_inside]
    checked = [step for step, index in zip(steps, indices, strict=True) if not index.is_inside]
    if not checked:
        return GatherCode((), Text(f"{array}[{' + '.join((begin, *own))}]"))
    inside, place = names.claim(f"{preferred}_inside"), names.claim(f"{preferred}_place")
    checks = [
        f"uint64_t({index.text}) < uint64_t({shape}.extents[{axis}])"
        for axis, index in enumerate(indices)
        if not index.is_inside
    ]
    sum_ = " + ".join((begin, *checked))
    test = f"const bool {inside} = {' & '.join(f'({check})' for check in checks) if len(checks) > 1 else checks[0]};"
    note = f"{OUTSIDE} |= uint64_t(!{inside}) << {note_bit(scope.nodes, gather)};"
    if scope.stops:
        lines = (test, f"if (!{inside}) break;", f"const int64_t {place} = {sum_};")
    else:
        lines = (test, note, f"const int64_t {place} = {inside} ? {sum_} : {begin};")
    return GatherCode(lines, Text(f"{array}[{' + '.join((place, *own))}]"))


def note_bit(nodes: tuple[Node, ...], gather: int) -> int:
    """Return the bit that notes what lies outside for a node; the last one is for all that have none of their own.

    Nodes of which an error would say the same, from one place of the cell, have one bit: so loops may have one text.
    """
    return min(_places(nodes)[_said(nodes[gather])], _MOST - 1)


@by_identity(size=32)
def _places(nodes: tuple[Node, ...]) -> dict[tuple[object, ...], int]:
    """Numbers for all that errors say of these nodes, in order."""
    places = dict.fromkeys(_said(node) for node in nodes if traits_of(node.instruction).notes_outside)
    return {said: number for number, said in enumerate(places)}


def _said(node: Node) -> tuple[object, ...]:
    """What an error says of a node: what it does, where, and what it reads."""
    return (type(node.instruction), node.spans, node.operands[0] if isinstance(node.instruction, Gather) else None)


def noted(nodes: tuple[Node, ...], bits: int) -> int:
    """Return the first node whose bit is set in what a step has noted, which is not 0."""
    noting = [index for index, node in enumerate(nodes) if traits_of(node.instruction).notes_outside]
    return next(index for index in noting if bits >> note_bit(nodes, index) & 1)
