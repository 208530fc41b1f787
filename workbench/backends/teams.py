"""Teams: how many OpenMP threads a process may use. A forked one gets one, where its parent has had several.

The threads of a parent do not exist in a forked process, and GCC's library would wait for them for ever.
"""

from __future__ import annotations

import os

from workbench.backends.loop_sizes import most_cells
from workbench.backends.processor import available_threads
from workbench.errors import RunError, warn_user
from workbench.planning.cost import SMALL_STEP
from workbench.planning.plan import Plan
from workbench.planning.plan_figures import operations_of

_had_team = 0  # the process that has had a team of several threads, 0 for none; a forked process finds its parent's
_warned = 0

_ALWAYS = 256
"""Threads that a run may have on any machine."""


def most_threads() -> int:
    """The largest team there may be. OpenMP's library ends the process when the system refuses it a thread."""
    return max(_ALWAYS, 4 * (os.cpu_count() or 1))


def let_idle_threads_sleep() -> None:
    """Threads that have nothing to do between marches sleep; libgomp reads this once, when it is loaded."""
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")


def check_threads(threads: object) -> None:
    """Raise RunError unless it is a whole number from 0 (all there are) to most_threads()."""
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 0:
        raise RunError(f"threads={threads!r} is no number of threads", advice="Pass 0 for all there are, or 1, 2, ...")
    if threads > _ALWAYS and threads > most_threads():  # to count processors takes as long as a small call
        raise RunError(
            f"threads={threads} is more than the {most_threads()} threads that a run may have here",
            advice="Pass 0 for all that this process may keep busy.",
        )


def wanted_threads(plan: Plan, extents: tuple[int, ...], asked: int) -> int:
    """How many threads a simulation takes: those asked for or chosen, else all; one where steps are too small for two.

    asked: 0 if no number is asked for.
    """
    given = asked or plan.choices.plan.cpu.threads
    return given or (1 if most_cells(plan, extents) * operations_of(plan) < SMALL_STEP else available_threads())


def usable_threads(wanted: int) -> int:
    """How many of `wanted` threads a team may have in this process; the one that calls counts."""
    check_threads(wanted)
    global _had_team, _warned
    here = os.getpid()
    if wanted <= 1:
        return 1
    if _had_team in (0, here):
        _had_team = here
        return wanted
    if _warned != here:
        _warned = here
        warn_user(
            f"this process was forked from one that has run on several threads, so that it runs on one and not on "
            f'{wanted}. For more pass multiprocessing.get_context("spawn") to what makes the processes, or threads=1 '
            "to be content with one.",
            RuntimeWarning,
        )
    return 1
