"""Sample: how one measurement is made: the least of short pieces, of which some fall between two disturbances."""

from __future__ import annotations

import time
from collections.abc import Callable
from math import ceil, inf

SAMPLE_SECONDS = 0.03
"""Of one measurement, at least."""
PIECE_SECONDS = 0.002
"""Of a piece on threads, at least: shorter than the time for which a system lets a thread run beside others, and fifty
times what it takes to wake a team."""
_MORE, _FASTEST = 1.1, 100.0  # times what is wanted, as looks vary; times as many steps as before, at most
_LOOKS = 3  # at pieces of a length, before they count as long enough

Run = Callable[[int], float]
"""Runs so many steps; returns the seconds that they took."""


def steps_of_a_piece(run: Run, least: int, piece: float) -> int:
    """Steps that take so many seconds undisturbed, at least `least`, found by trying; this warms caches and threads.

    One look does not tell where others work: four steps of 0.04 ms took 30 ms, as one thread waited for the other.
    """
    steps = least
    while (seconds := _undisturbed(run, steps, piece)) < piece:
        factor = min(_MORE * piece / max(seconds, piece / _FASTEST), _FASTEST)
        steps = max(steps + 1, ceil(steps * factor))
    return steps


def sample(run: Run, steps: int) -> float:
    """Seconds of a step: the least of pieces of so many steps each, as many as a measurement has room for."""
    found, end = inf, time.perf_counter() + SAMPLE_SECONDS
    while True:
        found = min(found, run(steps) / steps)
        if time.perf_counter() >= end:
            return found


def _undisturbed(run: Run, steps: int, piece: float) -> float:
    """Seconds of these steps: of the first of a few pieces that is shorter than wanted, else of the shortest."""
    found = inf
    for _ in range(_LOOKS):
        found = min(found, run(steps))
        if found < piece or found >= SAMPLE_SECONDS:
            break
    return found
