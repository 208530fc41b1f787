"""History births: which mix of births finds good individuals soonest, on a landscape (Muranushi 2012, Fig. 14b)."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from workbench.tuning.history_tables import CountTable
from workbench.tuning.replay import replay
from workbench.tuning.search_space import Point, SearchSpace
from workbench.tuning.strategies.paraiso import Birth, Paraiso

Mix = Mapping[Birth, float]
MIXES: Mapping[str, Mix] = {
    "333": {"mutation": 1.0, "crossover": 1.0, "triangulation": 1.0},
    "370": {"mutation": 0.3, "crossover": 0.7},
    "307": {"mutation": 0.3, "triangulation": 0.7},
}
"""The paper's experiments GB-333, GB-370 and GB-307: tenths of mutation, crossover and triangulation."""

SEEDS = (0, 1, 2)


@dataclass(frozen=True, slots=True)
class MixRuns:
    """Runs of one mix: for each seed the best score after 1, 2, ... evaluations; 0 while nothing passed."""

    name: str
    runs: tuple[tuple[float, ...], ...]

    @property
    def mean(self) -> tuple[float, ...]:
        """The mean over the seeds."""
        return tuple(statistics.fmean(scores) for scores in zip(*self.runs, strict=True))


def compare_mixes(
    space: SearchSpace,
    cost: Callable[[Point], float | None],
    budget: int,
    *,
    start: Sequence[Point] = (),
    mixes: Mapping[str, Mix] = MIXES,
    seeds: Sequence[int] = SEEDS,
) -> tuple[MixRuns, ...]:
    """Run `paraiso` alone with each mix and each seed for `budget` evaluations of `cost`; a score is 1 / cost.

    A search that finds nothing new ends early; its best score stands to the end.
    """
    return tuple(
        MixRuns(
            name,
            tuple(_best_so_far(Paraiso(space, tuple(start), seed, births=mix), cost, budget) for seed in seeds),
        )
        for name, mix in mixes.items()
    )


def mix_table(found: Sequence[MixRuns], at: Sequence[int]) -> CountTable:
    """The mean best score of each mix after so many evaluations, and those of its seeds at the last of them."""
    rows = tuple(
        (
            one.name,
            *(f"{one.mean[number - 1]:.4g}" for number in at),
            ", ".join(f"{run[at[-1] - 1]:.4g}" for run in one.runs),
        )
        for one in found
    )
    head = ("mix", *(f"after {number}" for number in at), "seeds")
    note = "Tenths of mutation, crossover and triangulation. Best score so far, the mean over the seeds."
    return CountTable("Mixes of births", head, rows, note)


def _best_so_far(strategy: Paraiso, cost: Callable[[Point], float | None], budget: int) -> tuple[float, ...]:
    best, line = 0.0, []
    for found in replay(strategy, cost, budget).costs:
        best = best if found is None else max(best, 1.0 / found)
        line.append(best)
    return tuple(line + [best] * (budget - len(line)))
