"""Race: how often a candidate is measured, which ones come into the final, and how finalists take turns."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from math import ceil, inf, log
from statistics import median

MUCH = 2.0
"""Times faster than what candidates are measured beside: a candidate that is takes its place."""

HOPELESS = 1.3
"""Times the fastest so far, by its least sample but one: a candidate whose least is above that after two samples is
measured no further, after three where it is so much above that both may have been disturbed."""

NEAR = 1.1
"""Times the fastest so far, by its least sample but one: others are no finalists, but for the first three."""

FINALISTS = 8
_FEWEST_FINALISTS = 3  # however much slower: the first one may have been lucky
_HOPED = 3  # finalists more, of those that a single sample says to be as fast
_ALONG, _ALONG_SECONDS = 3.0, 0.1
"""Times the fastest so far, and seconds of a step: a start above both takes longer than it tells."""
ROUNDS = 30
_FEWEST_SAMPLES = 2
_LONGEST = 2  # times the usual number of pairs, for a candidate of which they tell too little
_STEADY = 4.0  # times the least of some turns that three quarters of them exceed: more than load does
_TOLD = 0.02  # by which ratios of two halves of all pairs differ at most, where they tell enough
_QUARTER = 0.25

Measure = Callable[[], float]
"""Makes one measurement; returns seconds of a step."""


def lower_quartile(samples: Sequence[float]) -> float:
    """The time that a quarter of the samples does not exceed, by linear interpolation.

    Load makes measurements longer only, and some of them many times longer, so that a median can be of load alone; the
    least may be of one moment that others did not get.
    """
    ordered = sorted(samples)
    at, rest = divmod(_QUARTER * (len(ordered) - 1), 1.0)
    low = ordered[int(at)]
    return low + rest * (ordered[int(at) + 1] - low) if rest else low


def is_steady(samples: Sequence[float]) -> bool:
    """Whether what candidates are measured beside takes its own time in some of its turns: only then pairs tell."""
    return not samples or lower_quartile(samples) <= _STEADY * min(samples)


def sampled(measure: Measure, most: int, best: float) -> tuple[float, ...]:
    """Measure `most` times, or until the candidate has no hope; `best`: seconds of the fastest, infinite for none."""
    found: list[float] = []
    while len(found) < most:
        found.append(measure())
        if _is_hopeless(found, best):
            break
    return tuple(found)


def in_pairs(measure: Measure, beside: Measure, usual: int, best: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Samples of a candidate and of what is measured beside it, in turn, so that the load of a moment moves both.

    `usual` of each, fewer of a candidate that has no hope in any pair, up to twice as many of one that may be among the
    fastest where pairs differ much. best: seconds of the fastest over those of what is beside.
    """
    own: list[float] = []
    others: list[float] = []
    while len(own) < _LONGEST * usual:
        if len(own) % 2:  # what rises all the time would else favour the first candidate
            own.append(measure())
            others.append(beside())
        else:
            others.append(beside())
            own.append(measure())
        if _is_hopeless(tuple(map(_ratio, own, others)), best):
            break
        if len(own) >= usual and _is_told(own, others, best):
            break
    return tuple(own), tuple(others)


def _is_hopeless(found: Sequence[float], best: float) -> bool:
    """Whether samples, or ratios of pairs, say that a candidate is none of the fastest."""
    least = min(found)
    fewest = _FEWEST_SAMPLES + (least > _STEADY * best)
    return least > HOPELESS * best and len(found) >= fewest


def _ratio(own: float, other: float) -> float:
    return own / other


def _is_told(own: Sequence[float], others: Sequence[float], best: float) -> bool:
    """Whether pairs say how fast a candidate is, or that it is none of the fastest."""
    if len(own) < _FEWEST_SAMPLES:
        return False
    first, second = (lower_quartile(own[half::2]) / lower_quartile(others[half::2]) for half in (0, 1))
    return abs(log(first / second)) <= _TOLD or min(first, second) > NEAR * best


def finalists(
    seconds: Mapping[int, float],
    start: int | None = None,
    confirmed: Mapping[int, float] | None = None,
    hoped: Mapping[int, float] | None = None,
) -> tuple[int, ...]:
    """The individuals that may be the fastest, the least seconds first; none where one is alone.

    The start races along, unless it is much slower and takes long: what is gained over it is then of the same minutes,
    and a start that was measured in worse ones is not beaten many times over. confirmed: each one's least sample but
    one, by which others are near the fastest: on a busy machine a single sample may be half of all others, and would
    race alone. hoped: each one's time by its least sample, by which a few more race that were unlucky.
    """
    if len(seconds) < 2:
        return ()
    order = sorted(seconds, key=lambda one: (seconds[one], one))
    least = (confirmed or seconds)[order[0]]
    near = sum(seconds[one] <= NEAR * least for one in order)
    chosen = order[: min(FINALISTS, max(near, _FEWEST_FINALISTS))]
    unlucky = [one for one in order if hoped is not None and one not in chosen and hoped[one] <= NEAR * least]
    chosen += sorted(unlucky, key=lambda one: (hoped or seconds)[one])[:_HOPED]
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


def raced_seconds(samples: Sequence[Sequence[float]]) -> list[float]:
    """Seconds of a step of each finalist by its samples; those of one place in the rows are of one round.

    A round's load is in the lower quartile of its samples; what a finalist takes of that is compared, and told in the
    seconds of the calmer rounds. Samples count as they are where finalists had different rounds, in heats, and where
    each sample was disturbed by itself: a round's load is then chance, which would be added to all of its samples.
    """
    as_they_are = [lower_quartile(row) for row in samples]
    if len({len(row) for row in samples}) != 1:
        return as_they_are
    loads = [lower_quartile(turn) for turn in zip(*samples, strict=True)]
    shares = [list(map(_ratio, row, loads)) for row in samples]
    if median(map(_above_least, shares)) > median(map(_above_least, samples)):
        return as_they_are
    calm = lower_quartile(loads)
    return [calm * lower_quartile(row) for row in shares]


def _above_least(samples: Sequence[float]) -> float:
    """Times its least that a half of the samples exceeds."""
    return median(samples) / min(samples)


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
        champion = [min(heat, key=lambda one: lower_quartile(found[one]))]
    return found
