"""Snapshots: one named value with the numbers around it, all of the same whole step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from workbench.backends.base import Array, Number
from workbench.graph import Graph
from workbench.run.parts import FieldParts, Part
from workbench.run.probe import Probe, component_names
from workbench.run.simulation import Simulation
from workbench.run.storage import parts_in_files
from workbench.run.values import groups


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """`values` is a fresh array in C order (0-d for a number), of type dd the nearest f64, which is what is drawn.

    Of a field that lies in a file they are the parts that were asked for. `numbers` are all scalars and params by name.

    `stale` names the scalars whose numbers do not belong to `steps` (State.stale_scalars).
    """

    name: str
    values: Array | FieldParts
    numbers: dict[str, Number]
    steps: int
    stale: frozenset[str] = frozenset()


def take_snapshot(simulation: Simulation, name: str) -> Snapshot:
    """Read a field, scalar, param or named intermediate at a whole step; waits for one if a run goes on.

    An intermediate is compiled, if need be, and computed in this thread, so that the run does not wait for it. Raises
    FieldError if there is no such name, RunError if the simulation was closed.
    """
    return take_snapshots(simulation, (name,))[0]


def take_snapshots(simulation: Simulation, names: Sequence[str], parts: Sequence[Part] = ()) -> tuple[Snapshot, ...]:
    """Snapshots of several names, all of the same whole step; otherwise as `take_snapshot`.

    parts: what is read of fields that lie in files. RunError for other values there, which take whole fields.
    """
    state = simulation._state
    probes = [_probe_of(simulation, name) for name in names]

    def read() -> tuple[list[Snapshot], list[dict[str, Array | Number]]]:
        numbers = {static.name: state.instance_value(static) for static in (*state.graph.scalars, *state.graph.params)}
        kept: dict[str, Number] = {key: value for key, value in numbers.items() if not isinstance(value, np.ndarray)}
        snapshots, inputs = [], []
        for name, probe in zip(names, probes, strict=True):
            inputs.append({s.name: state.instance_value(s) for s in probe.statics} if probe else {})
            values = np.empty(0) if probe else _values(simulation, name, kept, parts)
            snapshots.append(Snapshot(name, values, kept, state.steps, state.stale_scalars))
        return snapshots, inputs

    def computed(snapshot: Snapshot, probe: Probe | None, inputs: dict[str, Array | Number]) -> Snapshot:
        if probe is None:
            return snapshot
        values = np.asarray(probe.evaluate(inputs, simulation.extents, state.threads))
        return replace(snapshot, values=_drawn(values))

    snapshots, inputs = simulation._owner.do(read)
    return tuple(map(computed, snapshots, probes, inputs))


def _values(simulation: Simulation, name: str, numbers: dict[str, Number], parts: Sequence[Part]) -> Array | FieldParts:
    if name in numbers:
        return np.asarray(numbers[name])
    state = simulation._state
    if any(field.name == name for field in state.graph.fields):
        read = parts_in_files(state.instance, name, parts, _drawn)
        if read is not None:
            return read
    state.refuse_in_files(f"a view of {name}", f'View one component, such as "{name}0".')
    return _drawn(np.asarray(simulation.evaluate(name)))


def _drawn(values: Array) -> Array:
    return np.array(values["hi"], order="C") if values.dtype.names else values


def prepare_snapshot(simulation: Simulation, name: str) -> None:
    """Compile what snapshots of this name need. Raises FieldError if there is no such name."""
    _probe_of(simulation, name)


def needs_compiler(simulation: Simulation, name: str) -> bool:
    """Whether the first snapshot of this name compiles something."""
    return name not in simulation._probes and _is_computed(simulation.graph, name)


def _probe_of(simulation: Simulation, name: str) -> Probe | None:
    """What computes an intermediate; None for what the state holds, and for vectors, which are read part by part."""
    known = simulation._probes.get(name)
    return known or (simulation._probe(name) if _is_computed(simulation.graph, name) else None)


def _is_computed(graph: Graph, name: str) -> bool:
    held = {static.name for static in graph.declared} | set(groups(graph))
    return name not in held and not component_names(graph, name)[0]
