"""The reference backend: interprets the plan's graph in NumPy and ignores every other decision of the plan."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from threading import Event
from typing import Any

import numpy as np

from workbench.backends.base import (
    Availability,
    CompilerReport,
    Identity,
    Instance,
    LaunchTime,
    MarchRequest,
    MarchResult,
    Number,
)
from workbench.backends.checks import checked_cells, checked_extents, named_field, named_global
from workbench.backends.global_words import rounded
from workbench.backends.instance_state import take_state
from workbench.backends.interpreter import KernelInterpreter
from workbench.backends.march_rule import ending_after, ending_before, holds, next_steps
from workbench.backends.phenotype import phenotype_key
from workbench.backends.processor import processor_name
from workbench.codegen.source import Source
from workbench.errors import BackendError
from workbench.graph import Graph
from workbench.graph.arithmetic import constant, python_number
from workbench.graph.diagnostics import diagnostic_stores
from workbench.graph.operators import Array
from workbench.planning.plan import Plan


class ReferenceBackend:
    """Always available and slow; what it computes is right by definition."""

    name = "reference"

    def availability(self) -> Availability:
        """It needs NumPy only."""
        return Availability(True)

    def identity(self) -> Identity:
        """An interpreter has no compiler, and no choice makes it faster."""
        return Identity(processor_name(), "")

    def compile(self, plan: Plan, cancel: Event | None = None) -> ReferenceProgram:
        """Take the plan as it is."""
        del cancel
        return ReferenceProgram(plan)

    def compiler_report(self, plan: Plan, source: Source) -> CompilerReport:
        """Raises BackendError: an interpreter has no text."""
        raise BackendError(
            f"{plan.graph.name} is interpreted here, so no compiler speaks of it",
            advice="Ask a backend that generates text.",
        )

    def phenotype(self, plan: Plan) -> str:
        """Key of what would run: the graph, whatever else the plan says."""
        return phenotype_key("reference", str(plan.graph))

    def compile_many(self, plans: Sequence[Plan]) -> tuple[ReferenceProgram, ...]:
        """Take the plans as they are."""
        return tuple(ReferenceProgram(plan) for plan in plans)


class ReferenceProgram:
    """A plan whose graph is to be interpreted."""

    compile_seconds = 0.0
    from_cache = False

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def compiler_words(self) -> Mapping[tuple[str, str], str]:
        """None: an interpreter compiles nothing."""
        return {}

    def free_memory(self, beside: Instance | None = None) -> int | None:
        """None: the memory is the host's."""
        del beside
        return None

    def instantiate(
        self, extents: tuple[int, ...], threads: int = 0, beside: Instance | None = None
    ) -> ReferenceInstance:
        """Allocate a state; `threads` is not used. ShapeError if the extents do not fit the program."""
        del threads
        return ReferenceInstance(self.plan.graph, extents)


class ReferenceInstance:
    """The state of one simulation as NumPy arrays; made by a program, or directly from a graph."""

    def __init__(self, graph: Graph, extents: tuple[int, ...]) -> None:
        """Fields zero, scalars and params at their defaults (zero where there is none)."""
        self.graph = graph
        self.extents = checked_extents(graph, extents)
        self._state: dict[str, Array] = {}
        for static in graph.statics:
            shape = static.space.extents_in(graph.space, self.extents)
            self._state[static.name] = np.full(shape, constant(static.default or 0, static.type))
        self._interpreters: dict[str, KernelInterpreter] = {}

    @property
    def memory_bytes(self) -> int:
        """Bytes of all fields."""
        return sum(self._state[s.name].nbytes for s in self.graph.arrays)

    def read_field(self, name: str) -> Array:
        """A fresh C-ordered copy of the field."""
        return self._state[named_field(self.graph, name).name].copy()

    def take_over(self, other: Instance) -> None:
        """Copy the state of another instance of this program, of equal extents."""
        take_state(self, self.graph, other, lambda name, source: self.write_field(name, source.read_field(name)))

    def write_field(self, name: str, values: Array) -> None:
        """Copy `values` into the field; FieldError or ShapeError if dtype or shape differ."""
        checked = checked_cells(self.graph, named_field(self.graph, name), self.extents, values)
        self._state[name] = np.array(checked, order="C")

    def read_global(self, name: str) -> Number:
        """The value of a param or scalar."""
        static = named_global(self.graph, name)
        return python_number(self._state[static.name], static.type)

    def write_global(self, name: str, value: Number) -> None:
        """Set a param or scalar; rounded to its type."""
        static = named_global(self.graph, name)
        self._state[name] = rounded(value, static.type)

    def device_view(self, name: str) -> Any:  # noqa: ANN401  # as the protocol says
        """The live array of a field, valid until the next march."""
        return self._state[named_field(self.graph, name).name]

    def time_launches(self, wanted: bool) -> None:
        """Nothing: an interpreter has no launches."""

    def launch_times(self) -> tuple[LaunchTime, ...]:
        """None: an interpreter has no launches."""
        return ()

    def close(self) -> None:
        """Forget the state."""
        self._state.clear()
        self._interpreters.clear()

    def march(self, request: MarchRequest) -> MarchResult:
        """Advance as MarchRequest says."""
        begin = time.monotonic()
        kernel = self.graph.kernel(request.kernel)
        interpreter = self._interpreters.setdefault(request.kernel, KernelInterpreter(self.graph, kernel, self.extents))
        diagnostic = diagnostic_stores(self.graph, kernel)
        recorded: list[tuple[int, dict[str, Array]]] = []
        done, current = 0, False
        ended = ending_before(request)
        while ended is None:
            coming = next_steps(request, done, diagnostic)
            current = coming.observed
            self._state.update(interpreter.step(self._state, frozenset() if current else diagnostic))
            done += 1
            if coming.listed:
                recorded.append((request.first_step + done, {s.name: self._state[s.name] for s in self.graph.scalars}))
            met = bool(request.until) and all(holds(c, self.read_global(c.scalar)) for c in request.until)
            ended = ending_after(request, done, met=met, seconds=time.monotonic() - begin)
        observed = tuple(np.array([values[s.name] for _, values in recorded], s.type.numpy) for s in self.graph.scalars)
        steps = np.array([number for number, _ in recorded], np.int64)
        return MarchResult(done, ended, current, steps, observed)
