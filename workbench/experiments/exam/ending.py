"""Ending: an exam ends at its time, or by Ctrl-C, with what was done so far."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import inf

from workbench.amounts import span_text

Say = Callable[[str], None]


@contextmanager
def interrupted_after(seconds: float) -> Iterator[None]:
    """Raise KeyboardInterrupt inside after so many seconds, as Ctrl-C would: runs end at a whole step, compilers too.

    Only in the main thread of a system with timers; elsewhere the work inside looks at the clock between its parts.
    Infinite seconds change nothing. A process that ignores SIGINT, as a shell's background job does, takes it
    meanwhile.
    """
    if seconds == inf or threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    if ignored:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    before = signal.signal(signal.SIGALRM, lambda number, frame: signal.raise_signal(signal.SIGINT))
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-6))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
        if ignored:
            signal.signal(signal.SIGINT, signal.SIG_IGN)


class ProgressClock:
    """Looks at the clock: says now and then how much is done and how long the rest will take.

    counts: of the parts of each kind, in order; parts of a kind take alike.
    """

    SAY_SECONDS = 5.0  # between two words on the time left

    def __init__(self, counts: Sequence[int], say: Say, clock: Callable[[], float] = time.perf_counter) -> None:
        self._counts, self._say, self._clock = counts, say, clock
        self._begin = self._told = clock()
        self._finished: list[float] = []  # seconds from the beginning

    @property
    def seconds(self) -> float:
        """Since the beginning."""
        return self._clock() - self._begin

    def done(self) -> None:
        """One part more."""
        now, parts = self._clock(), sum(self._counts)
        self._finished.append(now - self._begin)
        if now - self._told < self.SAY_SECONDS or len(self._finished) == parts:
            return
        self._told = now
        spent = f"{len(self._finished)} of {parts} parts in {span_text(now - self._begin)}"
        self._say(f"  {spent}, about {span_text(self._left())} left")

    def _left(self) -> float:
        """Of each kind as those of it took that are done; before the first of it, as those of the kind before."""
        first, rate, left = 0, 0.0, 0.0
        for count in self._counts:
            done = min(max(len(self._finished) - first, 0), count)
            if done:
                before = self._finished[first - 1] if first else 0.0
                rate = (self._finished[first + done - 1] - before) / done
            left += rate * (count - done)
            first += count
        return left
