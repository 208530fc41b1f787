"""Rewinding: a copy of a whole state, to which the simulation can be set back at any whole step, also while it runs."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.backends.base import Array, Number
from workbench.errors import RunError
from workbench.run.hooks import lies_in_files
from workbench.run.simulation import Simulation


@dataclass(frozen=True, slots=True)
class RememberedState:
    """Fields and scalars of one whole step. Params are not part of it: setting back keeps what sliders chose."""

    steps: int
    observed_step: int
    values: dict[str, Array | Number]


def remember(simulation: Simulation) -> RememberedState | None:
    """Copy the state of the last whole step; None where its arrays lie in files."""
    state = simulation._state

    def copy() -> RememberedState:
        statics = (*state.graph.fields, *state.graph.scalars)
        values = {static.name: state.instance_value(static) for static in statics}
        return RememberedState(state.steps, state.observed_step, values)

    return None if lies_in_files(simulation) else simulation._owner.do(copy)


def rewind(simulation: Simulation, start: RememberedState | None) -> None:
    """Set everything back to `start`, the count of steps too. RunError for None."""
    if start is None:
        what = f"{simulation.graph.name} cannot be reset: its fields are larger than memory=, and no copy is kept"
        raise RunError(what, advice="Make the simulation again, or restore a checkpoint.")
    state = simulation._state

    def write() -> None:
        state.write(dict(start.values))
        state.steps, state.observed_step = start.steps, start.observed_step
        state.watches.tell()

    simulation._owner.do(write)
