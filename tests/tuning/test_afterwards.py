"""After a study: does its gain hold at another size, and searches that go on from what it found."""

import json
import sqlite3
import time

import numpy as np
import pytest

import workbench as wb
from tests.tuning.conftest import quicken
from workbench.errors import FieldError, RunError, TuningError
from workbench.tuning import afterwards
from workbench.tuning.study import Study
from workbench.tuning.validation import Validation

MEAN = 'u = field("u", boundary="periodic")\nu.next = 0.5 * (u[-1] + u[+1])'
START = np.sin(np.arange(4096.0))


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    machine = wb.trace(MEAN, dim=1, name="mean")
    path = tmp_path_factory.mktemp("study") / "mean.sqlite"
    start = [machine.with_choices(tile=tile) for tile in (16, 64)]
    with pytest.MonkeyPatch.context() as patch:
        quicken(patch)
        return machine.tune(u=START, budget=3, path=path, backend="openmp", only=["tile"], start=start).wait(300)


def test_validation_measures_start_and_best_in_turn_elsewhere(study):
    found = study.validate(shape=8192, u=1.0)
    assert found.extents == (8192,)
    assert len(found.start) == len(found.best) >= 7
    assert all(seconds > 0 for seconds in found.start + found.best)
    assert found.gain == study.best.gain
    assert "8192 cells" in str(found)


def test_the_best_is_one_line_that_says_what_it_changes(study):
    (line,) = repr(study.best).splitlines()
    assert f"{study.best.gain:.2f} x the start, by " in line
    assert study.best.individual.changes in line
    assert len(line) < 200


def test_values_of_the_study_are_taken_where_they_fit(study):
    assert study.validate(steps=3).extents == (4096,)
    assert study.validate(steps=3).steps == 3
    with pytest.raises(FieldError, match="mean needs a value for field u"):
        study.validate(shape=100, steps=1)


def test_an_attached_study_can_be_validated_with_values(study):
    watched = Study.attach(study.path)
    assert watched.validate(steps=2, u=START).extents == (4096,)
    with pytest.raises(FieldError, match="mean needs a value for field u"):
        watched.validate(steps=2)


@pytest.mark.parametrize(
    ("gain", "start", "best", "kept"),
    [(2.0, 4.0, 2.0, 1.0), (2.0, 4.0, 3.0, 0.5), (2.0, 4.0, 5.0, -0.5), (1.002, 4, 5, 1)],
)
def test_kept_is_the_share_of_saved_time(gain, start, best, kept):
    found = Validation((8,), 1, (start, start, 100.0), (best, best, 100.0), gain)
    assert found.kept == pytest.approx(kept)
    assert ("nothing" if gain < 1.01 else f"{kept:.0%} of the gain is kept") in str(found)


def test_choices_that_change_a_result_are_noticed(study, monkeypatch):
    """The start of the comparison is spoilt for one of the two."""
    real = afterwards._seconds
    spoilt = []

    def seconds(simulation, steps):
        if not spoilt:
            spoilt.append(simulation.set(u=2.0))
        return real(simulation, steps)

    monkeypatch.setattr(afterwards, "_seconds", seconds)
    with pytest.raises(TuningError, match="u differs between the study's start and its best"):
        study.validate(steps=1)


def test_refining_goes_on_in_the_file_and_measures_nothing_again(study):
    before = [(one.number, one.outcome, one.told) for one in study.individuals]
    again = study.refine(budget=1).wait(300)
    assert again.path == study.path
    assert [(one.number, one.outcome, one.told) for one in again.individuals[:3]] == before
    assert len(again.individuals) == 4
    assert len({one.point for one in again.individuals}) == 4


def test_refining_at_another_size_begins_with_the_fastest(study):
    further = study.refine(shape=2048, u=np.sin(np.arange(2048.0)), budget=2, top=1).wait(300)
    assert further.path.name == "mean-2048.sqlite"
    assert further.about["extents"] == [2048]
    assert further.individuals[0].birth == "start"
    expected = study.best.choices.plan.cpu.tile
    tiles = [json.loads(one.choices)["plan"]["cpu"]["tile"] for one in further.individuals]
    assert expected in tiles
    assert study.refine(shape=2048, u=np.sin(np.arange(2048.0)), budget=1).wait(300).path.name == "mean-2048-2.sqlite"


def test_refining_in_another_part_of_the_space(study):
    further = study.refine(budget=2, only=["threads"], top=0).wait(300)
    assert further.about["tunables"] == ["threads"]
    assert further.path.name == "mean-4096.sqlite"


@pytest.mark.parametrize(
    ("call", "error", "cause"),
    [
        (lambda study: study.validate(steps=0), TuningError, "steps=0 is no number of steps"),
        (lambda study: study.validate(shape=(3, 3), u=1.0), wb.StencilError, "has 2 extents"),
        (lambda study: study.refine(strategy="swep", path=study.path), TuningError, "no strategy 'swep'"),
    ],
)
def test_what_makes_no_sense_is_refused(study, call, error, cause):
    with pytest.raises(error, match=cause):
        call(study)


def test_a_file_without_its_program_is_refused(study, tmp_path):
    """One of an earlier version."""
    path = tmp_path / "old.sqlite"
    with sqlite3.connect(study.path) as source, sqlite3.connect(path) as copy:
        source.backup(copy)
        copy.execute("DELETE FROM about WHERE name = 'graph'")
    source.close()
    copy.close()
    with pytest.raises(TuningError, match="does not hold its program"):
        Study.attach(path).validate(steps=1, u=1.0)


def test_refining_takes_the_mix_of_births(study, tmp_path):
    mixed = {"strategy": "paraiso", "births": {"mutation": 1}, "top": 2}
    further = study.refine(shape=1024, u=START[:1024], budget=6, path=tmp_path / "m.sqlite", **mixed).wait(300)
    births = {one.birth for one in further.individuals}
    assert "mutation" in births
    assert not births & {"crossover", "triangulation"}
    with pytest.raises(TuningError, match="takes no births"):
        study.refine(budget=1, path=tmp_path / "n.sqlite", births={"mutation": 1})


def test_what_an_attached_study_lacks_is_said(study):
    """Its file has no arrays; a study of this process has some of its own shape."""
    attached = Study.attach(study.path)
    for call in (lambda: attached.refine(budget=1), lambda: attached.validate(steps=1)):
        with pytest.raises(
            FieldError, match=r"mean needs a value for field u: a study's file keeps no arrays\nPass u="
        ):
            call()
    with pytest.raises(FieldError, match=r"field u: the study's are of shape \(4096,\), not \(2048,\)"):
        study.refine(shape=2048, budget=1)
    assert attached.validate(steps=1, u=START).steps == 1


def test_a_running_study_is_not_refined(study, tmp_path):
    machine = wb.trace(MEAN, dim=1, name="mean")
    running = machine.tune(u=START, budget=50, path=tmp_path / "s.sqlite", backend="openmp", only=["tile"])
    try:
        with pytest.raises((TuningError, RunError), match="still runs"):
            running.refine(budget=1)
    finally:
        running.stop().wait(300)


def test_an_open_simulation_goes_on_with_the_best(study):
    machine = wb.trace(MEAN, dim=1, name="mean")
    with machine.simulate(u=START, backend="openmp") as sim, machine.simulate(u=START, backend="openmp") as other:
        sim.run(3)
        assert study.use(sim).wait(60).stage == "running"
        assert sim.compiled.plan.choices.plan == study.best.choices.plan
        sim.run(4)
        other.run(7)
        assert np.array_equal(sim.u, other.u)


def test_what_is_not_of_the_study_does_not_take_its_choices(study):
    doubled = wb.trace('u = field("u", boundary="periodic")\nu.next = u + u', dim=1, name="doubled")
    with doubled.simulate(u=START) as sim, pytest.raises(TuningError, match="another program was tuned: mean"):
        study.use(sim)
    machine = wb.trace(MEAN, dim=1, name="mean")
    with machine.simulate(u=START, backend="reference") as sim, pytest.raises(TuningError, match="runs on reference"):
        study.use(sim)
    with pytest.raises(TuningError, match="nothing in this study has passed"):
        Study(study.path, study.about).use(sim)


def test_all_open_simulations_of_the_program_take_the_best_and_no_other(study):
    machine = wb.trace(MEAN, dim=1, name="mean")
    number = study.best.individual.number
    with machine.simulate(u=START, backend="openmp") as sim:
        assert afterwards.use_everywhere(study) == f"1 simulation now goes on with number {number}"
        deadline = time.monotonic() + 60
        while sim.compiled.plan.choices.plan != study.best.choices.plan and time.monotonic() < deadline:
            sim.run(1)
        assert sim.compiled.plan.choices.plan == study.best.choices.plan
    assert afterwards.use_everywhere(study) == "no simulation of this program is open here on openmp"


def test_a_study_says_how_much_is_left(study, tmp_path):
    assert (study.workers, study.seconds_left) == (0, None)
    machine = wb.trace(MEAN, dim=1, name="mean")
    running = machine.tune(u=START, budget="10 min", path=tmp_path / "s.sqlite", backend="openmp")
    try:
        assert running.workers == 1
        assert 500 < running.seconds_left <= 600
    finally:
        running.stop().wait(60)
    assert running.seconds_left is None
