"""Trials: what one evaluation of a study found; every kind of failure has a name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, get_args

from workbench.tuning.race import is_steady, lower_quartile, raced_seconds
from workbench.tuning.search_space import Point

Status = Literal["success", "constraint", "compile", "runtime", "correctness", "timeout"]
"""As in the T4 exchange format. "runtime" is a crash, a signal or too much memory; all but the first are failures."""

TIMED = "the timed steps"
"""Ends the tail of an outcome whose results were right, and whose values then cannot be timed."""

AT_START = "start"
"""The birth of the point that gains are counted from."""

STATUSES: tuple[Status, ...] = get_args(Status)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one evaluation.

    `samples`: seconds of a step, one a measurement, empty unless `status` is "success". `phenotype`: the key of the
    program that ran, "" where none was made. `build_seconds` and `run_seconds`: time it took. `tail`: what went wrong.
    `bound`: seconds of a step by the host's ceilings (roofline), 0 where they are not known. `error`: the largest
    relative error of a result, in a study that searches under a bound for it; None elsewhere, and where it was not
    found out. `loops`: seconds a step of each loop by its name, where they are known. `beside`: samples of another
    individual, each made right before or after the sample of the same place; empty where this one was measured alone.
    `compared`: on which cells, over how many steps and in how many tiles its results were; "" where they were not.
    """

    status: Status
    samples: tuple[float, ...] = ()
    phenotype: str = ""
    build_seconds: float = 0.0
    run_seconds: float = 0.0
    tail: str = ""
    bound: float = 0.0
    error: float | None = None
    loops: tuple[tuple[str, float], ...] = ()
    beside: tuple[float, ...] = ()
    compared: str = ""

    @property
    def seconds(self) -> float | None:
        """The least sample: what else runs on a machine makes measurements longer only (Chen & Revels 2016)."""
        return min(self.samples, default=None)

    @property
    def ratio(self) -> float | None:
        """Its time over that of the individual beside it, as load moves both; None where it was alone.

        The least of both where that one took its own time in few of its turns, as their quartile is not its own then.
        """
        if not self.samples or not self.beside:
            return None
        typical = lower_quartile if is_steady(self.beside) else min
        return typical(self.samples) / typical(self.beside)

    @property
    def confirmed(self) -> float | None:
        """The least but one, where there are two: seconds that no single moment has given."""
        return sorted(self.samples)[:2][-1] if self.samples else None


@dataclass(frozen=True, slots=True)
class Individual:
    """One candidate of a study: what was tried, where it came from, and its result.

    `number` counts from 1. `choices`: as JSON text. `changes`: the differences from the start, in words. `score`: cell
    updates per second as the search got it, None if the candidate failed. `same_as`: the number of the individual with
    the same phenotype that was measured, 0 if this one was. `told`: the time of the result, in seconds since 1970.
    `asked`: the number of points that the search had begun to measure, with this one; `after`: the number of scores
    that it knew then; `base`: the number of individuals when that search began. `against`: the number of the individual
    beside which it was measured, 0 if it was alone; `paired`: its seconds of a step by that, 0.0 then. `finals`:
    samples of the latest race in which it was a finalist; `raced`: its seconds of a step by that race, 0.0 without one.
    """

    number: int
    point: Point
    choices: str
    changes: str
    strategy: str
    birth: str
    parents: tuple[int, ...]
    outcome: Outcome
    score: float | None
    same_as: int
    told: float
    asked: int = 0
    after: int = 0
    base: int = 0
    against: int = 0
    paired: float = 0.0
    finals: tuple[float, ...] = ()
    raced: float = 0.0

    @property
    def first_seconds(self) -> float | None:
        """Seconds of a step by which it was scored: those of its pair, else its least sample; None if it failed."""
        return self.paired or self.outcome.seconds

    @property
    def confirmed(self) -> float | None:
        """Seconds of a step that no single moment has given; None if it failed."""
        if self.paired and not is_steady(self.outcome.beside):
            return self.paired * (self.outcome.confirmed or 0.0) / (self.outcome.seconds or 1.0)
        return self.paired or self.outcome.confirmed

    @property
    def hoped(self) -> float | None:
        """Seconds of a step if its least sample is what it takes; None if it failed."""
        if not self.paired or not self.outcome.samples:
            return self.outcome.seconds
        if not is_steady(self.outcome.beside):
            return self.paired
        return self.paired * min(self.outcome.samples) / lower_quartile(self.outcome.samples)

    @property
    def samples(self) -> tuple[float, ...]:
        """Seconds a step of its latest race; without one those of `first_seconds`, each by what was beside it."""
        if self.finals or not self.paired or self.outcome.ratio is None:
            return self.finals or self.outcome.samples
        unit = self.paired / self.outcome.ratio  # seconds of what was beside it
        if not is_steady(self.outcome.beside):
            return tuple(unit * own / min(self.outcome.beside) for own in self.outcome.samples)
        return tuple(unit * own / other for own, other in zip(self.outcome.samples, self.outcome.beside, strict=True))

    @property
    def seconds(self) -> float | None:
        """Of a step by its latest race, else `first_seconds`; None if it failed."""
        return self.raced or self.first_seconds

    @property
    def final_score(self) -> float | None:
        """Cell updates a second by `seconds`."""
        first, last = self.first_seconds, self.seconds
        return self.score if self.score is None or not first or not last else self.score * first / last

    @property
    def share(self) -> float | None:
        """Share of the speed that the host's ceilings allow; None where they are not known.

        They are not where a candidate is faster: then they were measured while something else ran.
        """
        share = self.outcome.bound / self.seconds if self.seconds else 0.0
        return share if 0 < share <= 1 else None


@dataclass(frozen=True, slots=True)
class Race:
    """Finalists measured in turn in one process, after so many individuals.

    `samples`: seconds of a step by the number of the individual; empty if the race broke off, and `tail` says why.
    """

    number: int
    after: int
    samples: tuple[tuple[int, tuple[float, ...]], ...]
    tail: str = ""
    told: float = 0.0

    @property
    def seconds(self) -> dict[int, float]:
        """Seconds of a step by the numbers of the finalists."""
        return dict(zip(dict(self.samples), raced_seconds([row for _, row in self.samples]), strict=True))

    @property
    def winner(self) -> int | None:
        """The number of the fastest finalist."""
        seconds = self.seconds
        return min(seconds, key=lambda number: seconds[number], default=None)

    def retold(self, individuals: Iterable[Individual]) -> list[Individual]:
        """Individuals with what this race measured of them."""
        seconds, samples = self.seconds, dict(self.samples)
        return [
            replace(one, finals=samples[one.number], raced=seconds[one.number]) if one.number in samples else one
            for one in individuals
        ]
