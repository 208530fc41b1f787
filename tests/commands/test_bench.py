"""The command bench: what it lists and refuses, one small measurement with its files, and Ctrl-C in the middle."""

import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from html import escape
from importlib import util
from itertools import chain, count, repeat
from pathlib import Path
from statistics import median

import numpy as np
import pytest

from tests.kit.ceilings import measure_ceilings_quickly
from workbench.cli import main
from workbench.commands.bench import crew, measure
from workbench.commands.bench.budget import TimeBudget
from workbench.commands.bench.contenders import CONTENDERS, Absent, chosen
from workbench.commands.bench.page import headline, page
from workbench.commands.bench.problems import PROBLEMS, problem_named
from workbench.commands.bench.results import Agreement, BenchResults, ContenderResult, Ratio
from workbench.errors import RunError

ROOT = Path(__file__).resolve().parents[2]
OURS = ("stepwise", "diamond", "auto")  # on CPUs


@pytest.fixture(autouse=True)
def quick_ceilings(monkeypatch):
    """Of what is measured in this process: each round else measures the machine for a second."""
    measure_ceilings_quickly(monkeypatch)


# The command where nothing but NumPy is installed, whatever is: each contender's own process imports what it needs.
ALONE = """
import sys
from importlib import util
from workbench.cli import main
found = util.find_spec
util.find_spec = lambda name, *more: None if name in ("numba", "jax", "halide", "torch") else found(name, *more)
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Heat on few cells by our schedules and NumPy, all that is here: what was printed, the figures, the page."""
    folder = tmp_path_factory.mktemp("bench")
    command = [sys.executable, "-c", ALONE, "bench", "heat2d", "--shape", "256x200"]
    command += ["--rounds", "3", "--seconds", "0.01", "--sizes", "1", "--threads", "2"]
    command += ["--json", "figures.json", "-o", "report.html"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout, json.loads((folder / "figures.json").read_text()), (folder / "report.html").read_text()


def test_contenders_start_alike_and_end_alike(measured):
    said, figures, shown = measured
    entries = {entry["name"]: entry for entry in figures["entries"]}
    assert set(entries) == {*OURS, "numpy"}
    for name in OURS:
        assert entries[name]["agreement"] == {"other": "NumPy", "steps": 10, "deviation": 0.0, "bit_equal": True}
        # No order of the two: each is one start of a process, and a busy machine adds more than a compiler takes.
        assert entries[name]["first_seconds"] > 0
        assert entries[name]["cold_seconds"] > 0
    assert entries["numpy"]["cold_seconds"] is None
    assert said.count("bit-equal to NumPy after 10 steps") == 3
    assert shown.count("bit-equal") >= 6


def test_auto_says_which_schedule_it_took(measured):
    said, figures, shown = measured
    took = {entry["name"]: entry["schedule"] for entry in figures["entries"]}
    assert (took["stepwise"], took["diamond"], took["numpy"]) == ("stepwise", "diamond", "")
    assert took["auto"] in ("stepwise", "diamond")
    assert f"workbench, auto ({took['auto']})" in said
    assert f"workbench, auto ({took['auto']})" in shown
    assert "takes a schedule for each size anew" in shown


def test_report_names_what_was_not_there_and_why(measured):
    said, figures, shown = measured
    absent = {row["name"]: row for row in figures["absent"]}
    assert set(absent) == {"cuda", "diamondtorre", "numba", "jax", "halide", "torch"}
    for name in ("numba", "jax", "halide", "torch"):
        assert absent[name]["reason"] == "not installed"
        assert absent[name]["advice"].endswith(f"-m pip install {name}")
    assert absent["diamondtorre"]["reason"] == absent["cuda"]["reason"] != ""
    for row in absent.values():
        assert f"  {row['label']}: {row['reason']}" in said
        assert escape(row["advice"]) in shown
    names = "workbench, GPU; workbench, GPU, diamondtorre; Numba; JAX; Halide; torch.compile"
    assert f"Without figures here: {names}. Why, and what to do about it, stands at the end." in shown


def test_ratios_are_those_inside_a_round(measured):
    _, figures, _ = measured
    rates = {entry["name"]: entry["rates"] for entry in figures["entries"]}
    assert figures["rounds_done"] == len(figures["copies"]) == 3
    assert all(len(each) == 3 for each in rates.values())
    base = figures["compared"]
    assert base == max(OURS, key=lambda name: median(rates[name]))
    for name, ratio in figures["ratios"].items():
        assert ratio["median"] == pytest.approx(median(a / b for a, b in zip(rates[base], rates[name], strict=True)))
    shares = figures["bandwidth_shares"]["numpy"]["median"]
    assert shares == pytest.approx(median(8 * r / c for r, c in zip(rates["numpy"], figures["copies"], strict=True)))


def test_every_schedule_is_predicted_from_the_ceilings_of_its_rounds(measured):
    _, figures, shown = measured
    rates = {entry["name"]: entry["rates"] for entry in figures["entries"]}
    needs = {entry["name"]: entry["model"]["needs"] for entry in figures["entries"] if entry["model"]}
    assert set(needs) == set(figures["predictions"]) == set(OURS)
    ratios = []
    for ceilings, rate in zip(figures["ceilings"], rates["stepwise"], strict=True):
        near, second = ceilings["levels"][0]["bandwidth"], ceilings["levels"]
        held = needs["stepwise"]["second_held"]
        cached = needs["stepwise"]["arrays"] <= held
        last = [level["bandwidth"] for level in second if level["size"] <= held][-1]
        far = 8 / last if cached else 12 / ceilings["bandwidth"]
        # Of 24 bytes that are loaded and stored, 8 come from further away and are in the time of that.
        ratios.append(rate * (max((24 - 8) / near, 3 / ceilings["flops"]) + far))
    assert figures["predictions"]["stepwise"]["ratio"] == pytest.approx(median(ratios))
    assert "The model" in shown
    assert "at least with axes whole" in shown


def test_page_has_bars_roofline_and_sizes_and_nothing_from_outside(measured):
    said, figures, shown = measured
    assert shown.count("<svg") == 3
    assert [size["shape"] for size in figures["sizes"]] == [[128, 100], [256, 200]]
    for text in ("Roofline", "128 x 100", "u.next = 0.6 * u", "workbench bench heat2d", "round 3 of 3"):
        assert text in shown + said
    assert "<script" not in shown
    assert re.findall(r"https?://[^\s\"]+", shown.replace("http://www.w3.org/2000/svg", "")) == []


def test_ctrl_c_leaves_a_report_of_whole_rounds_and_no_process(tmp_path):
    command = [sys.executable, "-m", "workbench", "bench", "heat2d", "--only", "numpy", "--shape", "32"]
    command += ["--rounds", "100000", "--seconds", "0.02", "--json", "figures.json", "-o", "report.html"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "CUDA_VISIBLE_DEVICES": ""}
    running = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True)
    children = Path(f"/proc/{running.pid}/task/{running.pid}/children")
    for line in running.stdout:
        if line.startswith("round 2 of 100000"):
            assert re.search(r"; \d+ (s|min) left$", line)
            break
    workers = children.read_text().split() if children.exists() else []
    running.send_signal(signal.SIGINT)
    rest = running.communicate(timeout=120)[0]
    assert running.returncode == 130
    assert re.search(r"^interrupted after \d+ of 100000 rounds", rest, re.MULTILINE)
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert figures["interrupted"]
    assert figures["rounds_done"] == len(figures["entries"][0]["rates"]) >= 2
    assert "Interrupted: " in (tmp_path / "report.html").read_text()
    assert not [pid for pid in workers if Path(f"/proc/{pid}").exists()]


def test_alone_it_lists_problems_and_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setattr(util, "find_spec", lambda name, package=None: None)
    assert main(["bench"]) == 0
    out = capsys.readouterr().out
    for problem in PROBLEMS:
        assert re.search(rf"^  {problem.name} +{re.escape(problem.title)}", out, re.MULTILINE)
    for library in ("numba", "jax", "halide", "torch"):
        assert re.search(rf"^  {library} .*not installed. \S+ -m pip install {library}$", out, re.MULTILINE)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["wave3"], r"there is no problem 'wave3'; did you mean 'wave3d'\?\nUse one of: heat2d, "),
        (
            ["wave3d", "--shape", "64x64"],
            r"--shape 64x64 has 2 axes, wave3d has 3\nGive 3 numbers, such as 384x384x384",
        ),
        (["heat2d", "--shape", "8"], r"--shape 8x8 is too small to measure\nUse at least 16"),
        (["heat2d", "--only", "numpi"], r"there is no contender 'numpi'\nName some of workbench, "),
        (["heat2d", "--rounds", "0"], r"--rounds 0 is too small\nUse 1 or more"),
        (["heat2d", "--seconds", "-1"], r"--seconds -1 cannot be measured\nUse more than 0"),
        (["heat2d", "--budget", "inf"], r"--budget inf is no number of seconds .*\nUse 1 to 86400"),
        (["heat2d", "--threads", "-2"], r"threads=-2 is no number of threads\nPass 0"),
        (["heat2d", "-o", "/no/such/folder/r.html"], r"there is no folder /no/such/folder for r.html\nMake it"),
        (["wave3d", "--shape", "90000", "--only", "numpy"], r"wave3d with 90000 x .* need about .*\nUse a smaller"),
    ],
)
def test_what_cannot_be_measured_is_refused_with_advice(options, said, capsys):
    assert main(["bench", *options]) == 1
    assert re.search("workbench: .*" + said, capsys.readouterr().err)


def test_contenders_that_are_not_there_are_an_error(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(util, "find_spec", lambda name, package=None: None)
    report = tmp_path / "r.html"
    assert main(["bench", "heat2d", "--only", "jax,numba", "-o", str(report)]) == 1
    error = capsys.readouterr().err
    assert "none of the contenders can run here: Numba: not installed; JAX: not installed" in error
    assert error.endswith("-m pip install jax\n")
    assert not report.exists()


def test_a_shape_that_is_none_is_named(capsys):
    with pytest.raises(SystemExit) as end:
        main(["bench", "heat2d", "--shape", "big"])
    assert end.value.code == 2
    assert "'big' is no shape such as 256x256x256" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("worker", "said"),
    [
        ("tests.commands.no_such_module", "its process ended with status 1 | "),
        ("this", "its process printed b'The Zen of Python"),
    ],
)
def test_a_contender_whose_process_fails_is_out(worker, said, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(crew, "_WORKER", worker)
    assert main(["bench", "heat2d", "--only", "numpy", "--shape", "32", "-o", str(tmp_path / "r.html")]) == 1
    out = capsys.readouterr().out
    assert f"NumPy failed: {said}" in out
    assert "Nothing was measured" in out
    assert escape(said) in (tmp_path / "r.html").read_text()


def test_memory_is_that_of_all_and_of_the_one_at_work(monkeypatch):
    """Each keeps two arrays of a field, and the one that computes has four beside them; of f32 here."""
    problem, workload = problem_named("wave3d"), measure.Workload((64, 64, 64), "f32", 1, 2, 0.005, 0)
    needed = (3 * 2 + 4) * 2 * 64**3 * 4
    monkeypatch.setattr(measure, "bytes_available", lambda: needed)
    measure._check_memory(problem, workload, 3)
    monkeypatch.setattr(measure, "bytes_available", lambda: needed - 1)
    with pytest.raises(RunError, match=r"3 contenders of wave3d with 64 x 64 x 64 cells need about 21 MB"):
        measure._check_memory(problem, workload, 3)


def test_a_contender_that_computes_something_else_is_out(monkeypatch):
    problem = problem_named("heat2d")
    workload = measure.Workload((32, 32), "f64", 1, 2, 0.005, 0)
    rows = tuple(row for row in CONTENDERS if row.name in ("numpy", "reference"))
    monkeypatch.setattr(measure, "compare", lambda model, other, name: Agreement(name, 10, 2e-3, bit_equal=False))
    results = measure.Bench(problem, workload, rows, empty(problem), lambda line: None, TimeBudget(300.0)).run()
    assert [entry.name for entry in results.ranking] == ["numpy"]
    assert results.absent[0].reason == "failed: differs by 2.0e-03 from NumPy after 10 steps"
    assert results.done == 2


def numpy_beside_the_interpreter(budget, rounds, sizes, said):
    problem = problem_named("heat2d")
    workload = measure.Workload((64, 64), "f64", 1, rounds, 0.001, sizes)
    rows = tuple(row for row in CONTENDERS if row.name in ("numpy", "reference"))
    return measure.Bench(problem, workload, rows, replace(empty(problem), rounds=rounds), said.append, budget).run()


def test_a_budget_cuts_rounds_and_the_report_says_so():
    moments = count(0, 20)  # every look at the clock takes twenty seconds, so that no test waits
    said = []
    results = numpy_beside_the_interpreter(TimeBudget(900.0, lambda: float(next(moments))), 1000, 1, said)
    assert {len(entry.rates) for entry in results.entries} == {results.done}
    assert 1 <= results.done < 1000
    assert results.cut[0] == f"{1000 - results.done} of 1000 rounds"
    assert not results.interrupted
    assert f"The time budget of 900 s left no time for {results.cut[0]}" in page(results)
    left = [int(line.rpartition("; ")[2].split()[0]) for line in said if line.startswith("round ")]
    assert max(left) < 900


def test_a_contender_without_time_is_out_and_the_others_go_on(monkeypatch):
    shares = chain([0.0], repeat(300.0))
    monkeypatch.setattr(TimeBudget, "share", lambda self, end, waiting, **others: next(shares))
    results = numpy_beside_the_interpreter(TimeBudget(300.0), 2, 0, [])
    assert [(row.name, row.reason) for row in results.absent] == [
        ("reference", "cut by the time budget of 300 s: no answer within 0 s")
    ]
    assert "larger --budget" in results.absent[0].advice
    assert [(entry.name, len(entry.rates)) for entry in results.ranking] == [("numpy", 2)]
    assert results.cut == ()


def test_a_schedule_that_is_refused_is_named_with_the_reason(monkeypatch):
    asked, why = crew.CrewProcess.ask, "schedule 'diamond' cannot run: dt needs the maximum of v over all cells, line 7"

    def ask(self, do, **more):
        if self.row.name == "reference":
            raise crew.ContenderError(why, refused=True)
        return asked(self, do, **more)

    monkeypatch.setattr(crew.CrewProcess, "ask", ask)
    said = []
    results = numpy_beside_the_interpreter(TimeBudget(300.0), 2, 0, said)
    assert [(row.name, row.reason) for row in results.absent] == [("reference", f"cannot run: {why}")]
    assert f"  workbench, interpreter cannot run: {why}" in said
    assert "Without figures here: workbench, interpreter. Why" in page(results)
    assert escape(why) in page(results)


def test_where_all_contenders_are_late_the_advice_is_more_time(monkeypatch):
    monkeypatch.setattr(TimeBudget, "share", lambda self, end, waiting, **others: 0.0)
    monkeypatch.setattr(measure, "Ceilings", lambda *given: pytest.fail("the machine is measured for nobody"))
    results = numpy_beside_the_interpreter(TimeBudget(300.0), 2, 0, [])
    assert headline(results).startswith("Nothing was measured: no round was finished. Use a larger --budget")
    assert all(row.late for row in results.absent)


def test_a_slow_contender_leaves_time_to_those_that_follow():
    now = [0.0]
    budget = TimeBudget(100.0, lambda: now[0])
    assert budget.share(0.5, 3) == 37.5
    now[0] = 30.0
    assert budget.share(0.5, 2) == 45.0
    assert budget.share(0.5, 1) == 50.0
    assert budget.share(0.5, 1, others=False) == 100.0
    now[0] = 60.0
    assert budget.share(0.5, 2) == 60.0
    now[0] = 200.0
    assert (budget.left(), budget.taken()) == (0.0, 200.0)


def test_comparison_tells_bits_rounding_and_numbers_that_are_none():
    values = np.array([1.0, -4.0, 0.0])
    assert measure.compare(values, values.copy(), "a") == Agreement("a", 10, 0.0, bit_equal=True)
    signed = measure.compare(values, np.array([1.0, -4.0, -0.0]), "a")
    assert (signed.deviation, signed.bit_equal) == (0.0, False)
    assert measure.compare(values, values + np.eye(3)[2], "a").deviation == 0.25
    assert measure.compare(values, values * np.nan, "a").deviation == float("inf")


def empty(problem):
    return BenchResults(
        problem.name, problem.title, problem.scheme, "", (32, 32), "f64", 1, 2, {"date": "", "processor": ""}
    )


def test_ratios_have_median_and_middle_half():
    ratio = Ratio.of([1.0, 2.0, 3.0, 4.0, 100.0])
    assert (ratio.median, ratio.rounds) == (3.0, 5)
    assert 1.0 <= ratio.low < 3.0 < ratio.high < 100.0
    assert Ratio.of([2.0]) == Ratio(2.0, 2.0, 2.0, 1)


def test_ours_are_compared_with_the_fastest_of_the_others():
    ours = ContenderResult(
        "stepwise", "workbench, stepwise", "1", True, rates=(4e9, 2e9, 6e9), bytes_moved=8.0, operations=6.0
    )
    others = (
        ContenderResult("numba", "Numba", "2", False, rates=(2e9, 1e9, 2e9)),
        ContenderResult("jax", "JAX", "3", False, rates=(1e8,) * 3),
    )
    results = replace(empty(PROBLEMS[0]), entries=(ours, *others), copies=(8e10, 4e10, 12e10), rounds=3)
    assert str(results.ratio(others[0])) == "2.00 (2.00 to 3.00)"
    assert headline(results) == (
        "workbench, stepwise updates 4 Gcells/s, 2.00 (2.00 to 3.00) times the rate of Numba, "
        "the fastest of the others."
    )
    assert results.bandwidth_share(ours).median == pytest.approx(0.4)
    assert "Numba" in page(results)


def test_only_takes_ours_by_one_word():
    assert [row.name for row in chosen(("workbench", "numba"))] == [*OURS, "cuda", "diamondtorre", "numba"]
    assert "reference" not in [row.name for row in chosen(())]
    assert [row.name for row in chosen(("reference",))] == ["reference"]


def test_smaller_sizes_halve_the_extents():
    assert measure.smaller((384, 384, 384), 4) == [(192,) * 3, (96,) * 3, (48,) * 3, (24,) * 3]
    assert measure.smaller((64, 1024), 9) == [(32, 512)]
    assert measure.smaller((30, 30), 4) == []


def test_an_absent_contender_is_in_the_page():
    results = empty(PROBLEMS[0]).without(Absent("numba", "Numba", "not installed", "pip install numba"))
    shown = page(results)
    assert "not installed" in shown
    assert "pip install numba" in shown
