"""The text form of a graph: one node a line, stable, and read back to an equal graph."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from typing import Any

from workbench.graph.instructions import (
    Arith,
    Broadcast,
    Constant,
    Extend,
    Fold,
    Imm,
    Instruction,
    Load,
    Loop,
    Node,
    Reduce,
    Region,
    Replicate,
    Scan,
    Scatter,
    SegmentedReduce,
    Store,
    traits_of,
)
from workbench.graph.marks import NO_HINT, Hint, Span
from workbench.graph.region import region_in
from workbench.graph.side_rules import Mirror, Reflect, SideRule, Wall, rule_name
from workbench.graph.spaces import AffineExtent, ConstantExtent, Extent, MinimumExtent, NamedExtent, Space
from workbench.graph.statics import Coordinate, Static, While

HEADER = "graph"
KEYWORDS = frozenset(
    re.findall(
        r"\w+",
        """graph axis static kernel region coordinate at hint line manifest delayed rolling sync_before sync_after
        default unit boundary faces group component above at_least at_most
        warn_above global local space affine minimum over to identity results none true false inf nan""",
    )
)
"""Words that a bare name may not be; a name that is one of them is quoted."""

_BARE = re.compile(r"[^\W\d]\w*(\.\w+)*")


def graph_text(
    name: str,
    space: Space,
    statics: Sequence[Static],
    kernels: Sequence[tuple[str, Sequence[Node]]],
    loops: Sequence[While],
    coordinates: Sequence[Coordinate],
) -> str:
    """Return a graph's text: axes, statics, regions, kernels and coordinates; `parse` gives the graph back.

    A node reads `%3 = add %1 %2 : f64 local  # u1 at 4:2-9`; after # come names, places (line:column-end) and hints.
    """
    regions = _regions([nodes for _, nodes in kernels] + [c.nodes for c in coordinates])
    lines = [f"{HEADER} {name_text(name)}"]
    lines += [f"axis {name_text(a.name)} {a.kind} {extent_text(a.extent)}" for a in space.axes]
    lines += [_static_text(s, space) for s in statics]
    for region, number in regions.items():
        lines.append(f"region @{number} {region_head(region)}")
        lines += _node_lines(region.nodes, space, regions)
    for kernel, nodes in kernels:
        lines.append(f"kernel {name_text(kernel)}")
        lines += _node_lines(nodes, space, regions)
    lines += [f"while {while_text(loop)}{_place_text(loop.span)}" for loop in loops]
    for coordinate in coordinates:
        lines.append(f"coordinate {coordinate.axis} {name_text(coordinate.name)} unit {json.dumps(coordinate.unit)}")
        lines += _node_lines(coordinate.nodes, space, regions)
    return "\n".join(lines) + "\n"


def node_text(index: int, node: Node, local: Space, regions: dict[Region, int] | None = None) -> str:
    """Return one node's line without indentation; `local` is the space that is spelled "local"."""
    numbers = regions or {}
    text = operation_text(node, [f"%{o}" for o in node.operands], local, lambda region: f"@{numbers.get(region, '?')}")
    notes = [name_text(n) for n in node.names]
    if node.spans:
        notes += ["at", *(span_text(s) for s in node.spans)]
    if node.hint != NO_HINT:
        notes += ["hint", _hint_text(node.hint)]
    return f"%{index} = {text}  # {' '.join(notes)}" if notes else f"%{index} = {text}"


def operation_text(node: Node, operands: Sequence[str], local: Space, region_text: Callable[[Region], str]) -> str:
    """Return the instruction on operands that are spelled so, with type and space; no name, line or hint."""
    text = " ".join([*_instruction_words(node.instruction, local, region_text), *operands])
    if node.type is not None and node.space is not None:
        text += f" : {node.type} {space_text(node.space, local)}"
    return text


def region_head(region: Region) -> str:
    """Return the region's parameters and its identity or results, as they stand above its nodes."""
    parameters = ", ".join(
        f"{name_text(p.name)} : {p.type}{f' axes {p.axes}' if p.axes else ''}" for p in region.parameters
    )
    if region.results:
        return f"({parameters}) results {_tuple_text(region.results)}"
    start = "none" if region.identity is None else number_text(region.identity)
    return f"({parameters}) identity {start}"


def is_bare(name: str) -> bool:
    """Whether a name stands without quotes: a plain identifier, or several with dots between them."""
    return _BARE.fullmatch(name) is not None and name not in KEYWORDS


def name_text(name: str) -> str:
    """Return the name bare if it may be, else quoted."""
    return name if is_bare(name) else json.dumps(name)


def number_text(value: Constant) -> str:
    """Return a constant such that reading it gives the same type and bits; that of a pair in brackets."""
    if isinstance(value, tuple):
        return f"({', '.join(map(number_text, value))})"
    return str(value).lower() if isinstance(value, bool) else repr(value)


def span_text(span: Span) -> str:
    """Return line:column-end."""
    return f"{span.line}:{span.column}-{span.end_column}"


def space_text(space: Space, local: Space) -> str:
    """Return "global", "local" for the graph's own space, "local(x, z)" for some of its axes, or the axes in full."""
    if space.is_global:
        return "global"
    if space == local:
        return "local"
    if space.positions_in(local) is not None:
        return f"local({', '.join(name_text(a.name) for a in space.axes)})"
    return "space(" + ", ".join(f"{name_text(a.name)} {a.kind} {extent_text(a.extent)}" for a in space.axes) + ")"


def extent_text(extent: Extent) -> str:
    """Return a name, a number, affine(base, scale, offset) or minimum(left, right)."""
    match extent:
        case NamedExtent(name):
            return name_text(name)
        case ConstantExtent(value):
            return str(value)
        case AffineExtent(base, scale, offset):
            return f"affine({extent_text(base)}, {scale}, {offset})"
        case MinimumExtent(left, right):
            return f"minimum({extent_text(left)}, {extent_text(right)})"


def rule_text(rule: SideRule) -> str:
    """Return the rule's name and, in brackets, its sign or the number of its operand.

    Numbers at the end that have their default are left out, but the sign of a reflection is always there.
    """
    numbers = list(map(str, _given(rule, least=isinstance(rule, Reflect | Mirror | Wall))))
    return f"{rule_name(rule)}({', '.join(numbers)})" if numbers else rule_name(rule)


def _given(record: Instruction | SideRule, least: int = 0) -> list[Any]:
    """The values of the fields, without defaults at the end: a new field changes no text."""
    given = [(getattr(record, field.name), field.default) for field in fields(record)]
    while len(given) > least and given[-1][0] == given[-1][1]:
        given.pop()
    return [value for value, _ in given]


def _regions(sequences: Iterable[Sequence[Node]]) -> dict[Region, int]:
    """Every region of these nodes, numbered in order of first use."""
    found: dict[Region, int] = {}
    for nodes in sequences:
        _note_regions(nodes, found)
    return found


def _note_regions(nodes: Iterable[Node], found: dict[Region, int]) -> None:
    """Number the regions that are used, those inside of another one before it."""
    for node in nodes:
        region = region_in(node.instruction)
        if region is not None and region not in found:
            _note_regions(region.nodes, found)
            found[region] = len(found)


def _static_text(static: Static, local: Space) -> str:
    text = f"static {name_text(static.name)} {static.role} : {static.type} {space_text(static.space, local)}"
    if static.default is not None:
        text += f" default {number_text(static.default)}"
    if static.unit:
        text += f" unit {json.dumps(static.unit)}"
    if static.boundary:
        text += f" boundary {json.dumps(static.boundary)}"
    if static.face_axes:
        text += f" faces {_tuple_text(static.face_axes)}"
    if static.group:
        text += f" group {name_text(static.group)}"
    if static.component:
        text += f" component {_tuple_text(static.component)}"
    if static.limits:
        text += "".join(f" {name} {number_text(bound)}" for name, bound in static.limits.named)
    if static.inner:
        text += " inner"
    return text + _place_text(static.span)


def while_text(loop: While) -> str:
    """Return the names of the loop's kernels and of its condition, and its most turns."""
    names = " ".join(map(name_text, (loop.before, loop.begin, loop.turn, loop.going)))
    return f"{names} {loop.at_most}{' ok' if loop.at_most_ok else ''}"


def _place_text(span: Span) -> str:
    return "" if span == Span(0) else f" at {span_text(span)}"


def _node_lines(nodes: Iterable[Node], local: Space, regions: dict[Region, int]) -> list[str]:
    return [f"  {node_text(index, node, local, regions)}" for index, node in enumerate(nodes)]


def _instruction_words(instruction: Instruction, local: Space, region_text: Callable[[Region], str]) -> list[str]:
    match instruction:
        case Imm(value):
            return ["imm", number_text(value)]
        case Load(name, along):
            return ["load", name_text(name), *(["along", ", ".join(map(name_text, along))] if along else [])]
        case Store(name):
            return ["store", name_text(name)]
        case Reduce(operator, axes) | Fold(operator, axes):
            spelled = region_text(operator) if isinstance(operator, Region) else operator
            return [traits_of(instruction).word, spelled, "over", _tuple_text(axes)]
        case Scan(operator, axis, reverse, exclusive):
            spelled = region_text(operator) if isinstance(operator, Region) else operator
            ways = [word for word, is_so in (("reverse", reverse), ("exclusive", exclusive)) if is_so]
            return ["scan", spelled, "over", str(axis), *ways]
        case SegmentedReduce(operator):
            return ["segments", region_text(operator) if isinstance(operator, Region) else operator]
        case Scatter(operator, masked):
            spelled = region_text(operator) if isinstance(operator, Region) else operator
            return ["scatter", spelled, *(["masked"] if masked else [])]
        case Broadcast(space) | Replicate(space):
            return [traits_of(instruction).word, "to", space_text(space, local)]
        case Loop(body, result):
            return ["loop", region_text(body), str(result)]
        case Arith(operator):
            return [operator]
        case Extend(sides):
            return ["extend", *(f"({rule_text(below)}, {rule_text(above)})" for below, above in sides)]
        case _:  # one of PLAIN
            numbers = _given(instruction)
            return [traits_of(instruction).word, *(_tuple_text(n) if isinstance(n, tuple) else str(n) for n in numbers)]


def _tuple_text(numbers: tuple[int, ...]) -> str:
    return "(" + ", ".join(map(str, numbers)) + ")"


def _hint_text(hint: Hint) -> str:
    words: list[str] = [hint.allocation] if hint.allocation else []
    words += ["sync_before"] if hint.sync_before else []
    words += ["sync_after"] if hint.sync_after else []
    return " ".join([*words, "line", str(hint.line)])
