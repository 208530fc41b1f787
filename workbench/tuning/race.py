"""Race: how often a candidate is measured, which ones come into the final, and how finalists take turns."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from math import ceil, inf

HOPELESS = 1.3
"""Times the fastest so far, by its least sample but one: a candidate whose least is above that after two samples is
measured no further."""

NEAR = 1.1
"""Times the fastest so far, by its least sample but one: others are no finalists, but for the first three."""

FINALISTS = 8
_FEWEST_FINALISTS = 3  # however much slower: the first one may have been lucky
_ALONG, _ALONG_SECONDS = 3.0, 0.1
"""Times the fastest so far, and seconds of a step: a start above both takes longer than it tells."""
ROUNDS = 30
_FEWEST_SAMPLES = 2

Measure = Callable[[], float]
"""Makes one measurement; returns seconds of a step."""


def sampled(measure: Measure, most: int, best: float) -> tuple[float, ...]:
    """Measure `most` times, or until the candidate has no hope; `best`: seconds of the fastest, infinite for none."""
    found: list[float] = []
    while len(found) < most:
        found.append(measure())
        if len(found) >= _FEWEST_SAMPLES and min(found) > HOPELESS * best:
            break
    return tuple(found)


def finalists(
    seconds: Mapping[int, float], start: int | None = None, confirmed: Mapping[int, float] | None = None
) -> tuple[int, ...]:
    """The individuals that may be the fastest, the least seconds first; none where one is alone.

    The start races along, unless it is much slower and takes long: what is gained over it is then of the same minutes,
    and a start that was measured in worse ones is not beaten many times over. confirmed: each one's least sample but
    one, by which others are near the fastest: on a busy machine a single sample may be half of all others, and would
    race alone.
    """
    if len(seconds) < 2:
        return ()
    order = sorted(seconds, key=lambda one: (seconds[one], one))
    least = (confirmed or seconds)[order[0]]
    near = sum(seconds[one] <= NEAR * least for one in order)
    chosen = order[: min(FINALISTS, max(near, _FEWEST_FINALISTS))]
    if start is not None and start not in chosen and seconds.get(start, inf) <= max(_ALONG * least, _ALONG_SECONDS):
        chosen.append(start)
    return tuple(chosen)


def interleaved(measures: Sequence[Measure], rounds: int = ROUNDS, seconds: float = inf) -> list[list[float]]:
    """Samples of finalists that take turns, A B A B, so that what disturbs for a while disturbs all of them alike.

    seconds: no round begins that would not end in time; the first one always does.
    """
    found: list[list[float]] = [[] for _ in measures]
    begin = before = time.monotonic()
    longest = 0.0
    for _ in range(rounds):
        for samples, measure in zip(found, measures, strict=True):
            samples.append(measure())
        now = time.monotonic()
        longest, before = max(longest, now - before), now
        if now + longest > begin + seconds:
            break
    return found


def in_heats(count: int, most: int, run: Callable[[Sequence[int], int], list[list[float]]]) -> list[list[float]]:
    """Samples of so many finalists of which at most `most` (two at least) can take turns at once.

    `run` measures those of one heat, and is told how many heats follow. The fastest of a heat meets those of the next
    one, so that it has met all.
    """
    found: list[list[float]] = [[] for _ in range(count)]
    waiting = list(range(count))
    champion: list[int] = []
    while waiting:
        new = waiting[: max(most, 2) - len(champion)]
        waiting = waiting[len(new) :]
        heat = [*champion, *new]
        for one, samples in zip(heat, run(heat, ceil(len(waiting) / (max(most, 2) - 1))), strict=True):
            found[one] += samples
        champion = [min(heat, key=lambda one: min(found[one]))]
    return found
