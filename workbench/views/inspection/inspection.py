"""Inspection: one machine under the eyes of several views, which share its plan, its source and what is selected."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol, Self, get_args

from workbench.backends.registry import backend_names, with_text
from workbench.codegen.source import Source
from workbench.errors import PlanError, RunError, StencilError
from workbench.graph import Graph
from workbench.pipeline import plan_for, planned_backend, render
from workbench.planning.choices import Choices
from workbench.planning.plan import Plan
from workbench.run.calling import figure_extents
from workbench.run.simulation import Simulation
from workbench.views.faults import call_all, fault_text
from workbench.views.inspection.flipping import Side, flipped, refusal, same_graph, with_sync
from workbench.views.inspection.outdating import remember
from workbench.views.inspection.selection import Selection, ValueRef, kept_selection, node_of, referred

Topic = Literal["plan", "source", "selection", "comparison", "simulation", "status", "measured", "outdated"]
"""plan: choices and plan have changed (and with them the source). source: another language is shown, or another plan.
selection: something else is selected. comparison: another plan to compare with. simulation: another one, or none.
status: what is being built. measured: a plan was timed. outdated: the cell is of another program now, or again of this.
"""

TOPICS: tuple[Topic, ...] = get_args(Topic)
_KEPT = 32  # changes and sources, of those made and looked at last


class Inspected(Protocol):
    """A machine, as far as it is looked at."""

    @property
    def graph(self) -> Graph:
        """What is planned."""

    @property
    def choices(self) -> Choices:
        """How it was planned so far."""

    @property
    def backend(self) -> str:
        """Where its simulations run unless they say otherwise."""

    def with_choices(self, choices: Choices) -> Self:
        """The same program, planned by other choices."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """Seconds a step took, by the clock, for a plan on a backend with these extents.

    `subkernels`: (name in the source, seconds a step), where they were timed one by one. `spread` as in StepTime.
    `where`: the backend, and the schedule if it was not one step after the other, in words.
    """

    choices: Choices
    backend: str
    extents: tuple[int, ...]
    seconds: float
    subkernels: tuple[tuple[str, float], ...] = ()
    spread: float = 0.0
    where: str = ""


@dataclass(frozen=True, slots=True)
class Status:
    """What is going on behind the views: `busy` while a program is compiled; `problem` is the text of a failure."""

    text: str = ""
    busy: bool = False
    problem: bool = False


Callback = Callable[["Inspection"], None]


class Inspection:
    """What several views of one machine share. Any thread may use it.

    Plans are made at once, in the caller's thread, and so are the calls of listeners, after the change is complete
    and outside the lock; nothing is compiled or run here. A listener that needs long hands the work to a thread of
    its own. Refusals (PlanError) leave everything as it was.
    """

    def __init__(self, machine: Inspected, *, backend: str = "", simulation: Simulation | None = None) -> None:
        """Plans the machine; raises PlanError if its choices cannot be met.

        backend: whose source is shown; default the simulation's, else the machine's own.
        """
        self._lock = threading.RLock()
        self._listeners: dict[Topic, tuple[Callback, ...]] = {topic: () for topic in TOPICS}
        self._machine = machine
        self._simulation = simulation
        self._extents = () if simulation is None else simulation.extents
        self._backend = backend or (simulation.backend if simulation is not None else machine.backend)
        self._plan = self._planned(machine.choices)
        self._sources: OrderedDict[tuple[Choices, str, str], Source] = OrderedDict()
        self._undo: list[Choices] = []
        self._redo: list[Choices] = []
        self._selection: Selection | None = None
        self._compared: Plan | None = None
        self._status = Status()
        self._measured: dict[tuple[Choices, str], Measurement] = {}
        self.outdated = ""  # that the cell of the machine has since defined another program, and what to do
        remember(self)

    # --- what is looked at --------------------------------------------------------------------------------------------

    @property
    def machine(self) -> Inspected:
        """The machine with the choices of now."""
        with self._lock:
            return self._machine.with_choices(self._plan.choices)

    @property
    def name(self) -> str:
        """Of the machine."""
        return self._machine.graph.name

    @property
    def plan(self) -> Plan:
        """The plan of now, as `target` runs it. Its graph is the simplified one, whose nodes a ValueRef numbers."""
        return self._plan

    @property
    def choices(self) -> Choices:
        """The choices of now."""
        return self._plan.choices

    @property
    def backend(self) -> str:
        """The backend that is looked at, "auto" until a simulation or a reader decides."""
        return self._backend

    @property
    def target(self) -> str:
        """The backend whose plan is shown: `backend`, or the one that "auto" stands for on this host."""
        return planned_backend(self._backend)

    @property
    def language(self) -> str:
        """The backend whose text is shown; `SHOWN` for those without a text."""
        return with_text(self.target)

    @property
    def source(self) -> Source:
        """The text of the plan of now for `language`, rendered when it is first asked for."""
        return self.source_of(self._plan)

    def source_of(self, plan: Plan) -> Source:
        """The text of any plan for `language`; the last few are kept."""
        key = (plan.choices, self.target, self.language)
        with self._lock:
            if key in self._sources:
                self._sources.move_to_end(key)
                return self._sources[key]
        rendered = render(plan, key[2])
        with self._lock:
            self._sources[key] = rendered
            while len(self._sources) > _KEPT:
                self._sources.popitem(last=False)
        return rendered

    @property
    def simulation(self) -> Simulation | None:
        """The simulation that runs the plan of now, if there is one."""
        return self._simulation

    @property
    def extents(self) -> tuple[int, ...]:
        """Cells for which figures hold: the simulation's, also once it is closed, else a cube of about a million."""
        return self._extents or figure_extents(self._plan.graph)

    # --- what changes the plan ----------------------------------------------------------------------------------------

    def refusal(self, value: ValueRef | str) -> str:
        """Why the value cannot be flipped, "" if it can."""
        plan = self._plan
        return refusal(plan, referred(plan, value))

    def flip(self, value: ValueRef | str) -> Plan:
        """Make a Manifest value Delayed or a Delayed one Manifest, and change no other.

        value: where it is, or the name it has in the cell. Raises PlanError, saying why, if it is forced.
        """
        with self._lock:
            plan = flipped(self._plan, referred(self._plan, value), self.target)
            topics = self._take(plan)
        self._tell(*topics)
        return plan

    def mark_sync(self, value: ValueRef | str, side: Side = "after") -> Plan:
        """Ask for a barrier at the sub-kernels that compute the value, or drop it if there is one."""
        with self._lock:
            plan = with_sync(self._plan, referred(self._plan, value), side, self.target)
            topics = self._take(plan)
        self._tell(*topics)
        return plan

    def choose(self, choices: Choices) -> Plan:
        """Plan by other choices, of the launch view or the tuner. Raises PlanError if they cannot be met."""
        with self._lock:
            if choices == self._plan.choices:
                return self._plan
            plan = self._planned(choices)
            topics = self._take(plan)
        self._tell(*topics)
        return plan

    def undo(self) -> bool:
        """Back to the plan before the last change; False if there is none."""
        return self._step_back(self._undo, self._redo)

    def redo(self) -> bool:
        """Forward to the plan that was undone last; False if there is none."""
        return self._step_back(self._redo, self._undo)

    @property
    def can_undo(self) -> bool:
        """Whether there is something to undo."""
        return bool(self._undo)

    @property
    def can_redo(self) -> bool:
        """Whether there is something to redo."""
        return bool(self._redo)

    @property
    def previous(self) -> Plan | None:
        """The plan before the last change: what a source view shows on the left of its difference."""
        with self._lock:
            return self._planned(self._undo[-1]) if self._undo else None

    # --- what is pointed at and shown ---------------------------------------------------------------------------------

    @property
    def selection(self) -> Selection | None:
        """What is selected in every view."""
        return self._selection

    def select(self, selection: Selection | str | None) -> None:
        """Select a value (also by its name), a sub-kernel or a line of the cell, or nothing."""
        chosen = referred(self._plan, selection)
        if isinstance(chosen, ValueRef):
            node_of(self._plan, chosen)
        if chosen != self._selection:
            self._selection = chosen
            self._tell("selection")

    @property
    def compared(self) -> Plan | None:
        """The plan with which the plan of now is compared."""
        return self._compared

    def compare(self, other: Plan | Choices | None) -> None:
        """Compare with another plan of the same graph, or with what other choices would give; None ends that.

        Raises PlanError for a plan of another program.
        """
        plan = self._planned(other) if isinstance(other, Choices) else other
        if plan is not None and not same_graph(plan, self._plan):
            raise PlanError(
                f"a plan of {plan.graph.name} cannot be compared with one of {self.name}",
                advice="Compare plans of one machine, of the same meaning.",
            )
        self._compared = plan
        self._tell("comparison")

    def show_backend(self, backend: str) -> None:
        """Look at another backend's source and launches."""
        if backend not in ("auto", *backend_names()):
            raise RunError(f"no backend is called {backend!r}", advice=f"Use one of {', '.join(backend_names())}.")
        if backend != self._backend:
            self._tell(*self._look_at(backend), "source")

    # --- what runs behind it ------------------------------------------------------------------------------------------

    def attach(self, simulation: Simulation | None) -> None:
        """From now on this simulation is the one that runs; its plan need not be the plan of now yet."""
        if simulation is not self._simulation:
            self._simulation = simulation
            self._extents = () if simulation is None else simulation.extents
            topics = () if simulation is None else self._look_at(simulation.backend)
            self._tell("simulation", *topics)

    @property
    def status(self) -> Status:
        """What is going on."""
        return self._status

    def report_status(self, status: Status) -> None:
        """Called by what compiles: what is going on."""
        if status != self._status:
            self._status = status
            self._tell("status")

    def report_measured(self, measurement: Measurement) -> None:
        """Called by what runs a plan: how long its steps take."""
        with self._lock:
            self._measured[measurement.choices, measurement.backend] = measurement
        self._tell("measured")

    def measured(self, plan: Plan | None = None, backend: str = "") -> Measurement | None:
        """What was measured last for a plan (None: the plan of now) on a backend (empty: on any)."""
        choices = (plan or self._plan).choices
        with self._lock:
            for (known, where), measurement in reversed(self._measured.items()):
                if known == choices and backend in ("", where):
                    return measurement
        return None

    def outdate(self, why: str) -> None:
        """The cell of the machine defines another program now: views say `why`; "": it does not, any more."""
        if why != self.outdated:
            self.outdated = why
            self._tell("outdated")

    # --- listeners ----------------------------------------------------------------------------------------------------

    def on(self, topic: Topic, callback: Callback) -> Callable[[], None]:
        """Call `callback(inspection)` after every change of a topic, in the thread that made it; returns a way out."""
        if topic not in self._listeners:
            raise RunError(f"topic {topic!r} is unknown", advice=f"Use one of {', '.join(TOPICS)}.")
        with self._lock:
            self._listeners[topic] = (*self._listeners[topic], callback)

        def leave() -> None:
            with self._lock:
                left = list(self._listeners[topic])
                if callback in left:
                    left.remove(callback)
                self._listeners[topic] = tuple(left)

        return leave

    def _tell(self, *topics: Topic) -> None:
        """Every listener hears it, also if one of them fails; a failure is raised afterwards.

        One that is no refusal is said in all views as well, because the caller may be a thread for which none waits.
        """
        failed: Exception | None = None
        for topic in topics:
            failed = call_all(self._listeners[topic], self) or failed
        if failed is not None:
            if not isinstance(failed, StencilError):
                self._status = Status(fault_text(failed, "the other views and the simulation go on"), problem=True)
                call_all(self._listeners["status"], self)  # what fails here is the same view
            raise failed

    # --- inside -------------------------------------------------------------------------------------------------------

    def _planned(self, choices: Choices) -> Plan:
        return plan_for(self._machine.graph, choices, self.target)

    def _look_at(self, backend: str) -> tuple[Topic, ...]:
        """Look at another backend; the choices stay, and where it runs them otherwise listeners must hear of a plan."""
        with self._lock:
            self._backend = backend
            plan, compared = self._planned(self._plan.choices), self._compared
            if compared is not None:
                self._compared = self._planned(compared.choices)
            if plan == self._plan:
                return ()
            self._plan = plan
            return ("plan",)

    def _take(self, plan: Plan) -> tuple[Topic, ...]:
        self._undo.append(self._plan.choices)
        del self._undo[:-_KEPT]
        self._redo.clear()
        return self._enter(plan)

    def _enter(self, plan: Plan) -> tuple[Topic, ...]:
        """Make it the plan of now; returns what listeners must hear."""
        before, self._plan = self._plan, plan
        kept = kept_selection(before, plan, self._selection)
        moved: tuple[Topic, ...] = () if kept == self._selection else ("selection",)
        self._selection = kept
        if before.graph != plan.graph:  # of other types
            self._compared = None
        return ("plan", "source", *moved)

    def _step_back(self, source: list[Choices], target: list[Choices]) -> bool:
        with self._lock:
            if not source:
                return False
            target.append(self._plan.choices)
            topics = self._enter(self._planned(source.pop()))
        self._tell(*topics)
        return True
