"""Recording: values of a scalar or field over the steps of a simulation."""

from __future__ import annotations

from math import gcd

import numpy as np

from workbench.backends.base import Array, MarchResult
from workbench.graph import Static


class RecordedValues:
    """Values of one scalar or field at every step whose number is a multiple of `every`, from the call on.

    `steps` is int64 of shape (k,), `values` of shape (k,) for a scalar and (k, *extents) for a field; both are copies
    and may be read while the simulation runs.
    """

    def __init__(self, static: Static, every: int) -> None:
        self.name = static.name
        self.every = every
        self.active = True
        self._static = static
        self._parts: list[tuple[Array, Array]] = []

    @property
    def of_field(self) -> bool:
        """Whether each value is a whole field."""
        return self._static.role == "field"

    @property
    def steps(self) -> Array:
        """Numbers of the recorded steps."""
        return np.concatenate([np.empty(0, np.int64), *(steps for steps, _ in tuple(self._parts))])

    @property
    def values(self) -> Array:
        """Recorded values; the first axis is that of `steps`."""
        parts = tuple(self._parts)
        return np.concatenate([v for _, v in parts]) if parts else np.empty(0, self._static.type.numpy)

    def stop(self) -> None:
        """Stop recording; recorded values stay."""
        self.active = False

    def append(self, steps: Array, values: Array) -> None:
        """Append values; called by the simulation."""
        if len(steps):
            self._parts.append((steps, values))

    def forget_after(self, step: int) -> None:
        """Remove values after a step to which the simulation has returned."""
        kept = [(steps <= step, steps, values) for steps, values in self._parts]
        self._parts = [(steps[mine], values[mine]) for mine, steps, values in kept if mine.any()]

    def __len__(self) -> int:
        return sum(len(steps) for steps, _ in tuple(self._parts))

    def __repr__(self) -> str:
        return f"<record of {self.name}: {len(self)} values, every {self.every} steps>"


def observe_every(records: tuple[RecordedValues, ...]) -> int:
    """How often scalars must be up to date for these records; 0 for never."""
    return gcd(*(r.every for r in records if r.active and not r.of_field))


def steps_to_border(records: tuple[RecordedValues, ...], step: int) -> int | None:
    """Steps from `step` to the next at which a field is recorded; None if there is none."""
    ahead = [r.every - step % r.every for r in records if r.active and r.of_field]
    return min(ahead) if ahead else None


def keep_scalars(records: tuple[RecordedValues, ...], scalars: tuple[str, ...], result: MarchResult) -> None:
    """Give each record of a scalar its share of what a march observed."""
    for record in records:
        if record.active and not record.of_field:
            mine = result.observed_steps % record.every == 0
            values = result.observed[scalars.index(record.name)]
            record.append(result.observed_steps[mine].astype(np.int64), np.array(values[mine]))
