"""Study summary: scores of all individuals in order, the best so far, and what became of the others."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from workbench.tuning.study import Study
from workbench.tuning.trials import Individual, Race, Status

_GIGA = 1e9


@dataclass(frozen=True, slots=True)
class Mark:
    """One individual: its number, Gcells/s (None: failed) with the least and greatest sample, what it changed.

    `share`: of the speed that the host's ceilings allow, None where they are not known.
    """

    number: int
    score: float | None
    low: float
    high: float
    status: Status
    copied: bool
    changes: str
    tail: str
    share: float | None = None


@dataclass(frozen=True, slots=True)
class StudySummary:
    """What a study view shows. `line`: (number, best Gcells/s so far); `counts`: individuals by status.

    `race`: how many took turns in the last race, and how many measurements each had at least; None before one.
    """

    program: str
    backend: str
    extents: tuple[int, ...]
    state: str
    marks: tuple[Mark, ...]
    line: tuple[tuple[int, float], ...]
    counts: tuple[tuple[str, int], ...]
    best: Mark | None
    gain: float
    race: tuple[int, int] | None = None

    def text(self) -> str:
        """The study in a few lines."""
        cells = " x ".join(map(str, self.extents))
        lines = [f"study of {self.program} on {self.backend}, {cells} cells: {self.state}, {len(self.marks)} tried"]
        failed = ", ".join(f"{count} {status}" for status, count in self.counts if status != "success")
        if failed:
            lines.append(f"left out: {failed}")
        if self.best is not None and self.best.score is not None:
            found = f"{self.best.score:.3g} Gcells/s, {self.gain:.2f} x the start"
            if self.best.share is not None:
                found += f", {100 * self.best.share:.0f} % of what the ceilings allow"
            lines.append(f"best: number {self.best.number}, {found}: {self.best.changes or 'the start itself'}")
        if self.race is not None:
            lines.append(f"race: the fastest {self.race[0]} in turn, {self.race[1]} measurements each")
        return "\n".join(lines)


def summarise_study(study: Study) -> StudySummary:
    """The summary of a study as it is now."""
    individuals = study.individuals
    extents: tuple[int, ...] = tuple(study.about["extents"])
    cells = 1
    for extent in extents:
        cells *= extent
    marks = tuple(_mark(one, cells) for one in individuals)
    line: list[tuple[int, float]] = []
    for mark in marks:
        if mark.score is not None and (not line or mark.score > line[-1][1]):
            line.append((mark.number, mark.score))
    best = study.best
    return StudySummary(
        study.about["program"],
        study.about["backend"],
        extents,
        study.state,
        marks,
        tuple(line),
        tuple(Counter(mark.status for mark in marks).items()),
        None if best is None else marks[best.individual.number - 1],
        1.0 if best is None else best.gain,
        next((_size(race) for race in reversed(study.races) if race.samples), None),
    )


def _size(race: Race) -> tuple[int, int]:
    return len(race.samples), min(len(samples) for _, samples in race.samples)


def _mark(one: Individual, cells: int) -> Mark:
    samples = one.finals or one.outcome.samples
    score = None if one.final_score is None else one.final_score / _GIGA
    low, high = (cells / max(samples) / _GIGA, cells / min(samples) / _GIGA) if samples else (0.0, 0.0)
    copied = bool(one.same_as)
    return Mark(
        one.number, score, low, high, one.outcome.status, copied, one.changes, one.outcome.tail[:200], one.share
    )
