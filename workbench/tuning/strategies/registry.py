"""Registry: the strategies by name; a new one is a file and a row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from workbench.errors import TuningError
from workbench.tuning.search_space import Point, SearchSpace
from workbench.tuning.strategies.base import Strategy
from workbench.tuning.strategies.enumeration import Exhaustive, Randomly
from workbench.tuning.strategies.independence import Independence
from workbench.tuning.strategies.paraiso import Birth, Paraiso
from workbench.tuning.strategies.portfolio import Portfolio
from workbench.tuning.strategies.surrogate import Surrogate
from workbench.tuning.strategies.sweep import CoordinateSweep


@dataclass(frozen=True, slots=True)
class StrategyRow:
    """`make(space, start, seed)`: a strategy that begins with the points of `start`."""

    name: str
    what: str
    make: Callable[[SearchSpace, tuple[Point, ...], int], Strategy]


STRATEGIES: dict[str, StrategyRow] = {
    row.name: row
    for row in (
        StrategyRow("exhaustive", "every legal point in order", Exhaustive),
        StrategyRow("random", "legal points at random, none twice", Randomly),
        StrategyRow("sweep", "one parameter at a time, again from perturbed best points", CoordinateSweep),
        StrategyRow("independence", "groups of parameters, joined where tests find that they interact", Independence),
        StrategyRow("paraiso", "asynchronous genetic simulated annealing, as in the Paraiso paper", Paraiso),
        StrategyRow(
            "surrogate", "the largest expected improvement by a Gaussian process of all scores so far", Surrogate
        ),
        StrategyRow("portfolio", "surrogate, sweep, independence and paraiso in turn, by their results", Portfolio),
    )
}


def make_strategy(
    name: str, space: SearchSpace, start: tuple[Point, ...], seed: int, births: Mapping[Birth, float] | None = None
) -> Strategy:
    """A strategy by its name; births: the mix of "paraiso". TuningError lists the names."""
    if name not in STRATEGIES:
        raise TuningError(f"there is no strategy {name!r}", advice=f"Use one of {', '.join(STRATEGIES)}.")
    if births is None:
        return STRATEGIES[name].make(space, start, seed)
    if name != "paraiso":
        raise TuningError(f"strategy={name!r} takes no births", advice='Leave out births=, or use strategy="paraiso".')
    return Paraiso(space, start, seed, births)
