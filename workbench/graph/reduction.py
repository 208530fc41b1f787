"""The canonical order of reductions: one order for every backend, thread count, tile and domain split (semantics §3).

A row (last axis) is cut by global index into chunks of 1024 cells. A chunk has 16 lanes; lane l takes the cells whose
index is l modulo 16, in index order, starting from the identity. Then trees: over the 16 lanes of a chunk, over the
chunks of a row, and over each further axis from the last but one to the first (rows of a plane, planes, ...). Minimum
and maximum keep the order too, because NaN and the sign of zero depend on it.

A fold over some axes takes, for each cell along the others, the last of these axes in chunks of 1024 cells by global
index; a chunk is one lane, in index order, starting from the identity. Then trees: over the chunks, and over each
further axis from the last to the first. Scans and segments: workbench.graph.scans.
"""

from __future__ import annotations

import numpy as np

from workbench.errors import GraphError
from workbench.graph.arithmetic import Combine, apply, apply_region, constant
from workbench.graph.extended_arrays import identity_of
from workbench.graph.instructions import Region
from workbench.graph.operators import OPERATORS, REDUCTIONS, Array, identity
from workbench.graph.types import StorageType

CHUNK = 1024
LANES = 16


def reduce_canonically(operator: str | Region, values: Array, type_: StorageType) -> Array:
    """Reduce `values` (rank >= 1, dtype of `type_`) over all axes; returns a 0-d array of the same dtype."""
    combine, start = combination(operator, type_)
    return reduce_in_order(combine, start, values)


def fold_canonically(operator: str | Region, values: Array, axes: tuple[int, ...], type_: StorageType) -> Array:
    """Fold `values` (dtype of `type_`) over some of their axes; returns an array over the others, of the same dtype."""
    combine, start = combination(operator, type_)
    return fold_in_order(combine, start, values, axes)


def fold_in_order(combine: Combine, start: Array, values: Array, axes: tuple[int, ...]) -> Array:
    """Fold with any binary operator; `start` is its identity, 0-d of the dtype of `values`, and that of no cells."""
    moved = np.moveaxis(values, axes, range(-len(axes), 0))
    if not values.size:
        return np.full(moved.shape[: -len(axes)], start)
    result = np.concatenate([_lane(combine, start, chunks) for chunks in _chunks(moved)], axis=-1)
    for _ in axes:
        result = tree(combine, result)
    return result


def _chunks(values: Array) -> tuple[Array, ...]:
    """(..., cells) -> (..., chunks, cells of a chunk): those that are whole, then the last one if it is shorter."""
    whole = values.shape[-1] - values.shape[-1] % CHUNK
    chunks = values[..., :whole].reshape(*values.shape[:-1], whole // CHUNK, CHUNK)
    if whole == values.shape[-1]:
        return (chunks,)
    rest = values[..., None, whole:]
    return (chunks, rest) if whole else (rest,)


def _lane(combine: Combine, start: Array, chunks: Array) -> Array:
    """(..., cells of a chunk) -> (...): all in index order."""
    lane = np.full(chunks.shape[:-1], start)
    for cell in range(chunks.shape[-1]):
        lane = combine(lane, chunks[..., cell])
    return lane


def reduce_in_order(combine: Combine, start: Array, values: Array) -> Array:
    """Reduce with any binary operator; `start` is its identity, 0-d of the dtype of `values`, and that of no cells."""
    if not values.size:
        return start
    result = np.concatenate([_lanes(combine, start, chunks) for chunks in _chunks(values)], axis=-2)
    while result.ndim:
        result = tree(combine, result)
    return result


def tree(combine: Combine, values: Array) -> Array:
    """Combine along the last axis: neighbours (0, 1), (2, 3), ...; an odd last one is carried up; until one is left."""
    while values.shape[-1] > 1:
        paired = values.shape[-1] // 2 * 2
        combined = combine(values[..., 0:paired:2], values[..., 1:paired:2])
        values = np.concatenate([combined, values[..., paired:]], axis=-1)
    return np.asarray(values[..., 0])


def _lanes(combine: Combine, start: Array, chunks: Array) -> Array:
    """(..., cells of a chunk) -> (..., LANES): each lane in index order."""
    lanes = np.full((*chunks.shape[:-1], LANES), start)
    for first in range(0, chunks.shape[-1], LANES):
        cells = chunks[..., first : first + LANES]
        lanes[..., : cells.shape[-1]] = combine(lanes[..., : cells.shape[-1]], cells)
    return lanes


def combination(operator: str | Region, type_: StorageType) -> tuple[Combine, Array]:
    """Return the binary operator and its identity, 0-d of the type's dtype."""
    if isinstance(operator, Region):
        region = operator
        if region.identity is None:
            raise GraphError("a region without identity in Reduce", advice="Give the region an identity.")
        return lambda a, b: apply_region(region, (a, b)), constant(region.identity, type_)
    name = OPERATORS[REDUCTIONS[operator].operator].name
    start = identity_of(operator) if type_.is_record else constant(identity(operator, type_), type_)
    return lambda a, b: apply(name, (a, b), type_), start
