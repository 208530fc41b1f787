"""Types in a study: only under a bound for the error of results, which is told of each and kept by the best."""

import numpy as np
import pytest

import workbench as wb
from workbench.errors import TuningError
from workbench.graph.types import DD
from workbench.planning.exchange import from_json
from workbench.run.precision.errors import error_beside_dd
from workbench.tuning.machine_space import machine_space
from workbench.tuning.study import Study
from workbench.tuning.wisdom import read_wisdom
from workbench.views.study.view import open_study_view

CELL = """
u = field("u", boundary="periodic")
left = u[-1] + u
mean = 0.25 * (left + left[+1])
u.next = mean + 1e-3 * tanh(u)
"""
START = np.sin(np.linspace(0, 6.28, 300))


@pytest.fixture(scope="module")
def machine():
    return wb.trace(CELL, name="mean")


def ran(machine, tmp_path, monkeypatch, backend, bound):
    monkeypatch.setenv("WORKBENCH_WISDOM", str(tmp_path / "wisdom.jsonl"))
    asked = {"only": ["precision"], "strategy": "exhaustive", "bound": bound, "steps": 5, "budget": 4}
    study = machine.tune(u=START, backend=backend, path=tmp_path / "s.sqlite", **asked)
    assert study.wait(300).state == "done"
    return study


@pytest.mark.parametrize("backend", ["reference", "openmp"])
def test_errors_are_those_of_a_precision_report(machine, tmp_path, monkeypatch, backend):
    """Of each candidate, with the machine that its choices make."""
    study = ran(machine, tmp_path, monkeypatch, backend, 1e-5)
    assert [one.outcome.status for one in study.individuals] == ["success"] * 4
    assert {one.changes.count("f32") for one in study.individuals} >= {0, 2, 3}
    for one in study.individuals:
        report = machine.with_choices(from_json(one.choices)).precision_report(u=START, steps=5)
        assert one.outcome.error == pytest.approx(report.largest_error, rel=0.01)  # dd has tanh in f64
    assert study.best.error == study.best.individual.outcome.error < 1e-5
    assert study.best.choices.meaning == from_json(study.best.individual.choices).meaning


def test_whoever_breaks_the_bound_is_no_candidate(machine, tmp_path, monkeypatch):
    study = ran(machine, tmp_path, monkeypatch, "reference", 1e-12)
    first, *others = study.individuals
    assert (first.outcome.status, first.changes) == ("success", "")
    assert {one.outcome.status for one in others} == {"correctness"}
    assert all(one.outcome.error > 1e-8 for one in others)
    assert all("u has a relative error of" in one.outcome.tail for one in others)
    assert all("after 5 steps, above the bound 1e-12" in one.outcome.tail for one in others)
    assert study.best.choices.meaning.precision == ()
    assert Study.attach(study.path).individuals == study.individuals
    said = str(open_study_view(study))
    assert "bound: relative error of results at most 1e-12 after 5 steps, broken by 3 of 4" in said


def test_what_is_narrow_inside_may_differ_as_narrow_numbers_do(tmp_path, monkeypatch):
    """A root of f32 within 2 units of its last place, in a field of f64."""
    monkeypatch.setenv("WORKBENCH_WISDOM", str(tmp_path / "wisdom.jsonl"))
    machine = wb.trace('u, v = fields("u v")\nv.next = 0.5 * v + rsqrt(u * u + 1)\nu.next = 0.9 * u', name="root")
    narrow = machine.with_precision(u="f32")
    asked = {"only": ["precision"], "bound": 1e-5, "steps": 5, "budget": 2, "start": [narrow]}
    study = machine.tune(u=START, v=0.0, backend="openmp", path=tmp_path / "s.sqlite", **asked)
    assert study.wait(300).state == "done"
    assert ["of u = f32" in one.changes for one in study.individuals] == [False, True]
    assert [one.outcome.status for one in study.individuals] == ["success"] * 2, study.individuals[1].outcome.tail


def test_other_types_are_never_taken_unasked(machine, tmp_path, monkeypatch):
    """What a study keeps for `choices="best"` has the machine's types; who asks passes the choices."""
    study = ran(machine, tmp_path, monkeypatch, "reference", 1e-5)
    kept = read_wisdom().results
    assert [one.choices.meaning.precision for one in kept] == [()]
    narrow = next(one for one in study.individuals if "precision of u = f32" in one.changes)
    monkeypatch.setattr(Study, "best", property(lambda self: self.best_of(lambda one: one == narrow)))
    assert study.best.gain > 0
    assert machine.simulate(choices=study.best.choices, u=START).u.dtype == np.float32
    assert machine.simulate(choices="best", u=START, backend="reference").u.dtype == np.float64
    running = machine.simulate(u=START, backend="reference")
    with pytest.raises(TuningError, match="other types than this simulation"):
        study.use(running)
    with pytest.raises(TuningError, match="has other bound"):
        machine.tune(u=START, backend="reference", path=study.path, only=["precision"], bound=1e-6, steps=5, budget=1)


def test_storage_keeps_its_meaning_in_other_types(machine):
    """Keys of values change with their types; choices follow the values."""
    space = machine_space(machine.graph, machine.choices, "openmp", only=["storage", "precision"], bound=1e-6)
    names = [row.name for row in space.space.parameters]
    point = list(space.start)
    for name, value in (("storage of step.mean", "manifest"), ("storage of step.left", "delayed")):
        at = names.index(name)
        point[at] = space.space.parameters[at].values.index(value)
    for narrow in ("precision of u", "precision of left"):
        point[names.index(narrow)] = 0
        plan = machine.with_choices(space.choices(tuple(point))).plan("openmp").main
        stored = {
            name: storage.value
            for node, storage in zip(plan.kernel.nodes, plan.storage, strict=True)
            for name in node.names
        }
        assert (stored["mean"], stored["left"]) == ("Manifest", "Delayed")
    assert space.changes(tuple(point))["precision of u"] == "f32"
    assert space.key == machine.plan("openmp").graph.fingerprint()


def test_types_are_in_the_space_under_a_bound_only(machine):
    def types(**options):
        space = machine_space(machine.graph, machine.choices, "openmp", **options).space
        return {row.name: row.values for row in space.parameters if row.name.startswith("precision")}

    assert types() == {}
    assert types(bound=1e-6) == dict.fromkeys([f"precision of {n}" for n in ("u", "left", "mean")], ("f32", "f64"))
    assert types(bound=1e-20)["precision of u"] == ("f32", "f64", "dd")
    assert set(types(bound=1e-6, fixed=["precision of u"])) == {"precision of left", "precision of mean"}
    tied = machine_space(machine.graph, machine.choices, "openmp", only=["precision"], bound=1e-6, tree="derived")
    assert tied.space.ties == ((0, 1, 2),)
    assert sorted(tied.space.tree.flatten()) == sorted(row.name for row in tied.space.parameters)


@pytest.mark.parametrize(
    ("wrong", "cause"),
    [
        ({"bound": 0}, "no relative error"),
        ({"bound": 1e-40}, "no relative error"),
        ({"bound": "small"}, "no relative error"),
        ({"bound": True}, "no relative error"),
        ({"bound": 1e-6, "steps": 0}, "no number of steps"),
        ({"bound": 1e-20}, "line 5: tanh computes in f64"),
        ({"only": ["precision"]}, "there is nothing to tune that is called 'precision'"),
    ],
)
def test_what_is_no_bound_is_refused(machine, tmp_path, wrong, cause):
    with pytest.raises(TuningError, match=cause):
        machine.tune(u=START, backend="reference", path=tmp_path / "s.sqlite", **wrong)
    assert not (tmp_path / "s.sqlite").exists()


def test_errors_beside_dd():
    exact = np.zeros(3, DD.numpy)
    exact["hi"], exact["lo"] = [1.0, -4.0, np.nan], [1e-20, 0.0, 0.0]
    assert error_beside_dd(np.array([1.0, -4.0, np.nan]), exact) == pytest.approx(2.5e-21)
    assert error_beside_dd(np.array([1.0, -4.5, np.nan], np.float32), exact) == pytest.approx(0.125)
    assert error_beside_dd(exact, exact) == 0.0
    assert error_beside_dd(np.array([1.0, np.inf, np.nan]), exact) == np.inf
    assert error_beside_dd(np.array([1.0, -4.0, 0.0]), exact) == np.inf
    assert error_beside_dd(np.array([1.0]), np.zeros(1, DD.numpy)) == np.inf
    assert error_beside_dd(np.array([0.0]), np.zeros(1, DD.numpy)) == 0.0
    both = replace_infinite(exact)
    assert error_beside_dd(np.array([1.0, np.inf, 0.0]), both) == pytest.approx(1e-20)
    assert error_beside_dd(np.array([1.0, -np.inf, 0.0]), both) == np.inf


def replace_infinite(exact):
    both = exact.copy()
    both["hi"], both["lo"] = [1.0, np.inf, 0.0], [1e-20, 0.0, 0.0]
    return both
