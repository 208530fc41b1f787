"""Layering: places for the vertices of a directed graph, sources left, few crossings (after Sugiyama, 1981)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

SWEEPS = 8  # through the layers, to and fro; more change little
_LANE = 10.0  # height that an edge takes where it passes through a layer
_MOST_LANES = 3_000  # beyond that long edges run straight, through whatever lies between

Box = tuple[float, float]
"""Width and height."""

Edge = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Arranged:
    """Middles of the vertices, and for each edge the points in between through which it should run.

    The upper left corner of all boxes is (0, 0), the lower right one is `size`.
    """

    places: tuple[tuple[float, float], ...]
    bends: tuple[tuple[tuple[float, float], ...], ...]
    size: Box


def arrange(boxes: Sequence[Box], edges: Sequence[Edge], gap: Box) -> Arranged:
    """Places for boxes such that every edge leads to the right; `gap`: between layers, and within one.

    The graph must have no cycle. Equal input gives equal output.
    """
    if not boxes:
        return Arranged((), (), (0.0, 0.0))
    layer = _layers(len(boxes), edges)
    sizes = list(boxes)
    short, routes = _with_lanes(layer, sizes, edges)
    rows = _order(layer, short)
    y = _heights(rows, sizes, short, gap[1])
    x, width = _columns(layer, sizes, gap[0])
    top = min(y[v] - sizes[v][1] / 2 for v in range(len(sizes)))
    bottom = max(y[v] + sizes[v][1] / 2 for v in range(len(sizes)))
    at = [(x[v], y[v] - top) for v in range(len(sizes))]
    bends = tuple(tuple(at[v] for v in route) for route in routes)
    return Arranged(tuple(at[: len(boxes)]), bends, (width, bottom - top))


def _layers(count: int, edges: Sequence[Edge]) -> list[int]:
    """Longest path from the left; what has no operands moves right, next to its first consumer."""
    after: list[list[int]] = [[] for _ in range(count)]
    missing = [0] * count
    for start, end in edges:
        after[start].append(end)
        missing[end] += 1
    fed = list(missing)
    layer = [0] * count
    ready = [v for v in range(count) if not missing[v]]
    for v in ready:  # grows while it is walked
        for end in after[v]:
            layer[end] = max(layer[end], layer[v] + 1)
            missing[end] -= 1
            if not missing[end]:
                ready.append(end)
    assert len(ready) == count, "the graph has a cycle"
    for v in range(count):
        if not fed[v] and after[v]:
            layer[v] = min(layer[end] for end in after[v]) - 1
    lowest = min(layer)
    return [each - lowest for each in layer]


def _with_lanes(layer: list[int], sizes: list[Box], edges: Sequence[Edge]) -> tuple[list[Edge], list[list[int]]]:
    """Split long edges at every layer between; extends `layer` and `sizes` by what is put there."""
    spare = _MOST_LANES
    short: list[Edge] = []
    routes: list[list[int]] = []
    for start, end in edges:
        between = layer[end] - layer[start] - 1
        route: list[int] = []
        if between <= spare:
            spare -= between
            for step in range(between):
                route.append(len(layer))
                layer.append(layer[start] + 1 + step)
                sizes.append((0.0, _LANE))
        path = [start, *route, end]
        short += itertools.pairwise(path)
        routes.append(route)
    return short, routes


def _neighbours(count: int, edges: Sequence[Edge]) -> tuple[list[list[int]], list[list[int]]]:
    left: list[list[int]] = [[] for _ in range(count)]
    right: list[list[int]] = [[] for _ in range(count)]
    for start, end in edges:
        left[end].append(start)
        right[start].append(end)
    return left, right


def _order(layer: list[int], edges: Sequence[Edge]) -> list[list[int]]:
    """The vertices of each layer from top to bottom, each near the mean of its neighbours; the best sweep wins."""
    left, right = _neighbours(len(layer), edges)
    rows: list[list[int]] = [[] for _ in range(max(layer) + 1)]
    for v in range(len(layer)):
        rows[layer[v]].append(v)
    rank = _ranks(rows, len(layer))
    best, fewest = rows, _crossings(rows, right, rank)
    for sweep in range(SWEEPS):
        near, order = (left, range(1, len(rows))) if sweep % 2 == 0 else (right, range(len(rows) - 2, -1, -1))
        rows = [list(row) for row in rows]
        for number in order:
            row = rows[number]
            wanted = {v: sum(rank[n] for n in near[v]) / len(near[v]) if near[v] else rank[v] for v in row}
            row.sort(key=lambda v: wanted[v])
            for place, v in enumerate(row):
                rank[v] = (place + 0.5) / len(row)
        crossed = _crossings(rows, right, rank)
        if crossed < fewest:
            best, fewest = rows, crossed
    return best


def _ranks(rows: list[list[int]], count: int) -> list[float]:
    rank = [0.0] * count
    for row in rows:
        for place, v in enumerate(row):
            rank[v] = (place + 0.5) / len(row)
    return rank


def _crossings(rows: list[list[int]], right: list[list[int]], rank: list[float]) -> int:
    """Pairs of edges between neighbouring layers that cross, counted with a tree of sums."""
    total = 0
    for number, row in enumerate(rows[:-1]):
        following = {v: place for place, v in enumerate(sorted(rows[number + 1], key=lambda v: rank[v]))}
        tree = [0] * (len(following) + 1)
        seen = 0
        for v in sorted(row, key=lambda v: rank[v]):
            ends = sorted(following[n] for n in right[v] if n in following)
            for end in ends:
                below, i = 0, end + 1
                while i:
                    below += tree[i]
                    i &= i - 1
                total += seen - below
            for end in ends:
                seen += 1
                i = end + 1
                while i < len(tree):
                    tree[i] += 1
                    i += i & -i
    return total


def _heights(rows: list[list[int]], sizes: list[Box], edges: Sequence[Edge], gap: float) -> list[float]:
    """A middle for each vertex, near its neighbours' and without overlap."""
    left, right = _neighbours(len(sizes), edges)
    y = [0.0] * len(sizes)
    for row in rows:
        total = sum(sizes[v][1] + gap for v in row)
        at = -total / 2
        for v in row:
            y[v] = at + (sizes[v][1] + gap) / 2
            at += sizes[v][1] + gap
    for sweep in range(SWEEPS):
        order = rows if sweep % 2 == 0 else rows[::-1]
        for row in order:
            wanted = []
            for v in row:
                near = left[v] + right[v] if sweep >= SWEEPS - 2 else (left[v] if sweep % 2 == 0 else right[v])
                wanted.append(sum(y[n] for n in near) / len(near) if near else y[v])
            for v, height in zip(row, _apart(wanted, [sizes[v][1] for v in row], gap), strict=True):
                y[v] = height
    return y


def _apart(wanted: list[float], heights: list[float], gap: float) -> list[float]:
    """The middles nearest to the wanted ones, in this order, `gap` apart: isotonic regression by pooling."""
    offsets, offset = [], 0.0
    for i, height in enumerate(heights):
        offset += height / 2 + (heights[i - 1] / 2 + gap if i else 0.0)
        offsets.append(offset)
    pools: list[tuple[float, int]] = []  # (mean, how many)
    for want, off in zip(wanted, offsets, strict=True):
        mean, count = want - off, 1
        while pools and pools[-1][0] > mean:
            other, many = pools.pop()
            mean, count = (mean * count + other * many) / (count + many), count + many
        pools.append((mean, count))
    means = [mean for mean, count in pools for _ in range(count)]
    return [mean + off for mean, off in zip(means, offsets, strict=True)]


def _columns(layer: list[int], sizes: list[Box], gap: float) -> tuple[list[float], float]:
    widths = [0.0] * (max(layer) + 1)
    for v, number in enumerate(layer):
        widths[number] = max(widths[number], sizes[v][0])
    middles, at = [], 0.0
    for width in widths:
        middles.append(at + width / 2)
        at += width + gap
    return [middles[number] for number in layer], at - gap
