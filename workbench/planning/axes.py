"""Axes: which of the graph's axes values, arrays and loops have, and numbers along them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from workbench.graph.spaces import Space
from workbench.planning.kernel_plan import Axes, Margins, Subkernel

Number = TypeVar("Number")


def axes_of(space: Space | None, frame: Space) -> Axes:
    """Return the axes of a space among those of the frame, () for all of them and for a Global."""
    if space is None or space == frame:
        return ()
    positions = space.positions_in(frame)
    assert positions is not None, f"axes ({space.axis_names}) of a program with ({frame.axis_names})"
    return positions


def listed(axes: Axes, dim: int) -> Axes:
    """Return the axes one by one where () stands for all."""
    return axes or tuple(range(dim))


def widest_axes(spaces: Iterable[Space], frame: Space) -> frozenset[Axes]:
    """Return the axes of those spaces that lie in no wider one of them; () for all axes of the frame, as in `axes_of`.

    A loop over fewer axes than another one has next to no cells beside it; one over axes of its own may have most.
    """
    every = {frozenset(listed(axes_of(space, frame), frame.rank)): axes_of(space, frame) for space in spaces}
    return frozenset(axes for own, axes in every.items() if not any(own < other for other in every))


def along(numbers: Sequence[Number], axes: Axes) -> tuple[Number, ...]:
    """Return those of the numbers, one for each axis of the frame, that belong to the axes."""
    return tuple(numbers[axis] for axis in axes) if axes else tuple(numbers)


def axes_text(frame: Space, axes: Axes) -> str:
    """Return the names of some of the frame's axes, "x, z"."""
    return ", ".join(axis.name for axis in along(frame.axes, axes))


def in_frame(margins: Margins, axes: Axes, dim: int) -> Margins:
    """Return margins along some axes as margins along all: none along the others."""
    if not axes:
        return margins
    outside = dict(zip(axes, margins, strict=True))
    return tuple(outside.get(axis, (0, 0)) for axis in range(dim))


def kept_axes(loop: Subkernel, dim: int) -> Axes:
    """Return the axes that a loop's outputs have, one by one: all but those that it folds."""
    return tuple(axis for axis in listed(loop.axes, dim) if axis not in loop.reduced)


def loop_margins(loop: Subkernel, dim: int) -> Margins:
    """Return how far a loop goes beyond the domain along each of its axes: along those that it folds, not at all."""
    if not loop.reduced:
        return loop.margins
    outside = dict(zip(kept_axes(loop, dim), loop.margins, strict=True))
    return tuple(outside.get(axis, (0, 0)) for axis in listed(loop.axes, dim))


def loop_extents(loop: Subkernel, extents: tuple[int, ...]) -> tuple[int, ...]:
    """Return the cells that a loop visits along each of its axes, those beyond the domain included."""
    sizes = along(extents, loop.axes)
    pairs = zip(loop_margins(loop, len(extents)), sizes, strict=True)
    return tuple(below + size + above for (below, above), size in pairs)
