"""Loop times: seconds that each loop of a candidate took in its own timed steps, beside those of the start."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.amounts import seconds_text
from workbench.backends.base import Instance
from workbench.graph.diagnostics import REPEATED
from workbench.planning.kernel_plan import KernelPlan

LoopTimes = tuple[tuple[str, float], ...]
"""Names of loops and their seconds a step, in the order of the plan."""

_LISTED = 4


def loop_times(instance: Instance, kernel: KernelPlan) -> LoopTimes:
    """What a host's instance has noted of the plain steps of `step` so far; none of what runs several steps together.

    Loops of one launch share its time by the clock in proportion to the work that the threads did for each.
    """
    loops = [
        (kernel.plain.subkernels[time.member].name, time.seconds)
        for time in instance.launch_times()
        if time.kernel == REPEATED and not time.observed and kernel.plain.launches[time.launch].kind == "subkernel"
    ]
    return tuple(loops)


def loops_text(best: LoopTimes, start: LoopTimes) -> str:
    """The dearest loops of the best, with their seconds at the start where it has a loop of this name; "" for none.

    A name stands for all loops that have it, as their numbers are not those of another plan.
    """
    if not best:
        return ""
    now, before = _sums(best), _sums(start)
    ranked = sorted(now, key=lambda name: -now[name])
    listed = []
    for name in ranked[:_LISTED]:
        was = before.get(name)
        told = "no loop at the start" if was is None else f"{seconds_text(was)} at the start"
        listed.append(f"{name} {seconds_text(now[name])} ({told})" if start else f"{name} {seconds_text(now[name])}")
    gone = [name for name in before if name not in now]
    more = f", {len(ranked) - _LISTED} more" if len(ranked) > _LISTED else ""
    lost = f"; {len(gone)} of the start's {len(before)} are no loops any more" if gone else ""
    return f"loops of the best, a step: {', '.join(listed)}{more}{lost}"


def _sums(times: Sequence[tuple[str, float]]) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, seconds in times:
        found[name] = found.get(name, 0.0) + seconds
    return found
