"""Canny: edges of a picture (Canny 1986; McDonell 2015, §6.7), up to the choice of weak ones that touch a strong one.

Five-point blurs along both axes, Sobel's differences, then only the largest magnitude across each edge is left.
"""

from __future__ import annotations

from math import pi, tan
from typing import Any

import numpy as np

from workbench.array_function import collective
from workbench.language import compute, windows

_STEEP = tan(3 * pi / 8)


@collective
def edges(picture: Any, low: float = 50.0, high: float = 100.0) -> Any:  # noqa: ANN401  # arrays while it is traced are no NumPy arrays
    """For each pixel 1 on a strong edge, 0.5 on a weak one, else 0, of the type of `picture`.

    picture: brightness, of shape (rows, columns), continued outside as it is at the border. low, high: magnitudes from
    which an edge is weak and strong, in units of brightness, of which a step of 1 has the magnitude 4.
    """
    across = windows(lambda w: (w[0, -2] + w[0, 2] + 4 * (w[0, -1] + w[0, 1]) + 6 * w[0, 0]) / 16, picture, "outflow")
    smooth = windows(lambda w: (w[-2, 0] + w[2, 0] + 4 * (w[-1, 0] + w[1, 0]) + 6 * w[0, 0]) / 16, across, "outflow")
    dx, dy = compute(windows(_along_columns, smooth, "outflow")), compute(windows(_along_rows, smooth, "outflow"))
    size = compute(np.sqrt(dx * dx + dy * dy))
    is_level, is_steep, rises = abs(dy) * _STEEP <= abs(dx), abs(dy) >= abs(dx) * _STEEP, dx * dy > 0

    def of_neighbours(sign: int) -> Any:  # noqa: ANN401  # traced
        """The magnitude of the next pixel in the direction of the gradient, or against it."""
        return windows(
            lambda w: np.where(
                is_level,
                w[0, sign],
                np.where(is_steep, w[sign, 0], np.where(rises, w[sign, sign], w[sign, -sign])),
            ),
            size,
            "outflow",
        )

    is_flat = (abs(dx) <= low) & (abs(dy) <= low)
    is_edge = ~is_flat & (size >= low) & (size >= of_neighbours(1)) & (size >= of_neighbours(-1))
    return np.where(is_edge, np.where(size >= high, 1.0, 0.5), 0 * picture)


def _along_columns(w: Any) -> Any:  # noqa: ANN401  # a window
    return (w[-1, 1] + 2 * w[0, 1] + w[1, 1]) - (w[-1, -1] + 2 * w[0, -1] + w[1, -1])


def _along_rows(w: Any) -> Any:  # noqa: ANN401  # a window
    return (w[1, -1] + 2 * w[1, 0] + w[1, 1]) - (w[-1, -1] + 2 * w[-1, 0] + w[-1, 1])
