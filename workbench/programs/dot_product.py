"""Dot product: a product and its sum in one loop that makes no array (McDonell 2015, listing 1.1)."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.array_function import collective


@collective
def dot_product(xs: Any, ys: Any) -> Any:  # noqa: ANN401  # arrays while it is traced are no NumPy arrays
    """The sum of products of two vectors of one length, in the canonical order, a 0-d array of their type."""
    return np.sum(xs * ys)
