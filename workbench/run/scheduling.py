"""Scheduling: runs in the background and loops in cells compute all the time; who wakes up for a moment goes first."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Iterator

SHORT_TURN = 0.001  # seconds


class _Turns:
    """How many want short ones, what was before, and what was set then."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.wanted = 0
        self.before = self.set = 0.0


_turns = _Turns()


@contextlib.contextmanager
def short_turns() -> Iterator[None]:
    """Meanwhile a thread that runs Python lets one that waits go on after a millisecond (5 by default, `sys`).

    Whatever draws a frame waits for such a turn several times, each time that it has computed without the interpreter:
    in NumPy, in zlib, in a socket. A loop in a cell is interrupted only while somebody waits. The interval is one of
    the whole process; a shorter one is kept, and who changes it meanwhile keeps theirs.
    """
    with _turns.lock:
        _turns.wanted += 1
        if _turns.wanted == 1:
            _turns.before = sys.getswitchinterval()
            sys.setswitchinterval(min(_turns.before, SHORT_TURN))
            _turns.set = sys.getswitchinterval()
    try:
        yield
    finally:
        with _turns.lock:
            _turns.wanted -= 1
            if _turns.wanted == 0 and sys.getswitchinterval() == _turns.set:
                sys.setswitchinterval(_turns.before)


def let_others_go_first() -> None:
    """From now on this thread, and threads that it creates (OpenMP's), interrupt nobody when they wake up.

    The share of the processor stays the same, and on an idle machine nothing changes. Only Linux knows this; a policy
    that somebody has chosen is kept.
    """
    # A run wakes up at every slice border, and then displaced the page that draws it. A nice value is no cure: Linux
    # does not compare it between sessions such as a browser's and a kernel process's (sched_autogroup). SCHED_IDLE
    # starves a run beside a loop in a cell. macOS has no policy of one thread that Python can set.
    if sys.platform == "linux" and os.sched_getscheduler(0) == os.SCHED_OTHER:
        with contextlib.suppress(PermissionError):  # a sandbox may forbid it, and a run is right without it
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
