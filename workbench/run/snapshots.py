"""Snapshots: one named value with the numbers around it, all of the same whole step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.backends.base import Array, Number
from workbench.run.simulation import Simulation


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """`values` is a fresh array in C order (0-d for a number); `numbers` are all scalars and params by name.

    Scalars that do not act on fields are those of `observed_step`, which may lie before `steps`.
    """

    name: str
    values: Array
    numbers: dict[str, Number]
    steps: int
    observed_step: int


def take_snapshot(simulation: Simulation, name: str) -> Snapshot:
    """Read a field, scalar, param or named intermediate at a whole step; waits for one if a run goes on.

    Raises FieldError if there is no such name, RunError if the simulation was closed.
    """
    state = simulation._state

    def read() -> Snapshot:
        numbers = {static.name: state.instance_value(static) for static in (*state.graph.scalars, *state.graph.params)}
        kept: dict[str, Number] = {key: value for key, value in numbers.items() if not isinstance(value, np.ndarray)}
        values = np.asarray(kept[name] if name in kept else simulation.evaluate(name))
        return Snapshot(name, values, kept, state.steps, state.observed_step)

    return simulation._owner.do(read)
