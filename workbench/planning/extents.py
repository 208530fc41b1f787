"""Extents: whether a plan can run with so many cells; what only their number decides."""

from __future__ import annotations

from workbench.errors import ShapeError
from workbench.graph import (
    GLOBAL,
    Extend,
    Fixed,
    Join,
    Mirror,
    Neumann,
    Node,
    Outflow,
    Periodic,
    Prescribed,
    Reflect,
    SideRule,
    Undefined,
    Wall,
    value_name,
)
from workbench.graph.joins import own_axis
from workbench.graph.spaces import Axis
from workbench.planning.axes import along, axes_of
from workbench.planning.kernel_plan import Fill, KernelPlan
from workbench.planning.plan import Plan

MOST_REFLECTIONS = 64
"""At fixed faces, of one ghost cell along one axis: each is one rounding, so that they cannot be done at once."""


def check_extents(plan: Plan, extents: tuple[int, ...]) -> None:
    """Raise ShapeError where a reflection at one side reads across the domain at a side without a rule.

    The reach of a read is known when a cell is planned, the extents only now: -3 reflected in two cells is cell 2,
    which is outside again. Nor may a few cells between fixed faces be read from so far that their values would be
    reflected more than MOST_REFLECTIONS times. What is joined has as many elements as its parts.
    """
    for kernel in plan.kernels:
        _check_joins(kernel, extents)
        for step in (kernel.plain, kernel.observed):
            for fill in step.fills:
                _check_fill(kernel, fill, extents)


def _check_joins(kernel: KernelPlan, extents: tuple[int, ...]) -> None:
    """Arrays one after another have as many elements as the axis along which they are joined."""
    frame = kernel.kernel.space
    for node in kernel.kernel.nodes:
        if not isinstance(node.instruction, Join) or node.space is None:
            continue
        axis, total = node.space.axes[node.instruction.axis], 0
        for operand in node.operands:
            space = kernel.kernel.nodes[operand].space or GLOBAL
            own = own_axis(space, node.space, node.instruction.axis)
            total += 1 if own is None else extents[frame.axes.index(own)]
        if total != extents[frame.axes.index(axis)]:
            error = ShapeError(
                f"arrays of {total} elements one after another are given {extents[frame.axes.index(axis)]} along "
                f"{axis.name}",
                advice=f"Give {axis.name} the extent {total}.",
            )
            raise _located(error, node)


def _check_fill(kernel: KernelPlan, fill: Fill, extents: tuple[int, ...]) -> None:
    node = kernel.kernel.nodes[fill.node]
    assert isinstance(node.instruction, Extend)
    assert node.space is not None
    sizes = along(extents, axes_of(node.space, kernel.kernel.space))
    for axis, rules, reach, cells in zip(node.space.axes, node.instruction.sides, fill.margins, sizes, strict=True):
        for side in (0, 1):
            needed = cells_needed(rules[side], reach[side], side)
            is_own_image = isinstance(rules[side], Mirror) and cells == 1
            if isinstance(rules[1 - side], Undefined) and needed > cells and not is_own_image:
                raise _error(kernel, node, axis, side, reach[side], (cells, needed))
            if any(isinstance(rule, Fixed) for rule in rules) and _reflections(reach[side], cells) > MOST_REFLECTIONS:
                raise _too_far(kernel, node, axis, side, reach[side], cells)


def _reflections(reach: int, cells: int) -> int:
    """An upper bound: two in turn come nearer by 2 * cells - 1 where the other side has a mirror, elsewhere by more."""
    return 2 * reach // (2 * cells - 1) + 1


def cells_needed(rule: SideRule, reach: int, side: int) -> int:
    """Cells that an axis must have so that ghosts up to `reach` at a side (0 below, 1 above) reflect into it."""
    match rule:
        case Reflect() | Fixed():
            return reach
        case Mirror():
            return reach + 1  # unless cell 0 is the only one, which is its own image
        case Wall():
            return reach + 1 if side == 0 else reach - 1
        case Undefined() | Periodic() | Outflow() | Prescribed() | Neumann():
            return 0


def _error(kernel: KernelPlan, node: Node, axis: Axis, side: int, reach: int, numbers: tuple[int, int]) -> ShapeError:
    name, axis_text = value_name(kernel.kernel, node.operands[0]), axis.name
    here, there = (f"{axis_text}{'-+'[s]}" for s in (side, 1 - side))
    error = ShapeError(
        f"{name} is read {reach} cells outside at side {here}, where it is reflected; with {numbers[0]} "
        f"cell{'s' * (numbers[0] > 1)} along {axis_text} the reflection lies outside at side {there}, "
        "which has no rule",
        advice=f"Give {name} a rule at {there}, or at least {numbers[1]} cells along {axis_text}.",
    )
    return _located(error, node)


def _too_far(kernel: KernelPlan, node: Node, axis: Axis, side: int, reach: int, cells: int) -> ShapeError:
    name, axis_text = value_name(kernel.kernel, node.operands[0]), axis.name
    enough = next(n for n in range(cells, reach + 2) if _reflections(reach, n) <= MOST_REFLECTIONS)
    error = ShapeError(
        f"{name} is read {reach} cells outside at side {axis_text}{'-+'[side]}, and along {axis_text} it has a fixed "
        f"face; with {cells} cell{'s' * (cells > 1)} its values would be reflected {_reflections(reach, cells)} times",
        advice=f"Give at least {enough} cells along {axis_text}.",
    )
    return _located(error, node)


def _located(error: ShapeError, node: Node) -> ShapeError:
    for span in node.spans[:1]:
        error.located(span.line, column=span.column)
    return error
