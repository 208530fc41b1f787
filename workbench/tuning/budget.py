"""Budget: how long a study goes on: a number of evaluations, or a time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import inf

from workbench.errors import TuningError

_UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0}
_TIME = re.compile(r"\s*(\d+(?:\.\d*)?)\s*(s|min|h)\s*\Z")


@dataclass(frozen=True, slots=True)
class Budget:
    """At most so many evaluations, and so many seconds."""

    evaluations: float = inf
    seconds: float = inf


def read_budget(budget: object) -> Budget:
    """A whole number is evaluations, a text such as "90 s", "10 min" or "2 h" a time. Else TuningError."""
    if isinstance(budget, int) and not isinstance(budget, bool) and budget > 0:
        return Budget(evaluations=budget)
    if isinstance(budget, str) and (found := _TIME.match(budget)) and float(found[1]) > 0:
        return Budget(seconds=float(found[1]) * _UNITS[found[2]])
    raise TuningError(
        f"budget={budget!r} is neither a number of evaluations nor a time",
        advice='Pass a whole number, or a text such as "90 s", "10 min" or "2 h".',
    )
