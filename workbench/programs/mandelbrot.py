"""Mandelbrot's set: after how many turns z <- z² + c leaves a disc of radius 2, for each point of a picture.

`escape_times` turns in each point for itself (McDonell 2015, listing 6.3). `unrolled(depth)` has as many copies of the
turn in a row (listing 6.2), which freeze a point that has left: every point pays for all turns, as in the first rows of
table 6.3. Where the depth is the limit both give the same numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.array_function import Collective, collective
from workbench.language import generate, iterate

Shape = tuple[int, int]


@collective(dtype="f32")
def escape_times(
    x: float = -0.5, y: float = 0.0, width: float = 3.0, limit: int = 255, shape: Shape = (600, 800)
) -> Any:  # noqa: ANN401  # an array
    """The turns of each point, i64 numbers up to `limit`, rows from the top.

    x, y: the middle of the picture. width: of its rows; points are squares. shape: rows and columns, known while it is
    traced; the other arguments are parameters, so another part of the plane compiles nothing. Computed in f32.
    """
    return _times(x, y, width, limit, shape)


@collective
def escape_times_f64(
    x: float = -0.5, y: float = 0.0, width: float = 3.0, limit: int = 255, shape: Shape = (600, 800)
) -> Any:  # noqa: ANN401  # an array
    """The same in f64, for pictures less than 1e-4 wide."""
    return _times(x, y, width, limit, shape)


def unrolled(depth: int, dtype: str = "f32") -> Collective:
    """The same of (x, y, width, shape) with a limit that is known while it is traced, without a loop."""

    def frozen(x: float = -0.5, y: float = 0.0, width: float = 3.0, shape: Shape = (600, 800)) -> Any:  # noqa: ANN401  # an array
        a, b = _points(x, y, width, shape)
        u, v = a, b
        turns: Any = 0
        for _ in range(depth):
            inside = _is_inside(u, v)
            re, im = _turn(u, v, a, b)
            u, v = np.where(inside, re, u), np.where(inside, im, v)
            turns = turns + np.where(inside, 1, 0)
        return turns

    return collective(name=f"unrolled_{depth}", dtype=dtype)(frozen)


def _times(x: Any, y: Any, width: Any, limit: Any, shape: Shape) -> Any:  # noqa: ANN401  # numbers of the program
    a, b = _points(x, y, width, shape)
    _, _, turns = iterate(
        lambda u, v, turns: (*_turn(u, v, a, b), turns + 1),
        while_=lambda u, v, turns: _is_inside(u, v),
        start=(a, b, 0),
        at_most=limit,
    )
    return turns


def _points(x: Any, y: Any, width: Any, shape: Shape) -> tuple[Any, Any]:  # noqa: ANN401  # numbers of the program
    """The real and the imaginary part of each point, at the middle of its square."""
    rows, columns = shape
    step = width / columns
    real = generate(shape, lambda row, column: x + (column + (0.5 - columns / 2)) * step)
    imaginary = generate(shape, lambda row, column: y + ((rows / 2 - 0.5) - row) * step)
    return real, imaginary


def _turn(u: Any, v: Any, a: Any, b: Any) -> tuple[Any, Any]:  # noqa: ANN401  # arrays while it is traced
    return u * u - v * v + a, 2 * u * v + b


def _is_inside(u: Any, v: Any) -> Any:  # noqa: ANN401  # arrays while it is traced
    return u * u + v * v <= 4
