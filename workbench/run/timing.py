"""Timing: what a step of a simulation and each of its launches take, as measured while it runs."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from workbench.backends.base import LaunchTime
from workbench.pipeline import Compiled
from workbench.planning.choices import Choices
from workbench.run.state import State
from workbench.run.watching import Watch

WINDOW_SECONDS = 1.0  # by the clock: a figure is the median of the pieces of a run that ended in the last of them
PIECE_SECONDS = 0.01  # of running, of one piece of many short steps
LEAST_PIECES = 3  # that make a figure, also of steps that take longer than the window
STEADY = 0.1  # share of the median that the spread of a stable figure is at most
PATIENCE = 4  # windows after which a figure is told though it spreads more
AGAIN = 4  # times as long a program has run at the next figure


@dataclass(frozen=True, slots=True)
class StepTime:
    """Seconds by the clock of a step of the program that runs now, on average over the `steps` it has done.

    `choices`: those that were asked for; the simulation's size may have decided the schedule. `launches` as
    Instance.launch_times has them, of all kernels. `spread`: half of what the middle half of several measurements lies
    apart, where `seconds` is their median.
    """

    choices: Choices
    backend: str
    extents: tuple[int, ...]
    steps: int
    seconds: float
    launches: tuple[LaunchTime, ...]
    spread: float = 0.0

    def subkernels(self, compiled: Compiled) -> tuple[tuple[str, float], ...]:
        """(name in the source, seconds) of each sub-kernel of a plain step of the main kernel, where they are known."""
        main = compiled.plan.main
        timed = {(t.observed, t.launch, t.member): t.seconds for t in self.launches if t.kernel == main.kernel.name}
        return tuple(
            (main.plain.subkernels[member].name, timed[False, number, member])
            for number, launch in enumerate(main.plain.launches)
            for member in launch.members
            if launch.kind == "subkernel" and (False, number, member) in timed
        )

    def since(self, earlier: StepTime) -> StepTime:
        """What was measured after that, in one step or more of the same program.

        A launch that was not timed since keeps its time.
        """
        known = {(t.kernel, t.observed, t.launch, t.member): t for t in earlier.launches}
        launches = []
        for t in self.launches:
            before = known.get((t.kernel, t.observed, t.launch, t.member))
            if before is not None and t.steps > before.steps:
                seconds = _later_mean(t.seconds, t.steps, before.seconds, before.steps)
                launches.append(replace(t, seconds=seconds, steps=t.steps - before.steps))
            else:
                launches.append(t)
        seconds = _later_mean(self.seconds, self.steps, earlier.seconds, earlier.steps)
        return replace(self, seconds=seconds, steps=self.steps - earlier.steps, launches=tuple(launches))


def _later_mean(mean: float, count: int, earlier_mean: float, earlier_count: int) -> float:
    """The mean of those that came after the earlier ones."""
    return max(0.0, mean * count - earlier_mean * earlier_count) / (count - earlier_count)


def time_of(state: State) -> StepTime | None:
    """What is known now, of one whole step; None before the first one. For the thread that owns the state."""
    seconds = state.measured_step_seconds
    if seconds is None:
        return None
    compiled = state.compiled
    return StepTime(
        state.asked,
        compiled.selection.name,
        state.extents,
        state.march_steps,
        seconds,
        state.instance.launch_times(),
    )


class _Window:
    """What a step took in the pieces of a run that ended in the last WINDOW_SECONDS."""

    def __init__(self) -> None:
        self._pieces: deque[tuple[float, float]] = deque()  # when it ended, seconds a step
        self._steps, self._seconds = 0, 0.0  # of the piece that goes on

    def add(self, now: float, steps: int, seconds: float) -> None:
        """Some steps have taken so long; the last of them ended `now`."""
        self._steps += steps
        self._seconds += seconds
        if self._steps and self._seconds >= PIECE_SECONDS:
            self._pieces.append((now, self._seconds / self._steps))
            self._steps, self._seconds = 0, 0.0
            while len(self._pieces) > LEAST_PIECES and self._pieces[0][0] < now - WINDOW_SECONDS:
                self._pieces.popleft()

    def figure(self) -> tuple[float, float] | None:
        """The median and the spread of seconds a step, None while there are too few pieces."""
        if len(self._pieces) < LEAST_PIECES:
            return None
        low, median, high = np.percentile([seconds for _, seconds in self._pieces], (25, 50, 75))
        return float(median), float(high - low) / 2


def timed(
    state: State, told: Callable[[StepTime], None], *, once: bool, clock: Callable[[], float] = time.monotonic
) -> Callable[[], None]:
    """Call `told` in the thread that runs, as soon as there is a stable figure of the present program.

    That is the median over the last second; a figure is stable if its spread is small, or after PATIENCE seconds.
    Unless `once`, again each time when the program has been there AGAIN times as long: views draw new code while its
    first steps run, on a computer with few cores at several times their cost. Launches have their shares of it, those
    of averages since the figure before. Another program that takes over ends it, and so does a call of the result.
    """
    compiled = state.compiled
    window, begun = _Window(), clock()
    seen_steps, seen_seconds = state.march_steps, state.march_seconds
    earlier: StepTime | None = None
    after = WINDOW_SECONDS

    def changed() -> None:
        nonlocal earlier, after, seen_steps, seen_seconds
        if state.compiled is not compiled:
            state.watches.remove(watch)
            return
        now = clock()
        window.add(now, state.march_steps - seen_steps, state.march_seconds - seen_seconds)
        seen_steps, seen_seconds = state.march_steps, state.march_seconds
        figure = window.figure() if now - begun >= after else None
        if figure is None or (earlier is not None and earlier.steps == state.march_steps):
            return
        median, spread = figure
        if spread > STEADY * median and now - begun < max(after, PATIENCE * WINDOW_SECONDS):
            return
        known = time_of(state)
        assert known is not None
        fresh = known if earlier is None else known.since(earlier)
        earlier, after = known, AGAIN * (now - begun)
        if once:
            state.watches.remove(watch)
        share = median / fresh.seconds if fresh.seconds > 0 else 1.0
        launches = tuple(replace(each, seconds=share * each.seconds) for each in fresh.launches)
        told(replace(fresh, seconds=median, spread=spread, launches=launches))

    watch = Watch(changed, PIECE_SECONDS * 5)
    state.watches.add(watch)
    return lambda: state.watches.remove(watch)
