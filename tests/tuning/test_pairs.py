"""Pairs: candidates and finalists in turn with others, and how well the fastest is found while the load changes."""

import json
import random
from itertools import count
from math import inf
from operator import mul
from pathlib import Path

import numpy as np
import pytest

from tests.kit.measurements import measured
from workbench.tuning.budget import Budget
from workbench.tuning.experiment import Experiment, ExperimentPlan
from workbench.tuning.ledger import open_ledger
from workbench.tuning.race import in_pairs, lower_quartile, raced_seconds
from workbench.tuning.replay import Recorded, Replayer, read_landscape

FOLDER = Path(__file__).parent / "landscapes"
SEEDS = 10
BUDGET = 60


@pytest.fixture
def quick_studies():
    """None: how often is measured is what is looked at, and recorded landscapes take no time."""


def test_lower_quartile_is_between_the_least_and_the_median():
    assert lower_quartile([3.0]) == 3.0
    assert lower_quartile([3.0, 1.0]) == 1.5
    assert lower_quartile([5.0, 1.0, 2.0, 4.0, 3.0]) == 2.0
    draw = [random.Random(3).random() for _ in range(30)]
    assert lower_quartile(draw) == pytest.approx(np.quantile(draw, 0.25), rel=1e-15)


def test_turns_of_a_pair_favour_nobody():
    """What the load adds from measurement to measurement, and what it multiplies, is of both."""
    calls = []

    def rising(name, seconds):
        def measure():
            calls.append(name)
            return seconds * (1.0 + 0.1 * len(calls))

        return measure

    own, others = in_pairs(rising("A", 2.0), rising("B", 1.0), 4, 2.0)
    assert "".join(calls[:8]) == "BAABBAAB"
    assert len(own) == len(others)
    assert sum(own[:4]) / sum(others[:4]) == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("ratios", "best", "count"),
    [
        ([1.31, 1.31, 1.0], 1.0, 2),  # no hope after two
        ([31.0, 31.0, 31.0, 1.0], 1.0, 3),  # nor after three that may have been disturbed
        ([31.0, 31.0, *[1.0] * 12], 1.0, 7),  # as two of these were
        ([9.0, 1.3, 9.0, 9.0, 9.0, 9.0, 9.0], 1.0, 7),  # the least ratio is hope, and the halves say that it was luck
        ([1.0] * 14, 1.0, 7),
        ([1.0, 0.9] * 7, 1.0, 14),  # one half of the pairs contradicts the other
        ([1.0] * 14, inf, 7),  # nothing to compare with
    ],
)
def test_pairs_are_measured_until_they_tell_enough(ratios, best, count):
    """The load doubles in the middle; ratios are what counts."""
    load = [1.0] * (count // 2) + [2.0] * 14
    own, given = measured([ratio * factor for ratio, factor in zip(ratios, load, strict=False)])
    beside, _ = measured(load)
    found = in_pairs(own, beside, 7, best)
    assert found == (tuple(given), tuple(load[:count]))
    assert len(given) == count


def test_load_of_a_round_is_of_no_finalist():
    loads = (1.0, 3.0, 2.0, 1.5, 2.5)
    first, second = raced_seconds([[1.0 * load for load in loads], [0.9 * load for load in loads]])
    assert second / first == pytest.approx(0.9)
    assert first == pytest.approx(1.5)
    assert raced_seconds([(4.0, 2.0), (1.0,)]) == [2.5, 1.0]  # of heats
    assert raced_seconds([]) == []


def test_a_round_without_load_in_common_adds_no_chance():
    """Each sample is disturbed by itself or not at all: what rounds seem to have taken is left out."""
    draw = random.Random(3)
    rows = [[least * (3.0 if draw.random() < 0.4 else 1.0) for _ in range(30)] for least in (1.0, 1.01, 1.02)]
    assert raced_seconds(rows) == [lower_quartile(row) for row in rows]
    loads = [draw.uniform(1.0, 2.0) for _ in range(30)]
    first, second, third = raced_seconds([list(map(mul, row, loads)) for row in rows])
    assert first < min(second, third)


def tried_in_order(points, evaluator, landscape, folder):
    """A study of these points alone, the first of which is the start: its individuals."""
    candidates = Recorded(landscape, points[0])
    plan = ExperimentPlan(candidates, lambda: None, 1, "random", Budget(len(points)), start=tuple(points[1:]))
    with open_ledger(folder / "s.sqlite") as ledger:
        Experiment(plan, ledger, evaluator, lambda new: None, lambda idle: True).run()
        return ledger.individuals()


def test_candidates_take_turns_with_the_start_until_one_is_twice_as_fast(tmp_path):
    """Scores are by the start's time of the first minutes, whatever the load is later; what was measured is kept."""
    landscape = read_landscape(FOLDER / "jac3d.npz")
    points = list(landscape.space)[:5]
    seconds = dict(zip(map(json.dumps, points), (10.0, 6.0, 4.0, 3.9, 1.9), strict=True))

    class Timed(Replayer):
        load = 1.0

        def evaluate(self, text, **asked):
            self.load += 1.0
            return super().evaluate(text, **asked)

        def _measure(self, text):
            return lambda: seconds[text] * self.load

    individuals = tried_in_order(points, Timed(landscape), landscape, tmp_path)
    assert [one.against for one in individuals] == [0, 1, 1, 3, 3]
    assert [one.paired for one in individuals] == pytest.approx([0.0, 12.0, 8.0, 7.8, 3.8])
    assert [1 / one.score for one in individuals] == pytest.approx([20.0, 12.0, 8.0, 7.8, 3.8])
    assert individuals[1].outcome.samples == (18.0,) * 7
    assert individuals[1].outcome.beside == (30.0,) * 7
    assert individuals[1].samples == pytest.approx((12.0,) * 7)


def test_a_candidate_that_takes_long_now_and_then_makes_no_other_look_fast(tmp_path):
    """The third takes 30 times longer in most turns with the fourth, which is scored alone; then the start is back."""
    landscape = read_landscape(FOLDER / "jac3d.npz")
    points = list(landscape.space)[:5]
    seconds = dict(zip(map(json.dumps, points), (10.0, 6.0, 4.0, 5.0, 5.0), strict=True))
    third = json.dumps(points[2])

    class Fitful(Replayer):
        def _measure(self, text):
            turns = count()
            fitful = text == third

            def measure():
                return seconds[text] * (30.0 if fitful and self.asked == points[3] and next(turns) else 1.0)

            return measure

        def evaluate(self, text, **asked):
            self.asked = tuple(json.loads(text))
            return super().evaluate(text, **asked)

    individuals = tried_in_order(points, Fitful(landscape), landscape, tmp_path)
    assert [one.against for one in individuals] == [0, 1, 1, 3, 1]
    assert [one.first_seconds for one in individuals] == pytest.approx([10.0, 6.0, 4.0, 5.0, 5.0])


def test_a_start_that_was_measured_under_load_makes_no_other_look_fast(tmp_path):
    """It took ten times as long then; later it has a quiet moment in one turn of seven, and others have one, too."""
    landscape = read_landscape(FOLDER / "jac3d.npz")
    points = list(landscape.space)[:4]
    seconds = dict(zip(map(json.dumps, points), (1.0, 1.5, 0.8, 1.0), strict=True))

    class Busy(Replayer):
        def _measure(self, text):
            turns = count()
            return lambda: seconds[text] * (1.0 if self.later and next(turns) % 7 == 3 else 10.0)

        def evaluate(self, text, *, against, **asked):
            self.later = bool(against)
            return super().evaluate(text, against=against, **asked)

    individuals = tried_in_order(points, Busy(landscape), landscape, tmp_path)
    assert [one.against for one in individuals] == [0, 1, 1, 3]
    assert [one.first_seconds for one in individuals] == pytest.approx([10.0, 15.0, 8.0, 10.0])
    assert individuals[2].hoped == individuals[2].first_seconds
    assert individuals[2].confirmed == pytest.approx(80.0)  # by its second moment
    assert min(individuals[2].samples) == pytest.approx(8.0)


class Loaded(Replayer):
    """jac3d on a machine whose load changes every few seconds, and takes up to three times as long then.

    A measurement takes what it says, by a clock that only these measurements and builds move. alone: nothing takes
    turns with a candidate.
    """

    BUILD, CHANGE = 9.0, 20.0  # seconds

    def __init__(self, landscape, seed, *, alone):
        super().__init__(landscape)
        self._draw, self._seed, self._alone, self._now = random.Random(seed), seed, alone, 0.0

    def evaluate(self, text, *, against, **asked):
        self._now += self.BUILD
        return super().evaluate(text, against="" if self._alone else against, **asked)

    def _measure(self, text):
        least = min(self._landscape.samples[tuple(json.loads(text))])

        def measure():
            load = random.Random(self._seed + 1000 * int(self._now / self.CHANGE)).uniform(1.0, 3.0)
            taken = least * load * (1.0 + abs(self._draw.gauss(0.0, 0.05)))
            self._now += taken
            return taken

        return measure


def test_turns_with_the_start_choose_better_while_the_load_changes(tmp_path):
    """What the best by scores is slower than the fastest that was tried, in the mean of searches; and the winner."""
    landscape = read_landscape(FOLDER / "jac3d.npz")
    first = next(iter(landscape.space))
    found = {}
    for alone in (True, False):
        scored, won = [], []
        for seed in range(SEEDS):
            plan = ExperimentPlan(Recorded(landscape, first), lambda: None, 1, "portfolio", Budget(BUDGET), seed)
            with open_ledger(tmp_path / f"{alone}{seed}.sqlite") as ledger:
                evaluator = Loaded(landscape, seed, alone=alone)
                Experiment(plan, ledger, evaluator, lambda new: None, lambda idle: True).run()
                individuals, (race,) = ledger.individuals(), ledger.races()
            truth = {one.number: landscape.costs[one.point] for one in individuals}
            best = min(truth.values())
            scored.append(truth[max(individuals, key=lambda one: one.score).number] / best - 1)
            won.append(truth[race.winner] / best - 1)
            assert all(bool(one.outcome.beside) == (one.number > 1 and not alone) for one in individuals)
        found[alone] = np.mean(scored), sorted(won)[round(0.95 * len(won)) - 1]
    (scored_alone, won_alone), (scored, won) = found[True], found[False]
    assert scored < 0.3 * scored_alone
    assert won_alone > 0.01
    assert won <= 0.01
