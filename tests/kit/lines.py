"""Lines: a named tuple that functions of arrays are given."""

from typing import NamedTuple


class Line(NamedTuple):
    """x * slope + step, each an array or a number."""

    x: object
    slope: object
    step: object = 1.0
