"""Rewinding: a copy of a whole state, to which the simulation can be set back at any whole step, also while it runs."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.backends.base import Array, Number
from workbench.run.simulation import Simulation


@dataclass(frozen=True, slots=True)
class RememberedState:
    """Fields and scalars of one whole step. Params are not part of it: setting back keeps what sliders chose."""

    steps: int
    observed_step: int
    values: dict[str, Array | Number]


def remember(simulation: Simulation) -> RememberedState:
    """Copy the state of the last whole step."""
    state = simulation._state

    def copy() -> RememberedState:
        statics = (*state.graph.fields, *state.graph.scalars)
        values = {static.name: state.instance_value(static) for static in statics}
        return RememberedState(state.steps, state.observed_step, values)

    return simulation._owner.do(copy)


def rewind(simulation: Simulation, start: RememberedState) -> None:
    """Set everything back to `start`, the count of steps too."""
    state = simulation._state

    def write() -> None:
        state.write(dict(start.values))
        state.steps, state.observed_step = start.steps, start.observed_step
        state.watches.tell()

    simulation._owner.do(write)
