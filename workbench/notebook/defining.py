"""Defining: from a cell's body and options to a machine, compiled, with its card."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from workbench.amounts import counted
from workbench.backends.host import host_figures, measured_figures
from workbench.errors import ShapeError
from workbench.machine import Machine, trace
from workbench.notebook.card import CardSummary
from workbench.notebook.changes import captured_changes, genome_changes, graph_changes, plan_changes
from workbench.notebook.outdating import outdate_program
from workbench.notebook.summary import CellReading, summarise
from workbench.pipeline import Compiled, compile_graph, counters
from workbench.planning.precision import change_lines
from workbench.run.initial_values import read_shape


@dataclass(frozen=True, slots=True)
class CellOptions:
    """What stood on the magic's line, defaults filled in; `extents` only size the card's figures."""

    name: str
    dim: int | None
    dtype: str
    boundary: str | None
    backend: str
    extents: tuple[int, ...] | None


def define(
    body: str, options: CellOptions, *, first_line: int, namespace: Mapping[str, object], previous: Machine | None
) -> tuple[Machine, CardSummary]:
    """Trace and compile a cell; `previous` is what the name stood for before. Raises StencilError with the cell's line.

    Compiled here, so that the first run starts at once and errors of the compiler belong to this cell.
    """
    before = counters()
    machine = trace(
        body,
        options.dim,
        name=options.name,
        dtype=options.dtype,
        boundary=options.boundary,
        first_line=first_line,
        namespace=namespace,
    )
    machine = replace(machine, backend=options.backend)
    extents = _extents(machine, options.extents)
    compiled = compile_graph(machine.graph, machine.choices, machine.backend)
    changed: tuple[str, ...] = ()
    if previous is not None:
        changed = machine_changes(previous, machine)
        compiled_now = counters().compiled - before.compiled
        built = "compiled nothing" if compiled_now == 0 else "compiled anew"
        changed = (*changed, built) if changed else (f"nothing changed: {built}",)
        changed += outdate_program(previous, machine, options.name, namespace)
    return machine, _summary(machine, compiled, options.name, extents, changed)


def summary(
    machine: Machine,
    previous: Machine | None = None,
    *,
    name: str | None = None,
    extents: tuple[int, ...] | None = None,
) -> CardSummary:
    """The card of a machine that exists; `previous` is what to compare it with. Compiles it if it was not compiled."""
    extents = _extents(machine, extents)
    compiled = compile_graph(machine.graph, machine.choices, machine.backend)
    changed = () if previous is None else machine_changes(previous, machine) or ("nothing changed",)
    return _summary(machine, compiled, name or machine.name, extents, changed)


def machine_changes(before: Machine, after: Machine) -> tuple[str, ...]:
    """Sentences about what differs; empty if the machines mean and plan the same."""
    found = graph_changes(before.graph, after.graph)
    found += plan_changes(before.plan(), after.plan())
    was, now = (change_lines(machine.graph, machine.choices.meaning) for machine in (before, after))
    if was != now:
        found += tuple(f"precision: {line}" for line in now) or ("precision: as declared",)
    elif before.graph.fingerprint() == after.graph.fingerprint():  # letters of different programs cannot be compared
        found += genome_changes(before.genome, after.genome)
    found += captured_changes(_reading(before).captured, _reading(after).captured)
    if before.backend != after.backend:
        found += (f"backend {before.backend} → {after.backend}",)
    return found


def _summary(
    machine: Machine, compiled: Compiled, name: str, extents: tuple[int, ...] | None, changed: tuple[str, ...]
) -> CardSummary:
    return summarise(
        name,
        compiled,
        _reading(machine),
        figures=host_figures(),
        measured=measured_figures() is not None,
        extents=extents,
        changed=changed,
    )


def _reading(machine: Machine) -> CellReading:
    """What the front end noted; nothing for a machine that was not traced from text."""
    changed = change_lines(machine.graph, machine.choices.meaning)
    if machine.traced is None:
        return CellReading({}, (), (), changed)
    captured = {item.name: item.value for item in machine.traced.captured}
    return CellReading(captured, machine.traced.promotions, machine.traced.warnings, changed)


def _extents(machine: Machine, shape: tuple[int, ...] | None) -> tuple[int, ...] | None:
    """The extents that --shape means: particles have two for one number."""
    free = len(set(machine.graph.space.leaders))
    if shape is not None and len(shape) != free:
        raise ShapeError(
            f"--shape has {counted(len(shape), 'extent')}, but {machine.name} has {free}",
            advice=f"Write --shape {'x'.join(['256'] * free)}.",
        )
    return None if shape is None else read_shape(machine.graph, shape)
