"""Scheduling: a run in the background computes all the time, so whoever wakes up for a moment goes first."""

from __future__ import annotations

import contextlib
import os
import sys


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
