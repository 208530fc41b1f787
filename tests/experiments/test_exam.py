"""The exam on small grids, on every backend; and that it can be failed."""

import json
import math
import signal
import time

import numpy as np
import pytest

from tests.kit.capabilities import backends_here
from workbench.cli import main
from workbench.errors import StencilError
from workbench.experiments.exam import (
    SCHEMES,
    Course,
    Exam,
    ExamResults,
    Series,
    accuracy,
    course,
    invariance,
    random_genome,
    run_exam,
)
from workbench.experiments.exam.accuracy import Setting
from workbench.experiments.exam.ending import ProgressClock, interrupted_after
from workbench.experiments.exam.invariance import Runner
from workbench.planning.genome import choices_of
from workbench.planning.tunables import tunable
from workbench.solvers import hydro

GRIDS = {"openmp": (16, 32, 64)}  # the interpreters take (16, 32), on which orders are stated only


def small(backend, **options):
    grids = GRIDS.get(backend, (16, 32))
    return Course(**{"backend": backend, "resolutions": grids, "oblique_resolutions": grids, **options})


PROBLEMS = ("entropy", "sound", "sod")


# The simulator takes half a minute for all problems, which is a proof therefore; for one it does not.
EXAMS = [
    *(pytest.param(b, PROBLEMS, marks=pytest.mark.proof if b == "cuda-sim" else ()) for b in backends_here()),
    *((b, PROBLEMS[:1]) for b in backends_here() if b == "cuda-sim"),
]


@pytest.mark.parametrize(("backend", "problems"), EXAMS)
def test_the_exam_is_passed_on_every_backend(backend, problems):
    exam = run_exam(small(backend, dims=(1,), schemes=("mc",), problems=problems, genomes=1))
    print(exam)
    assert exam.passed
    assert all(series.orders[-1] > 0.7 for series in exam.series)
    assert len(exam.series) == len(problems)
    assert len(exam.checks) == (1 if backend == "reference" else 3)


@pytest.mark.parametrize("dim", [2, 3])
def test_more_dimensions_hold_what_one_does(dim):
    runner = Runner("openmp", "f64")
    for function, *arguments in invariance.checks_of(runner, (dim,), 0):
        check = function(*arguments)
        print(check)
        assert check.passed


@pytest.mark.parametrize("dim", [2, 3])
def test_the_simulated_device_gives_the_reference_in_more_dimensions(dim, monkeypatch):
    monkeypatch.setitem(invariance._CELLS, dim, {2: 7, 3: 4}[dim])
    monkeypatch.setattr(invariance, "_STEPS", 1)
    check = invariance.check_reference(Runner("cuda-sim", "f64"), dim)
    assert check.passed, check


def test_single_precision_has_its_own_marks():
    exam = run_exam(small("openmp", dims=(1,), dtype="f32", schemes=("minmod",), genomes=0))
    assert exam.passed, exam
    assert {series.setting.problem: series.required is None for series in exam.series} == {
        "entropy": True,
        "sound": True,
        "sod": False,
    }


def test_oblique_errors_shrink():
    for problem in ("entropy", "sound", "sod"):
        setting = Setting(problem, "oblique", 2, "minmod", "openmp")
        series = accuracy.measure_series(setting, (16, 32))
        print(series)
        assert series.required is None
        assert series.orders[0] > 0.5


@pytest.mark.proof(seeds=range(10), batch=1, sample=1)
def test_ten_random_genomes_pass(proof_seeds):
    (seed,) = proof_seeds
    check = invariance.check_genome(Runner("openmp", "f64"), 1 + seed % 3, seed)
    print(check)
    assert check.passed


def test_a_random_genome_is_a_plan_of_its_own():
    machine = hydro.machine(1)
    genomes = {random_genome(machine, seed) for seed in (0, 1, 1)}
    assert len(genomes) == 2
    for genome in genomes:
        planned = machine.with_genome(genome)
        assert planned.genome == genome
        assert len(planned.plan().subkernels) > len(machine.plan().subkernels)
        assert choices_of(genome, machine.plan().graph).plan.device.block in tunable("block").sensible


def test_a_scheme_of_first_order_fails(monkeypatch):
    monkeypatch.setitem(SCHEMES, "minmod", hydro.constant)
    series = accuracy.measure_series(Setting("entropy", "coaxial", 1, "minmod", "openmp"), (32, 64))
    assert not series.passed
    assert "FAILED" in str(series)


def test_a_genome_that_changes_nothing_is_no_check(monkeypatch):
    monkeypatch.setattr(invariance, "random_genome", lambda machine, seed: machine.genome)
    assert not invariance.check_genome(Runner("reference", "f64"), 1, 0).passed


def test_different_bits_are_seen():
    one = np.array([1.0, 0.0, 2.0])
    assert invariance._different(one, one.copy()) == 0
    assert invariance._different(one, np.array([1.0, -0.0, np.nextafter(2.0, 3.0)])) == 2
    assert invariance._different(1.5, 1.5) == 0


def test_orders_of_known_errors():
    setting = Setting("entropy", "coaxial", 1, "minmod")
    assert Series(setting, (16, 32), (0.16, 0.04)).required is None
    series = Series(setting, (16, 32, 64), (0.16, 0.04, 0.01))
    assert series.orders == pytest.approx((2, 2))
    assert series.fitted == pytest.approx(2)
    assert series.required == pytest.approx(1.6)
    fine = Series(setting, (512, 1024), (1.0, 2**-1.89))
    assert fine.required == 1.9
    assert not fine.passed
    assert not Series(setting, (512, 1024), (1.0, math.nan)).passed


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"dims": (4,)}, r"dims=\(4,\)"),
        ({"dims": ()}, "dims"),
        ({"seconds": 0.0}, r"seconds=0.0 is no time"),
        ({"dtype": "f16"}, "dtype='f16'"),
        ({"schemes": ("magic",)}, "no scheme 'magic'"),
        ({"placements": ("upside down",)}, "no placement 'upside down'"),
        ({"resolutions": (32, 16)}, "do not grow"),
        ({"oblique_resolutions": (16,)}, "do not grow"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, text):
    with pytest.raises(StencilError, match=text):
        run_exam(**options)


def test_errors_that_were_measured_are_not_measured_again(tmp_path, monkeypatch):
    file, measured, measure = tmp_path / "errors", [], accuracy.measure_error
    monkeypatch.setattr(
        course, "measure_error", lambda s, m, cells, threads: measured.append(cells) or measure(s, m, cells, threads)
    )
    options = {"dims": (1,), "backend": "reference", "checks": False, "schemes": ("mc",), "problems": ("entropy",)}
    first = run_exam(resolutions=(4, 8), results=ExamResults(file), **options)
    with file.open("a") as stopped:
        stopped.write('{"problem": "entropy", "placem')
    lines = []
    second = run_exam(resolutions=(4, 8, 16), results=ExamResults(file), say=lines.append, **options)
    assert measured == [4, 8, 16]
    assert second.series[0].errors[:2] == first.series[0].errors
    assert "16 cells a unit: error" in lines[0]
    monkeypatch.setitem(SCHEMES, "mc", hydro.minmod)
    other = run_exam(resolutions=(4, 8), results=ExamResults(file), **options)
    assert measured == [4, 8, 16, 4, 8]  # another program
    assert other.series[0].errors != first.series[0].errors
    assert len(ExamResults(file)) == 5


def test_the_command_takes_a_part_of_the_exam(tmp_path, capsys):
    file = tmp_path / "errors"
    options = ["--backend", "openmp", "--threads", "1", "--schemes", "minmod", "--oblique", "8,16", "--no-checks"]
    part = ["--problems", "sod", "--placements", "oblique", "--results", str(file)]
    assert main(["exam", *options, *part]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("exam passed: 1 series")
    assert len(ExamResults(file)) == 2
    assert main(["exam", "--problems", "tide"]) == 1
    assert "there is no problem 'tide'" in capsys.readouterr().err


def test_the_command_writes_its_figures(tmp_path, capsys):
    file = tmp_path / "exam.json"
    options = ["--dims", "1", "--backend", "openmp", "--resolutions", "16,32", "--schemes", "mc", "--genomes", "0"]
    assert main(["exam", *options, "--threads", "1", "--problems", "entropy,sod", "--json", str(file)]) == 0
    figures = json.loads(file.read_text())
    assert figures["passed"]
    assert [s["setting"]["problem"] for s in figures["series"]] == ["entropy", "sod"]
    assert all(len(s["errors"]) == 2 and s["orders"][0] > 0.5 for s in figures["series"])
    assert "exam passed" in capsys.readouterr().out
    assert main(["exam", "--dims", "7"]) == 1


def test_time_left_is_told_while_it_lasts():
    now, told = [0.0], []
    pace = ProgressClock((2, 4), told.append, lambda: now[0])
    for seconds in (4, 4, 30, 30, 3, 100):
        now[0] += seconds
        pace.done()
    assert told == [
        "  2 of 6 parts in 8 s, about 16 s left",
        "  3 of 6 parts in 38 s, about 90 s left",
        "  4 of 6 parts in 68 s, about 60 s left",
    ]
    now[0], told[:] = 0.0, []
    pace = ProgressClock(
        (2, 1, 2), told.append, lambda: now[0]
    )  # the last kind takes as the one before until one is done
    for seconds in (6, 6, 10, 40):
        now[0] += seconds
        pace.done()
    assert [line.partition("about ")[2] for line in told] == ["24 s left", "18 s left", "20 s left", "40 s left"]


COURSE = {"dims": (1,), "backend": "reference", "schemes": ("mc",), "problems": ("entropy", "sound")}


@pytest.mark.parametrize(("seconds", "why"), [(40.0, "its time of 40 s was over"), (math.inf, "interrupted")])
def test_an_exam_that_ends_early_is_of_what_was_done(monkeypatch, seconds, why):
    """The second series is broken off, as by Ctrl-C or the timer: it is among what was not examined."""
    now, lines = [0.0], []

    def measure(setting, machine, cells, threads):
        now[0] += 15.0
        if now[0] > 40.0:
            raise KeyboardInterrupt
        return 1 / cells**2

    monkeypatch.setattr(course, "measure_error", measure)
    monkeypatch.setattr(course, "ProgressClock", lambda counts, say: ProgressClock(counts, say, lambda: now[0]))
    exam = run_exam(resolutions=(16, 32), seconds=seconds, say=lines.append, **COURSE)
    assert (len(exam.checks), len(exam.series), exam.failures, exam.passed) == (1, 1, 0, False)
    assert exam.left == ("1-D coaxial sound, mc",)
    first, second = exam.verdict().splitlines()
    assert first.startswith(f"exam not complete ({why}), nothing failed so far: 1 check, 1 series")
    assert second == "not examined: 1 of 3 parts: 1-D coaxial sound, mc"
    assert ("3 parts, in 40 s at most" in lines) == (seconds == 40.0)
    assert json.loads(json.dumps(exam.to_dict(), allow_nan=False))["left"] == ["1-D coaxial sound, mc"]


@pytest.mark.parametrize("handler", [signal.default_int_handler, signal.SIG_IGN])
def test_the_timer_interrupts_what_runs(handler):
    """Also in a process that ignores Ctrl-C, as a background job of a shell does."""

    def work_for_ever():
        end = time.monotonic() + 10.0
        with interrupted_after(0.01):
            while time.monotonic() < end:
                pass

    before = signal.signal(signal.SIGINT, handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            work_for_ever()
        assert signal.getsignal(signal.SIGINT) is handler
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(("interrupted", "status"), [(False, 3), (True, 130)])
def test_the_command_tells_an_exam_that_is_not_complete(monkeypatch, interrupted, status):
    asked = []

    def take(course, say, results):
        asked.append(course.seconds)
        return Exam(course, "reference", (), (), ("1-D reference",), interrupted)

    monkeypatch.setattr("workbench.experiments.exam.run_exam", take)
    assert [main(["exam", *options]) for options in (["--quick"], ["--quick", "--seconds", "9"], [])] == [status] * 3
    assert asked == [180, 9.0, math.inf]
