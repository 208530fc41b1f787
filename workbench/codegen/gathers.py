"""Gathers: the text of reads at computed places, which are checked: nothing outside an array is read (semantics §2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from workbench.codegen.names import NameBook
from workbench.codegen.spelling import Text
from workbench.graph import Gather, Instruction, Loop, Node, Span
from workbench.graph.identity import by_identity
from workbench.graph.instructions import traits_of
from workbench.graph.region import gathers_in

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


@dataclass(frozen=True, slots=True)
class GatheredArray:
    """An array that is read at computed places: node `node` of the kernel's.

    strides: of an array that has its own, the texts of these. value: of an element that is read.
    """

    nodes: tuple[Node, ...]
    node: int
    array: str
    shape: str
    strides: tuple[str, ...] | None
    value: Callable[[Text], Text]


def gather_code(
    source: GatheredArray,
    spans: tuple[Span, ...],
    indices: tuple[Index, ...],
    names: NameBook,
    preferred: str,
    *,
    stops: bool = False,
    mask: str = "",
) -> GatherCode:
    """Write the read of a cell by its indices; where one lies outside, that is noted and another cell is read.

    It is the first one along the axes whose indices are checked. Along the others each cell reads beside its neighbour,
    whatever is checked, so that a row of them is one load. spans: of the Gather. stops: the loop ends at such a cell,
    so that nothing is noted and nothing read. mask: places outside are noted where this holds.
    """
    shape, strides = source.shape, source.strides
    along = strides or (*(f"{shape}.strides[{axis}]" for axis in range(len(indices) - 1)), "1")
    steps = [f"({i.text})" if s == "1" else f"({i.text}) * {s}" for i, s in zip(indices, along, strict=True)]
    begin = "0" if strides else f"{shape}.start"
    own = [step for step, index in zip(steps, indices, strict=True) if index.is_inside]
    checked = [step for step, index in zip(steps, indices, strict=True) if not index.is_inside]
    if not checked:
        return GatherCode((), source.value(Text(f"{source.array}[{' + '.join((begin, *own))}]")))
    inside, place = names.claim(f"{preferred}_inside"), names.claim(f"{preferred}_place")
    checks = [
        f"uint64_t({index.text}) < uint64_t({shape}.extents[{axis}])"
        for axis, index in enumerate(indices)
        if not index.is_inside
    ]
    sum_ = " + ".join((begin, *checked))
    test = f"const bool {inside} = {' & '.join(f'({check})' for check in checks) if len(checks) > 1 else checks[0]};"
    bit = bit_of(source.nodes, Note(Gather, spans, source.node))
    note = f"{OUTSIDE} |= uint64_t({f'{mask} & ' if mask else ''}!{inside}) << {bit};"
    if stops:
        lines = (test, f"if (!{inside}) break;", f"const int64_t {place} = {sum_};")
    else:
        lines = (test, note, f"const int64_t {place} = {inside} ? {sum_} : {begin};")
    return GatherCode(lines, source.value(Text(f"{source.array}[{' + '.join((place, *own))}]")))


@dataclass(frozen=True, slots=True)
class Note:
    """What an error says where something lies outside: what kind of node met it, where, and what that reads.

    source: the node of a kernel that a Gather reads, in a loop too; -1 of others.
    """

    kind: type[Instruction]
    spans: tuple[Span, ...]
    source: int = -1


def notes_of(node: Node) -> tuple[Note, ...]:
    """Return what a node of a kernel may note: a Loop notes for each Gather in it."""
    if isinstance(node.instruction, Loop):
        found = gathers_in(node.instruction.body, node.operands)
        return tuple(dict.fromkeys(Note(Gather, gather.spans, source) for gather, source in found))
    if not traits_of(node.instruction).notes_outside:
        return ()
    source = node.operands[0] if isinstance(node.instruction, Gather) else -1
    return (Note(type(node.instruction), node.spans, source),)


def note_bit(nodes: tuple[Node, ...], node: int) -> int:
    """Return the bit that notes what lies outside for a node that is no loop; see `bit_of`."""
    (note,) = notes_of(nodes[node])
    return bit_of(nodes, note)


def bit_of(nodes: tuple[Node, ...], note: Note) -> int:
    """Return the bit of a note; the last one is for all that have none of their own.

    Nodes of which an error would say the same, from one place of the cell, have one bit: so loops may have one text.
    """
    return min(_places(nodes)[note], _MOST - 1)


@by_identity(size=32)
def _places(nodes: tuple[Node, ...]) -> dict[Note, int]:
    """Numbers for all that errors say of these nodes, in order."""
    places = dict.fromkeys(note for node in nodes for note in notes_of(node))
    return {note: number for number, note in enumerate(places)}


def noted(nodes: tuple[Node, ...], bits: int) -> Note:
    """Return the first note whose bit is set in what a step has noted, which is not 0."""
    return next(note for note in _places(nodes) if bits >> bit_of(nodes, note) & 1)
