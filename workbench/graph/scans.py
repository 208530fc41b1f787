"""The canonical order of scans and of segments (semantics §3), as workbench.graph.reduction has that of reductions.

Scan: a line is cut by global index into chunks of 1024 cells, a chunk into runs of 32. L combines the cells of a run
up to each one, T is the last L of a run, U the tree over the T of a chunk. With R the tree over the T of the runs
before in the chunk, and C the tree over the U of the chunks before, a result is (C R) L; what is empty is left out. A
reverse scan goes from right to left; the borders stay, and what has been combined is always the first operand.

Segments: each is folded like a kept cell of a fold, its chunks counted from its own start.
"""

from __future__ import annotations

import numpy as np

from workbench.graph.arithmetic import Combine
from workbench.graph.instructions import Region
from workbench.graph.operators import Array
from workbench.graph.reduction import CHUNK, combination, tree
from workbench.graph.types import StorageType

RUN = 32


def scan_canonically(
    operator: str | Region, values: Array, axis: int, type_: StorageType, *, reverse: bool, exclusive: bool
) -> Array:
    """Scan `values` (dtype of `type_`) along an axis; returns an array of the same shape and dtype."""
    combine, start = combination(operator, type_)
    lines = np.moveaxis(values, axis, -1)
    found = lines.copy() if not values.size else _scanned(combine, lines, reverse)
    if exclusive and values.size:
        first = np.full((*found.shape[:-1], 1), start)
        found = np.concatenate([found[..., 1:], first] if reverse else [first, found[..., :-1]], axis=-1)
    return np.moveaxis(found, -1, axis)


def _scanned(combine: Combine, lines: Array, reverse: bool) -> Array:
    """(..., cells) -> (..., cells): the inclusive scan of each line."""
    borders = range(0, lines.shape[-1], CHUNK)
    parts: list[Array] = []
    before: list[Array] = []  # the U of the chunks so far, as complete subtrees
    for number, low in enumerate(reversed(borders) if reverse else borders):
        results, whole = _chunk(combine, lines[..., low : low + CHUNK], _prefix(combine, before), reverse)
        parts.append(results)
        _push(combine, before, whole, number)
    return np.concatenate(parts[::-1] if reverse else parts, axis=-1)


def _chunk(combine: Combine, cells: Array, chunks_before: Array | None, reverse: bool) -> tuple[Array, Array]:
    """The results in a chunk, and its U."""
    parts: list[Array] = []
    before: list[Array] = []  # the T of the runs so far, as complete subtrees
    borders = range(0, cells.shape[-1], RUN)
    for number, low in enumerate(reversed(borders) if reverse else borders):
        run = cells[..., low : low + RUN]
        found = _run(combine, run[..., ::-1] if reverse else run)
        last, runs_before = found[..., -1], _prefix(combine, before)
        _push(combine, before, last, number)
        if chunks_before is not None and runs_before is not None:
            runs_before = combine(chunks_before, runs_before)
        first = chunks_before if runs_before is None else runs_before
        results = found if first is None else combine(np.broadcast_to(first[..., None], found.shape), found)
        parts.append(results[..., ::-1] if reverse else results)
    whole = _prefix(combine, before)
    assert whole is not None
    return np.concatenate(parts[::-1] if reverse else parts, axis=-1), whole


def _run(combine: Combine, cells: Array) -> Array:
    """L of each cell of a run."""
    found = [cells[..., 0]]
    for cell in range(1, cells.shape[-1]):
        found.append(combine(found[-1], cells[..., cell]))
    return np.stack(found, axis=-1)


def _push(combine: Combine, subtrees: list[Array], leaf: Array, number: int) -> None:
    """Add leaf `number`, from 0: complete subtrees of earlier leaves grow as the digits of a binary counter do."""
    subtrees.append(leaf)
    while number % 2:
        right = subtrees.pop()
        subtrees.append(combine(subtrees.pop(), right))
        number //= 2


def _prefix(combine: Combine, subtrees: list[Array]) -> Array | None:
    """The tree over all leaves so far: what is carried up joins its left neighbour, the last first. None of none."""
    found: Array | None = None
    for subtree in reversed(subtrees):
        found = subtree if found is None else combine(subtree, found)
    return found


def fold_segments_canonically(
    operator: str | Region, values: Array, starts: Array, lengths: Array, type_: StorageType
) -> Array:
    """Fold each segment of `values` (dtype of `type_`), which all lie inside; as many results as segments.

    values: cells along one axis, or (segments, cells), where each segment is a part of its own line.
    """
    combine, start = combination(operator, type_)
    if values.ndim > 1:
        starts = starts + np.arange(len(starts)) * values.shape[1]
        values = values.reshape(-1)
    counts = np.maximum(-(-lengths // CHUNK), 1)
    first = np.cumsum(counts) - counts
    segment = np.repeat(np.arange(len(lengths)), counts)
    chunk = np.arange(len(segment)) - first[segment]
    low = starts[segment] + chunk * CHUNK
    cells = np.minimum(lengths[segment] - chunk * CHUNK, CHUNK)
    lanes = np.full(len(segment), start)
    for cell in range(int(cells.max(initial=0))):
        lane = np.flatnonzero(cells > cell)
        lanes[lane] = combine(lanes[lane], values[low[lane] + cell])
    results = lanes[first] if len(first) else lanes
    for long in np.flatnonzero(counts > 1):
        results[long] = tree(combine, lanes[first[long] : first[long] + counts[long]])
    return np.asarray(results)
