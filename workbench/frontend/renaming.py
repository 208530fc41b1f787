"""Renaming: the same value along other axes, made of the same operations on its arguments read along those axes.

Folds, scans and segments are not made again: they are read from their arrays at the places of the other axes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from workbench.frontend.axis_table import AnyOrigin, Cut, LeastOrigin, Place, View
from workbench.frontend.computed_lengths import computed_number
from workbench.frontend.promotion import only_element
from workbench.frontend.trace import Trace
from workbench.graph import (
    Axis,
    Broadcast,
    Gather,
    Load,
    LoadIndex,
    Node,
    Replicate,
    Space,
)
from workbench.graph.instructions import operands_in_cell, traits_of, with_operands
from workbench.graph.rewrite import copy
from workbench.graph.spaces import NamedExtent
from workbench.graph.types import I64


@dataclass(frozen=True, slots=True)
class Target:
    """What an axis becomes: another one, of its length or of that of what is taken of it.

    axis: None where one element is taken, whose axis goes away.
    """

    axis: Axis | None
    cut: View | None = None


_Axes = dict[Axis, Target]
Size = Callable[[AnyOrigin], int]


def is_stored(node: Node) -> bool:
    """Whether a value is read from its array along other axes: also what `compute` asks for."""
    return traits_of(node.instruction).makes_array or (node.is_local and node.hint.allocation == "manifest")


@dataclass(slots=True)
class Rename:
    """What a renaming needs: the order of axes, and how an argument is read along others, None for what is none.

    one: gives the axis of one element that a value is left with which loses all its axes. size: the node of a length.
    """

    trace: Trace
    one: Callable[[], Axis]
    place: Callable[[Axis], Place]
    load: Callable[[str, Mapping[Axis, Target]], int | None]
    size: Size
    made: dict[tuple[int, frozenset[tuple[Axis, Target]]], int] = field(default_factory=dict)


def renamed(rename: Rename, root: int, axes: _Axes) -> int:
    """The node that is `root` with each axis called what `axes` says; what has none of them stays what it is."""
    pool = rename.trace.pool

    def read(index: int) -> tuple[int, ...]:
        node = pool.node(index)
        if not _changes(node, axes) or is_stored(node):
            return ()
        return operands_in_cell(node)  # an array that is read at computed places stays

    key = frozenset(axes.items())
    for index in pool.needed([root], read):
        if (index, key) not in rename.made:
            rename.made[index, key] = _one(rename, index, axes, key)
    return rename.made[root, key]


def _one(rename: Rename, index: int, axes: _Axes, key: frozenset[tuple[Axis, Target]]) -> int:
    pool = rename.trace.pool
    node = pool.node(index)
    if not _changes(node, axes):
        return index
    assert node.space is not None
    space = _space(rename, node.space, axes)
    match node.instruction:
        case Load(name) if (read := rename.load(name, axes)) is not None:
            made = read
        case _ if is_stored(node) or isinstance(node.instruction, Load):
            indices = [index_of(rename.trace, a, axes.get(a, Target(a)), space, rename.size) for a in node.space.axes]
            made = pool.gather(index, indices)
        case LoadIndex(axis):
            along = node.space.axes[axis]
            made = index_of(rename.trace, along, axes.get(along, Target(along)), space, rename.size)
        case Gather():
            made = pool.gather(node.operands[0], [rename.made[o, key] for o in node.operands[1:]])
        case Broadcast():
            made = pool.broadcast(node.operands[0], space)
        case Replicate():
            inner = rename.made[node.operands[0], key]
            is_one = set(pool.node(inner).space.axes) - set(space.axes)  # type: ignore[union-attr]  # a Local
            made = pool.broadcast(only_element(pool, inner), space) if is_one else pool.replicate(inner, space)
        case _:
            made = copy(pool, replace(node, space=space), with_operands(node, lambda o: rename.made[o, key]))
            _same_hints(rename.trace, index, made)
    pool.mark_as(made, node)
    return made


def _same_hints(trace: Trace, index: int, made: int) -> None:
    """What is asked of a value, now and later, is asked of its copy too."""
    if made != index:
        trace.copies.setdefault(index, []).append(made)
        trace.pool.annotate(made, hint=trace.pool.node(index).hint)


def index_of(trace: Trace, axis: Axis, target: Target, space: Space, size: Size) -> int:
    """The node of the index along an axis, over `space`, which has the target; of a slice where its elements stand."""
    pool = trace.pool
    if target.axis is None:
        assert target.cut is not None
        assert not isinstance(target.cut, LeastOrigin)
        return pool.broadcast(first_of(trace, axis, target.cut, size), space)
    index = pool.index(space.axes.index(target.axis), space)
    if target.cut is None or isinstance(target.cut, LeastOrigin):
        return index
    first = pool.broadcast(first_of(trace, axis, target.cut, size), space)
    return pool.arith("add", first, pool.arith("multiply", index, pool.imm(target.cut[2], I64, space)))


def first_of(trace: Trace, axis: Axis, cut: Cut, size_of: Size) -> int:
    """The node of the index at which a slice of an axis begins, an i64 Global; of a slice of no elements anything."""
    pool, (start, _, step) = trace.pool, cut
    if start is None:
        start = 0 if step > 0 else -1
    if isinstance(start, int) and start >= 0 and step > 0:
        return pool.imm(start, I64)
    assert isinstance(axis.extent, NamedExtent)
    size = pool.size(trace.axis_names.index(axis.extent.name))
    if not isinstance(start, int):
        number = computed_number(pool, start, size_of)
        is_from_end = pool.arith("less", number, pool.imm(0, I64))
        found = pool.arith("select", is_from_end, pool.arith("add", size, number), number)
        if step > 0:
            return pool.arith("maximum", found, pool.imm(0, I64))
        return pool.arith("minimum", found, pool.arith("subtract", size, pool.imm(1, I64)))
    if start >= 0:
        last = pool.arith("subtract", size, pool.imm(1, I64))
        return pool.arith("minimum", pool.imm(start, I64), last)
    found = pool.arith("add", size, pool.imm(start, I64))
    return pool.arith("maximum", found, pool.imm(0, I64)) if step > 0 else found


def _space(rename: Rename, space: Space, axes: _Axes) -> Space:
    """The axes that a value has which had these."""
    found = {axes[axis].axis if axis in axes else axis for axis in space.axes} - {None} or {rename.one()}
    return Space(tuple(sorted((axis for axis in found if axis is not None), key=rename.place)))


def _changes(node: Node, axes: _Axes) -> bool:
    return node.space is not None and any(axis in axes for axis in node.space.axes)
