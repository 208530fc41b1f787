"""Renaming: the same value along other axes, made of the same operations on its arguments read along those axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from workbench.frontend.trace import Trace
from workbench.graph import Axis, Broadcast, Fold, Load, LoadIndex, Node, Replicate, Space
from workbench.graph.rewrite import copy

_Axes = dict[Axis, Axis]


@dataclass(slots=True)
class Rename:
    """What a renaming needs: the order of axes, how an argument is read along others, and axes that are free."""

    trace: Trace
    place: Callable[[Axis], tuple[int, int]]
    load: Callable[[str, Mapping[Axis, Axis]], int]
    free: Callable[[Axis, Sequence[Axis | None]], Axis]
    made: dict[tuple[int, frozenset[tuple[Axis, Axis]]], int] = field(default_factory=dict)


def renamed(rename: Rename, root: int, axes: _Axes) -> int:
    """The node that is `root` with each axis called what `axes` says; what has none of them stays what it is."""
    pool = rename.trace.pool
    needed, waiting = {root}, [root]
    while waiting:
        node = pool.node(waiting.pop())
        if _changes(node, axes) and not isinstance(node.instruction, Fold):
            for operand in node.operands:
                if operand not in needed:
                    needed.add(operand)
                    waiting.append(operand)
    key = frozenset(axes.items())
    for index in sorted(needed):
        if (index, key) not in rename.made:
            rename.made[index, key] = _one(rename, index, axes, key)
    return rename.made[root, key]


def _one(rename: Rename, index: int, axes: _Axes, key: frozenset[tuple[Axis, Axis]]) -> int:
    pool = rename.trace.pool
    node = pool.node(index)
    if not _changes(node, axes):
        return index
    assert node.space is not None
    space = Space(tuple(sorted((axes.get(a, a) for a in node.space.axes), key=rename.place)))
    match node.instruction:
        case Load(name):
            made = rename.load(name, axes)
        case LoadIndex(axis):
            along = node.space.axes[axis]
            made = pool.index(space.axes.index(axes.get(along, along)), space)
        case Broadcast():
            made = pool.broadcast(node.operands[0], space)
        case Replicate():
            made = pool.replicate(rename.made[node.operands[0], key], space)
        case Fold():
            made = _fold(rename, node, axes)
        case _:
            made = copy(pool, replace(node, space=space), tuple(rename.made[o, key] for o in node.operands))
    for name in node.names:
        pool.annotate(made, name=name)
    for span in node.spans:
        pool.annotate(made, span=span)
    return made


def _fold(rename: Rename, node: Node, axes: _Axes) -> int:
    """A fold along other axes; those that it folds give way where they are taken, and keep their order."""
    pool, instruction = rename.trace.pool, node.instruction
    assert isinstance(instruction, Fold)
    assert node.space is not None
    inner = pool.node(node.operands[0]).space
    assert inner is not None
    taken: list[Axis | None] = [axes.get(a, a) for a in node.space.axes]
    moved = {a: b for a, b in axes.items() if a in node.space.axes}
    folded = []
    for number in instruction.axes:
        bound = inner.axes[number]
        free = bound if bound not in taken else rename.free(bound, taken)
        taken.append(free)
        folded.append(free)
        if free != bound:
            moved[bound] = free
    operand = renamed(rename, node.operands[0], moved)
    space = pool.node(operand).space
    assert space is not None
    return pool.fold(instruction.operator, operand, [space.axes.index(axis) for axis in folded])


def _changes(node: Node, axes: Mapping[Axis, Axis]) -> bool:
    return node.space is not None and any(axis in axes for axis in node.space.axes)
