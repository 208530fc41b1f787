"""K-means: points in the plane by their nearest centre, and each centre to the mean of its points (Lloyd 1982).

McDonell 2015, §6.12. A step has a loop over all pairs of points and centres for the nearest one, and one for the sums.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.array_function import collective
from workbench.language import generate, while_loop

_MOST_STEPS = 10**12


@collective
def nearest(x: Any, y: Any, centre_x: Any, centre_y: Any) -> Any:  # noqa: ANN401  # arrays while it is traced are no NumPy arrays
    """The number of the nearest centre of each point, i64; of several equally near ones the first."""
    return _nearest(x, y, centre_x, centre_y)


@collective
def step(x: Any, y: Any, centre_x: Any, centre_y: Any) -> Any:  # noqa: ANN401  # arrays while it is traced are no NumPy arrays
    """The means of the points that are nearest to each centre: two arrays of length k. One without points stays."""
    own = _nearest(x, y, centre_x, centre_y)
    is_own = own[None, :] == generate(centre_x.shape, lambda centre: centre)[:, None]
    count = np.sum(is_own, axis=1)
    some = np.maximum(count, 1)
    mean_x = np.sum(np.where(is_own, x[None, :], 0.0), axis=1) / some
    mean_y = np.sum(np.where(is_own, y[None, :], 0.0), axis=1) / some
    return np.where(count > 0, mean_x, centre_x), np.where(count > 0, mean_y, centre_y)


def _nearest(x: Any, y: Any, centre_x: Any, centre_y: Any) -> Any:  # noqa: ANN401  # traced
    away_x, away_y = x[:, None] - centre_x[None, :], y[:, None] - centre_y[None, :]
    square = away_x * away_x + away_y * away_y
    number = generate(centre_x.shape, lambda centre: centre)[None, :]
    return np.min(np.where(square == np.min(square, axis=1)[:, None], number, centre_x.shape[0]), axis=1)


@collective
def centres(x: Any, y: Any, centre_x: Any, centre_y: Any, at_most: int = 100) -> Any:  # noqa: ANN401  # arrays while it is traced are no NumPy arrays
    """The centres when they move no more, or after `at_most` steps: (centre_x, centre_y, steps), all in one program."""

    def turn(centre_x: Any, centre_y: Any, _: Any, steps: Any) -> tuple[Any, ...]:  # noqa: ANN401  # traced
        now_x, now_y = step(x, y, centre_x, centre_y)
        return now_x, now_y, np.any((now_x != centre_x) | (now_y != centre_y)), steps + 1

    found_x, found_y, _, steps = while_loop(
        lambda _x, _y, moves, steps: moves & (steps < at_most),
        turn,
        (centre_x, centre_y, True, 0),
        at_most=_MOST_STEPS,
    )
    return found_x, found_y, steps
