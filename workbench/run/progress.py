"""Progress: the line that a long run writes, and the place where a notebook puts its own."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from workbench.amounts import in_digits, span_text
from workbench.events import Listener, Progress, RunEvent

PATIENCE_SECONDS = 1.0
_TERMINAL_SECONDS = 0.2
_LOG_SECONDS = 10.0


def silent(event: RunEvent) -> None:
    """Show nothing."""


class ProgressLine:
    """Writes to stderr once a run has taken over a second; shorter runs write nothing.

    On a terminal it keeps one line up to date, elsewhere it adds a line now and then.
    """

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._begin = time.perf_counter()
        self._next = self._begin + (PATIENCE_SECONDS if self._terminal else _LOG_SECONDS)
        self._shown = False

    def __call__(self, event: RunEvent) -> None:
        """Show the event if it is time."""
        if not isinstance(event, Progress):
            if self._shown and self._terminal:
                sys.stderr.write("\n")
            return
        now = time.perf_counter()
        if now < self._next:
            return
        self._next = now + (_TERMINAL_SECONDS if self._terminal else _LOG_SECONDS)
        self._shown = True
        sys.stderr.write(f"\r{in_words(event)} \x1b[K" if self._terminal else f"{in_words(event)}\n")
        sys.stderr.flush()


def in_words(event: Progress) -> str:
    """The event as one line: "wave: step 1200 of 10000, 400 steps/s, 22 s left"."""
    if event.paused:
        of = "" if event.of is None else f" of {event.of}"
        return f"{event.name}: step {event.steps}{of}, paused: press Play in its view to let it go on"
    if event.of is None:
        return f"{event.name}: step {event.steps}, {in_digits(event.rate, 3)} steps/s"
    left = f", {span_text((event.of - event.steps) / event.rate)} left" if event.rate else ""
    return f"{event.name}: step {event.steps} of {event.of}, {in_digits(event.rate, 3)} steps/s{left}"


_make_listener: Callable[[], Listener] = ProgressLine


def set_listener_factory(factory: Callable[[], Listener] | None) -> None:
    """Let every later `run` report to a listener made by `factory`; None brings the text line back."""
    global _make_listener
    _make_listener = ProgressLine if factory is None else factory


def new_listener() -> Listener:
    """A listener for one run, as things are set."""
    return _make_listener()
