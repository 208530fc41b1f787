"""State: one simulation's instance, how many steps it has done, and how old its diagnostic scalars are."""

from __future__ import annotations

import time

import numpy as np

from workbench.backends.base import Array, Instance, MarchRequest, MarchResult, Number
from workbench.errors import RunError, warn_user
from workbench.events import SimulationClosed, publish
from workbench.graph import Graph, Static
from workbench.graph.diagnostics import diagnostic_stores
from workbench.pipeline import Compiled
from workbench.planning.choices import Choices
from workbench.run.initial_values import INIT, check_shape, extents_of, sort_values, whole
from workbench.run.recording import RecordedValues, keep_scalars
from workbench.run.schedules import in_use
from workbench.run.storage import check_types, files_of, refuse_in_files, stacked
from workbench.run.values import group_member, group_shape, groups, unknown_name
from workbench.run.watching import Watches

STEP = "step"


class StaleScalarWarning(UserWarning):
    """A diagnostic scalar was read that belongs to an earlier step than the fields."""


class State:
    """What a simulation consists of. Touched only by the thread that owns the simulation.

    `steps` counts whole steps of the kernel `step`; `observed_step` is the last after which diagnostics were computed.
    """

    def __init__(self, compiled: Compiled, instance: Instance, steps: int = 0, threads: int = 0) -> None:
        """`threads` as the user asked for them."""
        self.compiled = compiled
        self.steps = steps
        self.threads = threads
        self.observed_step = steps
        self.records: tuple[RecordedValues, ...] = ()
        self.step_seconds = 0.0  # of the last march; 0: unknown
        self.timing = False
        self.outdated = ""  # why this is no longer the program that its cell describes, and what to do
        self.asked = compiled.plan.choices  # what was asked for, where its size has decided the rest
        self.chosen: tuple[Choices | None, str] = (None, "")  # the choices at the start, and where they come from
        self.schedule = ""  # how steps follow each other and why, where that was decided
        self.automatic = False  # its size decides that, after each replan too
        self.kernel_steps: dict[str, int] = {}  # of each kernel, by the present program
        self.march_steps = 0  # of the kernel step
        self.march_seconds = 0.0
        self.watches = Watches()
        self.written = 0  # how often something else than the kernel step has changed a field or a number
        self.overwritten = 0  # how often of these a field or a scalar, so more than a param
        self.tiling = in_use(compiled.plan, instance)  # how steps follow each other, sizes of tiles and towers included
        self._instance: Instance | None = instance
        kernels = {kernel.name: kernel for kernel in self.graph.kernels}
        self._diagnostics = diagnostic_stores(self.graph, kernels[STEP]) if STEP in kernels else frozenset[str]()
        opened = frozenset(name for name, _ in kernels[INIT].stores()) if INIT in kernels else frozenset[str]()
        self._first_by_step = self._diagnostics - opened

    @property
    def graph(self) -> Graph:
        """What the instance runs."""
        return self.compiled.graph

    @property
    def instance(self) -> Instance:
        """The backend's memory. Raises RunError after `close`."""
        if self._instance is None:
            raise RunError(f"this simulation of {self.graph.name} was closed", advice="Make a new one by simulate().")
        return self._instance

    @property
    def closed(self) -> bool:
        """Whether the memory was freed."""
        return self._instance is None

    @property
    def extents(self) -> tuple[int, ...]:
        """Cells along each axis."""
        return self.instance.extents

    def close(self) -> None:
        """Free the memory."""
        if self._instance is not None:
            self._instance.close()
            self._instance = None
            publish(SimulationClosed(self.graph.name))

    def take_over(self, compiled: Compiled, instance: Instance, threads: int) -> None:
        """Go on with another plan of the same program: copy the whole state into its instance and free the old one."""
        old = self.instance
        instance.take_over(old)
        self.compiled, self._instance, self.threads = compiled, instance, threads
        self.tiling = in_use(compiled.plan, instance)
        self.step_seconds, self.march_steps, self.march_seconds = 0.0, 0, 0.0
        self.kernel_steps = {}
        instance.time_launches(self.timing)
        old.close()
        self.watches.tell()

    def time_launches(self, wanted: bool) -> None:
        """Time the launches of this and later programs, where that is not done always."""
        self.timing = wanted
        self.instance.time_launches(wanted)

    @property
    def measured_step_seconds(self) -> float | None:
        """Seconds a step of the present program, on average; None before the first."""
        return self.march_seconds / self.march_steps if self.march_steps else None

    def march(self, request: MarchRequest) -> MarchResult:
        """Advance, count and record. Field records are taken where the march ends."""
        begin = time.perf_counter()
        result = self.instance.march(request)
        self.kernel_steps[request.kernel] = self.kernel_steps.get(request.kernel, 0) + result.steps
        if request.kernel == STEP:
            self._count(result, time.perf_counter() - begin)
            self.watches.tell()
        else:
            self.written += 1
            self.overwritten += 1
            self.watches.tell_written()
        return result

    def _count(self, result: MarchResult, seconds: float) -> None:
        # How long the last step of a march that was stopped would have taken is unknown.
        least = self.step_seconds if result.ended == "stopped" else 0.0
        self.step_seconds = max(seconds / max(result.steps, 1), least)
        self.march_steps += result.steps
        self.march_seconds += seconds
        self.steps += result.steps
        if result.steps and (result.diagnostics_current or not self.observes):
            self.observed_step = self.steps
        keep_scalars(self.records, tuple(s.name for s in self.graph.scalars), result)
        for record in self.records:
            if record.active and record.of_field and result.steps and self.steps % record.every == 0:
                values = self.instance.read_field(record.name)
                record.append(np.array([self.steps]), values[np.newaxis])

    @property
    def observes(self) -> bool:
        """Whether there are diagnostic scalars, which observed steps compute."""
        return bool(self._diagnostics)

    @property
    def stale(self) -> bool:
        """Whether diagnostic scalars are older than the fields."""
        return self.observed_step != self.steps and self.observes

    @property
    def stale_scalars(self) -> frozenset[str]:
        """Scalars whose numbers do not belong to the fields: of an earlier step, or of none before the first one."""
        if self.stale:
            return self._diagnostics
        return frozenset[str]() if self.steps else self._first_by_step

    def read(self, name: str) -> Array | Number:
        """A fresh array of a field or of a whole vector, or the number of a scalar or param."""
        members = groups(self.graph).get(name)
        if members is not None and name not in {s.name for s in self.graph.statics}:
            return self._stacked(members)
        static = self.static(name)
        if static.role == "field":
            return self.instance.read_field(name)
        if static.role == "scalar" and self.stale and name in self._diagnostics:
            warn_user(
                f"{name} was last computed at step {self.observed_step}, the fields are at step {self.steps}: "
                "a run until a time does not compute it, one step more by run(1) does",
                StaleScalarWarning,
            )
        return self.instance.read_global(name)

    def write(self, values: dict[str, object]) -> None:
        """Check all values, then write them all."""
        files = files_of(self.instance)
        fields, numbers = sort_values(self.graph, values, copies=files is None)
        if files is not None:
            check_types(self.graph, values, files.storage.memory)
            fields = {name: files.apart(array) for name, array in fields.items()}
        for name, array in fields.items():
            check_shape(name, array, extents_of(self.graph, name, self.extents))
        for name, array in fields.items():
            self.instance.write_field(name, whole(array, extents_of(self.graph, name, self.extents)))
        for name, value in numbers.items():
            self.instance.write_global(name, value)
        self.written += 1
        self.overwritten += bool(values.keys() - {param.name for param in self.graph.params})
        self.watches.tell_written()

    def static(self, name: str) -> Static:
        """The field, scalar or param of this name. Raises FieldError with a guess."""
        try:
            return self.graph.static(name)
        except KeyError:
            raise unknown_name(self.graph, name) from None

    def static_or_group(self, name: str) -> None:
        """Raise FieldError with a guess unless something that can be read has this name."""
        if name not in groups(self.graph):
            self.static(name)

    def instance_value(self, static: Static) -> Array | Number:
        """A fresh array or a number, without a word about its age."""
        if static.role == "field":
            return self.instance.read_field(static.name)
        return self.instance.read_global(static.name)

    def refuse_in_files(self, what: str, advice: str) -> None:
        """Raise RunError where arrays lie in files: `what` has whole fields in memory."""
        refuse_in_files(self.instance, what, advice)

    def add_record(self, record: RecordedValues) -> None:
        """Fill the record from now on; records that were stopped are forgotten."""
        if record.of_field:
            self.refuse_in_files(f"a record of {record.name}", "Record scalars, or save() from time to time.")
        self.records = (*(r for r in self.records if r.active), record)

    def forget_records(self) -> None:
        """Drop what was recorded after the present step."""
        for record in self.records:
            record.forget_after(self.steps)

    def _stacked(self, members: tuple[Static, ...]) -> Array:
        shape = group_shape(members)
        return stacked(self.instance, [group_member(members, index).name for index in np.ndindex(shape)], shape)
