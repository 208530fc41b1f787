"""Portfolio: several searches share what is measured, and the budget by what each has gained."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from workbench.tuning.search_space import Costs, Point, SearchSpace
from workbench.tuning.strategies.base import Known, PointOrigin, Strategy
from workbench.tuning.strategies.independence import Independence
from workbench.tuning.strategies.paraiso import Paraiso
from workbench.tuning.strategies.surrogate import Surrogate
from workbench.tuning.strategies.sweep import CoordinateSweep

ENGINES: Mapping[str, Callable[[SearchSpace, tuple[Point, ...], int], Strategy]] = {
    "sweep": CoordinateSweep,
    "independence": Independence,
    "paraiso": Paraiso,
    "surrogate": Surrogate,
}
"""The searches."""

LEAD: Mapping[str, float] = {"surrogate": 1.0}
"""Those that lead, by their shares, until as many evaluations as a pass over all parameters takes gained nothing."""
LEAD_BESIDE: Mapping[str, float] = {"surrogate": 2.0, "sweep": 1.0}  # sweeps alone change ties, and parts at a time
WIDE = 64  # parameters above which no model sees far: there the sweep leads
LEAD_WIDE: Mapping[str, float] = {"sweep": 1.0}
LEAD_SEEN: Mapping[str, float] = {"surrogate": 1.0, "sweep": 2.0}  # unless an outlook says what they do

PATIENCE = 1.0  # passes over all parameters
LEAST_SHARE = 0.1  # of the budget, for each search
_FADING = 0.98  # of gains and evaluations, each evaluation
_EXPECTED = 0.02  # gain of an evaluation, as a logarithm, before anything is known
_WEIGHT = 10.0  # evaluations that this counts for
_TRIES = 1000  # proposals in a row of points that are known


@dataclass(slots=True)
class _Engine:
    """A search, with its evaluations and the gains of the best score's logarithm, the recent ones counting more."""

    search: Strategy
    evaluations: float = 0.0
    gain: float = 0.0
    waits: bool = False  # until another score is told

    @property
    def worth(self) -> float:
        """Gain of an evaluation."""
        return (self.gain + _EXPECTED * _WEIGHT) / (self.evaluations + _WEIGHT)


@dataclass(slots=True)
class Portfolio:
    """Each proposal is of a search that is drawn by its recent gains; every search is told every score.

    No point is proposed twice. All searches begin with the same points.
    """

    space: SearchSpace
    start: tuple[Point, ...] = ()
    seed: int = 0
    _engines: dict[str, _Engine] = field(init=False)
    _draw: random.Random = field(init=False)
    _known: Known = field(default_factory=dict)
    _origins: dict[Point, PointOrigin] = field(default_factory=dict)  # of the points that were asked for
    _best: float = 0.0
    _unimproved: int = 0  # evaluations since the best score rose
    _led: bool = True
    _lead: Mapping[str, float] = field(init=False)

    def __post_init__(self) -> None:
        self._draw = random.Random(self.seed)
        self._lead = _lead_in(self.space)
        first = self.start or tuple(filter(None, [self.space.random_point(self._draw)]))
        seeds = [self._draw.randrange(2**31) for _ in ENGINES]
        self._engines = {
            name: _Engine(make(self.space, first, seed))
            for (name, make), seed in zip(ENGINES.items(), seeds, strict=True)
        }

    def ask(self) -> Point | None:
        """A new point; None if no search has one until another score is told."""
        for _ in range(_TRIES):
            ready = [name for name, engine in self._engines.items() if not engine.waits]
            if not ready:
                break
            name = self._chosen(ready)
            engine = self._engines[name]
            point = engine.search.ask()
            if point is None:
                engine.waits = True
            elif point in self._known:
                engine.search.tell(point, self._known[point])
            elif point not in self._origins:  # else its score is told to all when it comes
                origin = engine.search.origin(point)
                self._origins[point] = PointOrigin(origin.birth, origin.parents, name)
                return point
        return None

    def tell(self, point: Point, score: float | None, costs: Costs = ()) -> None:
        """The score of a point, for all searches; its gain is the proposer's."""
        for engine in self._engines.values():
            engine.search.tell(point, score, costs)
            engine.waits = False
        if point in self._known:
            return
        self._known[point] = score
        gain = 0.0
        if score is not None and score > self._best:
            gain = math.log(score / self._best) if self._best > 0 else 0.0
            self._best = score
        self._unimproved = 0 if gain > 0 else self._unimproved + 1
        if self._led and self._unimproved > PATIENCE * sum(len(one.values) - 1 for one in self.space.parameters):
            self._led = False
        origin = self._origins.get(point)
        for engine in self._engines.values():
            engine.evaluations *= _FADING
            engine.gain *= _FADING
        if origin is not None and not self._led:  # what the lead gained first says nothing of the others
            self._engines[origin.strategy].evaluations += 1
            self._engines[origin.strategy].gain += gain

    def origin(self, point: Point) -> PointOrigin:
        """Birth and parents as the search says that proposed it, and its name."""
        return self._origins[point]

    def _chosen(self, ready: list[str]) -> str:
        lead = [name for name in self._lead if name in ready]
        if self._led and lead:
            return self._draw.choices(lead, [self._lead[name] for name in lead])[0]
        total = sum(self._engines[name].worth for name in ready)
        shares = [LEAST_SHARE + (1 - LEAST_SHARE * len(ready)) * self._engines[name].worth / total for name in ready]
        return self._draw.choices(ready, shares)[0]


def _lead_in(space: SearchSpace) -> Mapping[str, float]:
    """Those that lead in a space, by their shares."""
    if len(space.parameters) > WIDE:
        return LEAD_WIDE if space.outlook is None else LEAD_SEEN
    return LEAD_BESIDE if len(space.parts) > 1 or (space.ties and space.outlook is None) else LEAD
