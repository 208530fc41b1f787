"""Simulation: a running program with its state, to advance, read, change, record and save."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np

from workbench.arguments import explains_arguments
from workbench.backends.base import Array, MarchRequest, Number
from workbench.errors import FieldError, MissingAttributeError, RunError
from workbench.events import Listener, ReplanListener, SimulationOpened, publish
from workbench.graph import Graph
from workbench.graph.arithmetic import stored
from workbench.pipeline import Compiled
from workbench.planning.choices import Choices
from workbench.planning.genome import genome_of
from workbench.run import alive, labels
from workbench.run.background import BackgroundRun
from workbench.run.checkpoint import Checkpoint, save_checkpoint
from workbench.run.goals import Goal, Until, end_time, read_goal, whole_number
from workbench.run.marching import March
from workbench.run.ownership import Owner
from workbench.run.probe import Probe, component_names, probe_name
from workbench.run.progress import new_listener, silent
from workbench.run.recording import RecordedValues
from workbench.run.replanning import CLOSING_SECONDS, Replan, Replanner
from workbench.run.state import STEP, State
from workbench.run.until import UntilParam
from workbench.run.values import groups
from workbench.run.viewing import open_view

PAUSE_SECONDS = 0.2  # after which a caller that waits for a run notices that it was paused


@explains_arguments
class Simulation:
    """A state and the program that advances it.

    Any thread may use it. While one thread runs steps, other threads read and set values at slice borders (within
    about 50 ms, or one step if that is longer); a second run is refused. A read returns the state of a whole step.
    """

    def __init__(self, state: State) -> None:
        """Takes over the state, which no other object may touch from now on."""
        self._state = state
        self._owner = Owner()
        self._replanner = Replanner(state, self._owner)
        self._background: BackgroundRun | None = None
        self._march: March | None = None
        self._probes: dict[str, Probe] = {}
        self._made_by: Callable[[Choices, str], Any] | None = None
        alive.register_simulation(self)
        publish(SimulationOpened(state.graph.name, state.compiled.selection.name, state.extents))

    # --- what it is -------------------------------------------------------------------------------------------------

    @property
    def graph(self) -> Graph:
        """The program, simplified."""
        return self._state.graph

    @property
    def machine(self) -> Any:  # noqa: ANN401  # a Machine, which the room above defines
        """The machine of this simulation, with the choices and the backend in use."""
        if self._made_by is None:
            raise RunError("no machine made this simulation", advice="Make one by machine.simulate(...).")
        return self._made_by(self.compiled.plan.choices, self.backend)

    @property
    def choices(self) -> Choices:
        """The choices in use, with the schedule that "auto" stands for at this size, and the sizes of its tiles."""
        choices = self.compiled.plan.choices
        return replace(choices, plan=replace(choices.plan, tiling=self._state.tiling))

    @property
    def genome(self) -> str:
        """The decisions of the plan in use, as letters."""
        return genome_of(replace(self.compiled.plan, choices=self.choices))

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of cells along each axis; for particles, their number."""
        return self.graph.space.shape_of(self.extents)

    @property
    def extents(self) -> tuple[int, ...]:
        """Length of each axis of the program; particles have a second axis, along which they are sources."""
        return self._state.extents

    @property
    def steps(self) -> int:
        """Whole steps done so far."""
        return self._state.steps

    @property
    def backend(self) -> str:
        """Name of the backend it runs on."""
        return self._state.compiled.selection.name

    @property
    def compiled(self) -> Compiled:
        """Graph, plan and program, and why this backend was chosen."""
        return self._state.compiled

    @property
    def memory_bytes(self) -> int:
        """Bytes of all arrays."""
        return self._state.instance.memory_bytes

    @property
    def running(self) -> bool:
        """Whether a run is in progress, in any thread; a paused run counts."""
        return self._owner.owned

    @property
    def paused(self) -> bool:
        """Whether a run is paused."""
        return self.running and self._march is not None and self._march.paused

    # --- run --------------------------------------------------------------------------------------------------------

    def run(
        self,
        steps: int | None = None,
        *,
        until: Until | None = None,
        time: str = "t",
        at_most: int | None = None,
        progress: Listener | None = None,
        finite: bool = False,
    ) -> Self:
        """Advance by `steps` steps, or until a time or condition; returns the simulation.

        until=1.0: run to the first step at which the scalar `time` is at least 1.0 (no step if it is already); a param
        named "until" has this value during the run. If the time stops growing, the run ends with RunError. until=lambda
        s: s.residual < 1e-6: run to the first step after which this holds; at_most limits the steps. progress receives
        the events of workbench.events; by default a line on stderr appears after a second. Ctrl-C ends the run after a
        whole step and raises KeyboardInterrupt. finite=True: if a field becomes infinite or NaN, stop before that step
        and raise NonFiniteError with field, cell, step and operation; the state is checked and copied about every 50
        ms.
        """
        goal = self._goal(steps, until, time, at_most)
        self._refuse_paused()
        march = March(self._state, self._owner, goal, progress or new_listener(), finite)
        with march.interruptible(lambda: f"{self.graph.name} is at step {self.steps}. Run it again to go on."):
            self._owner.reserve(self.graph.name)
            self._owner.adopt()
            self._march = march
            try:
                with UntilParam(self._state, end_time(until)):
                    march.advance()
            finally:
                self._owner.release()
        return self

    def start(
        self,
        steps: int | None = None,
        *,
        until: Until | None = None,
        time: str = "t",
        at_most: int | None = None,
        progress: Listener | None = None,
        finite: bool = False,
    ) -> Self:
        """Run in the background; arguments as in `run`, without any until `stop`. Resumes a paused run."""
        if steps is None and until is None and self.paused:
            return self._resume(None)
        goal = Goal(at_most) if steps is None and until is None else self._goal(steps, until, time, at_most)
        self._refuse_paused()
        march = March(self._state, self._owner, goal, progress or silent, finite)
        return self._start(march, end_time(until))

    def pause(self) -> Self:
        """Pause a run after a whole step; returns when it is paused. `start()` resumes it."""
        march = self._march
        if march is not None and self.running:
            self._owner.do(lambda: _hold(march))
        return self

    def stop(self, timeout: float | None = None) -> Self:
        """End a run after a whole step, and wait for the end at most `timeout` seconds; without a run, do nothing."""
        if self._march is not None and self.running:
            self._march.stop.set()
            self._owner.wait_released(timeout)
        return self.wait(timeout)

    def wait(self, timeout: float | None = None) -> Self:
        """Wait for a background run, at most `timeout` seconds; raises the run's error. Ctrl-C ends the waiting.

        A paused run never ends: without a timeout, waiting for it is a RunError, also if it is paused during the wait.
        """
        background = self._background
        if background is None or background.owned_here:
            return self
        while timeout is None and background.alive:
            background.join(PAUSE_SECONDS)
            if background.alive and background.march is self._march:
                self._refuse_paused()
        background.wait(timeout)
        return self

    def step(self) -> Self:
        """Advance by one step; a paused run makes that step and stays paused."""
        march = self._march
        if march is None or not self.paused:
            return self.run(1, progress=silent)
        self._owner.do(march.single)
        return self

    def call(self, name: str) -> Self:
        """Run the kernel `name` once; `step` counts as a step, no other kernel does."""
        parts = {part for loop in self.graph.loops for part in (loop.begin, loop.turn)}
        known = [kernel.name for kernel in self.graph.kernels if kernel.name not in parts]
        if name not in known:
            raise RunError(
                f"{self.graph.name} has no kernel {name!r}", advice=f"Use one of {', '.join(known) or 'none'}."
            )
        if name == STEP:
            return self.step()
        self._owner.do(lambda: self._state.march(MarchRequest(name, 1)))
        return self

    # --- read and change --------------------------------------------------------------------------------------------

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401  # an array for fields, a number for the rest
        """A read-only copy of a field (shape = `shape`; a vector: components first), or a number."""
        value = self._owner.do(lambda: self._state.read(name))
        if isinstance(value, np.ndarray):
            value.setflags(write=False)
        return value

    def __setitem__(self, name: str, value: object) -> None:
        """Set a field, a vector, a scalar or a param."""
        self.set(**{name: value})

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  # as __getitem__
        """Fields, vectors, scalars and params by their names."""
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            self._state.static_or_group(name)
        except FieldError as error:
            raise MissingAttributeError(error.what, advice=error.advice) from None
        return self[name]

    def __setattr__(self, name: str, value: object) -> None:
        if not name.startswith("_"):
            raise MissingAttributeError(f"sim.{name} cannot be assigned", advice=f"Use sim.set({name}=...).")
        object.__setattr__(self, name, value)

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *(s.name for s in self.graph.declared), *groups(self.graph)})

    def set(self, **values: object) -> Self:
        """Set fields, scalars and params: all of them, or none if one does not fit. During a run, between two steps."""
        self._owner.do(lambda: self._state.write(values))
        return self

    def device(self, name: str) -> Any:  # noqa: ANN401  # numpy or cupy array
        """The array of a field itself, writable, no copy (DLPack, __cuda_array_interface__); valid until the next run.

        On a GPU, all kernels that write it have finished. A run waits for the default stream only: synchronise your own
        streams first. Raises RunError during a run.
        """
        static = self._state.static(name)
        if static.role != "field":
            raise FieldError(f"{name} is a {static.role}, not a field", advice=f'Read the number: sim["{name}"].')
        if self._owner.owned:
            raise RunError(f"{name} cannot be lent while the simulation runs", advice="Call pause() or stop() first.")
        return self._owner.do(lambda: self._state.instance.device_view(name))

    def evaluate(self, name: str) -> Any:  # noqa: ANN401  # as __getitem__
        """Any named value of the cell, computed from the present state as the next step would compute it.

        The first call for a name compiles a small program on the same backend. Fields, scalars and params are read
        directly. A vector or tensor has the shape (dim, ..., cells ...).
        """
        if name in {static.name for static in self.graph.declared} | set(groups(self.graph)):
            return self[name]
        names, shape = component_names(self.graph, name)
        if names:
            parts = np.broadcast_arrays(*(np.asarray(self.evaluate(part)) for part in names))
            return np.stack(parts).reshape(shape + parts[0].shape)
        probe = self._probe(name)
        values = self._owner.do(lambda: {s.name: self._state.instance_value(s) for s in probe.statics})
        result = probe.evaluate(values, self.extents, self._state.threads)
        if isinstance(result, np.ndarray):
            result.setflags(write=False)
        return result

    def _probe(self, name: str) -> Probe:
        self._state.refuse_in_files(f"the value {name}", "Evaluate it on a smaller grid, or store it in a field.")
        return self._probes.setdefault(name, self._probes.get(name) or probe_name(self.graph, name, self.backend))

    def record(self, name: str, every: int = 1) -> RecordedValues:
        """Record a scalar or field from now on, at every step that is a multiple of `every`."""
        static, interval = self._state.static(name), whole_number("every", every)
        if static.role == "param":
            raise FieldError(f"{name} is a param: no step changes it", advice="Record a scalar or a field.")
        if interval < 1:
            raise RunError(f"every={every!r} is no distance between steps", advice="Pass every=1 or more.")
        record = RecordedValues(static, interval)
        self._owner.do(lambda: self._state.add_record(record))
        return record

    def view(self, name: str, *, palette: str = "viridis", limits: tuple[float, float] | None = None) -> Any:  # noqa: ANN401
        """A live picture of a field or named value, with play, step and sliders; a PNG where no page can draw it."""
        return open_view(self, name, palette, limits)

    def inspect(self, *, field: str = "") -> Any:  # noqa: ANN401  # an Inspector
        """The whole workbench on this simulation: `sim.machine.inspect(sim)`. field: the value to show first."""
        return self.machine.inspect(self, field=field)

    def replan(self, choices: Choices, *, threads: int | None = None, progress: ReplanListener | None = None) -> Replan:
        """Go on with the same program and other choices: `sim.replan(wave.annotate("u1", "manifest").choices)`.

        Returns at once. The new code is compiled in the background and takes over between two steps, with the same
        state to the bit; until then, and if it fails, the old code runs on. A newer request replaces an older one.
        threads: as in simulate(), by default unchanged. The result has the expected and the measured times, and wait().
        """
        return self._replanner.request(choices, self._state.threads if threads is None else threads, progress)

    # --- out and away -----------------------------------------------------------------------------------------------

    def to_numpy(self, name: str) -> Array:
        """A copy of a field (or of a vector, components first) that the caller owns and may change."""
        value = self._owner.do(lambda: self._state.read(name))
        return np.asarray(value)

    def to_dict(self) -> dict[str, Array | Number]:
        """All fields (new arrays), scalars and params after one and the same step."""
        return self._owner.do(lambda: {s.name: self._state.read(s.name) for s in self.graph.declared})

    def to_xarray(self) -> Any:  # noqa: ANN401  # an xarray.Dataset
        """An xarray.Dataset of all fields and scalars, with the cell's coordinates and units; needs xarray."""
        return labels.to_data_set(self.graph, self.extents, self.to_dict())

    def save(self, path: str | os.PathLike[str]) -> Self:
        """Write the whole state to one .npz file, completely or not at all; `Machine.restore` continues from it."""
        save_checkpoint(path, self.graph, self._owner.do(self._checkpoint))
        return self

    def close(self) -> None:
        """Stop and free the memory; afterwards the simulation cannot be used."""
        self._replanner.close(0.0)  # its thread may wait for a run, so that must end first
        self.stop()
        if not self._owner.owned:
            self._replanner.close(CLOSING_SECONDS)
        self._owner.do(self._state.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return labels.describe(self._state, self.running)

    # --- inside -----------------------------------------------------------------------------------------------------

    def _refuse_paused(self) -> None:
        """What waits for the end of a paused run would wait for ever."""
        if self.paused and self._march is not None and not self._march.stop.is_set():
            raise RunError(
                f"a run of {self.graph.name} is paused at step {self.steps}",
                advice="Type sim.start(), or press Play in its view, to let it go on; sim.stop() to end it there.",
            )

    def _start(self, march: March, end: float | None) -> Self:
        self._background = BackgroundRun(march, self._owner, self.graph.name, UntilParam(self._state, end))
        self._march = march
        return self

    def _resume(self, pace: float | None) -> Self:
        march = self._march
        assert march is not None
        self._owner.do(lambda: _let_go(march, pace))
        return self

    def _goal(self, steps: object, until: Until | None, time: str, at_most: object) -> Goal:
        return read_goal(self.graph, steps, until, time, at_most, lambda name: float(self[name]))

    def _checkpoint(self) -> Checkpoint:
        state = self._state
        values = {s.name: stored(state.instance_value(s), s.type) for s in self.graph.declared}
        return Checkpoint(state.extents, state.steps, state.observed_step, values)


def _hold(march: March) -> None:
    march.paused = True


def _let_go(march: March, pace: float | None) -> None:
    march.paused, march.pace = False, pace
