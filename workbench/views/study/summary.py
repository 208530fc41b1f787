"""Study summary: scores of all individuals in order, the best so far, and what became of the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, Protocol

from workbench.amounts import counted, error_text, scaled, seconds_text
from workbench.tuning.loop_times import loops_text
from workbench.tuning.study import Best, Study
from workbench.tuning.study_text import MUCH_VARIED, changes_text, left_text, trouble, variation
from workbench.tuning.trials import AT_START, Individual, Race
from workbench.views.study.choice_map import ChoiceMap, map_of_study
from workbench.views.study.launch_map import NO_LAUNCHES, LaunchMap, launches_of_study

_GIGA = 1e9


@dataclass(frozen=True, slots=True)
class IndividualMark:
    """One individual: its number, Gcells/s (None: failed) with the least and greatest sample, what it changed.

    `share`: of the speed that the host's ceilings allow, None where they are not known. `error`: of the results, None
    in a study without a bound for it.
    """

    number: int
    score: float | None
    low: float
    high: float
    status: str
    copied: bool
    changes: str
    tail: str
    share: float | None = None
    error: float | None = None


class Scores(Protocol):
    """What the picture of any study shows: scores in order, failures, the best so far as a line."""

    @property
    def program(self) -> str:
        """The name of what is tuned."""

    @property
    def state(self) -> str:
        """What the study does now."""

    @property
    def unit(self) -> str:
        """Of scores."""

    @property
    def noun(self) -> str:
        """What is numbered."""

    @property
    def marks(self) -> tuple[IndividualMark, ...]:
        """All that were tried, in order."""

    @property
    def line(self) -> tuple[tuple[int, float], ...]:
        """Numbers at which the best score changed, and it."""

    @property
    def best(self) -> IndividualMark | None:
        """The best one."""

    @property
    def chosen(self) -> ChoiceMap:
        """What each of them chose."""

    @property
    def launches(self) -> LaunchMap:
        """The best scores by two numbers of the launches; empty where there are none."""

    def text(self) -> str:
        """The study in a few lines."""


@dataclass(frozen=True, slots=True)
class StudySummary:
    """What a study view shows. `line`: (number, best Gcells/s so far); `counts`: individuals by status.

    `race`: how many took turns in the last race, and how many measurements each had at least; None before one.
    `workers`: that measure, 0 where another process does; `seconds_left` of its budget, None where that is not known.
    `bound`: for the error of results after `bound_steps` steps, 0 where no choice changes them. `loops`: what each loop
    of the best took beside the start's, in words.
    `varies`: times its least that half of the measurements of one individual take.
    `waits_for`: the process of another study that measures meanwhile. `trouble`: what ended this one, or was wrong with
    its start.
    """

    program: str
    backend: str
    extents: tuple[int, ...]
    state: str
    marks: tuple[IndividualMark, ...]
    line: tuple[tuple[int, float], ...]
    counts: tuple[tuple[str, int], ...]
    best: IndividualMark | None
    gain: float
    race: tuple[int, int] | None
    chosen: ChoiceMap
    launches: LaunchMap = NO_LAUNCHES
    workers: int = 0
    seconds_left: float | None = None
    bound: float = 0.0
    bound_steps: int = 0
    loops: str = ""
    waits_for: int | None = None
    trouble: str = ""
    varies: float = 1.0

    @property
    def unit(self) -> str:
        """Of scores."""
        return "Gcells/s"

    @property
    def noun(self) -> str:
        """What is numbered."""
        return "individual"

    def text(self) -> str:
        """The study in a few lines."""
        cells = f", {' x '.join(map(str, self.extents))} cells" if prod(self.extents) > 1 else ""
        first = f"study of {self.program} on {self.backend}{cells}: {self.state}, {len(self.marks)} tried"
        if self.workers and self.state == "running":
            first += f", {counted(self.workers, 'worker')}"
            if self.seconds_left is not None:
                first += f", {left_text(self.seconds_left)}"
        lines = [first]
        if self.waits_for is not None:
            lines.append(f"waits while process {self.waits_for} measures for another study")
        failed = ", ".join(f"{count} {status}" for status, count in self.counts if status != "success")
        if failed:
            lines.append(f"left out: {failed}")
        if self.trouble:
            lines.append(self.trouble)
        if self.best is not None and self.best.score is not None:
            lines.append(self._best_line(self.best, self.best.score))
        if self.varies >= MUCH_VARIED:
            lines.append(
                f"times vary: half of the measurements of one individual took more than {self.varies:.0f} x its least, "
                "as other work runs here; scores and gains are rough"
            )
        if self.loops:
            lines.append(self.loops)
        if self.bound:
            beyond = sum(mark.error is not None and mark.error > self.bound for mark in self.marks)
            lines.append(
                f"bound: relative error of results at most {error_text(self.bound)} after "
                f"{counted(self.bound_steps, 'step')}, broken by {beyond} of {len(self.marks)}"
            )
        if self.race is not None:
            lines.append(f"race: the fastest {self.race[0]} in turn, {self.race[1]} measurements each")
        return "\n".join(filter(None, (*lines, self.chosen.text(), self.launches.text())))

    def _best_line(self, best: IndividualMark, score: float) -> str:
        rate = _GIGA * score
        speed = scaled(rate, "cells/s") if prod(self.extents) > 1 else seconds_text(1 / rate)
        found = f"{speed}, {self.gain:.2f} x the start"
        if best.share is not None:
            found += f", {100 * best.share:.0f} % of what the ceilings allow"
        if best.error is not None:
            found += f", error {error_text(best.error)}"
        return f"best: number {best.number}, {found}: {best.changes or 'the start itself'}"


def summarise_study(study: Study) -> StudySummary:
    """The summary of a study as it is now."""
    individuals = study.individuals
    extents: tuple[int, ...] = tuple(study.about["extents"])
    cells = 1
    for extent in extents:
        cells *= extent
    marks = tuple(_mark(one, cells, study.about) for one in individuals)
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
        map_of_study(study, None if best is None else best.individual.number),
        launches_of_study(study),
        study.workers,
        study.seconds_left,
        float(study.about.get("bound", 0.0)),
        int(study.about.get("bound_steps", 0)),
        _loops(individuals, best),
        study.waits_for,
        trouble(study),
        variation(study),
    )


def _loops(individuals: tuple[Individual, ...], best: Best | None) -> str:
    """Seconds of both are of their first measurements."""
    if best is None:
        return ""
    first = next((one for one in individuals if one.birth == AT_START), None)
    other = first if first is not None and first.number != best.individual.number else None
    return loops_text(best.individual.outcome.loops, () if other is None else other.outcome.loops)


def _size(race: Race) -> tuple[int, int]:
    return len(race.samples), min(len(samples) for _, samples in race.samples)


def _mark(one: Individual, cells: int, about: Mapping[str, Any]) -> IndividualMark:
    samples = one.samples
    score = None if one.final_score is None else one.final_score / _GIGA
    low, high = (cells / max(samples) / _GIGA, cells / min(samples) / _GIGA) if samples else (0.0, 0.0)
    copied = bool(one.same_as)
    changes = changes_text(one, about)
    found = one.outcome
    return IndividualMark(
        one.number, score, low, high, found.status, copied, changes, found.tail[:200], one.share, found.error
    )
