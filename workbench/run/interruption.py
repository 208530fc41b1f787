"""Interruption: Ctrl-C during a run stops it with the state of a whole step, and becomes KeyboardInterrupt then."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from types import FrameType

from workbench.backends.base import StopFlag
from workbench.errors import shorten


@contextmanager
def interruptible(stop: StopFlag, state: Callable[[], str], *, at_once: bool = False) -> Iterator[None]:
    """While inside, SIGINT sets `stop`; on leaving, what SIGINT did before is done (KeyboardInterrupt, as a rule).

    `state` says then how things stand and how to go on. at_once: compiled code may be busy for longer than people wait,
    and Python runs handlers of signals only when it returns.

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
        with _heard(stop) if at_once else nullcontext():
            yield
    finally:
        signal.signal(signal.SIGINT, before)
    if caught:
        try:
            before(*caught[0])
        except KeyboardInterrupt as interrupt:
            raise shorten(interrupt, state()) from None


@contextmanager
def _heard(stop: StopFlag) -> Iterator[None]:
    """While inside, a thread sets `stop` as soon as the process gets a SIGINT. It costs a tenth of a millisecond.

    Python writes the numbers of signals to a file when they arrive; what reads them otherwise still gets them.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    listener = threading.Thread(target=_listen, args=(reading, before, stop), name="interruption", daemon=True)
    listener.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.close(writing)
        listener.join()
        os.close(reading)


def _listen(reading: int, further: int, stop: StopFlag) -> None:
    while numbers := os.read(reading, 64):
        if signal.SIGINT in numbers:
            stop.set()
        if further >= 0:
            with suppress(OSError):
                os.write(further, numbers)
