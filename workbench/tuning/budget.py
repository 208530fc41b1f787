"""Budget: how long a study goes on: a number of evaluations, or a time, of which the final race has a part."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from workbench.errors import TuningError
from workbench.run.goals import integer_of

_UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0}
_RACE_SHARE = 0.3  # of a time, at most, for the race
_TURN, _TURN_STEPS = 0.06, 1.2  # seconds of one measurement in a race, at least; steps that it takes, at least
_OPENING = 0.5  # seconds that a finalist takes to be loaded and opened, at least
_FEWEST_ROUNDS = 3  # in which a race tells anything
_TIME = re.compile(r"\s*(\d+(?:\.\d*)?)\s*(s|min|h)\s*\Z")


@dataclass(frozen=True, slots=True)
class Budget:
    """At most so many evaluations, and so many seconds."""

    evaluations: float = inf
    seconds: float = inf

    def race_seconds(self, finalists: Sequence[float], rounds: int, opening: float) -> float:
        """The part of the time that is kept for a race; 0 where the budget is none.

        finalists: seconds of a step of each. opening: seconds in which one is loaded and opened.
        """
        if self.seconds == inf:
            return 0.0
        return min(_RACE_SHARE * self.seconds, _race_seconds(finalists, rounds, opening))


def that_fit(finalists: Sequence[float], seconds: float, opening: float) -> int:
    """How many of the first finalists can race in so many seconds; 0 where not even two can.

    finalists, opening: as in `Budget.race_seconds`.
    """
    for count in range(len(finalists), 1, -1):
        if _race_seconds(finalists[:count], _FEWEST_ROUNDS, opening) <= seconds:
            return count
    return 0


def _race_seconds(finalists: Sequence[float], rounds: int, opening: float) -> float:
    one_round = sum(max(_TURN, _TURN_STEPS * step) for step in finalists)
    return len(finalists) * max(_OPENING, opening) + rounds * one_round


def read_budget(budget: object) -> Budget:
    """A whole number is evaluations, a text such as "90 s", "10 min" or "2 h" a time. Else TuningError."""
    if (count := integer_of(budget)) is not None and count > 0:
        return Budget(evaluations=count)
    if isinstance(budget, str) and (found := _TIME.match(budget)) and float(found[1]) > 0:
        return Budget(seconds=float(found[1]) * _UNITS[found[2]])
    raise TuningError(
        f"budget={budget!r} is neither a number of evaluations nor a time",
        advice='Pass a whole number, or a text such as "90 s", "10 min" or "2 h".',
    )
