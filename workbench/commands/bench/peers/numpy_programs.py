"""The programs of the table in NumPy, as one writes them: whole arrays, loops only over steps and texts."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

Array = Any


def escape_times(x: float, y: float, width: float, limit: int, shape: tuple[int, int]) -> Array:
    """Turns of each point; those that have left are taken out."""
    rows, columns = shape
    step = np.float32(width) / np.float32(columns)
    a = np.float32(x) + (np.arange(columns) + 0.5 - columns / 2).astype(np.float32) * step
    b = np.float32(y) + (rows / 2 - 0.5 - np.arange(rows)).astype(np.float32) * step
    a, b = (each.ravel() for each in np.broadcast_arrays(a[None, :], b[:, None]))
    turns, inside = np.zeros(a.size, np.int64), np.arange(a.size)
    u, v = a.copy(), b.copy()
    for _ in range(limit):
        stays = u * u + v * v <= 4
        inside, a, b, u, v = inside[stays], a[stays], b[stays], u[stays], v[stays]
        turns[inside] += 1
        u, v = u * u - v * v + a, np.float32(2) * u * v + b
    return turns.reshape(shape)


def sparse_product(lengths: Array, columns: Array, values: Array, x: Array) -> Array:
    """By sums between starts of rows; each row has an element."""
    return np.add.reduceat(values * x[columns], np.cumsum(lengths) - lengths)


def radix_sort(keys: Array, payload: Array) -> tuple[Array, Array]:
    """By NumPy's stable sort of places."""
    order = np.argsort(keys, kind="stable")
    return keys[order], payload[order]


def shortest_paths(lengths: Array) -> Array:
    """Node by node."""
    for node in range(len(lengths)):
        lengths = np.minimum(lengths, lengths[:, node][:, None] + lengths[node, :][None, :])
    return lengths


def digests(texts: list[bytes]) -> tuple[Array, ...]:
    """By hashlib, text by text: four arrays of u32."""
    joined = b"".join(hashlib.md5(text, usedforsecurity=False).digest() for text in texts)
    return tuple(np.frombuffer(joined, "<u4").reshape(-1, 4).T)


def k_means_step(x: Array, y: Array, centre_x: Array, centre_y: Array) -> tuple[Array, Array]:
    """The nearest centre by all distances, and sums by bincount."""
    own = np.argmin((x[:, None] - centre_x) ** 2 + (y[:, None] - centre_y) ** 2, axis=1)
    count = np.bincount(own, minlength=len(centre_x))
    some = np.maximum(count, 1)
    sums = (np.bincount(own, weights=each, minlength=len(centre_x)) for each in (x, y))
    mean_x, mean_y = (each / some for each in sums)
    return np.where(count > 0, mean_x, centre_x), np.where(count > 0, mean_y, centre_y)


def edges(picture: Array, low: float, high: float) -> Array:
    """Canny's edges by shifted views of padded arrays: weak ones that touch one, again and again."""
    found = candidates(picture, low, high)
    weak, is_edge = found > 0, found == 1
    while True:
        wide = np.pad(is_edge, 1)
        rows = wide[:-2] | wide[1:-1] | wide[2:]
        now = weak & (rows[:, :-2] | rows[:, 1:-1] | rows[:, 2:])
        if np.array_equal(now, is_edge):
            return np.where(is_edge, 1.0, 0.0)
        is_edge = now


def candidates(picture: Array, low: float, high: float) -> Array:
    """1 on strong edges, 0.5 on weak ones, else 0."""

    def seen(array: Array, i: int, j: int) -> Array:
        rows, columns = array.shape[0] - 4, array.shape[1] - 4
        return array[2 + i : 2 + i + rows, 2 + j : 2 + j + columns]

    wide = np.pad(picture, 2, "edge")
    across = (seen(wide, 0, -2) + seen(wide, 0, 2) + 4 * (seen(wide, 0, -1) + seen(wide, 0, 1)) + 6 * picture) / 16
    wide = np.pad(across, 2, "edge")
    smooth = (seen(wide, -2, 0) + seen(wide, 2, 0) + 4 * (seen(wide, -1, 0) + seen(wide, 1, 0)) + 6 * across) / 16
    w = np.pad(smooth, 2, "edge")
    dx = (seen(w, -1, 1) + 2 * seen(w, 0, 1) + seen(w, 1, 1)) - (seen(w, -1, -1) + 2 * seen(w, 0, -1) + seen(w, 1, -1))
    dy = (seen(w, 1, -1) + 2 * seen(w, 1, 0) + seen(w, 1, 1)) - (seen(w, -1, -1) + 2 * seen(w, -1, 0) + seen(w, -1, 1))
    size = np.sqrt(dx * dx + dy * dy)
    steep = np.tan(3 * np.pi / 8)
    level, upright, rises = abs(dy) * steep <= abs(dx), abs(dy) >= abs(dx) * steep, dx * dy > 0
    w = np.pad(size, 2, "edge")
    best = ~((abs(dx) <= low) & (abs(dy) <= low)) & (size >= low)
    for s in (1, -1):
        askew = np.where(rises, seen(w, s, s), seen(w, s, -s))
        best &= size >= np.where(level, seen(w, 0, s), np.where(upright, seen(w, s, 0), askew))
    return np.where(best, np.where(size >= high, 1.0, 0.5), 0.0)


def fluid_step(state: tuple[Array, ...], dt: float, viscosity: float, turns: int) -> tuple[Array, ...]:
    """A step of stable fluids without diffusion of the dye, by shifted views of arrays with a border of zeros."""

    def at(u: Array, i: int, j: int) -> Array:
        return np.pad(u, 1)[1 + i : 1 + i + u.shape[0], 1 + j : 1 + j + u.shape[1]]

    def around(u: Array) -> Array:
        wide = np.pad(u, 1)
        return wide[1:-1, :-2] + wide[1:-1, 2:] + wide[:-2, 1:-1] + wide[2:, 1:-1]

    def diffuse(u: Array) -> Array:
        start, amount = u, dt * viscosity
        for _ in range(turns):
            u = (start + amount * around(u)) / (1 + 4 * amount)
        return u

    def project(x: Array, y: Array) -> tuple[Array, Array]:
        source = -0.5 * ((at(x, 0, 1) - at(x, 0, -1)) + (at(y, 1, 0) - at(y, -1, 0)))
        p = np.zeros_like(x)
        for _ in range(turns):
            p = 0.25 * (source + around(p))
        return x - 0.5 * (at(p, 0, 1) - at(p, 0, -1)), y - 0.5 * (at(p, 1, 0) - at(p, -1, 0))

    def advect(u: Array, x: Array, y: Array) -> Array:
        rows, columns = u.shape
        i, j = np.ogrid[:rows, :columns]
        row, column = np.clip(i - dt * y, 0, rows - 1), np.clip(j - dt * x, 0, columns - 1)
        a, b = np.floor(row).astype(np.int64), np.floor(column).astype(np.int64)
        c, d = np.minimum(a + 1, rows - 1), np.minimum(b + 1, columns - 1)
        s, t = row - a, column - b
        return (1 - s) * ((1 - t) * u[a, b] + t * u[a, d]) + s * ((1 - t) * u[c, b] + t * u[c, d])

    x, y, dye = state
    x, y = project(diffuse(x), diffuse(y))
    x, y = project(advect(x, x, y), advect(y, x, y))
    return x, y, advect(dye, x, y)
