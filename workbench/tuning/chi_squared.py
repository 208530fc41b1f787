"""Chi-squared: Pearson's test of independence, with critical values for any number of degrees of freedom."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

SIGNIFICANCE = 1e-3
_HALVINGS = 200  # until the ends of an interval of floats are neighbours


@dataclass(frozen=True, slots=True)
class PearsonTest:
    """Pearson's statistic of a table of counts, and what it says.

    statistic: sum of (observed - expected)^2 / expected. degrees: of freedom, of the rows and columns that are not
    empty; 0 where nothing can be tested. positive: whether the first cell holds more than independence expects.
    least: the least expected count; below 5 the distribution of the statistic is only roughly known (Cochran 1954).
    """

    statistic: float
    degrees: int
    positive: bool
    least: float

    @property
    def significant(self) -> bool:
        """Whether chance exceeds the statistic with a probability below 1e-3."""
        return self.degrees > 0 and self.statistic > critical_value(self.degrees)


def pearson(counts: Sequence[Sequence[int]]) -> PearsonTest:
    """Test whether rows and columns of a contingency table are independent."""
    rows = [sum(row) for row in counts]
    columns = [sum(column) for column in zip(*counts, strict=True)]
    total = sum(rows)
    degrees = max(0, sum(map(bool, rows)) - 1) * max(0, sum(map(bool, columns)) - 1)
    if not degrees:
        return PearsonTest(0.0, 0, False, 0.0)
    pairs = [
        (count, rows[i] * columns[j] / total)
        for i, row in enumerate(counts)
        for j, count in enumerate(row)
        if rows[i] and columns[j]
    ]
    statistic = sum((observed - expected) ** 2 / expected for observed, expected in pairs)
    positive = counts[0][0] * total > rows[0] * columns[0]
    return PearsonTest(statistic, degrees, positive, min(expected for _, expected in pairs))


def together(tests: Sequence[PearsonTest]) -> PearsonTest:
    """One test of several tables that share no count: statistics and degrees of freedom add."""
    told = [test for test in tests if test.degrees]
    statistic, degrees = sum(test.statistic for test in told), sum(test.degrees for test in told)
    return PearsonTest(statistic, degrees, False, min((test.least for test in told), default=0.0))


def survival(statistic: float, degrees: int) -> float:
    """The probability that a chi-squared variable is above `statistic` (Abramowitz & Stegun 26.4.4 and 26.4.5)."""
    half = statistic / 2
    if degrees % 2:
        tail, term, first = math.erfc(math.sqrt(half)), math.exp(-half) * math.sqrt(half / math.pi) * 2, 1.5
    else:
        tail, term, first = math.exp(-half), math.exp(-half) * half, 2.0
    for step in range((degrees - 1) // 2):
        tail += term
        term *= half / (first + step)
    return tail


def critical_value(degrees: int, significance: float = SIGNIFICANCE) -> float:
    """The statistic that chance exceeds with the probability `significance`, by bisection of `survival`."""
    low, high = 0.0, 1.0
    while survival(high, degrees) > significance:
        high *= 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if survival(middle, degrees) > significance:
            low = middle
        else:
            high = middle
    return high
