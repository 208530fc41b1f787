"""Marching: a run as slices of compiled code, between which requests are served, progress told and ends noticed."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager

from workbench.backends.base import MarchRequest, StopFlag
from workbench.errors import NonFiniteError, RunError
from workbench.events import Listener, Progress, RunEnd, RunEnded, publish
from workbench.run.finiteness import Finiteness, lost_scalars, warn_of_lost_scalars
from workbench.run.goals import Goal
from workbench.run.interruption import interruptible
from workbench.run.ownership import Owner
from workbench.run.recording import observe_every, steps_to_border
from workbench.run.state import STEP, State
from workbench.run.storage import files_of
from workbench.run.until import TimeProgress

SLICE_SECONDS = 0.05
_LARGEST_SLICE = 1 << 30  # steps; compiled code counts in 64 bits, so this only keeps sums far from the edge
_LARGEST_LIST = 1 << 16  # values of each scalar that are recorded in one slice, for which there must be memory


class RunStop(StopFlag):
    """Ends a run; the slice that is under way ends at once where its step may be left, else after that step."""

    def __init__(self, slice_end: StopFlag) -> None:
        super().__init__()
        self._slice_end = slice_end

    def set(self) -> None:
        """Ask to stop."""
        super().set()  # first: what clears the other flag looks at this one afterwards
        self._slice_end.set_at_once()


class March:
    """One run of one simulation, in the thread that owns it.

    `stop` may be set by any thread or signal handler; the run then ends with the state of a whole step. `paused` and
    `pace`, the most steps per second of this run where no watcher asks for another number, may be set by a command, and
    `broken`, with which the run then fails. `over`: it has ended.
    """

    def __init__(self, state: State, owner: Owner, goal: Goal, listener: Listener, finite: bool = False) -> None:
        self.stop = RunStop(owner.slice_end)
        self.paused = False
        self.pace: float | None = None
        self.broken: NonFiniteError | None = None
        self.over = False
        self.done = 0
        self._state = state
        self._owner = owner
        self._goal = goal
        self._listener = listener
        self._reached = False
        self._finiteness = Finiteness(state) if finite else None
        self._advance = TimeProgress(state, goal.until[0]) if goal.advances else None
        self._begin = time.perf_counter()

    def interruptible(self, state: Callable[[], str]) -> AbstractContextManager[None]:
        """As `interruption.interruptible`: at once, unless it is known that steps are short, and not of a long pass."""
        is_short = 0 < self._state.step_seconds < SLICE_SECONDS and files_of(self._state.instance) is None
        return interruptible(self.stop, state, at_once=not is_short)

    def advance(self) -> RunEnded:
        """Run to the goal; what happens between slices is the same for runs in front and in the background."""
        reason: RunEnd = "failed"
        lost, begin = lost_scalars(self._state), self._state.steps
        try:
            reason = self._slices()
            warn_of_lost_scalars(self._state, lost, begin)
            return self._ended(reason)
        finally:
            self.over = True
            ended = self._ended(reason)
            self._listener(ended)
            publish(ended)

    def _ended(self, reason: RunEnd) -> RunEnded:
        return RunEnded(self._state.graph.name, self.done, time.perf_counter() - self._begin, reason)

    def _slices(self) -> RunEnd:
        while True:
            self._border()
            if self._reached:
                return "until"
            if self.remaining == 0:
                return "done"
            if self.stop.is_set():
                self._freshen()
                return "stopped"
            self._slice()

    @property
    def pace_now(self) -> float | None:
        """Steps per second that the run may do; None: as many as it can."""
        asked = self._state.watches.pace
        return self.pace if asked is None else asked

    @property
    def remaining(self) -> int | None:
        """Steps still to do; None without an end."""
        return None if self._goal.steps is None else self._goal.steps - self.done

    def _slice(self) -> None:
        """At most SLICE_SECONDS (one step if longer), never beyond a step at which a field is recorded.

        Of a paced run everybody reads while it rests, so its diagnostics are computed in the last step of each slice.
        For who follows scalars they are in each slow step, because there is no time for one step more (_freshen). Where
        there are none, the last steps run together like others.
        """
        state, remaining = self._state, self.remaining
        seconds, pace = state.watches.slice_seconds(SLICE_SECONDS), self.pace_now
        paced = None if pace is None else max(1, int(pace * seconds))
        every = observe_every(state.records)
        listed = _LARGEST_LIST * every if every else None
        slow = 1 if state.watches.scalars and state.step_seconds > SLICE_SECONDS else None
        limits = [_LARGEST_SLICE, remaining, steps_to_border(state.records, state.steps), paced, listed, slow]
        steps = min(limit for limit in limits if limit is not None)
        begin, before = time.perf_counter(), self.done
        self._march(
            MarchRequest(
                STEP,
                steps,
                first_step=state.steps,
                observe_every=every,
                observe_last=state.observes and (paced is not None or slow is not None or steps == remaining),
                until=self._goal.until,
                stop=self._owner.slice_end,
                seconds=seconds,
            )
        )
        if pace is not None:
            self._freshen()  # if the slice was cut short
            self._rest(begin + (self.done - before) / pace)

    def _rest(self, end: float) -> None:
        """Serve others, and do nothing else, until `end` (perf_counter)."""
        while not (self.stop.is_set() or self.paused or self.broken) and (left := end - time.perf_counter()) > 0:
            self._owner.sleep(min(left, SLICE_SECONDS))
            self._owner.serve()

    def set_back(self, steps: int) -> None:
        """So many of the last steps were undone."""
        self.done -= steps
        self._reached = False

    def single(self) -> None:
        """One step of a run that is held; nothing if it has no step left."""
        if self.remaining != 0 and not self._reached:
            self._march(MarchRequest(STEP, 1, first_step=self._state.steps, observe_last=True, until=self._goal.until))

    def _march(self, request: MarchRequest) -> None:
        watch, before = self._finiteness, self._state.steps
        if watch is not None:
            watch.keep()
        clock = self._advance.time if self._advance is not None else 0.0
        result = self._state.march(request)
        self._reached = result.ended == "until"
        try:
            if watch is not None:
                watch.check()
            self._refuse_lost_time()
            if self._advance is not None and not self._reached:
                self._advance.check(clock, result.steps)
        finally:
            self.done += self._state.steps - before

    def _refuse_lost_time(self) -> None:
        """A condition on a scalar that is not a number can never hold: the run would not end."""
        for condition in self._goal.until if not self._reached else ():
            if self._state.instance.read_global(condition.scalar) != self._state.instance.read_global(condition.scalar):
                raise RunError(
                    f"{condition.scalar} is nan at step {self._state.steps} of {self._state.graph.name}, so that "
                    f"{condition.scalar} {condition.comparison} {condition.value:g} never holds",
                    advice="Begin again and pass finite=True to run: it stops where the first value is not a number.",
                )

    def _border(self) -> None:
        """Between two slices: tell, serve, and stay here while paused."""
        self._tell()
        if self._owner.waiting:
            self._freshen()
        self._owner.serve()
        while self.paused and not (self.stop.is_set() or self.broken):
            self._tell()
            self._owner.sleep(SLICE_SECONDS)
            self._owner.serve()
        if self.broken is not None:
            raise self.broken

    def _tell(self) -> None:
        seconds = time.perf_counter() - self._begin
        rate = self.done / seconds if seconds > 0 else 0.0
        self._listener(Progress(self._state.graph.name, self.done, self._goal.steps, seconds, rate, self.paused))

    def _freshen(self) -> None:
        """One step more with diagnostics, where a step is short, so that scalars fit the fields that people see."""
        state = self._state
        if not state.stale or self._reached or self.remaining == 0 or state.step_seconds > SLICE_SECONDS:
            return
        self._march(
            MarchRequest(
                STEP, 1, first_step=state.steps, observe_every=observe_every(state.records), until=self._goal.until
            )
        )
