"""History: which individuals of a study led to the best ones, and how (Muranushi 2012, section 5)."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import fill
from typing import Literal, get_args

from workbench.amounts import COLUMNS
from workbench.errors import TuningError
from workbench.graph.display_hook import Bundle, bundle_of
from workbench.tuning.trials import AT_START, Individual

Rank = Literal["≪", "≤", "≃", "≫"]
RANKS: tuple[Rank, ...] = get_args(Rank)
BIRTHS = ("mutation", "crossover", "triangulation")
"""In the order of their number of parents: 1, 2, 3."""

UNBRED = "unbred"
"""Those without parents: the start, and what was drawn at random."""


@dataclass(frozen=True, slots=True)
class Member:
    """An individual as the analysis sees it.

    parents: numbers. mean, sigma: mean and sample standard deviation of cell updates a second; 0 if it failed.
    distance: steps from the family trees of the best individuals; None without a relation to them. rank: its mean
    beside those of its parents; None without parents.
    """

    number: int
    birth: str
    parents: tuple[int, ...]
    mean: float
    sigma: float
    distance: int | None = None
    rank: Rank | None = None

    @property
    def kind(self) -> str:
        """The birth by the number of parents, as the paper has it: a mutation by a rule is a mutation."""
        return BIRTHS[len(self.parents) - 1] if 1 <= len(self.parents) <= len(BIRTHS) else UNBRED


@dataclass(frozen=True, slots=True)
class History:
    """All individuals of a study in order, with their distances and ranks."""

    program: str
    members: tuple[Member, ...]

    @property
    def top(self) -> Member:
        """The individual with the largest mean; distances are counted from it."""
        return max(self.members, key=lambda one: one.mean)

    @property
    def family(self) -> tuple[Member, ...]:
        """The top individual and all its ancestors, in order."""
        numbers = ancestry([self.top.number], {one.number: one.parents for one in self.members})
        return tuple(one for one in self.members if one.number in numbers)

    @property
    def first(self) -> Member:
        """The start, from which gains are counted: with several workers others may have come before it.

        Where a study has no start, or it failed, the first that has passed.
        """
        passed = [one for one in self.members if one.mean]
        return next((one for one in passed if one.birth == AT_START), (passed or self.members)[0])

    def high_scores(self) -> list[tuple[int, float]]:
        """The numbers at which the largest mean so far rose, and those means."""
        line: list[tuple[int, float]] = []
        for one in self.members:
            if one.mean > (line[-1][1] if line else 0.0):
                line.append((one.number, one.mean))
        return line

    def __str__(self) -> str:
        """The history in a few lines."""
        top, first = self.top, self.first
        births = {birth: sum(one.kind == birth for one in self.members) for birth in BIRTHS}
        related = sum(one.distance == 0 for one in self.members)
        what = "the start" if first.birth == AT_START else "the first"
        speed = f"{top.mean / 1e6:.4g} ± {top.sigma / 1e6:.2g} Mcells/s"
        gain = f", {top.mean / first.mean:.2f} times {what}" if first.mean else ""
        lines = (
            f"history of {self.program}: {len(self.members)} individuals, "
            + ", ".join(f"{count} by {birth}" for birth, count in births.items()),
            f"largest mean of first measurements: number {top.number}, {speed}{gain}",
            f"{len(self.family)} in its family tree, {related} in those of all within one sigma of it",
        )
        return "\n".join(fill(line, COLUMNS, subsequent_indent="  ", break_on_hyphens=False) for line in lines)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Bundle:
        """The scores with the family tree of the best in a notebook, words elsewhere."""
        return bundle_of(self)


def read_history(individuals: Sequence[Individual], program: str = "") -> History:
    """The history of a study's individuals.

    Means are of the first measurement of each, from which its score was made; a copy has its twin's. An individual
    that failed has the mean 0, as in the paper. Raises TuningError if there are none.
    """
    if not individuals:
        raise TuningError("the study has no individual yet", advice="Wait for the first one.")
    return history_of([_member(one) for one in individuals], program)


def history_of(plain: Sequence[Member], program: str) -> History:
    """The history of members that have no distance and no rank yet, in the order of their numbers."""
    distances, ranks = contribution_distances(plain), ranks_of(plain)
    placed = (replace(one, distance=distances[one.number], rank=ranks.get(one.number)) for one in plain)
    return History(program, tuple(placed))


def contribution_distances(members: Sequence[Member]) -> Mapping[int, int | None]:
    """d(I) by number (section 5.3): 0 for those within one sigma of the best mean and for their ancestors.

    For others 1 + the least distance of a parent; None where no ancestor has one. Parents have smaller numbers.
    """
    top = max(members, key=lambda one: one.mean)
    best = [one.number for one in members if one.mean > top.mean - top.sigma or one.number == top.number]
    related = ancestry(best, {one.number: one.parents for one in members})
    found: dict[int, int | None] = {}
    for one in members:
        above = [d for parent in one.parents if (d := found.get(parent)) is not None]
        found[one.number] = 0 if one.number in related else 1 + min(above) if above else None
    return found


def ranks_of(members: Sequence[Member]) -> Mapping[int, Rank]:
    """The rank of each individual that has parents (section 5.3), by number.

    With sigma(I, P) = sqrt(sigma_I^2 + sigma_P^2): "≪" is slower than every parent by more than it, "≫" faster than
    every parent by more than it, "≃" within it of the fastest parent, "≤" all others.
    """
    known = {one.number: one for one in members}
    return {one.number: _rank(one, [known[parent] for parent in one.parents]) for one in members if one.parents}


def _rank(child: Member, parents: Sequence[Member]) -> Rank:
    apart = [(child.mean - parent.mean, math.hypot(child.sigma, parent.sigma), parent.mean) for parent in parents]
    if all(gain < -spread for gain, spread, _ in apart):
        return "≪"
    if all(gain > spread for gain, spread, _ in apart):
        return "≫"
    gain, spread, _ = max(apart, key=lambda row: row[2])
    return "≃" if abs(gain) <= spread else "≤"


def _member(one: Individual) -> Member:
    if one.score is None or not one.first_seconds:
        return Member(one.number, one.birth, one.parents, 0.0, 0.0)
    cells = one.score * one.first_seconds
    speeds = [cells / seconds for seconds in replace(one, finals=()).samples]
    sigma = statistics.stdev(speeds) if len(speeds) > 1 else 0.0
    return Member(one.number, one.birth, one.parents, statistics.fmean(speeds), sigma)


def ancestry(numbers: Iterable[int], parents: Mapping[int, tuple[int, ...]]) -> set[int]:
    """The numbers and those of all their ancestors."""
    found: set[int] = set()
    waiting = list(numbers)
    while waiting:
        number = waiting.pop()
        if number not in found:
            found.add(number)
            waiting += parents[number]
    return found
