"""Programs of the table for which SciPy has a function."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import ndimage, sparse, special
from scipy.cluster import vq
from scipy.sparse import csgraph

from workbench.commands.bench.peers.numpy_programs import candidates

Array = Any


def matrix_of(lengths: Array, columns: Array, values: Array, width: int) -> Array:
    """The matrix in SciPy's form csr; `matrix @ x` is the product."""
    starts = np.concatenate(([0], np.cumsum(lengths, dtype=columns.dtype))).astype(columns.dtype)
    return sparse.csr_matrix((values, columns, starts), shape=(len(lengths), width))


def shortest_paths(lengths: Array) -> Array:
    """By SciPy's own Floyd-Warshall, in f64; edges of inf are none."""
    return csgraph.floyd_warshall(lengths)


def k_means_step(points: Array, centres: Array) -> tuple[Array, Array]:
    """One step of Lloyd's method; each centre has points."""
    own, _ = vq.vq(points, centres)
    count = np.bincount(own, minlength=len(centres))
    x, y = (np.bincount(own, weights=each, minlength=len(centres)) / count for each in points.T)
    return x, y


def prices(price: Array, strike: Array, years: Array, rate: float, volatility: float) -> tuple[Array, Array]:
    """By the normal law as SciPy has it, in place of its polynomial."""
    root = volatility * np.sqrt(years)
    up = (np.log(price / strike) + (rate + 0.5 * volatility**2) * years) / root
    below_up, below_down = special.ndtr(up), special.ndtr(up - root)
    discounted = strike * np.exp(-rate * years)
    return price * below_up - discounted * below_down, discounted * (1 - below_down) - price * (1 - below_up)


def edges(picture: Array, low: float, high: float) -> Array:
    """Canny's edges: NumPy's candidates, and of their connected parts those that have a strong one."""
    found = candidates(picture, low, high)
    part, _ = ndimage.label(found > 0, np.ones((3, 3)))
    is_kept = np.bincount(part[found == 1], minlength=part.max() + 1) > 0
    return np.where((found > 0) & is_kept[part], 1.0, 0.0)
