"""The meaning of a Rank (semantics §2): places in a stable order."""

from __future__ import annotations

import numpy as np

from workbench.graph.operators import Array

MOST_BITS = 11
"""Bits that one Rank sorts by at most: a thread counts each of their values."""


def places_in_order(keys: Array, bits: int) -> Array:
    """Return the place, i64 from 0, of each key when all are sorted by their low bits; equal ones keep their order."""
    order = np.argsort(keys.astype(np.uint64) & np.uint64(2**bits - 1), kind="stable")  # negative ones with their sign
    places = np.empty(len(keys), np.int64)
    places[order] = np.arange(len(keys))
    return places
