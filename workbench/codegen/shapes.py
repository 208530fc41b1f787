"""Shapes: those of arrays that have some of the program's axes only, as compiled code gets them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.codegen.names import identifier
from workbench.planning.axes import axes_of
from workbench.planning.kernel_plan import Axes
from workbench.planning.plan import Plan


@dataclass(frozen=True, slots=True)
class ArrayShape:
    """The shape of arrays with these of the program's axes: its name in texts, and where its words begin in a march."""

    name: str
    axes: Axes
    first: int

    @property
    def rank(self) -> int:
        """Number of axes."""
        return len(self.axes)


def array_shapes(plan: Plan) -> tuple[ArrayShape, ...]:
    """Return the shapes of a plan beside that of all axes, whose words come first."""
    found: list[ArrayShape] = []
    first = shape_words(plan.graph.dim)
    for space in plan.graph.spaces[1:]:
        name = identifier(f"shape_{'_'.join(axis.name for axis in space.axes)}")
        found.append(ArrayShape(name, axes_of(space, plan.graph.space), first))
        first += shape_words(space.rank)
    return tuple(found)


def whole_shape(dim: int) -> ArrayShape:
    """Return the shape of all axes, as loops over fewer get it that read arrays with all of them."""
    return ArrayShape("whole_shape", tuple(range(dim)), 0)


def shape_words(rank: int) -> int:
    """Return the words of a `Shape` of so many axes, as read_shape takes them."""
    return 6 * rank + 1


def element_text(
    shape: str, indices: Sequence[str], offset: tuple[int, ...], strides: tuple[str, ...] | None = None
) -> str:
    """The element of an array with this shape at the indices along its axes plus an offset; "" leaves an axis out.

    strides: those of an array that begins with its first cell and has strides of its own, "1" along dense rows.
    """
    own = strides or (*(f"{shape}.strides[{axis}]" for axis in range(len(offset) - 1)), "1")
    parts = [] if strides else [f"{shape}.start"]
    for index, o, stride in zip(indices, offset, own, strict=True):
        if index:
            at = f"({index} {'+' if o > 0 else '-'} {abs(o)})" if o else index
            parts.append(at if stride == "1" else f"{at} * {stride}")
    return " + ".join(parts) or "0"
