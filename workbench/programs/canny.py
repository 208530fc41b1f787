"""Canny: edges of a picture (Canny 1986; McDonell 2015, §6.7).

Five-point blurs along both axes, Sobel's differences, then only the largest magnitude across each edge is left: a
candidate, weak or strong. At last weak ones become edges if they touch one, until no more do.
"""

from __future__ import annotations

import operator
from functools import reduce
from math import pi, tan
from typing import Any

import numpy as np

from workbench.array_function import collective
from workbench.language import compute, while_loop, windows

_STEEP = tan(3 * pi / 8)
_NEIGHBOURS = tuple((i, j) for i in (-1, 0, 1) for j in (-1, 0, 1))  # a pixel is one of its own
_MOST_PIXELS = 10**12  # a turn adds one at least


@collective
def edges(picture: Any, low: float = 50.0, high: float = 100.0) -> Any:  # noqa: ANN401  # arrays while it is traced are no NumPy arrays
    """For each pixel 1 on an edge, else 0, of the type of `picture`.

    A candidate of `candidates` is an edge if it is strong, or weak and connected with a strong one by others, over
    sides or corners of pixels. The arguments are those of `candidates`. One turn over the picture for each pixel of the
    longest of the shortest such paths.
    """
    found = candidates(picture, low, high)
    is_candidate, is_strong = compute(found > 0), found == 1

    def touched(is_edge: Any) -> Any:  # noqa: ANN401  # traced
        """Edges, and the candidates that touch one."""
        near = windows(lambda w: reduce(operator.or_, (w[place] for place in _NEIGHBOURS)), is_edge, "outflow")
        return is_candidate & near

    def turn(is_edge: Any, _: Any) -> tuple[Any, Any]:  # noqa: ANN401  # traced
        now = touched(is_edge)
        return now, np.any(now != is_edge)

    is_edge, _ = while_loop(lambda _, changes: changes, turn, (is_strong, True), at_most=_MOST_PIXELS)
    return np.where(is_edge, 1.0, 0 * picture)


@collective
def candidates(picture: Any, low: float = 50.0, high: float = 100.0) -> Any:  # noqa: ANN401  # arrays while it is traced are no NumPy arrays
    """For each pixel that may be on an edge 1 where it is strong and 0.5 where weak, else 0, of the type of `picture`.

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
