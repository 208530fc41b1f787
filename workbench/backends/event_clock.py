"""Event clock: seconds of a device's launches, by events in the stream between them; read when the device has done."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from workbench.backends.base import LaunchTime
from workbench.planning.plan import Plan


@dataclass(slots=True)
class _Timed:
    """One step that was begun: its events, the first at its begin and one after each launch, with the launch's code."""

    kernel: str
    observed: bool
    first: Any
    marks: list[tuple[int, Any]] = field(default_factory=list)


class EventClock:
    """Collects the seconds of one simulation's launches. `cuda` is the module cupy.cuda, or what stands for it."""

    def __init__(self, cuda: Any, plan: Plan) -> None:  # noqa: ANN401  # CuPy carries no annotations
        self._cuda = cuda
        self._plan = plan
        self._pending: list[_Timed] = []
        self._sums: dict[tuple[str, bool, int], float] = {}
        self._steps: dict[tuple[str, bool], int] = {}

    def begin(self, kernel: str, observed: bool, stream: Any) -> None:  # noqa: ANN401
        """The launches of one step follow."""
        self._pending.append(_Timed(kernel, observed, self._recorded(stream)))

    def mark(self, code: int, stream: Any) -> None:  # noqa: ANN401
        """A launch is in the stream; `code` is its number in the step's text."""
        self._pending[-1].marks.append((code, self._recorded(stream)))

    def read(self) -> tuple[LaunchTime, ...]:
        """Averages so far. The stream must have been waited for."""
        pending, self._pending = self._pending, []
        for timed in pending:
            self._steps[timed.kernel, timed.observed] = self._steps.get((timed.kernel, timed.observed), 0) + 1
            before = timed.first
            for code, event in timed.marks:
                key = (timed.kernel, timed.observed, code)
                seconds = self._cuda.get_elapsed_time(before, event) / 1000.0
                self._sums[key] = self._sums.get(key, 0.0) + seconds
                before = event
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

    def _recorded(self, stream: Any) -> Any:  # noqa: ANN401
        event = self._cuda.Event()
        event.record(stream)
        return event
