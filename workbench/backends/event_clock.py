"""Event clock: seconds of a device's launches, by events in the stream between them; read when the device has done."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workbench.backends.base import LaunchTime
from workbench.planning.plan import Plan

BALLAST_BYTES = 64 << 20  # filled in some 15 us on a fast device
FILLS = 3  # for each launch, which with its event takes the host some 20 us


@dataclass(slots=True)
class _Timed:
    """One step that was begun: its events, the first at its begin and one after each launch; codes of the launches."""

    kernel: str
    observed: bool
    events: list[Any]
    codes: list[int] = field(default_factory=list)


class EventClock:
    """Collects the seconds of one simulation's launches. `cupy` is the module, or what stands for it.

    Before a step the device gets something to do for as long as the host takes to ask for the step's launches: on a
    device that waits for the host, events time the host's way from launch to launch.
    """

    def __init__(self, cupy: Any, plan: Plan) -> None:  # noqa: ANN401  # CuPy carries no annotations
        self._cuda = cupy.cuda
        self._ballast = cupy.empty(BALLAST_BYTES, np.uint8)
        self._plan = plan
        self._pending: list[_Timed] = []
        self._spare: list[Any] = []  # events, because making one takes the host as long as a launch
        self._sums: dict[tuple[str, bool, int], float] = {}
        self._steps: dict[tuple[str, bool], int] = {}

    def begin(self, kernel: str, observed: bool, stream: Any, launches: int) -> None:  # noqa: ANN401
        """So many launches of one step follow."""
        while len(self._spare) <= launches:
            self._spare.append(self._cuda.Event())
        events = [self._spare.pop() for _ in range(launches + 1)]
        self._pending.append(_Timed(kernel, observed, events))
        for _ in range(FILLS * launches):
            self._cuda.runtime.memsetAsync(self._ballast.data.ptr, 0, self._ballast.nbytes, stream.ptr)
        events[0].record(stream)

    def mark(self, code: int, stream: Any) -> None:  # noqa: ANN401
        """A launch is in the stream; `code` is its number in the step's text."""
        timed = self._pending[-1]
        timed.codes.append(code)
        timed.events[len(timed.codes)].record(stream)

    def read(self) -> tuple[LaunchTime, ...]:
        """Averages so far. The stream must have been waited for."""
        pending, self._pending = self._pending, []
        for timed in pending:
            self._steps[timed.kernel, timed.observed] = self._steps.get((timed.kernel, timed.observed), 0) + 1
            for number, code in enumerate(timed.codes):
                key = (timed.kernel, timed.observed, code)
                seconds = self._cuda.get_elapsed_time(*timed.events[number : number + 2]) / 1000.0
                self._sums[key] = self._sums.get(key, 0.0) + seconds
            self._spare += timed.events
        return tuple(
            LaunchTime(kernel, observed, launch, member, self._sums.get((kernel, observed, code), 0.0) / steps, steps)
            for (kernel, observed), steps in self._steps.items()
            for code, (launch, member) in enumerate(self._members(kernel, observed))
        )

    def _members(self, kernel: str, observed: bool) -> list[tuple[int, int]]:
        """(launch, member) for each code; the text has one launch a member, in the plan's order."""
        plan = self._plan.kernel(kernel)
        step = plan.observed if observed else plan.plain
        return [(number, member) for number, launch in enumerate(step.launches) for member in launch.members]
