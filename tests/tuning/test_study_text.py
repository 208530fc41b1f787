"""What a study says of itself before it has a result, and after a budget that was too short."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from workbench.errors import TuningError
from workbench.tuning.formats import ConfigurationRow, MeasurementTable
from workbench.tuning.sandbox import Sandbox
from workbench.tuning.study import Best, Study
from workbench.tuning.study_text import changes_text
from workbench.tuning.tables import keep_table
from workbench.tuning.trials import Individual, Outcome
from workbench.views.study.summary import summarise_study

START = np.sin(np.arange(4096.0))


@pytest.fixture(scope="module")
def mean():
    return wb.trace('u = field("u", boundary="periodic")\nu.next = 0.5 * (u[-1] + u[+1])', dim=1, name="mean")


def test_budget_that_ends_at_once_gives_the_start(mean, tmp_path, monkeypatch):
    """What a study says before the first result, and when no time was left for another one."""
    monkeypatch.setattr(Study, "waits_for", None)  # other studies may be under way on this machine
    study = mean.tune(u=START, budget="0.01 s", path=tmp_path / "s.sqlite", backend="openmp")
    before = repr(study)
    assert before.startswith("<Study mean running: 0 tried, the reference and the start come first, ")
    assert before.endswith(("the budget has ended>", "about 1 s left>"))
    assert study.wait(300).best.individual.birth == "start"
    assert repr(study).startswith("<Study mean done: 1 tried, best ")
    assert repr(study).endswith(" cells/s, 1.00 x the start, the budget ended with that>")
    assert study.races == ()


@pytest.mark.parametrize(
    ("value", "cause"), [(1.0, "no field has changed in the timed steps"), (np.nan, "u is not finite after")]
)
def test_values_that_tell_nothing_end_a_study(mean, tmp_path, monkeypatch, value, cause):
    monkeypatch.setattr(Study, "waits_for", None)
    given = {"u": np.full(4096, value), "path": tmp_path / "s.sqlite", "backend": "openmp"}
    for _ in range(2):  # the second time the start is known
        study = mean.tune(budget=9, **given)
        with pytest.raises(TuningError, match=r"(?s)with these values: .*\nGive a state that goes on changing"):
            study.wait(300)
        assert f"failed: 1 tried, nothing can be tuned with these values: {cause}" in repr(study)
        assert f"\nnothing can be tuned with these values: {cause}" in summarise_study(study).text()


def test_study_of_another_process_that_has_begun_says_what_comes_first():
    watched = Study(Path("none"), {"program": "mean"})
    assert repr(watched) == "<Study mean watching: 0 tried, the reference and the start come first>"


def test_study_that_fails_says_why(mean, tmp_path, monkeypatch):
    monkeypatch.setattr(Study, "waits_for", None)
    monkeypatch.setattr(Sandbox, "_ask", lambda self, request: Outcome("runtime", tail="no room"))
    study = mean.tune(u=START, budget=2, path=tmp_path / "s.sqlite", backend="openmp")
    with pytest.raises(TuningError):
        study.wait(300)
    assert repr(study) == "<Study mean failed: 0 tried, the reference does not run: no room>"


def test_best_names_its_first_changes_only():
    """One of an evolution from everything Delayed had a thousand, 60,000 characters."""
    changes = ", ".join(f"storage of step.v{number} = manifest" for number in range(1000))
    one = Individual(7, (0,), "", changes, "paraiso", "random", (), Outcome("success", (0.5,)), 2.0, 0, 0.0)
    text = repr(Best(one, 2.0, 1.5, {"extents": (2, 3)}))
    assert text.startswith("<best of the study: 2 cells/s, 1.50 x the start, by storage of step.v0 = manifest, ")
    assert text.endswith("storage of step.v5 = manifest and 994 more (individual 7, paraiso)>")


def test_changes_have_the_labels_of_their_choices():
    about = {"tunables": ["storage of step.add (value 3)"], "labels": ["storage of u[+1, 0] + u (line 2)"]}
    changes = "storage of step.add (value 3) = manifest, threads = 2"
    one = Individual(7, (0,), "", changes, "paraiso", "random", (), Outcome("success", (0.5,)), 2.0, 0, 0.0)
    assert changes_text(one, about) == "storage of u[+1, 0] + u (line 2) = manifest, threads = 2"


@pytest.mark.parametrize(
    ("types", "said"),
    [
        ("wwwww", "all values f64"),
        ("wwwnw", "all values f64 but d f32"),
        ("nwwnw", "all values f64 but a f32 and d f32"),
        ("nnnnn", "all values f32"),
    ],
)
def test_types_are_told_as_what_all_values_have(types, said):
    """One of thirty values listed six of them."""
    names = ["precision of a", "precision of b", "precision of c", "precision of d", "precision of e", "tile"]
    about = {"extents": (2, 3), "tunables": names, "values": [["f32", "f64"]] * 5 + [["0", "64"]]}
    point = (*("nw".index(letter) for letter in types), 1)
    changes = ", ".join(
        f"{name} = {about['values'][at][value]}" for at, (name, value) in enumerate(zip(names, point, strict=True))
    )
    one = Individual(7, point, "", changes, "sweep", "random", (), Outcome("success", (0.5,)), 2.0, 0, 0.0)
    assert f", by {said}, tile = 64 (" in repr(Best(one, 2.0, 1.5, about))
    some = {**about, "asked": {"only": None, "fixed": ["precision of f"]}}
    assert f", by {said.replace('all values', 'all tuned values')}, tile = 64 (" in repr(Best(one, 2.0, 1.5, some))
    only = replace(one, changes="tile = 64")
    assert ", by tile = 64 (" in repr(Best(only, 2.0, 1.5, about))


def test_mixed_types_are_listed():
    about = {"extents": (1,), "tunables": ["precision of a", "precision of b"], "values": [["f32", "f64"]] * 2}
    changes = "precision of a = f64, precision of b = f32"
    one = Individual(7, (1, 0), "", changes, "sweep", "random", (), Outcome("success", (0.5,)), 2.0, 0, 0.0)
    assert f", by {changes} (" in repr(Best(one, 2.0, 1.5, about))


@pytest.mark.parametrize(("load", "varies"), [(1.05, False), (9.0, True)])
def test_study_on_a_busy_machine_says_that_times_vary(load, varies):
    """Half of the measurements of the start, beside which others are measured, take so many times its least."""
    space = {"tunables": ["tile"], "labels": ["tile"], "values": [["1", "2", "3", "4"]]}
    study = Study(Path("none"), {"program": "mean", "backend": "openmp", "extents": (64,), **space})
    for number in (1, 2, 3, 4):
        found = Outcome("success", (1.0,) * 7, beside=(1.0, 1.0, *[load] * 5) if number > 1 else ())
        study._take(Individual(number, (number - 1,), "", "", "sweep", "start", (), found, 64.0, 0, 0.0, against=1))
    assert repr(study).endswith(", times vary 9-fold>") == varies
    said = "half of the measurements of one individual took more than 9 x its least, as other work runs here"
    assert (said in summarise_study(study).text()) == varies


def test_load_that_moves_the_start_alone_is_told():
    """A team of two threads on busy cores, and one thread that was measured more often and is steady."""
    study = Study(
        Path("none"), {"program": "mean", "backend": "openmp", "extents": (64,), "tunables": [], "values": []}
    )
    steady, moved = (1.0,) * 30, (0.1, *[9.0] * 24)
    for number, samples in ((1, moved), (2, steady)):
        found = Outcome("success", samples)
        study._take(Individual(number, (number,), "", "", "sweep", "start", (), found, 64.0, 0, 0.0))
    assert repr(study).endswith(", times vary 90-fold>")


def test_study_is_drawn_where_there_was_no_machine_before(tmp_path):
    """A notebook that looks at the study of another one."""
    rows = tuple(ConfigurationRow((at,), "success", (at / 1e5,)) for at in (32, 64))
    keep_table(MeasurementTable("foreign", "gpu", (), {"block": (32, 64)}, rows), tmp_path / "s.sqlite")
    code = f"import workbench; print(*workbench.Study.attach({str(tmp_path / 's.sqlite')!r})._repr_mimebundle_())"
    called = [sys.executable, "-c", code]
    found = subprocess.run(called, check=True, cwd=Path(__file__).parents[2], capture_output=True, text=True)
    assert "image/png" in found.stdout.split()


def test_results_of_another_tuner_without_a_size_are_told_in_seconds(tmp_path):
    """There are no cells to count."""
    table = MeasurementTable(
        "foreign",
        "gpu",
        (),
        {"block": (32, 64)},
        tuple(ConfigurationRow((at,), "success", (at / 1e5,)) for at in (32, 64)),
    )
    keep_table(table, tmp_path / "s.sqlite")
    study = Study.attach(tmp_path / "s.sqlite")
    assert repr(study) == "<Study foreign done: 2 tried, best 320 µs, 1.00 x the start>"
    assert repr(study.best).startswith("<best of the study: 320 µs, 1.00 x the start, by block = 32 ")
    text = summarise_study(study).text()
    assert text.startswith("study of foreign on gpu: done, 2 tried\n")
    assert "best: number 1, 320 µs, 1.00 x the start: block = 32" in text
