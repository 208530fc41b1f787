"""Scope: where expressions stand, which is all that they must know of a plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from workbench.codegen.access import Access, Linear, Near, RowPointers
from workbench.codegen.shapes import element_text
from workbench.codegen.spelling import TargetLanguage
from workbench.graph import Node
from workbench.graph.spaces import Extent, Space
from workbench.planning.axes import axes_of, listed
from workbench.planning.kernel_plan import Axes


@dataclass(frozen=True, slots=True)
class Strides:
    """Of an array that is not dense: the words of the Globals block with its strides, in elements, one for each axis.

    step: the last one of them where it is known, else 0.
    """

    words: tuple[int, ...]
    step: int


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Names of what is the same in a stretch of a row: distances of indices from the cell's own, and conditions.

    checked: of indices that may lie outside, whether they do not, and a distance that does not.
    """

    moves: Mapping[int, str] = field(default_factory=dict)
    conditions: Mapping[int, str] = field(default_factory=dict)
    checked: Mapping[int, tuple[str, str]] = field(default_factory=dict)

    def knows(self, index: int) -> bool:
        """Whether the text of a node is a name, or an index and a name."""
        return index in self.moves or index in self.conditions


NO_STRETCHES = Neighbours()


class GlobalWords(Protocol):
    """Values that are the same in all cells, computed before, in the Globals block (workbench.codegen.uniforms)."""

    def holds(self, index: int) -> bool:
        """Whether the value is read from its word."""

    def word(self, index: int) -> int:
        """Its word."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Where expressions stand.

    `stored`: nodes read from arrays. `statics`: Globals block slots of params and scalars; `reductions`: those of
    Reduce nodes. `access`: how stored nodes are read that are not read by rows. `words`: what is not computed here but
    read from the Globals block.

    `frame` has all axes of the program and `axes` are those of the loop among them, () for all; `shapes` names the
    shapes of arrays with other axes. `folds`: which of the loop's axes are folded, for whose cells no row is known.
    turns_together: cells that make loops for themselves make them side by side. within: all cells are of the domain.
    apart: operators whose results have names, because a text takes them for several cells at once. stretch: what is the
    same in stretches of a row. stops: a place outside ends the loop over cells. strided: nodes that lie in arrays with
    strides of their own.
    """

    dim: int
    nodes: tuple[Node, ...]
    stored: frozenset[int]
    statics: Mapping[str, int]
    reductions: Mapping[int, int]
    target: TargetLanguage
    access: Mapping[int, Linear | Near] = field(default_factory=dict)
    words: GlobalWords | None = None
    frame: Space | None = None
    axes: Axes = ()
    shapes: Mapping[Axes, str] = field(default_factory=dict)
    folds: Axes = ()
    turns_together: bool = False
    within: bool = False
    apart: frozenset[str] = frozenset()
    stretch: Neighbours = NO_STRETCHES
    stops: bool = False
    strided: Mapping[int, Strides] = field(default_factory=dict)

    def access_of(self, index: int) -> Access:
        """How a stored node is read."""
        return self.access.get(index, RowPointers())

    def axes_of(self, index: int) -> Axes:
        """Which of the program's axes a Local has, one by one."""
        frame = self.frame
        if frame is None:
            return tuple(range(self.dim))
        return listed(axes_of(self.nodes[index].space, frame), frame.rank)

    @property
    def loop_axes(self) -> Axes:
        """Which of the program's axes the loop has, one by one."""
        return self.axes or tuple(range(self.dim))

    @property
    def inner(self) -> int:
        """The axis of the program that `i` counts."""
        return next(axis for axis in reversed(self.loop_axes) if axis not in self.folds)

    def has_row_of(self, extent: Extent) -> bool:
        """Whether rows, along the axis that `i` counts, have as many cells as this extent says."""
        return self.frame is not None and self.frame.axes[self.inner].extent == extent

    def index(self, axis: int) -> str:
        """The cell's local index along one of the program's axes."""
        return "i" if axis == self.inner else f"at[{self.loop_axes.index(axis)}]"

    def shape_of(self, axes: Axes) -> str:
        """The name of the shape of arrays with these axes."""
        return "shape" if axes == self.loop_axes else self.shapes[axes]

    def element(
        self, axes: Axes, offset: tuple[int, ...], without: int = -1, strides: tuple[str, ...] | None = None
    ) -> str:
        """Where a cell lies in an array with these axes, or its row along one of them.

        strides: of an array that has its own, the texts of these.
        """
        indices = ["" if axis == without else self.index(axis) for axis in axes]
        return element_text(self.shape_of(axes), indices, offset, strides)
