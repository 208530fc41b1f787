"""Study text: how a study and its best individual stand, in one line each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import isfinite, prod
from statistics import median
from typing import TYPE_CHECKING, Any

from workbench.amounts import error_text, seconds_text, span_text
from workbench.tuning.precision_space import PREFIX
from workbench.tuning.trials import AT_START

if TYPE_CHECKING:
    from workbench.tuning.study import Best, Study
    from workbench.tuning.trials import Individual

MUCH_VARIED = 2.0
"""Of `variation`: what little else runs on a machine does not reach."""

_TELLING = 20  # measurements that tell how much they vary
_MOST_OTHERS = 3  # values of other types that are named beside a type that all others have
_MOST_CHANGES = 6  # in words; an evolution may have changed hundreds


def study_text(study: Study) -> str:
    """State, how many individuals, the best score, and the time that is left or for whom the study waits."""
    best, waits_for = study.best, study.waits_for
    found = _nothing(study) if best is None else f"best {_score(best)}, {best.gain:.2f} x the start"
    if best is not None and best.error is not None:
        found += f", error {error_text(best.error)} within {error_text(study.about['bound'])}"
    if best is not None and study.failure:
        found += f", {study.failure}"
    if best is not None and variation(study) >= MUCH_VARIED:
        found += f", times vary {variation(study):.0f}-fold"
    waits = "" if waits_for is None else f", waits while process {waits_for} measures for another study"
    program, tried = study.about.get("program", ""), len(study.individuals)
    return f"<Study {program} {study.state}: {tried} tried, {found}{_time(study)}{waits}>"


def best_text(best: Best) -> str:
    """Its score, gain and the first of what it changes of the start's choices."""
    one = best.individual
    changes = changes_text(one, best.about) or "the choices of the start"
    return (
        f"<best of the study: {_score(best)}, {best.gain:.2f} x the start, by {changes} "
        f"(individual {one.number}, {one.strategy})>"
    )


def changes_text(one: Individual, about: Mapping[str, Any]) -> str:
    """The first changes of an individual, and how many more there are; types as what all values have.

    about: that of the study. Choices have their labels, of which names have no commas.
    """
    labels = dict(zip(about.get("tunables", ()), about.get("labels", ()), strict=False))
    listed = [_labelled(change, labels) for change in one.changes.split(", ")]
    types = _types_text(one, about)
    if types and any(change.startswith(PREFIX) for change in listed):
        listed = [types, *(change for change in listed if not change.startswith(PREFIX))]
    more = len(listed) - _MOST_CHANGES
    return ", ".join(listed) if more <= 1 else f"{', '.join(listed[:_MOST_CHANGES])} and {more} more"


def _labelled(change: str, labels: Mapping[str, str]) -> str:
    name, sign, value = change.partition(" = ")
    return f"{labels.get(name, name)}{sign}{value}"


def _types_text(one: Individual, about: Mapping[str, Any]) -> str:
    """Such as "all values f64", perhaps with a few that have another type; "" where types are more mixed than that."""
    rows = zip(about.get("tunables", ()), about.get("values", ()), one.point, strict=False)
    types = {name.removeprefix(PREFIX): values[at] for name, values, at in rows if name.startswith(PREFIX)}
    if len(types) < 2:
        return ""
    usual, count = Counter(types.values()).most_common(1)[0]
    others = [f"{name} {type_}" for name, type_ in types.items() if type_ != usual]
    if len(others) > _MOST_OTHERS or len(others) >= count:
        return ""
    asked = about.get("asked", {})
    some = any(str(name).startswith(PREFIX) for name in (*(asked.get("only") or ()), *asked.get("fixed", ())))
    every = f"all {'tuned ' if some else ''}values {usual}"
    return f"{every} but {' and '.join(others)}" if others else every


def trouble(study: Study) -> str:
    """What ended a study that failed, else what was wrong with its start; "" if nothing was."""
    if study.failure:
        return study.failure
    first = next((one.outcome for one in study.individuals if one.birth == AT_START), None)
    if first is None or first.status == "success":
        return ""
    said = next((line.strip() for line in reversed(first.tail.splitlines()) if line.strip()), "")
    return f"the start failed ({first.status})" + (f": {said}" if said else "")


def variation(study: Study) -> float:
    """Times its least that half of the measurements of one individual take, as other work slows them; 1 for none.

    The most of all individuals that were measured often enough to tell: load moves teams of threads more than others.
    """
    samples: dict[int, list[float]] = {}
    for one in study.individuals:
        if not one.same_as:
            samples.setdefault(one.number, []).extend(one.outcome.samples)
            samples.setdefault(one.against, []).extend(one.outcome.beside)
    for race in study.races:
        for number, found in race.samples:
            samples.setdefault(number, []).extend(found)
    return max((median(found) / min(found) for found in samples.values() if len(found) >= _TELLING), default=1.0)


def left_text(seconds: float) -> str:
    """So many seconds of a budget in words."""
    return f"about {span_text(seconds)} left" if seconds else "the budget has ended"


def _score(best: Best) -> str:
    """Cells a second; seconds of what another tuner measured of a problem whose size it did not say."""
    known = prod(best.about.get("extents", (1,))) > 1
    return f"{best.score:.4g} cells/s" if known else seconds_text(1.0 / best.score)


def _nothing(study: Study) -> str:
    """Why there is no best individual."""
    if study.failure:
        return study.failure
    if failed := trouble(study):
        return f"nothing passed, {failed}"
    if study.individuals or not (study.running or study.watching):
        return "nothing passed"
    return "the reference and the start come first"


def _time(study: Study) -> str:
    """How much time is left; or that none was for more than the start."""
    if study.running:
        return "" if study.seconds_left is None else f", {left_text(study.seconds_left)}"
    short = study.budget is not None and study.state == "done" and isfinite(study.budget.seconds)
    return ", the budget ended with that" if short and len(study.individuals) == 1 else ""
