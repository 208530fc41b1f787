"""Exported: the CPU's text of a program that runs once, with an interface of C: send, execute, receive."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from workbench.codegen.cpp.headers import INCLUDE
from workbench.codegen.cpp.render import render_openmp
from workbench.codegen.names import identifier
from workbench.codegen.rendering import render_template
from workbench.codegen.shapes import array_shapes
from workbench.codegen.source import Source
from workbench.codegen.uniforms import block_words
from workbench.graph import Static
from workbench.planning.axes import listed
from workbench.planning.kernel_plan import Axes
from workbench.planning.loop_keys import tiles_of_loops
from workbench.planning.partials import cells_a_thread, host_buffers, partial_words
from workbench.planning.plan import Plan

_TYPES = {"bool": "uint8_t", "f32": "float", "f64": "double", "dd": "stencil_dd"}
_SOURCE = ".source"
_LOCALS = frozenset(["object", "extents", "extent", "elements", "last", "own", "stop", "march", "stencil"])
"""Names that the interface uses itself."""
_FUNCTIONS = """
    abort abs accept access alarm bind clock close connect cos crypt daemon div dup exit exp finite fork free gamma gets
    index kill link listen log main malloc nice open pause perror pipe poll pow printf puts raise rand random read recv
    remainder remove rename revoke rewind round scanf select send shutdown signal significand sin sleep socket stat sync
    system tan time times truncate unlink wait write"""
_NO_TYPES = _LOCALS.union(
    ["threads", "Memory", "add_shape", "SLOTS", "WORDS", "BUFFERS", "stencil_dd", "size_t", "vector"],
    _FUNCTIONS.split(),
)
"""Names that no type gets: those the interface uses, and words that the headers of C and POSIX have for functions."""


@dataclass(frozen=True, slots=True)
class Argument:
    """An array, a param or a number that is received: its name and type in C, its axes, and its slot."""

    name: str
    type: str
    along: str
    slot: int


@dataclass(frozen=True, slots=True)
class Room:
    """A slot: bytes of an item, and the axes whose extents its array has."""

    bytes: int
    axes: Axes


@dataclass(frozen=True, slots=True)
class ExportContext:
    """Everything the export templates see. operations: of a pair or element; small: below it one thread is faster.

    buffers: of partial results; widest: words of 8 bytes of one of their cells; own: such cells that each thread needs
    for itself. has_pairs: whether the interface has
    values of type dd.
    """

    name: str
    guard: str
    text: str
    entry: str
    extents: tuple[str, ...]
    inputs: tuple[Argument, ...]
    params: tuple[Argument, ...]
    outputs: tuple[Argument, ...]
    slots: tuple[Room, ...]
    shapes: tuple[Axes, ...]
    words: int
    buffers: int
    widest: int
    own: int
    has_pairs: bool
    operations: float
    small: int
    tile: int
    tiles: tuple[int, ...]
    tuning: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Building:
    """Arguments of a build: flags for speed, flags that keep bits, and from which size a second thread pays."""

    tuning: str
    meaning: str
    operations: float
    small: int


def render_export(plan: Plan, building: Building) -> dict[str, str]:
    """Header, source and Makefile by their file names. The program has one kernel, `main`, and no ghost cells."""
    source, name = render_openmp(plan), identifier(plan.graph.name)
    name = f"{name}_" if name in _NO_TYPES else name
    context = _context(plan, source, name, building)
    parts = {f"{name}.h": "export.h.jinja", f"{name}.cpp": "export.cpp.jinja", "Makefile": "export.mk.jinja"}
    return {file: render_template(template, context) for file, template in parts.items()}


def _context(plan: Plan, source: Source, name: str, building: Building) -> ExportContext:
    graph, (kernel,) = plan.graph, plan.kernels
    stored = {static for static, _ in kernel.kernel.stores()}
    numbers = {slot.name: slot.index for slot in plan.global_slots if slot.role != "reduction"}
    places = {slot.field: slot.index for slot in plan.slots if slot.field} | numbers
    extents = {axis.name: _plain(getattr(axis.extent, "name", axis.name), ()) for axis in graph.space.axes}
    taken = {static.name for static in graph.statics}

    for each in (*graph.fields, *graph.scalars):
        if _plain(each.name, taken) in extents.values():
            extents = {axis: f"{name}_count" for axis, name in extents.items()}
            break

    def arguments(statics: Sequence[Static]) -> tuple[Argument, ...]:
        names: list[str] = []
        for each in statics:
            text = _plain(each.name, taken)
            while text in names:
                text += "_"
            names.append(text)
        return tuple(
            Argument(
                name,
                _TYPES.get(each.type.name) or f"{'u' * (each.type.name[0] == 'u')}int{each.type.bits}_t",
                ", ".join(extents[axis.name] for axis in each.space.axes),
                places[each.name],
            )
            for name, each in zip(names, statics, strict=True)
        )

    return ExportContext(
        name,
        f"{name.upper()}_H",
        _whole(source),
        source.entry,
        tuple(extents.values()),
        arguments([s for s in graph.fields if s.name not in stored]),
        arguments(graph.params),
        arguments([s for s in (*graph.fields, *graph.scalars) if s.name in stored]),
        tuple(Room(slot.itemsize, listed(slot.axes, graph.dim)) for slot in plan.slots),
        (listed((), graph.dim), *(shape.axes for shape in array_shapes(plan))),
        block_words(plan.global_words, source.words),
        host_buffers(plan),
        partial_words(plan),
        cells_a_thread(plan),
        any(static.type.is_record for static in graph.statics),
        building.operations,
        building.small,
        plan.choices.plan.cpu.tile,
        tiles_of_loops(plan),
        building.tuning,
        building.meaning,
    )


def _plain(name: str, taken: Collection[str]) -> str:
    """A name in C; x of the sources is x_source where the targets have an x too."""
    alone = name.removesuffix(_SOURCE)
    text = identifier(name.replace(_SOURCE, "_source") if alone in taken else alone)
    return f"{text}_" if text in _LOCALS else text


def _whole(source: Source) -> str:
    """The text with the headers that it includes, each once."""
    headers, seen = dict(source.headers), set[str]()

    def included(found: re.Match[str]) -> str:
        name = found[1]
        if name in seen:
            return ""
        seen.add(name)
        return INCLUDE.sub(included, headers[name])

    return INCLUDE.sub(included, source.text)
