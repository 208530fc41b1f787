"""Thread priorities: short-lived threads (drawing, messages) run before long computations."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator

from workbench.forking import forkable_lock

SHORT_TURN = 0.001  # seconds


class Meanwhile:
    """A setting of the whole process that is changed while it is wanted; the last `wanted` to end restores it.

    A value that was set by others in between is kept.
    """

    def __init__(
        self,
        read: Callable[[], float],
        write: Callable[[float], None],
        choose: Callable[[float], float],
    ) -> None:
        """`choose` maps the present value to the one wanted."""
        self._read, self._write, self._choose = read, write, choose
        self._lock = forkable_lock()
        self._wanted = 0
        self._before = self._set = 0.0  # while it is wanted

    @contextlib.contextmanager
    def wanted(self) -> Iterator[None]:
        """Until this is left, at least."""
        with self._lock:
            self._wanted += 1
            if self._wanted == 1:
                self._before = self._read()
                self._write(self._choose(self._before))
                self._set = self._read()
        try:
            yield
        finally:
            with self._lock:
                self._wanted -= 1
                if self._wanted == 0 and self._read() == self._set:
                    self._write(self._before)


short_turns = Meanwhile(sys.getswitchinterval, sys.setswitchinterval, lambda seconds: min(seconds, SHORT_TURN))


@contextlib.contextmanager
def page_first() -> Iterator[None]:
    """While a page looks, threads of this process take short turns on the interpreter.

    A thread that runs Python lets one that waits go on after a millisecond (5 by default, `sys`): whatever draws a
    frame waits for such a turn several times, each time that it has computed without the interpreter: in NumPy, in
    zlib, in a socket. A loop in a cell is interrupted only while a thread waits.
    """
    with short_turns.wanted():
        yield


def let_others_go_first() -> None:
    """From now on this thread, and threads that it creates (OpenMP's), interrupt no other thread when they wake up.

    The share of the processor stays the same, and on an idle machine nothing changes. Only Linux knows this; a policy
    that was chosen by hand is kept.
    """
    # A run wakes up at every slice border, and then displaced the page that draws it. A nice value of the thread is no
    # cure: Linux does not compare it between sessions such as a browser's and a kernel process's. SCHED_IDLE starves a
    # run beside a loop in a cell. macOS has no policy of one thread that Python can set.
    if sys.platform == "linux" and os.sched_getscheduler(0) == os.SCHED_OTHER:
        with contextlib.suppress(PermissionError):  # a sandbox may forbid it, and a run is right without it
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
