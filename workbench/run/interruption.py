"""Interruption: Ctrl-C during a run asks it to stop at a whole step, and becomes KeyboardInterrupt afterwards."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from workbench.backends.base import StopFlag
from workbench.errors import shorten


@contextmanager
def interruptible(stop: StopFlag, state: Callable[[], str]) -> Iterator[None]:
    """While inside, SIGINT sets `stop`; on leaving, what SIGINT did before is done (KeyboardInterrupt, as a rule).

    `state` says then how things stand and how to go on.

    An exception raised by the signal itself could hit between a march and the count of its steps, so that the state
    and its step number would differ. Outside the main thread Python delivers no signals and nothing is changed.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    caught: list[tuple[int, FrameType | None]] = []

    def ask_to_stop(number: int, frame: FrameType | None) -> None:
        caught.append((number, frame))
        stop.set()

    signal.signal(signal.SIGINT, ask_to_stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if caught:
        try:
            before(*caught[0])
        except KeyboardInterrupt as interrupt:
            raise shorten(interrupt, state()) from None
