"""Trials: what one evaluation of a study found; every kind of failure has a name."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

from workbench.tuning.search_space import Point

Status = Literal["success", "constraint", "compile", "runtime", "correctness", "timeout"]
"""As in the T4 exchange format. "runtime" is a crash, a signal or too much memory; all but the first are failures."""

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
    found out. `loops`: seconds a step of each loop by its name, where they are known.
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

    @property
    def seconds(self) -> float | None:
        """The least sample: what else runs on a machine makes measurements longer only (Chen & Revels 2016)."""
        return min(self.samples, default=None)

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
    that it knew then; `base`: the number of individuals when that search began. `finals`: seconds per step in the
    latest race in which it was a finalist.
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
    finals: tuple[float, ...] = ()

    @property
    def seconds(self) -> float | None:
        """Its least time of a step, in its latest race or else when first measured; None if it failed."""
        return min(self.finals, default=self.outcome.seconds)

    @property
    def final_score(self) -> float | None:
        """Cell updates a second by `seconds`."""
        first, last = self.outcome.seconds, self.seconds
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
    def winner(self) -> int | None:
        """The number of the finalist with the least sample."""
        return min(self.samples, key=lambda row: min(row[1]))[0] if self.samples else None

    def raced(self, one: Individual) -> Individual:
        """An individual with what this race measured of it."""
        return replace(one, finals=dict(self.samples).get(one.number, one.finals))
