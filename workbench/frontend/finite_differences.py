"""Finite differences: exact weights of centred, one-sided and staggered formulas for any derivative and order."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from workbench.errors import TraceError

SIDES = ("centre", "forward", "backward")
HIGHEST_DERIVATIVE, HIGHEST_ACCURACY = 12, 32


def coefficients(
    n: int, accuracy: int = 2, side: str = "centre", staggered: bool = False
) -> dict[int | Fraction, Fraction]:
    """Weights w with sum(w[k] * u(x + k h)) = h**n * (n-th derivative of u at x) * (1 + O(h**accuracy)), exact.

    The keys ascend: whole numbers, or odd halves if `staggered`. "centre" takes the fewest points of the order, placed
    symmetrically, and needs an even accuracy; "forward" takes the n + accuracy points from x on, "backward" those up to
    x (staggered: half a cell beside x). n = 0 interpolates. By Fornberg, Generation of finite difference formulas on
    arbitrarily spaced grids, Math. Comp. 51 (1988) 699. Raises TraceError.
    """
    _check(n, accuracy, side)
    half = Fraction(1, 2) if staggered else Fraction(0)
    count = n + accuracy
    if side == "centre":
        width = count // 2 if staggered else (n + 1) // 2 + accuracy // 2 - 1  # points on each side of x
        points = [Fraction(k) for k in range(-width, width + 1) if k or not staggered]
        if staggered:
            points = [k - half if k > 0 else k + half for k in points]
    else:
        points = [k + half for k in range(count)] if side == "forward" else [k - half for k in range(1 - count, 1)]
    found = zip(points, _weights(points, n), strict=True)
    return {(k if staggered else int(k)): w for k, w in found if w}


def _check(n: object, accuracy: object, side: object) -> None:
    if isinstance(n, bool) or not isinstance(n, int) or not 0 <= n <= HIGHEST_DERIVATIVE:
        raise TraceError(f"there is no derivative n={n!r}", advice=f"Use n from 0 to {HIGHEST_DERIVATIVE}.")
    if isinstance(accuracy, bool) or not isinstance(accuracy, int) or not 1 <= accuracy <= HIGHEST_ACCURACY:
        raise TraceError(
            f"accuracy={accuracy!r} is no order of accuracy", advice=f"Use a whole number up to {HIGHEST_ACCURACY}."
        )
    if side not in SIDES:
        raise TraceError(f"side={side!r} is unknown", advice=f"Use one of {', '.join(SIDES)}.")
    if side == "centre" and accuracy % 2:
        raise TraceError(
            f"a centred formula has an even order, not accuracy={accuracy}",
            advice=f"Use accuracy={accuracy + 1}, which has the same points.",
        )


def _weights(points: Sequence[Fraction], n: int) -> list[Fraction]:
    """Weights of the n-th derivative at 0 from the values at `points` (Fornberg 1988, recurrence for all orders)."""
    orders = n + 1
    table = [[Fraction(0)] * orders for _ in points]
    table[0][0] = Fraction(1)
    previous = Fraction(1)
    for i in range(1, len(points)):
        product = Fraction(1)
        for j in range(i):
            distance = points[i] - points[j]
            product *= distance
            if j == i - 1:
                for k in range(orders):
                    lower = k * table[j][k - 1] if k else 0
                    table[i][k] = previous * (lower - points[j] * table[j][k]) / product
            for k in reversed(range(orders)):
                lower = k * table[j][k - 1] if k else 0
                table[j][k] = (points[i] * table[j][k] - lower) / distance
        previous = product
    return [row[n] for row in table]
