"""Validation: what a study's best is worth elsewhere than in the study."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

_NO_GAIN = 1.01
"""Measurements that are repeated differ by about one per cent, which is no gain that could be kept."""


@dataclass(frozen=True, slots=True)
class Validation:
    """Times of a step of the study's start and of its best choices in s, measured in turn at another size.

    extents and steps: of each measurement. gain: the score of the best over the start's in the study.
    """

    extents: tuple[int, ...]
    steps: int
    start: tuple[float, ...]
    best: tuple[float, ...]
    gain: float

    @property
    def gain_here(self) -> float:
        """The gain in this measurement, a quotient of medians."""
        return statistics.median(self.start) / statistics.median(self.best)

    @property
    def kept(self) -> float:
        """Share of time saved here, divided by that in the study; negative if the best is slower here.

        1 where the study had gained less than a per cent.
        """
        return (1.0 - 1.0 / self.gain_here) / (1.0 - 1.0 / self.gain) if self.gain >= _NO_GAIN else 1.0

    def __str__(self) -> str:
        """One line."""
        cells, many = " x ".join(map(str, self.extents)), f"{self.steps} step{'' if self.steps == 1 else 's'}"
        kept = f"{self.kept:.0%} of the gain is kept" if self.gain >= _NO_GAIN else "the study had gained nothing"
        return f"{self.gain_here:.3g} x the start at {cells} cells, {many} (in the study {self.gain:.3g} x): {kept}"

    def __repr__(self) -> str:
        return str(self)
