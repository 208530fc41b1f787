"""Histogram: how many values lie in each of some equal bins; one loop that sends a one to each value's bin."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.array_function import collective
from workbench.language import add, scatter


@collective
def histogram(values: Any, low: float, high: float, counts: Any) -> Any:  # noqa: ANN401  # arrays while it is traced are no NumPy arrays
    """The counts, i64, with those of the values added: bin k has low + k * width <= x < low + (k + 1) * width.

    values: an array of floats of one axis. low, high: the borders, high in the last bin; what lies outside, and NaN, is
    not counted. counts: whole numbers so far, zeros to begin with, one for each bin (McDonell 2015, Listing 2.3).
    """
    bins = counts.shape[0]
    place = ((values - low) * (bins / (high - low))).astype("i64")
    inside = (values >= low) & (values <= high)
    return scatter(add, counts, np.minimum(place, bins - 1), 1, where=inside)
