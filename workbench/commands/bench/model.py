"""Model: how fast a schedule of ours should be by its plan and the ceilings of each round, and why it is not.

The forecast is `workbench.planning.schedules.forecast`; here it meets what was measured in the same round.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from workbench.backends.processor import cache_bytes
from workbench.backends.tile_sizes import tile_sizes_here
from workbench.planning.cost import HostFigures, step_cost
from workbench.planning.plan import Plan
from workbench.planning.plan_figures import memory_bytes
from workbench.planning.schedules.forecast import Forecast, Needs, needs_of
from workbench.planning.schedules.least_traffic import least_bytes

AGREES = 0.25  # measured over predicted is as near to 1
_STEADY = 1.25  # the largest of a ceiling's rounds over the smallest, beyond which other work took part of the machine
_MANY_LOADS = 12  # of a cell, beyond which not bytes but instructions and unaligned loads are what counts


@dataclass(frozen=True, slots=True)
class Model:
    """What an update needs by the plan of one of our schedules, and the least that tiles move with such caches.

    loads: of a cell. chained: loops of a step run together, which the forecast does not know. least: bytes of any tiles
    that share nothing; least_uncut: of those that leave the axes whole that this schedule does not cut.
    """

    needs: Needs
    loads: float
    chained: bool
    operations: float
    least: float = 0.0
    least_uncut: float = 0.0

    @classmethod
    def read(cls, answer: Mapping[str, Any]) -> Model:
        """Of what a worker answered."""
        return cls(**{**answer, "needs": Needs(**answer["needs"])})


def model_of(plan: Plan, extents: tuple[int, ...], threads: int) -> Model:
    """The model of a plan on this machine: of its tiles where steps run together and have room, else of its steps."""
    kernel = plan.main
    sizes = tile_sizes_here(kernel, extents, plan.choices.plan.tiling, threads)
    *_, needs = needs_of(kernel, extents, sizes, cache_bytes(), memory_bytes(plan, extents))
    cost = step_cost(kernel.plain)
    whole = () if kernel.tiling is None else kernel.tiling.whole
    least, uncut = (least_bytes(kernel, extents, cache_bytes(), axes) for axes in ((), whole))
    return Model(needs, cost.loads, bool(kernel.plain.chains), cost.flops, least, uncut)


@dataclass(frozen=True, slots=True)
class Prediction:
    """Medians over rounds: updates a second that were expected and measured, the ratio of both inside a round.

    limit: what should take the most time. reason: why they differ by more than a quarter, "" where they do not.
    """

    expected: float
    measured: float
    ratio: float
    limit: str
    reason: str


def predict(model: Model, rates: Sequence[float], ceilings: Sequence[HostFigures]) -> Prediction | None:
    """What the ceilings of each round promise, beside the rates of the same rounds; None without caches' figures."""
    forecasts = [model.needs.forecast(figures) for figures in ceilings]
    told = [(each, rate) for each, rate in zip(forecasts, rates, strict=True) if each is not None]
    if not told:
        return None
    ratio = median(rate / each.rate for each, rate in told)
    middle = sorted((each for each, _ in told), key=lambda each: each.rate)[len(told) // 2]
    reason = "" if abs(ratio - 1) <= AGREES else _reason(model, middle, ratio, rates, ceilings)
    return Prediction(median(each.rate for each, _ in told), median(rates), ratio, middle.limit, reason)


def _reason(
    model: Model, forecast: Forecast, ratio: float, rates: Sequence[float], ceilings: Sequence[HostFigures]
) -> str:
    """The first cause that the figures themselves show; the model has no other."""
    for name, values in {"its rate": rates, **_ceilings(ceilings)}.items():
        if max(values) > _STEADY * min(values):
            return f"other work ran: {name} varied by {max(values) / min(values):.2g} times between the rounds"
    if model.chained:
        return "loops of a step run together, block by block, which the model counts one by one"
    if ratio < 1 and model.loads >= _MANY_LOADS:
        return f"{model.loads:.0f} loads a cell, most of them not aligned; the model counts their bytes alone"
    if ratio < 1 and forecast.limit == "arithmetic":
        return "dependent operations wait for each other; the model counts how many there are"
    if ratio > 1 and forecast.limit == "memory":
        return "the model adds the times of caches to that of memory; here they pass beside it"
    return "not explained by the model"


def _ceilings(ceilings: Sequence[HostFigures]) -> dict[str, Sequence[float]]:
    """What a forecast divides by, round by round."""
    return {
        "what memory moves": [figures.bandwidth for figures in ceilings],
        "what the nearest cache moves": [figures.levels[0].bandwidth for figures in ceilings if figures.levels],
        "arithmetic": [figures.flops for figures in ceilings],
    }
