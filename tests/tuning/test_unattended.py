"""Studies in which 30 % of the candidates fail, in every way there is: all end by themselves and say what happened."""

import json
import random
from pathlib import Path

import pytest

from workbench.errors import TuningError
from workbench.tuning.budget import Budget
from workbench.tuning.experiment import ExperimentPlan
from workbench.tuning.replay import Recorded, Replayer, read_landscape
from workbench.tuning.strategies.registry import STRATEGIES
from workbench.tuning.study import Study, begin_study
from workbench.tuning.trials import STATUSES, Outcome
from workbench.views.study.summary import summarise_study

ABOUT = {"program": "jac3d", "key": "k", "backend": "replay", "extents": [1]}
BUDGET = 120


@pytest.fixture(scope="module")
def landscape():
    return read_landscape(Path(__file__).parent / "landscapes" / "jac3d.npz")


class Hostile:
    """A landscape of which 30 % of the points fail, always the same ones in the same way."""

    def __init__(self, landscape):
        self.frozen = Replayer(landscape)
        self.race, self.close = self.frozen.race, self.frozen.close

    def evaluate(self, text, *, against, best, timeout, within, known):
        draw = random.Random(text)
        if draw.random() < 0.3:
            return Outcome(draw.choice(STATUSES[1:]), tail="the last words"), ""
        return self.frozen.evaluate(text, against=against, best=best, timeout=timeout, within=within, known=known)


def started(landscape, path, evaluator, strategy, workers=1):
    candidates = Recorded(landscape, next(iter(landscape.space)))
    plan = ExperimentPlan(candidates, lambda: evaluator, 1, strategy, Budget(BUDGET), 3, workers=workers)
    return begin_study(path, plan, ABOUT)


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_study_ends_by_itself(landscape, tmp_path, strategy, workers):
    study = started(landscape, tmp_path / "s.sqlite", Hostile(landscape), strategy, workers).wait(120)
    assert study.state == "done"
    assert len(study.individuals) == len({one.point for one in study.individuals}) == BUDGET
    failed = [one for one in study.individuals if one.outcome.status != "success"]
    assert len(failed) >= 0.15 * BUDGET  # a search goes where less fails
    assert all(one.score is None and one.outcome.tail == "the last words" for one in failed)
    (race,) = study.races
    assert not {one.number for one in failed} & {number for number, _ in race.samples}
    assert study.best.individual.number == race.winner
    results = json.loads(study.export(tmp_path / "t4.json").read_text())["results"]
    words = {"success": "correct", "constraint": "constraints"}
    assert [result["invalidity"] for result in results] == [
        words.get(one.outcome.status, one.outcome.status) for one in study.individuals
    ]


def test_study_of_which_all_candidates_fail_has_no_best(landscape, tmp_path):
    class Nothing(Hostile):
        def evaluate(self, text, *, against, best, timeout, within, known):
            return Outcome("compile", tail="no"), ""

    study = started(landscape, tmp_path / "s.sqlite", Nothing(landscape), "portfolio").wait(120)
    assert (study.state, study.best, study.races) == ("done", None, ())
    assert len(study.individuals) == BUDGET


def test_race_that_breaks_off_is_told_and_takes_nothing(landscape, tmp_path):
    """The best is then the fastest by its first samples."""

    class Broken(Replayer):
        def race(self, texts, *, rounds, timeout, within):
            raise TuningError("the race of finalists broke off: no luck", advice="Resume the study.")

    study = started(landscape, tmp_path / "s.sqlite", Broken(landscape), "sweep").wait(120)
    (race,) = study.races
    assert "no luck" in race.tail
    assert race.winner is None
    assert study.best.score == max(one.score for one in study.individuals)
    assert Study.attach(study.path).races == (race,)


def test_fault_of_ours_is_raised_to_who_waits(landscape, tmp_path):
    class Faulty(Replayer):
        def evaluate(self, text, *, against, best, timeout, within, known):
            raise ZeroDivisionError

    study = started(landscape, tmp_path / "s.sqlite", Faulty(landscape), "sweep", workers=2)
    with pytest.raises(ZeroDivisionError):
        study.wait(120)
    assert study.state == "failed"
    assert repr(study) == "<Study jac3d failed: 0 tried, ZeroDivisionError>"
    assert Study.attach(study.path).state == "failed"


def test_study_whose_file_goes_keeps_what_it_has_and_says_so(landscape, tmp_path):
    path, begun = tmp_path / "s.sqlite", []

    class Removing(Replayer):
        def evaluate(self, text, *, against, best, timeout, within, known):
            begun.append(text)
            if len(begun) == 3:
                path.unlink()
            return super().evaluate(text, against=against, best=best, timeout=timeout, within=within, known=known)

    study = started(landscape, path, Removing(landscape), "sweep")
    with pytest.raises(TuningError, match="was removed or replaced"):
        study.wait(120)
    assert len(study.individuals) == 2
    for text in (repr(study), summarise_study(study).text()):
        assert f"{path} was removed or replaced while its study ran" in text
    assert len(json.loads(study.export(tmp_path / "t4.json").read_text())["results"]) == len(study.individuals)


def test_equal_phenotypes_under_way_are_measured_once(landscape, tmp_path):
    """Three workers at points that are one program: one measures, the others wait for it and take its samples."""
    measured = []

    class Same(Replayer):
        def evaluate(self, text, *, against, best, timeout, within, known):
            if known("p"):
                return None, "p"
            measured.append(text)
            return Outcome("success", (1.0, 2.0)), "p"

    study = started(landscape, tmp_path / "s.sqlite", Same(landscape), "random", workers=3).wait(120)
    assert len(measured) == 1
    first, *others = study.individuals
    assert (first.same_as, {one.same_as for one in others}) == (0, {1})
    assert {one.outcome.samples for one in others} == {(1.0, 2.0)}
    assert len(study.individuals) == BUDGET
