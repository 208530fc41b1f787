"""The meaning of a Join (semantics §2): arrays one after another along one axis."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.graph.operators import Array
from workbench.graph.spaces import Axis, Space


def own_axis(operand: Space, result: Space, axis: int) -> Axis | None:
    """Return the axis along which the cells of an operand come, None where it is one cell.

    Raises ValueError if the operand lacks one of the other axes of the result, or has further ones.
    """
    others = set(result.axes) - {result.axes[axis]}
    own = [each for each in operand.axes if each not in others]
    if len(operand.axes) - len(own) != len(others) or len(own) > 1 or own == [result.axes[axis]]:
        raise ValueError(f"axes ({operand.axis_names}) joined along {result.axes[axis].name} of ({result.axis_names})")
    return own[0] if own else None


def join_in_order(arrays: Sequence[Array], spaces: Sequence[Space], result: Space, axis: int) -> Array:
    """Return the arrays, which have these axes, one after another; the result's own axes are in its order."""
    parts = []
    for array, space in zip(arrays, spaces, strict=True):
        own = own_axis(space, result, axis)
        order = [own if number == axis else each for number, each in enumerate(result.axes)]
        turned = np.transpose(array, [space.axes.index(each) for each in order if each is not None])
        parts.append(turned if own is not None else np.expand_dims(turned, axis))
    return np.concatenate(parts, axis)
