"""Plans in the exam: several plans, one curve; files that hold plans; and a plan that moves a curve fails."""

from dataclasses import replace

import pytest

import workbench as wb
from workbench.cli import main
from workbench.errors import StencilError
from workbench.experiments.exam import PlansExam, examine_plans, plans, read_plan
from workbench.planning.exchange import to_json
from workbench.solvers import hydro
from workbench.tuning.study import Best
from workbench.tuning.trials import Individual, Outcome

SMALL = {"resolutions": (8, 16), "problems": ("entropy",), "placements": ("coaxial",)}


@pytest.fixture(scope="module")
def delayed():
    return hydro.machine(1).with_choices(preset="as_delayed", hints=False)


@pytest.fixture(scope="module")
def exam(delayed):
    return examine_plans({"all delayed": delayed}, backend="openmp", **SMALL)


def test_all_plans_have_one_curve(exam):
    assert list(exam.series) == ["default", "all delayed"]
    assert exam.passed
    assert exam.differing == ()
    (errors,) = {series[0].errors for series in exam.series.values()}
    assert errors[1] < 0.5 * errors[0]
    assert "values carried over" in exam.carried["all delayed"]
    assert "1 plan beside the default, 1 series of errors each, with equal bits" in str(exam)


def test_the_picture_has_a_curve_for_each_plan(exam):
    ((title, svg),) = exam.pictures()
    assert title == "1-D coaxial entropy, minmod"
    assert svg.count("<polyline") == 2
    for label in exam.series:
        assert f">{label}</text>" in svg
    assert svg in exam._repr_html_()


def test_a_plan_that_moves_a_curve_fails(exam):
    (own,) = exam.series["default"]
    moved = replace(own, errors=(own.errors[0], own.errors[1] * (1 + 2**-52)))
    spoilt = PlansExam({**exam.series, "all delayed": (moved,)}, exam.carried)
    assert not spoilt.passed
    assert spoilt.differing == ("all delayed: 1-D coaxial entropy, minmod",)
    assert "FAILED: 1 plan" in spoilt.verdict()


def test_the_plan_of_the_exam_is_the_one_that_was_given(delayed, monkeypatch):
    """The exam's program has other sides, so that its keys are others."""
    seen = {}

    def spy(setting, machine, cells, threads=0):
        seen[machine.carried is not None] = machine
        return 1.0 / cells

    monkeypatch.setattr(plans, "measure_error", spy)
    examine_plans({"d": delayed}, backend="openmp", **SMALL)
    assert len(seen[True].plan("openmp").main.plain.subkernels) < len(seen[False].plan("openmp").main.plain.subkernels)
    assert len(seen[True].carried.new) < 0.1 * len(seen[True].carried.carried)


def test_files_hold_plans(delayed, tmp_path):
    single = hydro.machine(1, dtype="f32").annotate("flux0_density", "delayed")
    (tmp_path / "single.json").write_text(to_json(single.choices))
    assert read_plan(tmp_path / "single.json", (1,)).genome == single.genome
    for name, text in (("genome.txt", delayed.genome + "\n"), ("choices.json", to_json(delayed.choices))):
        (tmp_path / name).write_text(text)
        assert read_plan(tmp_path / name, (1,)).genome == delayed.genome
    for content in (b"", b"\xff\xfe", b"{}x", b"v2-0123456789abcdef:M=A"):
        (tmp_path / "bad").write_bytes(content)
        with pytest.raises(StencilError, match="holds no choices for the hydrodynamics solver"):
            read_plan(tmp_path / "bad", (1,))


def test_plans_of_different_programs_are_refused(delayed):
    with pytest.raises(StencilError, match="different programs"):
        examine_plans({"a": delayed, "b": hydro.machine(2)}, **SMALL)
    with pytest.raises(StencilError, match="hydrodynamics solver, and heat is another program"):
        examine_plans({"a": wb.trace('u = field("u")\nu.next = u', name="heat")}, **SMALL)


def test_the_best_of_a_study_takes_the_exam(delayed, monkeypatch):
    seen = {}
    monkeypatch.setattr(plans, "examine_plans", lambda found, **options: seen.update(found, **options))
    one = Individual(7, (), to_json(delayed.choices), "", "", "", (), Outcome("success"), 1.0, 0, 0.0)
    about = {"graph": str(delayed.plan().graph), "backend": "openmp"}
    Best(one, 1.0, 1.0, about).exam(resolutions=(8, 16))
    assert seen["individual 7"].genome == delayed.genome
    assert (seen["backend"], seen["resolutions"]) == ("openmp", (8, 16))


def test_the_command_draws_all_curves_on_a_page(delayed, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(plans, "measure_error", lambda setting, machine, cells, threads=0: cells**-2.0)
    (tmp_path / "champion.txt").write_text(delayed.genome)
    page, figures = tmp_path / "page.html", tmp_path / "f.json"
    command = ["exam", "--choices", str(tmp_path / "champion.txt"), "--quick", "--dims", "1", "--report", str(page)]
    assert main([*command, "--problems", "sod,entropy", "--json", str(figures), "--backend", "openmp"]) == 0
    assert "exam passed: 1 plan beside the default, 2 series of errors each" in capsys.readouterr().out
    text = page.read_text()
    assert text.count("<svg") == 2
    assert "champion.txt</text>" in text
    assert '"passed": true' in figures.read_text()
    assert main(["exam", "--choices", str(page)]) == 1
    assert "holds no choices" in capsys.readouterr().err
