"""Stopwatch: the seconds that launches take, as compiled code measures them, and how often it reads the clock.

Compiled code always contains the clock, because a build for timing alone would not be the code that runs. Of short
steps only a sample is timed, one in sixteen. Heat on 256² cells, 20 µs a step, takes 0.3 % longer if each step is
timed; with the sample no difference could be measured.
"""

from __future__ import annotations

import numpy as np

from workbench.backends.base import Array, LaunchTime
from workbench.codegen.laps import Lap, number_laps, variants
from workbench.planning.kernel_plan import Step
from workbench.planning.plan import Plan

_LONG_SECONDS = 1e-4  # a step; a look at the clock takes some 3e-8 s, and a step has a few
_SAMPLE = 16  # of shorter steps one in so many is timed
_LINE = 8  # doubles in a cache line: threads write to lines of their own


class Stopwatch:
    """Memory for one simulation's laps. Compiled code adds to `laps` (threads, numbers) and `timed` (kernels, 2)."""

    def __init__(self, plan: Plan, threads: int) -> None:
        self._plan = plan
        self._numbered = number_laps(plan)
        stride = -(-max(len(self._numbered), 1) // _LINE) * _LINE
        self.laps: Array = np.zeros((max(threads, 1), stride))
        self.timed: Array = np.zeros((max(len(plan.kernels), 1), 2), np.int64)
        self.sample = 1  # of the first march, which may be the only one

    def choose_sample(self, steps: int, seconds: float) -> None:
        """Time every step where they are long, and few of the short ones."""
        if steps:
            self.sample = 1 if seconds / steps >= _LONG_SECONDS else _SAMPLE

    def times(self) -> tuple[LaunchTime, ...]:
        """Averages so far; a march that goes on meanwhile may show half a step."""
        whole, work = self.laps[0], self.laps.sum(axis=0)
        number = {lap: index for index, lap in enumerate(self._numbered)}
        found: list[LaunchTime] = []
        for index, kernel in enumerate(self._plan.kernels):
            both = self.timed[index]
            for observed, step in variants(kernel):
                steps = int(both[int(observed)] if kernel.has_diagnostics else both.sum())
                if steps:
                    found += _times_of(step, kernel.kernel.name, observed, steps, number, whole, work)
        return tuple(found)


def _times_of(
    step: Step, kernel: str, observed: bool, steps: int, number: dict[Lap, int], whole: Array, work: Array
) -> list[LaunchTime]:
    found = []
    for index, launch in enumerate(step.launches):
        seconds = float(whole[number[Lap(kernel, observed, index, launch.kind)]]) / steps
        parts = [number.get(Lap(kernel, observed, index, launch.kind, member)) for member in launch.members]
        shares = [1.0 if part is None else float(work[part]) for part in parts]
        total = sum(shares) or 1.0
        found += [
            LaunchTime(kernel, observed, index, member, seconds * share / total, steps)
            for member, share in zip(launch.members, shares, strict=True)
        ]
    return found
