"""Reads: the text by which a stored value is read from its array, and the arrays and rows that a cell needs for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from workbench.codegen.access import Linear, Near, RowPointers
from workbench.codegen.cell_code import ArrayName, RowPointer
from workbench.codegen.gathers import GatheredArray
from workbench.codegen.names import NameBook, offset_suffix
from workbench.codegen.scope import Scope
from workbench.codegen.spelling import SUM, Text, call
from workbench.codegen.statement import Statement
from workbench.graph.types import BOOL
from workbench.planning.kernel_plan import Axes

Offset = tuple[int, ...]
Key = tuple[int, Offset]
"""A node at a cell, relative to the cell that is being computed. Uniform values have the offset 0."""

UNIFORM, ROW, STRETCH, CELL = range(4)
"""How often a value changes: never in a launch, with the row, with the stretch of a row (stretches), with the cell."""
_SHORT = 100  # nodes of a kernel


@dataclass(slots=True)
class Reads:
    """What one cell reads so far: arrays by node, rows by node and offset. `preferred_name`: of a node.

    ahead: of each array that is read by linear index, the largest offset along the axis of the planes in which devices
    go through a domain: the last axis but two, or the first. stride_lines: those that name strides of arrays that have
    their own.
    """

    scope: Scope
    names: NameBook
    preferred_name: Callable[[int], str]
    arrays: dict[int, ArrayName] = field(default_factory=dict)
    pointers: dict[Key, RowPointer] = field(default_factory=dict)
    preferred: dict[int, str] = field(default_factory=dict)
    ahead: dict[str, int] = field(default_factory=dict)
    stride_lines: list[Statement] = field(default_factory=list)
    named_strides: dict[int, tuple[str, ...]] = field(default_factory=dict)

    def read(self, index: int, offset: Offset) -> tuple[Text, int]:
        """A stored value at a cell, and how often it changes."""
        axes = self.scope.axes_of(index)
        level = CELL if self.scope.inner in axes else ROW
        match self.scope.access_of(index):
            case Near(_, function):
                return Text(f"{function}({', '.join(map(str, offset))})"), CELL
            case Linear() if axes == self.scope.loop_axes:
                return self._by_index(self.array(index), offset), CELL
            case RowPointers() if level == CELL:
                return in_memory(self.scope, index, self._by_row(index, offset, axes)), CELL
            case Linear() | RowPointers():  # of other axes than the loop, or the same along a row
                element = Text(f"{self.array(index)}[{self._element(index, axes, offset)}]")
                return in_memory(self.scope, index, element), level

    def _by_row(self, index: int, offset: Offset, axes: Axes) -> Text:
        """A stored value by the pointer to its row, which has a name, and a constant added to i."""
        array = self.array(index)
        along = axes.index(self.scope.inner)
        row = (index, (*offset[:along], 0, *offset[along + 1 :]))
        if row not in self.pointers:
            name = self.names.claim(self.preferred[index] + offset_suffix(row[1], axes))
            in_row = axes == self.scope.loop_axes and not self.scope.folds and index not in self.scope.strided
            move = "" if in_row else self._element(index, axes, row[1], without=self.scope.inner)
            self.pointers[row] = RowPointer(name, array, index, row[1], move)
        place = plus("i", offset[along]).text
        stride = "1" if along == len(axes) - 1 else f"{self.scope.shape_of(axes)}.strides[{along}]"
        if index in self.scope.strided:
            stride = self.strides(index)[along]
        if stride != "1":
            place = f"{f'({place})' if offset[along] else place} * {stride}"
        return Text(f"{self.pointers[row].name}[{place}]")

    def _element(self, index: int, axes: Axes, offset: Offset, without: int = -1) -> str:
        strides = self.strides(index) if index in self.scope.strided else None
        return self.scope.element(axes, offset, without, strides)

    def strides(self, index: int) -> tuple[str, ...]:
        """The texts of the strides of an array that has its own, which have names from now on."""
        if index not in self.named_strides:
            array, of = self.array(index), self.scope.strided[index]
            names = [f"{of.step}" if of.step and word == of.words[-1] else "" for word in of.words]
            for axis, word in enumerate(of.words):
                if not names[axis]:
                    names[axis] = self.names.claim(f"{array}_stride_{axis}")
                    text = f"const int64_t {names[axis]} = read_global<int64_t>(globals, {word});"
                    self.stride_lines.append(Statement(text, ()))
            self.named_strides[index] = tuple(names)
        return self.named_strides[index]

    def array(self, index: int) -> str:
        """The name of the array that holds a node, known from now on."""
        if index not in self.arrays:
            access = self.scope.access_of(index)
            self.preferred[index] = self.preferred_name(index) if isinstance(access, RowPointers) else ""
            name = (
                self.names.claim(f"{self.preferred[index]}_array") if isinstance(access, RowPointers) else access.array
            )
            self.arrays[index] = ArrayName(name, index, self.scope.nodes[index].value_type)
        return self.arrays[index].name

    def gathered(self, index: int) -> GatheredArray:
        """The array of a node that is read at computed places, known from now on."""
        strides = self.strides(index) if index in self.scope.strided else None
        shape = self.scope.shape_of(self.scope.axes_of(index))
        value = partial(in_memory, self.scope, index)
        return GatheredArray(self.scope.nodes, index, self.array(index), shape, strides, value)

    def _by_index(self, array: str, offset: Offset) -> Text:
        """A stored value by linear index; the index of a row away has a name, the same for all arrays."""
        row = (-1, (*offset[:-1], 0))
        if row not in self.pointers:
            name = self.names.claim(f"cell{offset_suffix(row[1])}") if any(row[1]) else "cell"
            self.pointers[row] = RowPointer(name, "", -1, row[1])
        planes = offset[max(len(offset) - 3, 0)]
        self.ahead[array] = max(self.ahead.get(array, planes), planes)
        return Text(f"{array}[{plus(self.pointers[row].name, offset[-1]).text}]")


def in_memory(scope: Scope, index: int, element: Text) -> Text:
    """The element of an array, as a value. gcc has vectors of conditions if they are compared, and few of bools.

    In long loops gcc takes four times as long then, minutes for a gas of which many conditions are stored.
    """
    is_condition = scope.nodes[index].value_type == BOOL and scope.target.name == "c++"
    return call("is_true", (element,)) if is_condition and len(scope.nodes) <= _SHORT else element


def plus(name: str, offset: int) -> Text:
    """A name, moved by some cells."""
    if offset == 0:
        return Text(name)
    return Text(f"{name} {'+' if offset > 0 else '-'} {abs(offset)}", SUM)
