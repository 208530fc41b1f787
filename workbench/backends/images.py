"""Images: which cells of the domain the cells outside of it stand for, along one axis, by the rule of a side."""

from __future__ import annotations

from itertools import pairwise

from workbench.graph import Fixed, Mirror, Neumann, Outflow, Periodic, Prescribed, Reflect, SideRule, Undefined, Wall

Interval = tuple[int, int]
"""Cells low <= i < high along one axis."""


def beyond(interval: Interval, n: int) -> bool:
    """Return whether some of the cells lie outside of an axis of n."""
    return interval[0] < 0 or interval[1] > n


def reflects(rule: SideRule, interval: Interval, n: int) -> bool:
    """Return whether cells beyond a side have images: not the face on a wall, nor the mirror images of an only cell."""
    match rule:
        case Reflect() | Fixed():
            return True
        case Mirror():
            return n > 1
        case Wall():
            return interval[0] != n
        case Undefined() | Periodic() | Outflow() | Prescribed() | Neumann():
            return False


def image(rule: SideRule, interval: Interval, n: int) -> Interval:
    """Return where the images of the cells lie, in descending order."""
    low, high = interval
    return source_cell(rule, high - 1, n), source_cell(rule, low, n) + 1


def nearer(rules: tuple[SideRule, SideRule], interval: Interval, n: int) -> Interval:
    """Return cells on the same side that have the same values: four reflections only move, and change no sign."""
    low, high = interval
    distance = max(-high, low - n)
    if distance <= 4 * n or not all(isinstance(r, Reflect | Mirror | Wall) and reflects(r, interval, n) for r in rules):
        return interval
    here, there = rules if low < 0 else rules[::-1]
    moved = 2 * (source_cell(there, source_cell(here, low, n), n) - low)
    nearer = moved * ((distance - 2 * n) // abs(moved))
    return low + nearer, high + nearer


def source_cell(rule: SideRule, i: int, n: int) -> int:
    """Return the cell along one axis of n cells from which the ghost cell i takes its value, one reflection at a time.

    What it gives may lie outside again, beyond the other side. Fixed and Neumann also need their own operand.
    """
    match rule:
        case Periodic():
            return i % n
        case Outflow() | Neumann():
            return min(max(i, 0), n - 1)
        case Reflect() | Fixed():
            return -1 - i if i < 0 else 2 * n - 1 - i
        case Mirror():  # with one cell a period of 0: the only cell, with one reflection
            return 0 if n == 1 else -i if i < 0 else 2 * n - 2 - i
        case Wall():
            return n - 1 if i == n else -i if i < 0 else 2 * n - i
        case Undefined() | Prescribed():
            raise AssertionError(f"{rule} maps nothing")


def cut_at_borders(interval: Interval, n: int, above: SideRule) -> list[Interval]:
    """Return the parts below, inside and above the domain; under Wall the face n is a part of its own."""
    low, high = interval
    ends = (0, n, n + 1) if isinstance(above, Wall) else (0, n)
    borders = [low, *(e for e in ends if low < e < high), high]
    return [(a, b) for a, b in pairwise(borders) if a < b] or [interval]
