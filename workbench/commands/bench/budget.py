"""Budget: the seconds that a whole measurement may take, and how its parts share them."""

from __future__ import annotations

import time
from collections.abc import Callable

# Where parts end, as fractions of the budget; what one does not use is the next one's.
FIRST_RESULTS, VERIFIED, STEPS_FOUND = 0.6, 0.7, 0.8
_OF_ONE = 0.75  # of what a part has left, for a contender that others wait for
SIZES = 0.3  # of what is left when rounds begin, at most, for smaller sizes


class TimeBudget:
    """Counts from when it is made. clock: seconds that only grow."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds = seconds
        self._clock = clock
        self._began = clock()

    def taken(self) -> float:
        """Seconds since it was made."""
        return self._clock() - self._began

    def left(self) -> float:
        """Seconds until its end; 0 after it."""
        return max(0.0, self.seconds - self.taken())

    def share(self, end: float, waiting: int, *, others: bool = True) -> float:
        """When the next of `waiting` contenders must be done, as `taken` counts.

        That is most of what is left until the fraction `end` of the budget, and all of it for the last: the usual
        contender takes little, a slow one cannot take the time of all that follow. others: whether a contender before
        it was in time; the last one may else take all of the budget, because without it there is nothing to measure.
        """
        taken = self.taken()
        if waiting == 1 and not others:
            return self.seconds
        left = max(0.0, end * self.seconds - taken)
        return taken + (left if waiting == 1 else _OF_ONE * left)
