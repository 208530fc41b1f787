"""Budgets in seconds: all of a study is in them, the final race too. The clock is advanced by what is measured."""

import time
from math import inf
from pathlib import Path
from types import SimpleNamespace

import pytest

from workbench.errors import TuningError
from workbench.tuning import experiment, race
from workbench.tuning.budget import Budget, that_fit
from workbench.tuning.experiment import Experiment, ExperimentPlan
from workbench.tuning.ledger import open_ledger
from workbench.tuning.replay import Recorded, Replayer, read_landscape
from workbench.tuning.sandbox import Sandbox
from workbench.tuning.trials import Outcome

LANDSCAPE = read_landscape(Path(__file__).parent / "landscapes" / "jac3d.npz")


class Slow(Replayer):
    """Evaluations take `seconds`, the last number for all later ones, a race all that it may.

    Both end at once when their time is over.
    """

    def __init__(self, clock, *seconds):
        super().__init__(LANDSCAPE)
        self.clock, self.seconds, self.races, self.broken = clock, list(seconds), [], []

    def evaluate(self, text, *, against, best, timeout, within, known):
        seconds = self.seconds.pop(0) if len(self.seconds) > 1 else self.seconds[0]
        self.clock.now += min(seconds, within)
        if within < seconds:
            self.broken.append(text)
            return Outcome("timeout", tail="it ran longer than its limit"), ""
        return super().evaluate(text, against=against, best=best, timeout=timeout, within=within, known=known)

    def race(self, texts, *, rounds, timeout, within):
        self.races.append(within)
        self.clock.now += within
        return super().race(texts, rounds=rounds, timeout=timeout, within=within)


@pytest.fixture
def clock(monkeypatch):
    found = SimpleNamespace(now=100.0)
    monkeypatch.setattr(experiment, "time", SimpleNamespace(monotonic=lambda: found.now, time=time.time))
    return found


def run(path, evaluator, budget, begun):
    candidates = Recorded(LANDSCAPE, next(iter(LANDSCAPE.space)))
    plan = ExperimentPlan(candidates, lambda: None, 1, "sweep", Budget(seconds=budget), begun=begun)
    with open_ledger(path) as ledger:
        Experiment(plan, ledger, evaluator, lambda new: None, lambda idle: True).run()
        return ledger.individuals(), ledger.races()


def test_race_is_within_the_budget(tmp_path, clock):
    """Of 40 s that began 3 s ago 12 s at most are for the race, and nothing begins that would run into it."""
    slow = Slow(clock, 4.0)
    individuals, (final,) = run(tmp_path / "s.sqlite", slow, 40.0, 97.0)
    assert clock.now == pytest.approx(97.0 + 40.0)
    assert slow.broken == []
    assert [one.outcome.status for one in individuals] == [
        "success"
    ] * 6  # at 21 s of 28 before the race; at 25 s one more would not fit
    assert slow.races[0] >= 12.0
    assert final.samples


def test_evaluation_that_meets_the_race_is_broken_off_and_begun_again_later(tmp_path, clock):
    """It is no individual, as it did not fail; without a second finalist there is no race."""
    slow = Slow(clock, 10.0, 50.0)
    (start,), races = run(tmp_path / "s.sqlite", slow, 40.0, 100.0)
    assert (start.birth, races) == ("start", [])
    assert clock.now == pytest.approx(140.0)
    (second,) = slow.broken
    individuals, _ = run(tmp_path / "s.sqlite", Slow(clock, 5.0), 40.0, clock.now)
    assert individuals[1].choices == second


@pytest.mark.parametrize("before", [0.0, 60.0])
def test_start_is_measured_however_short_the_budget_is(tmp_path, clock, before):
    """Also where the reference alone took longer than the budget; then the study ends, and a later run goes on."""
    (start,), races = run(tmp_path / "s.sqlite", Slow(clock, 50.0), 8.0, clock.now - before)
    assert (start.birth, start.outcome.status, races) == ("start", "success", [])
    assert clock.now == pytest.approx(150.0)
    assert run(tmp_path / "s.sqlite", Slow(clock, 50.0), 8.0, clock.now - before)[0] == [start]


def test_share_of_a_race():
    assert Budget(evaluations=9).race_seconds([0.01] * 9, 30, 0.1) == 0.0
    assert Budget(seconds=40.0).race_seconds([0.01] * 9, 30, 0.1) == 12.0
    assert 15.0 < Budget(seconds=600.0).race_seconds([0.01] * 9, 30, 0.1) < 25.0
    assert Budget(seconds=600.0).race_seconds([], 30, 0.1) == 0.0


def test_fewer_race_where_a_step_is_long():
    assert that_fit([0.01] * 9, inf, 9.0) == 9
    assert that_fit([1.0] * 9, 10.0, 0.1) == 2
    assert that_fit([0.01] * 9, 10.0, 2.0) == 4
    assert that_fit([5.0] * 9, 10.0, 0.1) == 0
    assert that_fit([], inf, 0.1) == 0


def test_rounds_end_in_time(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(race, "time", SimpleNamespace(monotonic=lambda: now[0]))

    def measure():
        now[0] += 1.0
        return now[0]

    assert race.interleaved([measure, measure], 30, 9.0) == [[1.0, 3.0, 5.0, 7.0], [2.0, 4.0, 6.0, 8.0]]
    assert race.interleaved([measure], 30, 0.0) == [[9.0]]


def test_reference_that_does_not_end_is_told(monkeypatch):
    monkeypatch.setattr(Sandbox, "_ask", lambda self, request: Outcome("timeout", tail="it ran longer than its limit"))
    with pytest.raises(TuningError, match=r"the reference does not run: it ran longer than its limit"):
        Sandbox(None).expect()
