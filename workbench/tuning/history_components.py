"""History components: what each part of a champion's genome is worth, by swapping parts (Muranushi 2012, Table 10)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from workbench.errors import TuningError
from workbench.planning.choices import Choices, PlanChoices
from workbench.planning.exchange import from_json
from workbench.planning.tunables import Section, Setting, Tunable
from workbench.tuning.history import Member, read_history
from workbench.tuning.history_tables import CountTable
from workbench.tuning.trials import Individual

COMPONENTS: Mapping[str, tuple[Section, ...]] = {"C": ("C", "G", "L", "T", "B"), "M": ("M",), "S": ("S",)}
"""Of a genome: C, how loops are run and built; M, which values are stored; S, where launches wait for each other."""

Taken = tuple[bool, ...]
"""For each component whether it is the champion's."""

WAYS: tuple[Taken, ...] = tuple(product((False, True), repeat=len(COMPONENTS)))


@dataclass(frozen=True, slots=True)
class MeasuredHybrid:
    """One hybrid as measured: its share of the champion's gain, and that of logarithms, with their deviations.

    The shares are 0 for the start and 1 for the champion: (mu - mu_0) / (mu_1 - mu_0) and the same of log mu; the
    logarithm and its deviation are NaN where the hybrid failed.
    """

    taken: Taken
    member: Member
    linear: float
    linear_sigma: float
    logarithmic: float
    logarithmic_sigma: float


def hybrids(rows: Sequence[Tunable], start: Individual, champion: Individual) -> tuple[Choices, ...]:
    """The 8 choices with each component from the start or from the champion, in the order of `WAYS`.

    rows: what may be chosen, as `machine.tunables(backend)` has it. Pass the result as `machine.tune(start=...)`, with
    a budget of as many evaluations as there are different ones.
    """
    first, last = from_json(start.choices), from_json(champion.choices)
    return tuple(replace(first, plan=_mixed(rows, first.plan, last.plan, taken)) for taken in WAYS)


def swapped(
    rows: Sequence[Tunable], mixed: Sequence[Choices], individuals: Sequence[Individual]
) -> tuple[MeasuredHybrid, ...]:
    """The hybrids as a study has measured them. TuningError if one is missing, or if the two ends are equally fast."""
    chosen = [row for row in rows if row.section]
    numbers = {_settings(chosen, from_json(one.choices).plan): one.number for one in individuals}
    members = {one.number: one for one in read_history(individuals).members}
    found: list[Member] = []
    for taken, choices in zip(WAYS, mixed, strict=True):
        number = numbers.get(_settings(chosen, choices.plan))
        if number is None:
            raise TuningError(f"{_name(taken)} was not measured", advice="Pass all hybrids as start= of machine.tune.")
        found.append(members[number])
    return shares_of(found)


def shares_of(found: Sequence[Member]) -> tuple[MeasuredHybrid, ...]:
    """Shares of the gain of hybrids in the order of `WAYS`. TuningError if both ends are equally fast."""
    first, last = found[0], found[-1]
    if not first.mean or not last.mean or first.mean == last.mean:
        raise TuningError(
            f"the start has {first.mean:.4g} cells/s and the champion {last.mean:.4g}: nothing to share out",
            advice="Take a champion that is faster than the start.",
        )
    return tuple(_shares(taken, one, first, last) for taken, one in zip(WAYS, found, strict=True))


def component_table(found: Sequence[MeasuredHybrid]) -> CountTable:
    """The paper's Table 10; without shares where the champion's gain drowns in what the two ends spread."""
    shared = _gains(found)
    rows = tuple((*(f"{int(one)}" for one in row.taken), _score(row.member), *_told(row, shared)) for row in found)
    note = f"1: from the champion, 0: from the start. Scores in Mcells/s; {_shared_note(found) if shared else _NO_GAIN}"
    return CountTable(
        "What each part of the champion is worth", (*COMPONENTS, "score", "share", "log share"), rows, note
    )


_NO_GAIN = (
    "the champion is no faster than the start by more than both spread, so there are no shares. "
    "Measure again while nothing else runs."
)


def _gains(found: Sequence[MeasuredHybrid]) -> bool:
    """Whether the champion is faster by more than the deviation of the difference, as children are ranked."""
    first, last = found[0].member, found[-1].member
    return last.mean - first.mean > math.hypot(first.sigma, last.sigma)


def _score(member: Member) -> str:
    return f"{member.mean / 1e6:.3f} ± {member.sigma / 1e6:.3f}"


def _told(row: MeasuredHybrid, shared: bool) -> tuple[str, str]:
    if not shared:
        return ("none", "none")
    failed = math.isnan(row.logarithmic)
    logarithmic = "failed" if failed else f"{_rounded(row.logarithmic)} ± {row.logarithmic_sigma:.3f}"
    return (f"{_rounded(row.linear)} ± {row.linear_sigma:.3f}", logarithmic)


def _shared_note(found: Sequence[MeasuredHybrid]) -> str:
    alone = log_shares(found)
    parts = ", ".join(f"{name} {_percent(value)}" for name, value in alone.items())
    return (
        "shares of the gain, linear and of logarithms. "
        f"Each part alone, in logarithms: {parts}; they add up to {_percent(sum(alone.values()))}."
    )


def log_shares(found: Iterable[MeasuredHybrid]) -> Mapping[str, float]:
    """The share of the logarithmic gain that each component brings alone."""
    alone = {row.taken: row.logarithmic for row in found if sum(row.taken) == 1}
    return {name: alone[tuple(name == other for other in COMPONENTS)] for name in COMPONENTS}


def _rounded(share: float) -> str:
    return f"{round(share, 3) + 0.0:.3f}"  # no minus before a zero


def _percent(share: float) -> str:
    return "failed" if math.isnan(share) else f"{round(100 * share)} %"


def _mixed(rows: Sequence[Tunable], start: PlanChoices, champion: PlanChoices, taken: Taken) -> PlanChoices:
    sections = {
        section for part, sections in zip(taken, COMPONENTS.values(), strict=True) if part for section in sections
    }
    plan = start
    for row in rows:
        if row.section in sections:
            plan = row.write(plan, row.read(champion))
    return plan


def _settings(rows: Sequence[Tunable], plan: PlanChoices) -> tuple[Setting, ...]:
    return tuple(row.read(plan) for row in rows)


def _name(taken: Taken) -> str:
    return ", ".join(f"{name} = {int(part)}" for name, part in zip(COMPONENTS, taken, strict=True))


def _shares(taken: Taken, one: Member, first: Member, last: Member) -> MeasuredHybrid:
    gain, gain_of_logs = last.mean - first.mean, math.log(last.mean / first.mean)
    linear = (one.mean - first.mean) / gain
    if not one.mean:
        return MeasuredHybrid(taken, one, linear, 0.0, math.nan, math.nan)
    logarithmic = math.log(one.mean / first.mean) / gain_of_logs
    deviation = one.sigma / abs(one.mean * gain_of_logs)
    return MeasuredHybrid(taken, one, linear, one.sigma / abs(gain), logarithmic, deviation)
