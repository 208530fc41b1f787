"""Replanning: another plan of a running program, compiled in the background, taken over between two steps."""

from __future__ import annotations

import atexit
import threading
import time
import warnings
import weakref
from dataclasses import dataclass, replace
from typing import Literal, Self

from workbench.amounts import seconds_text
from workbench.backends.base import Instance
from workbench.backends.build_cache import BuildCancelledError
from workbench.backends.host import host_figures
from workbench.backends.teams import check_threads
from workbench.errors import BackendError, RunError, StencilError
from workbench.events import Measured, Planned, ReplanEvent, ReplanListener, RequestDropped, Swapped, publish
from workbench.pipeline import Compiled, build, find_built, plan_again
from workbench.planning.choices import Choices
from workbench.planning.cost import bound_seconds, step_cost
from workbench.planning.plan import Plan
from workbench.run.memory import check_memory
from workbench.run.ownership import Owner
from workbench.run.schedules import resolved, sized
from workbench.run.state import State
from workbench.run.timing import StepTime, timed

ReplanStage = Literal["planning", "compiling", "swapping", "running", "failed", "overtaken", "cancelled"]
CLOSING_SECONDS = 2.0  # that closing waits; a compiler inside of this process may take longer, and then ends alone


@dataclass(frozen=True, slots=True)
class ReplanReport:
    """The state of a request for other code.

    `seconds` from the request until its code ran, of which the compiler took `compile_seconds`; planning_seconds and
    waiting_seconds as in events.Swapped. `step` is the first step not done by the old code. bound_seconds and
    expected_seconds as in events.Planned. measured_seconds: a step of the new code, None until it has run for a tenth
    of a second.
    """

    request: int
    stage: ReplanStage
    choices: Choices
    plan: Plan | None = None
    bound_seconds: float | None = None
    expected_seconds: float | None = None
    from_cache: bool | None = None
    compile_seconds: float | None = None
    planning_seconds: float | None = None
    waiting_seconds: float | None = None
    seconds: float | None = None
    step: int | None = None
    measured_seconds: float | None = None
    error: StencilError | None = None

    @property
    def ended(self) -> bool:
        """Whether the new code runs, or the request has ended without it."""
        return self.stage not in ("planning", "compiling", "swapping")

    def __str__(self) -> str:
        """One line."""
        match self.stage:
            case "planning":
                return f"request {self.request}: being planned"
            case "compiling" | "swapping":
                return f"request {self.request}: {self.stage}{_expected(self)}"
            case "running":
                after = "" if self.seconds is None else f", {seconds_text(self.seconds)} after the request"
                return f"request {self.request}: runs since step {self.step}{after}{_times(self)}"
            case "failed":
                return f"request {self.request}: failed, the old code goes on\n{self.error}"
            case "overtaken":
                return f"request {self.request}: overtaken by a newer one"
            case "cancelled":
                return f"request {self.request}: cancelled"


class Replan:
    """One request for other code. Any thread may look at `report`, wait for the end, or cancel."""

    def __init__(self, request: int, choices: Choices, threads: int, listener: ReplanListener | None) -> None:
        self.threads = threads
        self.listener = listener
        self.cancelled = threading.Event()
        self.begin = time.perf_counter()
        self._report = ReplanReport(request, "planning", choices)
        self._ended = threading.Event()
        self._decided = threading.Event()  # it has ended, or a compiler is needed

    @property
    def report(self) -> ReplanReport:
        """The state of the request."""
        return self._report

    def cancel(self) -> None:
        """Cancel the request; without effect once the new code runs."""
        self.cancelled.set()

    def wait(self, timeout: float | None = None) -> ReplanReport:
        """Wait until the new code runs or the request has failed, at most `timeout` seconds; raises its error."""
        self._ended.wait(timeout)
        if self._report.error is not None:
            raise self._report.error
        return self._report

    def wait_unless_compiling(self, timeout: float) -> None:
        """As `wait`, but return at once if a compiler is needed."""
        self._decided.wait(timeout)

    def note(self, report: ReplanReport) -> Self:
        """Set the report; called by the replanner only."""
        self._report = report
        if report.ended:
            self._ended.set()
        return self

    def decide(self) -> None:
        """Release `wait_unless_compiling`; called by the replanner only."""
        self._decided.set()

    def __repr__(self) -> str:
        return f"<replan {self._report}>"


class Replanner:
    """Fulfils the requests for one simulation, the latest only: a newer request stops the compiler of an older one.

    Its thread lives as long as there is something to do. It touches the state as every other thread does, by asking
    the owner, so the swap happens at a whole step.
    """

    def __init__(self, state: State, owner: Owner) -> None:
        self._state = state
        self._owner = owner
        self._lock = threading.Lock()
        self._count = 0
        self._next: Replan | None = None
        self._current: Replan | None = None
        self._thread: threading.Thread | None = None
        self._closed = False
        _living.add(self)

    def request(self, choices: Choices, threads: int, listener: ReplanListener | None = None) -> Replan:
        """Ask for another plan; returns at once. Raises RunError for choices that would change results, or threads."""
        check_threads(threads)
        self._state.refuse_in_files("another plan", "Make a new simulation with choices=.")
        if choices.meaning != self._state.compiled.plan.choices.meaning:
            raise RunError(
                f"the choices ask for another meaning, {choices.meaning}, and so for other results",
                advice="Make a new simulation with choices=; a running one changes its plan only.",
            )
        with self._lock:
            if self._closed:
                raise RunError("the simulation was closed", advice="Make a new one by simulate().")
            self._count += 1
            request = Replan(self._count, choices, threads, listener)
            overtaken, self._next = self._next, request
            if self._current is not None:
                self._current.cancel()
            if self._thread is None or not self._thread.is_alive():  # in a forked process it is not
                self._thread = threading.Thread(target=self._run, name="replanning", daemon=True)
                self._thread.start()
        if overtaken is not None:
            self._drop(overtaken, "overtaken")
            overtaken.decide()
        return request

    def close(self, timeout: float | None = None) -> None:
        """Drop all requests and wait for the thread, at most so long."""
        with self._lock:
            self._closed = True
            for request in (self._next, self._current):
                if request is not None:
                    request.cancel()
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout)

    # --- in the replanner's thread -----------------------------------------------------------------------------------

    def _run(self) -> None:
        while True:
            with self._lock:
                request, self._current, self._next = self._next, self._next, None
                if request is None:
                    self._thread = None
                    return
            try:
                self._fulfil(request)
            except Exception as error:  # whatever it is, it belongs to who asked; the old code goes on
                # A simulation that is closed at this moment has no arrays any more, which is no failure of the request.
                if isinstance(error, BuildCancelledError) or request.cancelled.is_set():
                    self._drop(request, "cancelled" if self._next is None else "overtaken")
                else:
                    self._drop(request, "failed", error)
            finally:
                request.decide()

    def _fulfil(self, request: Replan) -> None:
        plan = self._planned(request)
        planning_seconds = time.perf_counter() - request.begin
        self._check(request)
        selection = self._state.compiled.selection
        known = find_built(plan, selection)
        if known is None:
            request.decide()
        program = known or build(plan, selection, request.cancelled)
        from_cache, compile_seconds = known is not None or program.from_cache, 0.0 if known else program.compile_seconds
        self._check(request)
        compiled = Compiled(plan.graph, plan, program, selection)
        request.note(replace(request.report, stage="swapping"))
        old = self._state.instance  # this thread knows no device; a device of several is that of the instance
        check_memory(plan, self._state.extents, selection.name, program.free_memory(beside=old))
        instance = program.instantiate(self._state.extents, request.threads, beside=old)
        asked = time.perf_counter()
        try:
            step, begun = self._owner.do(lambda: self._swap(request, compiled, instance), at_once=True)
        except BaseException:
            instance.close()
            raise
        seconds = time.perf_counter() - request.begin
        report = replace(
            request.report,
            stage="running",
            from_cache=from_cache,
            compile_seconds=compile_seconds,
            planning_seconds=planning_seconds,
            waiting_seconds=begun - asked,
            seconds=seconds,
            step=step,
        )
        self._measure(request)
        request.note(report)
        times = (seconds, compile_seconds, from_cache, planning_seconds, begun - asked)
        self._tell(request, Swapped(self._name, report.request, step, *times))

    def _planned(self, request: Replan) -> Plan:
        """The plan, and what it will cost."""
        state, choices = self._state, request.report.choices
        before = state.compiled.plan
        backend = state.compiled.selection.name
        if state.automatic:
            bare = replace(choices, meaning=replace(choices.meaning, precision=()))  # the graph has its types already
            bare, _ = resolved(before.graph, bare, backend, state.extents, request.threads)
            choices = replace(bare, meaning=choices.meaning)
        choices = sized(choices, state.extents)
        plan = plan_again(before, choices, backend)
        if plan.graph != before.graph:
            raise BackendError("the new plan is one of another program", advice="Report this with the program.")
        figures, extents = host_figures(), state.extents
        bound = bound_seconds(plan.main.plain, extents, figures)
        old_bound, measured = bound_seconds(before.main.plain, extents, figures), state.measured_step_seconds
        expected = measured * bound / old_bound if measured is not None and old_bound > 0 else None
        request.note(
            replace(request.report, stage="compiling", plan=plan, bound_seconds=bound, expected_seconds=expected)
        )
        moved = step_cost(plan.main.plain).bytes_moved
        self._tell(request, Planned(self._name, request.report.request, len(plan.subkernels), moved, bound, expected))
        return plan

    def _swap(self, request: Replan, compiled: Compiled, instance: Instance) -> tuple[int, float]:
        """In the owner's thread, at a whole step: that step, and when it was reached."""
        begun = time.perf_counter()
        self._check(request)
        self._state.take_over(compiled, instance, request.threads)
        self._state.asked = request.report.choices
        return self._state.steps, begun

    def _measure(self, request: Replan) -> None:
        """Report how long a step takes, once, as soon as enough of them are done."""

        def told(time: StepTime) -> None:
            request.note(replace(request.report, measured_seconds=time.seconds))
            self._tell(request, Measured(self._name, request.report.request, time.seconds))

        timed(self._state, told, once=True)

    def _check(self, request: Replan) -> None:
        if request.cancelled.is_set():
            raise BuildCancelledError(self._name)

    def _drop(self, request: Replan, stage: ReplanStage, error: Exception | None = None) -> None:
        if error is not None and not isinstance(error, StencilError):
            error = BackendError(
                f"{type(error).__name__}: {error}", advice="Report this with the program; the old code goes on."
            )
        request.note(replace(request.report, stage=stage, error=error))
        self._tell(request, RequestDropped(self._name, request.report.request, "" if error is None else str(error)))

    def _tell(self, request: Replan, event: ReplanEvent) -> None:
        if request.listener is not None:
            try:
                request.listener(event)
            except Exception as error:  # neither this thread nor the one that runs may end by it
                request.listener = None
                warnings.warn(
                    f"the listener of a request failed and is called no more: {type(error).__name__}: {error}\n"
                    "Pass progress= a function that takes every event.",
                    RuntimeWarning,
                    stacklevel=2,
                )
        publish(event)

    @property
    def _name(self) -> str:
        return self._state.graph.name


def _expected(report: ReplanReport) -> str:
    seconds = report.expected_seconds or report.bound_seconds
    return "" if seconds is None else f", a step is expected to take {seconds_text(seconds)}"


def _times(report: ReplanReport) -> str:
    measured = report.measured_seconds
    return "" if measured is None else f", a step takes {seconds_text(measured)}"


_living: weakref.WeakSet[Replanner] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    # Compilers would outlive the interpreter, and their folders with them.
    for replanner in list(_living):
        replanner.close(CLOSING_SECONDS)
