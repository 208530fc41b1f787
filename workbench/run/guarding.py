"""Guarding: a run shown in a view stops when a field is no longer finite, at its last good step if possible.

The view checks the fields between two frames (`Guard.look`). A copy of the state is kept now and then, if there is
memory for it. From it the steps are repeated up to the one that made the bad value, as a run with finite=True does.
Without a copy it is only known between which two checks that was. When a value is set, a copy is made before the next
step, as steps may turn bad before the next check. Between two copies the settings of params are recorded, and the
repetition sets them again at the same steps.
"""

from __future__ import annotations

import contextlib
import time

from workbench.errors import NonFiniteError
from workbench.run.finiteness import (
    Bad,
    ParamHistory,
    StateCopy,
    find_bad_now,
    kept_state,
    last_good_step,
    params_of,
    put_back,
    unwise,
)
from workbench.run.marching import March
from workbench.run.memory import bytes_available
from workbench.run.simulation import Simulation
from workbench.run.state import State
from workbench.run.until import UNTIL

SHARE = 0.05  # of the time, for copies of the state
MOST_TURNS = 4096  # settings of params that are recorded between two copies
LONGEST_REPEAT = 2.0  # seconds of steps that are repeated; after a longer time without a check the step is not found


class Guard:
    """Guards the fields of one simulation. Fields that are not finite at the first check are not guarded.

    A run in the background is held once; if it is continued, it runs on until the state or a param is set. A run in the
    foreground, which a cell waits for, fails with the error, at its last good step. After the end of a run the error is
    returned, and the state stays as it is.
    """

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self.failed = False  # whether the last error has ended a run in the foreground
        self._written = -1
        self._fields = frozenset[str]()
        self._armed = False
        self._good = 0  # the step of the last look at which all was well
        self._kept: StateCopy | None = None
        self._turns = ParamHistory({}, [])
        self._overwritten = 0
        self._ran: tuple[object, object] = (None, None)  # what made the kept state, and would repeat its steps
        self._due = 0.0  # (monotonic) when a look may make a copy again
        self._due_written = 0.0  # when a value that is set may, so that one that is set every step costs little

    def look(self, bad: bool) -> NonFiniteError | None:
        """Check all fields if what is drawn has turned `bad` or a copy is due. Returns what is found, once."""
        if bad or time.monotonic() >= self._due or self._simulation._state.written != self._written:
            return self._simulation._owner.do(self._look)
        return None

    # --- in the thread that owns the state, between two steps ---------------------------------------------------------

    def written(self) -> None:
        """A value was just set: keep the state before the next step. Never raises."""
        begin = time.monotonic()
        if self._written < 0:
            return
        state = self._simulation._state
        if begin < self._due_written:
            self._note(state)
            return
        with contextlib.suppress(MemoryError):
            if self._meant(state):
                self._begin(state)
            elif find_bad_now(state, self._fields) is None:  # else the next look tells it
                self._written = state.written
                self._keep(state)
        self._due_written = time.monotonic() + (time.monotonic() - begin) / SHARE

    def _note(self, state: State) -> None:
        """Record how params were set since the copy, if nothing else was set."""
        following = state.written == self._written + 1 and state.overwritten == self._overwritten
        if self._kept is None or not following or len(self._turns.later) >= MOST_TURNS:
            return  # the next look makes a copy
        self._written = state.written
        if self._turns.later and self._turns.later[-1][0] == state.steps:
            del self._turns.later[-1]
        self._turns.later.append((state.steps, params_of(state)))

    def _look(self) -> NonFiniteError | None:
        begin = time.monotonic()
        found = self._found(self._simulation._state)
        self._due = time.monotonic() + (time.monotonic() - begin) / SHARE
        return found

    def _found(self, state: State) -> NonFiniteError | None:
        if state.written != self._written:
            if self._meant(state):
                self._begin(state)
                return None
            self._written, self._kept = state.written, None  # repeated from the copy, the steps would be others
        if state.steps == self._good or not self._armed:
            return None
        if state.steps < self._good or self._ran != self._runs(state):  # set back by another, or planned anew
            self._kept = None
        bad = find_bad_now(state, self._fields)
        if bad is None:
            self._keep(state)
            return None
        self._armed = self.failed = False
        return self._told(state, bad)

    def _meant(self, state: State) -> bool:
        """Whether what is bad now was set so: no step was done since all was well, or since the error was returned."""
        return self._written < 0 or not self._armed or state.steps <= self._good

    def _begin(self, state: State) -> None:
        """Guard the fields that are finite now."""
        self._written, self._kept, self._armed = state.written, None, True
        names = [static.name for static in state.graph.fields if static.type.is_float]
        self._fields = frozenset(name for name in names if find_bad_now(state, frozenset({name})) is None)
        self._keep(state)

    def _keep(self, state: State) -> None:
        self._good, self._ran, self._kept = state.steps, self._runs(state), None
        self._turns, self._overwritten = ParamHistory(params_of(state), []), state.overwritten
        free = bytes_available()
        if free is None or free > 3 * state.instance.memory_bytes:  # for this copy, that of the end and the one between
            self._kept = kept_state(state)

    def _runs(self, state: State) -> tuple[object, object]:
        """The program and, where its steps depend on the end of a run, the run."""
        ends = any(param.name == UNTIL for param in state.graph.params)
        return state.compiled, self._simulation._march if ends else None

    def _told(self, state: State, bad: Bad) -> NonFiniteError:
        march = self._simulation._march
        background = self._simulation._background
        held = None if march is None or march.over or not self._simulation.running else march
        kept, self._kept = self._kept, None
        error = None
        if kept is not None and (state.steps - kept.step) * (state.measured_step_seconds or 0.0) < LONGEST_REPEAT:
            error = self._repeated(state, kept, held)
        error = error or _between(state, self._good, bad)
        self._good = min(self._good, state.steps)
        if held is not None and background is not None and background.march is held:
            held.paused = True
        elif held is not None:
            held.broken, self.failed = error, True
        return error

    def _repeated(self, state: State, kept: StateCopy, held: March | None) -> NonFiniteError | None:
        """The step, the cell and what made it; a run that is held stands at the last good step then."""
        end = kept_state(state)
        error = last_good_step(state, kept, self._fields, self._turns)
        if error is None or held is None:
            put_back(state, end)
            return error
        held.set_back(end.step - state.steps)
        state.forget_records()
        state.watches.tell()
        return error


def _between(state: State, good: int, bad: Bad) -> NonFiniteError:
    field, cell, value = bad
    return NonFiniteError(
        f"{field} of {state.graph.name} is {value} in cell {cell} at step {state.steps}, and was finite at step {good}",
        advice=unwise(state)
        + "Take shorter steps or limit the value; a run with finite=True stops at the step that makes it.",
        field=field,
        cell=cell,
        step=state.steps,
    )
