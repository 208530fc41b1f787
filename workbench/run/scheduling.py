"""Scheduling: runs in the background and loops in cells compute all the time; who wakes up for a moment goes first."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

SHORT_TURN = 0.001  # seconds
SMALLER_SHARE = 4  # a nice value: 0.41 of the share of 0
AUTOGROUP = Path("/proc/self/autogroup")
AUTOGROUP_SECONDS = 0.1  # Linux lets users change one autogroup in so long
AUTOGROUP_TRIES = 5


class Meanwhile:
    """A setting of the whole process that is another while anybody wants it; the last who goes puts it back.

    Who changes it in between keeps theirs.
    """

    def __init__(
        self,
        read: Callable[[], float | None],
        write: Callable[[float], None],
        wish: Callable[[float], float],
    ) -> None:
        """`read` says None where there is no such setting; `wish` is told what is set and says what it shall be."""
        self._read, self._write, self._wish = read, write, wish
        self._lock = threading.Lock()
        self._wanted = 0
        self._before: float | None = None
        self._set: float | None = None

    @contextlib.contextmanager
    def wanted(self) -> Iterator[None]:
        """Until this is left, at least."""
        with self._lock:
            self._wanted += 1
            if self._wanted == 1:
                self._before = self._read()
                if self._before is not None:
                    self._write(self._wish(self._before))
                self._set = self._read()
        try:
            yield
        finally:
            with self._lock:
                self._wanted -= 1
                if self._wanted == 0 and self._before is not None and self._read() == self._set:
                    self._write(self._before)


def _session_niceness() -> float | None:
    """Of this process's session; None where Linux knows none, or others are in it."""
    with contextlib.suppress(OSError, ValueError):
        if os.getsid(0) == os.getpid():
            return float(AUTOGROUP.read_text().split()[-1])
    return None


def _set_session_niceness(niceness: float) -> None:
    for _ in range(AUTOGROUP_TRIES):
        try:
            AUTOGROUP.write_text(f"{niceness:.0f}")
        except BlockingIOError:
            time.sleep(AUTOGROUP_SECONDS)
        except OSError:  # a sandbox may forbid it
            return
        else:
            return


short_turns = Meanwhile(sys.getswitchinterval, sys.setswitchinterval, lambda seconds: min(seconds, SHORT_TURN))
smaller_share = Meanwhile(_session_niceness, _set_session_niceness, lambda niceness: niceness or SMALLER_SHARE)


@contextlib.contextmanager
def page_first() -> Iterator[None]:
    """While a page looks, this process makes room for it, on the interpreter and on the processor.

    A thread that runs Python lets one that waits go on after a millisecond (5 by default, `sys`): whatever draws a
    frame waits for such a turn several times, each time that it has computed without the interpreter: in NumPy, in
    zlib, in a socket. A loop in a cell is interrupted only while somebody waits.

    Where a browser on the same machine competes for the processor, the browser's share is the larger one: each time
    that it collects its memory, for 20 to 100 ms, it stands still the longer the less it gets. Linux compares
    processes of different sessions by the niceness of the sessions (sched_autogroup), not by their own. On a machine
    with cores to spare, or where containers share it out, nothing changes. A niceness that somebody has chosen is kept.
    """
    with short_turns.wanted(), smaller_share.wanted():
        yield


def let_others_go_first() -> None:
    """From now on this thread, and threads that it creates (OpenMP's), interrupt nobody when they wake up.

    The share of the processor stays the same, and on an idle machine nothing changes. Only Linux knows this; a policy
    that somebody has chosen is kept.
    """
    # A run wakes up at every slice border, and then displaced the page that draws it. A nice value of the thread is no
    # cure: Linux does not compare it between sessions such as a browser's and a kernel process's. SCHED_IDLE starves a
    # run beside a loop in a cell. macOS has no policy of one thread that Python can set.
    if sys.platform == "linux" and os.sched_getscheduler(0) == os.SCHED_OTHER:
        with contextlib.suppress(PermissionError):  # a sandbox may forbid it, and a run is right without it
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
