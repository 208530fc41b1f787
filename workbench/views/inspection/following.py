"""Following: the simulation of an inspection takes every plan that the inspection makes, while it goes on running."""

from __future__ import annotations

import contextlib
import threading
import time
import weakref
from collections.abc import Callable

from workbench.amounts import counted, seconds_text
from workbench.errors import RunError, StencilError
from workbench.events import Measured, Planned, ReplanEvent, RequestDropped, Swapped
from workbench.planning.choices import Choices
from workbench.planning.schedules.table import schedule_named
from workbench.run.hooks import asked_choices, is_closed, time_launches, when_timed
from workbench.run.simulation import Simulation
from workbench.run.timing import StepTime
from workbench.views.inspection.inspection import Inspected, Inspection, Measurement, Status

LEAVING_SECONDS = 0.002  # for the words about new code to leave, before drawing keeps the interpreter to itself
TOLD_SECONDS = 0.05  # what takes less is no answer to "why did it take so long"
AT_ONCE_SECONDS = 0.1  # that views wait for code which no compiler is needed for; a step may take longer


class Following:
    """Makes what is flipped in a view run, and tells the views what is expected, what goes on and what was measured.

    Listeners of the inspection are called in the thread that replans or runs. `close()` ends it; the simulation goes on
    with the plan it has.
    """

    def __init__(self, inspection: Inspection) -> None:
        """Follows at once: a simulation that runs another plan is given the plan of now."""
        self.inspection = inspection
        self._lock = threading.Lock()
        self._closed = False
        self._stop_timing: Callable[[], None] = _nothing
        self._followed: Simulation | None = None
        self._wanted: Choices | None = None  # what was asked for last: to look at another backend is no request
        self._leave = (inspection.on("plan", self._follow), inspection.on("simulation", self._meet))
        self._meet(inspection)

    def close(self) -> None:
        """Follow no more."""
        with self._lock:
            self._closed = True
        _following.discard(self)
        for leave in self._leave:
            leave()
        self._stop_timing()
        self._time_launches(False)

    def _meet(self, inspection: Inspection) -> None:
        """Another simulation, or none."""
        self._stop_timing()
        simulation = inspection.simulation
        if simulation is not self._followed:
            self._time_launches(False)
            self._followed, self._wanted = simulation, None
        if simulation is None or is_closed(simulation):
            return
        self._time_launches(True)
        if asked_choices(simulation) == inspection.choices:
            self._wanted = inspection.choices
            self._time(simulation)
        else:
            self._follow(inspection)

    def _time_launches(self, wanted: bool) -> None:
        if self._followed is not None and not is_closed(self._followed):
            with contextlib.suppress(RunError):  # closed just now by another thread
                time_launches(self._followed, wanted)

    def _follow(self, inspection: Inspection) -> None:
        """Ask for the plan of now; waits a moment where no compiler is needed."""
        simulation = inspection.simulation
        if simulation is None:
            return
        if is_closed(simulation):
            self._say(Status("the simulation was closed; make a new one by simulate()", problem=True))
            return
        wanted, running = inspection.choices, asked_choices(simulation)
        if wanted == self._wanted:
            return
        self._wanted = wanted
        self._say(Status("planning", busy=True))
        # What the launch view says now wins over what simulate() was told.
        threads = wanted.plan.cpu.threads if wanted.plan.cpu.threads != running.plan.cpu.threads else None
        try:
            request = simulation.replan(wanted, threads=threads, progress=lambda event: self._hear(event, simulation))
            # Code that is there already runs sooner than the views have drawn the new plan, so it goes first.
            request.wait_unless_compiling(AT_ONCE_SECONDS)
            if request.report.stage == "running":
                time.sleep(LEAVING_SECONDS)
        except StencilError as error:
            self._wanted = None
            self._say(Status(str(error), problem=True))

    def _hear(self, event: ReplanEvent, simulation: Simulation) -> None:
        """In the thread that replans, or in the one that runs."""
        if self._closed:
            return
        match event:
            case Planned():
                self._say(Status(_expectation(event), busy=True))
            case Swapped():
                self._say(Status(swap_text(event)))
                self._time(simulation)
            case Measured():
                pass  # timed with its sub-kernels in _time
            case RequestDropped(text=text):
                if text:
                    self._wanted = None
                    self._say(Status(f"the old code goes on: {text}", problem=True))

    def _say(self, status: Status) -> None:
        with contextlib.suppress(Exception):  # a view failed, which the inspection has told; flips and runs go on
            self.inspection.report_status(status)

    def _time(self, simulation: Simulation) -> None:
        self._stop_timing()
        mine = weakref.ref(self)  # a simulation keeps no view alive

        def told(time: StepTime) -> None:
            following = mine()
            if following is not None:
                following._timed(time, simulation)

        # Called by hand or, once, when nothing follows any more.
        self._stop_timing = weakref.finalize(self, when_timed(simulation, told))

    def _timed(self, time: StepTime, simulation: Simulation) -> None:
        if not self._closed:
            parts = time.subkernels(simulation.compiled)
            schedule = schedule_named(simulation.compiled.plan.schedule)
            where = f"{time.backend}, {schedule.name} tiles" if schedule.is_blocked else time.backend
            measured = Measurement(time.choices, time.backend, time.extents, time.seconds, parts, time.spread, where)
            with contextlib.suppress(Exception):  # the inspection has told it; the run goes on
                self.inspection.report_measured(measured)


def inspect_machine(looked_at: Inspected | Inspection, simulation: Simulation | None = None) -> Inspection:
    """The inspection that is given, or a new one of a machine; a simulation of it runs from now on what is chosen.

    Raises RunError for a simulation of another program.
    """
    inspection = looked_at if isinstance(looked_at, Inspection) else Inspection(looked_at)
    if simulation is not None:
        if simulation.graph != inspection.plan.graph:
            raise RunError(
                f"the simulation runs {simulation.graph.name}, which is not this {inspection.name}",
                advice="Pass one that this machine has made by simulate().",
            )
        inspection.attach(simulation)
    if inspection.simulation is not None:
        follow(inspection)
    return inspection


def follow(inspection: Inspection) -> Following:
    """What lets the inspection's simulation follow it; the same for all views of one inspection."""
    with _lock:
        for known in list(_following):
            if known.inspection is inspection:
                return known
        made = Following(inspection)
        _following.add(made)
    return made


_following: weakref.WeakSet[Following] = weakref.WeakSet()
_lock = threading.Lock()


def swap_text(event: Swapped) -> str:
    """When new code took over, and what took that long."""
    parts = []
    if event.planning_seconds >= TOLD_SECONDS:
        parts.append(f"planning took {seconds_text(event.planning_seconds)}")
    parts.append(
        "it was compiled before" if event.from_cache else f"the compiler took {seconds_text(event.compile_seconds)}"
    )
    if event.waiting_seconds >= TOLD_SECONDS:
        parts.append(f"the run needed {seconds_text(event.waiting_seconds)} to get between two steps")
    return (
        f"new code runs since step {event.steps}, {seconds_text(event.seconds)} after the request: {', '.join(parts)}"
    )


def _expectation(event: Planned) -> str:
    """What is known before the compiler has ended."""
    expected = event.expected_seconds
    figure = (
        f"about {seconds_text(expected)}" if expected is not None else f"at least {seconds_text(event.bound_seconds)}"
    )
    loops = counted(event.subkernels, "sub-kernel")
    return f"compiling {loops}, {event.bytes_per_cell:g} bytes a cell: a step will take {figure}"


def _nothing() -> None:
    """There is no timing to end."""
