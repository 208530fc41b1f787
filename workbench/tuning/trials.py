"""Trials: what one evaluation of a study found; every kind of failure has a name."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import Literal, get_args

from workbench.tuning.space import Point

Status = Literal["success", "constraint", "compile", "runtime", "correctness", "timeout"]
"""As in the T4 exchange format. "runtime" is a crash, a signal or too much memory; all but the first are failures."""

STATUSES: tuple[Status, ...] = get_args(Status)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one evaluation.

    `samples`: seconds of a step, one a measurement, empty unless `status` is "success". `phenotype`: the key of the
    program that ran, "" where none was made. `build_seconds` and `run_seconds`: time it took. `tail`: what went wrong.
    """

    status: Status
    samples: tuple[float, ...] = ()
    phenotype: str = ""
    build_seconds: float = 0.0
    run_seconds: float = 0.0
    tail: str = ""

    @property
    def seconds(self) -> float | None:
        """The median of the samples."""
        return statistics.median(self.samples) if self.samples else None


@dataclass(frozen=True, slots=True)
class Individual:
    """A row of the ledger: what was tried, where it came from, what it gave.

    `number` counts from 1. `choices`: their JSON text. `changes`: what they set beside the start, for people. `score`:
    cell updates a second, None if it failed. `same_as`: the number of the individual with this phenotype that was
    measured, 0 if this one was. `told`: when, in seconds since 1970.
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
