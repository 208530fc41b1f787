"""Origins: from a value that is infinite or not a number back to the node and the cell that made it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.backends.base import Array
from workbench.backends.images import source_cell
from workbench.backends.interpreter import Evaluation
from workbench.graph import (
    Arith,
    Extend,
    Fold,
    Gather,
    Graph,
    Imm,
    Join,
    Kernel,
    Load,
    Node,
    Prescribed,
    Reduce,
    Replicate,
    Scan,
    Scatter,
    SegmentedReduce,
    Shift,
    SideRule,
)
from workbench.graph.instructions import (
    Broadcast,
    LoadIndex,
    LoadSize,
    Loop,
    Rank,
    Store,
    arrays_read,
    operands_in_cell,
    traits_of,
)
from workbench.graph.joins import own_axis
from workbench.graph.side_rules import ValueRule
from workbench.run.state import STEP

Cell = tuple[int, ...]


def first_bad(values: Array) -> Cell | None:
    """The first cell, in order of memory, that is infinite or not a number."""
    good = np.isfinite(values["hi"] if values.dtype.names else values)
    return None if good.all() else tuple(int(i) for i in np.unravel_index(int(np.argmin(good)), values.shape))


@dataclass(frozen=True, slots=True)
class NonFiniteOrigin:
    """The node that first gives a bad value, in which cell (empty: one number for all), from which operands.

    `named` is the value with a name nearest to it on the way to the field.
    """

    node: int
    cell: Cell
    value: float
    operands: tuple[float, ...]
    named: str


def trace_back(graph: Graph, extents: Cell, values: dict[str, Array], field: str, cell: Cell) -> NonFiniteOrigin | None:
    """Follow bad operands from a field's next value to the node that made the first; None if it is good."""
    kernel = graph.kernel(STEP)
    at = _Place(kernel.nodes, Evaluation(kernel, extents, values))
    index, place, named = dict(kernel.stores())[field], cell, ""
    value = at.value(index, place)
    if np.isfinite(value):
        return None
    while True:
        named = next(iter(kernel.nodes[index].names), named)
        further = at.bad_operand(index, place, value)
        if further is None:
            operands = at.operands(index, place)
            return NonFiniteOrigin(index, place, value, tuple(at.value(i, p) for i, p in operands), named)
        index, place = further
        value = at.value(index, place)


def _first(values: Array) -> float:
    first = values.reshape(-1)[:1]
    return float((first["hi"] if first.dtype.names else first)[0])


class _Place:
    """Values of single nodes in single cells, by the reference's interpreter."""

    def __init__(self, nodes: tuple[Node, ...], evaluation: Evaluation) -> None:
        self.nodes, self.evaluation = nodes, evaluation

    def value(self, index: int, cell: Cell) -> float:
        """The node's value in a cell, or as a Global."""
        if self.nodes[index].is_global:
            return _first(self.evaluation.number(index))
        return _first(self.evaluation.local(index, tuple((i, i + 1) for i in cell)))

    def bad_operand(self, index: int, cell: Cell, value: float) -> tuple[int, Cell] | None:
        """The operand (and its cell) to which a bad value goes back; an infinite one that gives nan is where it ends.

        What is infinite by intention, such as a param, gives no nan in a minimum or a comparison.
        """
        found = [(i, p) for i, p in self.operands(index, cell) if not np.isfinite(self.value(i, p))]
        alike = [(i, p) for i, p in found if np.isnan(self.value(i, p)) == np.isnan(value)]
        computed = [(i, p) for i, p in found if not traits_of(self.nodes[i].instruction).is_leaf]
        return next(iter(alike or computed), None)

    def operands(self, index: int, cell: Cell) -> list[tuple[int, Cell]]:
        """The operands that decide the value, each with the cell in which it is read."""
        node = self.nodes[index]
        match node.instruction:
            case Arith("select"):
                condition, yes, no = node.operands
                return [(yes if self.value(condition, cell) else no, cell)]
            case Shift(offset):
                return [(node.operands[0], tuple(i - o for i, o in zip(cell, offset, strict=True)))]
            case Reduce(_, axes) | Fold(_, axes):
                return [(node.operands[0], self._folded(node.operands[0], axes, cell))]
            case Scan(_, axis, reverse):
                n = self.evaluation.extents_of(index)[axis]
                line = (cell[axis], n) if reverse else (0, cell[axis] + 1)
                places = tuple(line if k == axis else (i, i + 1) for k, i in enumerate(cell))
                return [(node.operands[0], self._bad_in(node.operands[0], places))]
            case SegmentedReduce():
                first, count = (int(self.value(i, cell)) for i in node.operands[1:])
                own = tuple((i, i + 1) for i in cell) if len(self.evaluation.extents_of(node.operands[0])) > 1 else ()
                box = (*own, (first, first + count))
                return [(node.operands[0], self._bad_in(node.operands[0], box))] if count else []
            case Scatter(_, masked):
                return self._sent(index, cell, masked)
            case Join(axis):
                return [self._joined(index, axis, cell)]
            case Gather():
                return [(node.operands[0], tuple(int(self.value(i, cell)) for i in node.operands[1:]))]
            case Replicate(space):
                inner = self.nodes[node.operands[0]].space
                positions = (None if inner is None else inner.positions_in(space)) or ()
                return [(node.operands[0], tuple(cell[p] for p in positions))]
            case Extend(sides):
                return self._extended(index, sides, cell)
            case Arith() | Loop() | Broadcast() | Rank() | Store() | Imm() | Load() | LoadIndex() | LoadSize():
                where = () if traits_of(node.instruction).reads == "none" else cell  # operands that are numbers, if any
                return [*((i, where) for i in operands_in_cell(node)), *self._bad_in_arrays(node)]

    def _sent(self, index: int, cell: Cell, masked: bool) -> list[tuple[int, Cell]]:
        """The default of a destination and what is sent to it, in order."""
        defaults, values, *places = self.nodes[index].operands
        mask = self.evaluation.on_domain(places.pop()) if masked else True
        there = np.logical_and.reduce(
            [mask, *(self.evaluation.on_domain(p) == i for p, i in zip(places, cell, strict=True))]
        )
        return [(defaults, cell), *((values, tuple(map(int, sender))) for sender in np.argwhere(there))]

    def _joined(self, index: int, axis: int, cell: Cell) -> tuple[int, Cell]:
        """The operand of a Join that a cell comes from, and its cell."""
        node, place = self.nodes[index], cell[axis]
        assert node.space is not None
        at = dict(zip(node.space.axes, cell, strict=True))
        for operand in node.operands:
            space = self.nodes[operand].space
            assert space is not None
            own = own_axis(space, node.space, axis)
            count = 1 if own is None else self.evaluation.extents_of(operand)[space.axes.index(own)]
            if place < count:
                return operand, tuple(at.get(each, place) for each in space.axes)
            place -= count
        raise AssertionError(f"cell {cell} of a Join of fewer cells")

    def _folded(self, operand: int, axes: tuple[int, ...], cell: Cell) -> Cell:
        """The cell of a fold's operand that is not finite, of those that the fold looks at; else the first of them."""
        kept = iter(cell)
        extents = self.evaluation.extents_of(operand)
        places = [(0, n) if k in axes else (place := next(kept), place + 1) for k, n in enumerate(extents)]
        return self._bad_in(operand, tuple(places))

    def _bad_in_arrays(self, node: Node) -> list[tuple[int, Cell]]:
        """Cells that are not finite of the arrays that a loop reads at computed places, one of each at most."""
        found = [(array, first_bad(self.evaluation.on_domain(array))) for array in arrays_read(node)]
        return [(array, bad) for array, bad in found if bad is not None]

    def _bad_in(self, operand: int, places: tuple[tuple[int, int], ...]) -> Cell:
        """The first cell of a box that is not finite, else its first one."""
        values = self.evaluation.local(operand, places)
        bad = first_bad(values)
        return tuple(low + i for (low, _), i in zip(places, bad or (0,) * values.ndim, strict=True))

    def _extended(self, index: int, sides: tuple[tuple[SideRule, SideRule], ...], cell: Cell) -> list[tuple[int, Cell]]:
        """What a ghost cell is made of: boundary values, and the cell of the domain that it mirrors."""
        node, extents = self.nodes[index], self.evaluation.extents_of(index)
        found: list[tuple[int, Cell]] = []
        while True:
            outside = [
                (axis, sides[axis][0 if i < 0 else 1])
                for axis, (i, n) in enumerate(zip(cell, extents, strict=True))
                if not 0 <= i < n
            ]
            if not outside:
                return [*found, (node.operands[0], cell)]
            axis, rule = next(((a, r) for a, r in outside if isinstance(r, ValueRule)), outside[0])
            if isinstance(rule, ValueRule):
                found.append((node.operands[rule.operand], cell))
            if isinstance(rule, Prescribed):
                return found
            cell = (*cell[:axis], source_cell(rule, cell[axis], extents[axis]), *cell[axis + 1 :])


def described(kernel: Kernel, origin: NonFiniteOrigin) -> str:
    """Return what the node does, on what, and where."""
    node = kernel.nodes[origin.node]
    match node.instruction:
        case Arith(operator):
            doing = operator
        case Load(name):
            doing = f"{name}, which is {origin.value:g}"
        case Imm(value):
            doing = f"the number {value}"
        case Reduce(operator) | Fold(operator) | Scan(operator) | SegmentedReduce(operator) | Scatter(operator):
            doing = f"reduce_{operator}" if isinstance(operator, str) else "a reduction"
        case _:
            doing = type(node.instruction).__name__.lower()
    text = f"first made by {doing}"
    if origin.operands:
        text += f" of {', '.join(f'{v:g}' for v in origin.operands)}"
    if origin.named:
        text += f" in {origin.named}" if origin.named in node.names else f" on the way to {origin.named}"
    return f"{text}, in cell {origin.cell}" if origin.cell else text
