"""The model in the report of `bench`: what the ceilings of each round promise, and why it was not so."""

from dataclasses import replace

import pytest

from workbench.backends import processor
from workbench.commands.bench.model import Model, model_of, predict
from workbench.commands.bench.problems import problem_named
from workbench.planning.cost import CacheLevel, HostFigures
from workbench.planning.schedules.forecast import Needs

ROUND = HostFigures(40e9, 1e12, "given", (CacheLevel(1 << 14, 160e9), CacheLevel(1 << 19, 80e9)))
STEP = Model(Needs("step", near=16.0, second=8.0, second_held=1 << 19, memory=8.0, doubles=3.0), 5.0, False, 6.0)
EXPECTED = 1 / ((16 - 8) / 160e9 + 8 / 40e9)


def slower(figures, times):
    return replace(figures, bandwidth=figures.bandwidth / times)


def test_each_round_has_the_ceilings_of_its_own():
    """A round in which memory was twice as slow promises less, and its rate is compared with that."""
    slow = 1 / ((16 - 8) / 160e9 + 8 / 20e9)
    told = predict(STEP, (EXPECTED, 0.9 * slow, 1.1 * EXPECTED), (ROUND, slower(ROUND, 2), ROUND))
    assert told.ratio == pytest.approx(1.0)
    assert told.expected == pytest.approx(EXPECTED)
    assert told.measured == EXPECTED
    assert (told.limit, told.reason) == ("memory", "")
    assert predict(STEP, (EXPECTED,), (replace(ROUND, levels=()),)) is None


@pytest.mark.parametrize(
    ("model", "ratios", "ceilings", "reason"),
    [
        (STEP, (0.7, 0.5), (ROUND, ROUND), "other work ran: its rate varied by 1.4 times between the rounds"),
        (STEP, (0.5, 0.5), (ROUND, slower(ROUND, 1.5)), "other work ran: what memory moves varied by 1.5 times"),
        (replace(STEP, chained=True), (0.5, 0.5), (ROUND, ROUND), "loops of a step run together"),
        (replace(STEP, loads=26.0), (0.5, 0.5), (ROUND, ROUND), "26 loads a cell, most of them not aligned"),
        (STEP, (2.0, 2.0), (ROUND, ROUND), "the model adds the times of caches to that of memory"),
        (STEP, (0.5, 0.5), (ROUND, ROUND), "not explained by the model"),
        (STEP, (0.8, 0.8), (ROUND, ROUND), ""),
    ],
)
def test_a_difference_of_more_than_a_quarter_has_a_reason(model, ratios, ceilings, reason):
    told = predict(model, [ratio * EXPECTED for ratio in ratios], ceilings)
    assert told.reason.startswith(reason)
    assert bool(told.reason) == bool(reason)


def test_slow_operations_are_named():
    model = replace(STEP, needs=replace(STEP.needs, doubles=1000.0))
    told = predict(model, (0.5e9, 0.5e9), (ROUND, ROUND))
    assert (told.limit, told.reason[:20]) == ("arithmetic", "dependent operations")


def test_a_model_says_what_tiles_move_and_the_least_that_they_could(monkeypatch):
    monkeypatch.setattr(processor, "_cache_sizes", lambda: {"2": 1 << 20, "3": 32 << 20})
    machine = problem_named("wave3d").machine("f32")
    tiles, steps = (
        model_of(machine.with_choices(schedule=schedule).plan("openmp"), (192, 192, 192), 2)
        for schedule in ("diamond", "stepwise")
    )
    assert (tiles.needs.shape, steps.needs.shape) == ("tile", "step")
    assert 0 < tiles.least < tiles.least_uncut < tiles.needs.memory < steps.needs.memory == 12
    assert steps.least == steps.least_uncut == tiles.least
    assert tiles.needs.arrays > 2 * 4 * 192**3
    assert not tiles.chained
    assert problem_named("euler2d").machine("f32").plan("openmp").main.plain.chains
