"""Flags: when and where a field first held something that is no finite number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class Wrong:
    """The first value that is no finite number.

    It was seen at `step` in `cell` (the first in memory order), or at the particle of that number; at step `good`
    (None: never looked before) all was well. A view does not look at every step.
    """

    kind: str
    step: int
    cell: tuple[int, ...]
    good: int | None
    particle: bool = False

    def __str__(self) -> str:
        """One line, for people."""
        since = (
            f"at step {self.step}"
            if self.good in (None, self.step)
            else f"after step {self.good}, by step {self.step},"
        )
        where = "at particle" if self.particle else "in cell"
        return f"{self.kind} {since} {where} {cell_text(self.cell)}"


def cell_text(cell: tuple[int, ...]) -> str:
    """(3, 4) for two axes, 3 for one."""
    return str(cell[0]) if len(cell) == 1 else f"({', '.join(map(str, cell))})"


def find_wrong(values: npt.NDArray[np.generic], step: int, good: int | None, particles: bool = False) -> Wrong | None:
    """The first NaN, else the first infinity; None if all values are finite numbers.

    particles: the last axis counts particles, and those before it components.
    """
    if values.dtype.kind not in "fc":
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(np.add.reduce(values, axis=None)):  # one fast pass: a sum keeps what is not finite
            return None
    for kind, found in (("NaN", np.isnan(values)), ("infinity", np.isinf(values))):
        if found.any():
            cell = np.unravel_index(int(np.argmax(found)), values.shape)
            places = tuple(int(index) for index in cell)
            return Wrong(kind, step, places[-1:] if particles else places, good, particles)
    return None
