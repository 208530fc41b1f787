"""The command bench accelerate: one small program with its files, what it refuses, and who is left out."""

import itertools
import json
import math
import time
from dataclasses import replace
from statistics import median

import numpy as np
import pytest

from workbench.array_function import Collective, collective
from workbench.backends.build_cache import counters
from workbench.backends.openmp import OpenmpProgram
from workbench.cli import main
from workbench.commands.bench.accelerate import command, measure, rehearsal
from workbench.commands.bench.accelerate.first_calls import first_calls, timed_calls, watched_calls, watched_runs
from workbench.commands.bench.accelerate.matrices import MATRICES
from workbench.commands.bench.accelerate.measure import (
    ProgramRounds,
    contenders,
    difference,
    making_of,
    plans_of,
    shape_of,
)
from workbench.commands.bench.accelerate.page import first_calls_text, page, table_lines
from workbench.commands.bench.accelerate.rehearsal import rehearsed
from workbench.commands.bench.accelerate.results import (
    AccelerateResults,
    Making,
    ProgramResult,
    StepsTiming,
    Timing,
    slope,
)
from workbench.commands.bench.accelerate.row import VARIANTS, Case, ProgramRow, alone
from workbench.commands.bench.accelerate.rows import ROWS, running_sums
from workbench.errors import NoRoomError, RunError
from workbench.language import while_loop

NAMES = [row.name for row in ROWS]


def row_of(name):
    return ROWS[NAMES.index(name)]


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """The dot product of few elements: the figures, the page, and how many libraries were compiled."""
    folder = tmp_path_factory.mktemp("accelerate")
    files = ["--json", str(folder / "figures.json"), "-o", str(folder / "report.html")]
    options = ["--threads", "1", "--rounds", "3", "--inputs", "small", "--only", "dot_product", *files]
    making_of(row_of("dot_product").case("small"), folder / "one-by-one")  # in the user's cache
    before = counters().compiled
    assert main(["bench", "accelerate", *options]) == 0
    compiled = counters().compiled - before
    return json.loads((folder / "figures.json").read_text()), (folder / "report.html").read_text(), compiled


def test_ours_our_plans_and_the_others_are_measured_in_the_same_rounds(measured):
    figures = measured[0]
    (program,) = figures["programs"]
    seconds = {each["name"]: each["seconds"] for each in program["timings"]}
    assert {"ours", "stored", "recomputed", "NumPy"} <= set(seconds)
    for name in ("ours", "stored", "NumPy"):
        assert len(seconds[name]) == 3
        assert all(0 < each < 1 for each in seconds[name])
    pairs = zip(seconds["ours"], seconds["NumPy"], strict=True)
    assert figures["ratios"]["dot_product"]["NumPy"]["median"] == pytest.approx(median(b / a for a, b in pairs))


def test_a_plan_that_is_the_same_is_not_measured_twice(measured):
    notes = {each["name"]: each["note"] for each in measured[0]["programs"][0]["timings"]}
    assert notes["recomputed"] == "the same plan"
    assert notes["stored"] == ""


def test_stages_are_timed_from_a_cache_that_is_empty(measured):
    made = measured[0]["programs"][0]["making"]
    assert (made["loops"], made["arrays"]) == (1, 0)
    assert min(made[stage] for stage in ("trace", "plan", "render", "compile", "one_by_one", "cached")) > 0
    assert measured[2] >= 1  # although the user's cache has it


def test_page_has_the_tables_and_says_what_is_missing(measured):
    figures, shown, _ = measured
    for text in ("dot product", "3,000 f32", "times as fast", "the same plan", "How it was measured"):
        assert text in shown
    for library in figures["absent"]:
        assert f"{library}</td><td>not installed" in shown.replace("\n", "")
    assert "<script" not in shown


def test_variants_differ_as_they_say():
    case = row_of("dot_product").case("small")
    usual, stored, recomputed = (
        shape_of(plans_of(case, choices)[0]) for choices in (None, *(v.choices for v in VARIANTS))
    )
    assert usual == recomputed == (1, 0, 0)
    assert stored == (2, 1, 1)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--only", "dot_produkt"], "there is no program 'dot_produkt'; did you mean 'dot_product'?"),
        (["--only", "dot_product", "--rounds", "0"], "--rounds 0 is too small"),
        (["--shape", "64"], "--shape: accelerate has sizes and types of its own"),
        (["--sizes", "0", "--budget", "60"], "--sizes, --budget: accelerate has sizes"),
        (["--only", "dot_product", "--seconds", "-1"], "--seconds -1 cannot be measured"),
        (["--json", "nowhere/figures.json"], "there is no folder"),
    ],
)
def test_what_cannot_be_measured_is_refused_with_advice(options, said, capsys):
    assert main(["bench", "accelerate", *options]) != 0
    words = capsys.readouterr().err
    assert said in words
    assert words.strip().splitlines()[-1].endswith(".")


def test_inputs_are_no_option_of_other_problems(capsys):
    assert main(["bench", "heat2d", "--inputs", "small"]) != 0
    assert "--inputs is an option of accelerate alone" in capsys.readouterr().err


def test_who_finds_other_results_is_out():
    runs = [("ours", 1.0), ("near", 1.0 + 1e-9), ("far", 1.1), ("none", math.nan), ("longer", (1.0, 2.0))]
    race = ProgramRounds(
        ProgramResult("a", "a", ""), [(Timing(name, name), lambda found=found: found) for name, found in runs], 1e-6
    )
    race.round()
    notes = {each.name: each.note for each in race.program.timings}
    assert [each.name for each in race.program.timings if each.seconds] == ["ours", "near"]
    assert notes == {
        "ours": "",
        "near": "",
        "far": "differs by 1.0e-01",
        "none": "differs by inf",
        "longer": notes["none"],
    }


def test_difference_is_by_the_largest_value():
    assert difference(np.array([0.0, 10.0]), np.array([1.0, 10.0])) == 0.1
    assert difference((np.ones(2), np.array([np.inf])), (np.ones(2), np.array([np.inf]))) == 0.0
    assert difference(np.ones(2), np.ones(3)) == math.inf


def test_ctrl_c_leaves_the_whole_rounds(monkeypatch, tmp_path, capsys):
    rounds = []

    def round_(race):
        if len(rounds) == 2:
            raise KeyboardInterrupt
        rounds.append(None)
        timings = tuple(replace(t, seconds=(*t.seconds, 0.5)) if not t.note else t for t in race.program.timings)
        race.program = replace(race.program, timings=timings)

    monkeypatch.setattr(command.ProgramRounds, "round", round_)
    monkeypatch.setattr(command, "making_of", lambda case, folder: None)
    report = tmp_path / "a.html"
    options = ["--inputs", "small", "--threads", "1", "--only", "dot_product,histogram", "-o", str(report)]
    assert main(["bench", "accelerate", *options]) == 130
    assert "interrupted" in capsys.readouterr().out
    assert "Interrupted: rows have the whole rounds" in report.read_text()
    assert "histogram" not in report.read_text()


def test_a_table_names_the_fastest_of_the_others():
    timings = (Timing("ours", "ours", (2.0, 2.0)), Timing("stored", "no fusion", (1.0, 1.0)))
    timings += (Timing("NumPy", "NumPy", (6.0, 6.0)), Timing("Numba", "Numba", (4.0, 4.0)))
    making = Making(2, 1, 1, 0.1, 0.1, 0.1, 1.0, 1.5, 0.01)
    program = ProgramResult("a", "sums", "7", timings, making + making)
    assert (program.making.loops, program.making.arrays, program.making.axes) == (4, 2, 1)
    table = AccelerateResults(2, 2, {"date": "today", "processor": "one"}, programs=(program,), ablations=(program,))
    line = table_lines(table)[1]
    assert "Numba 4\u00a0s" in line
    assert "2.00 (2.00 to 2.00)" in line
    assert "0.50 times as long" in line
    points = tuple(StepsTiming(n, 0.01 * n, 0.01 * n * n) for n in (2, 4, 8))
    assert slope(points, [each.plan for each in points]) == pytest.approx(2.0)
    assert "trace 1.0, plan 2.0" in page(replace(table, curve=points))


@pytest.mark.proof
@pytest.mark.parametrize("name", NAMES)
def test_all_who_run_a_small_program_find_the_same(name, tmp_path):
    figures = tmp_path / "figures.json"
    options = ["--inputs", "small", "--rounds", "1", "--threads", "2", "--only", name, "--json", str(figures)]
    assert main(["bench", "accelerate", *options, "-o", str(tmp_path / "a.html")]) == 0
    (program,) = json.loads(figures.read_text())["programs"]
    assert len([each for each in program["timings"] if each["seconds"]]) >= 2
    assert not [each["note"] for each in program["timings"] if "differs" in each["note"]]


@pytest.mark.proof
def test_ablations_and_the_curve_find_the_same_bits(tmp_path):
    figures = tmp_path / "figures.json"
    options = ["--inputs", "small", "--rounds", "1", "--threads", "2", "--only", "ablations", "--json", str(figures)]
    assert main(["bench", "accelerate", *options, "-o", str(tmp_path / "a.html")]) == 0
    found = json.loads(figures.read_text())
    assert [len(program["timings"]) for program in found["ablations"]] == [5, 3, 3]
    for program in found["ablations"]:
        for each in program["timings"]:
            assert bool(each["seconds"]) != each["note"].startswith("left out: "), program
    assert len([each for each in found["ablations"][0]["timings"] if each["seconds"]]) == 3
    assert [each["steps"] for each in found["curve"]] == [2, 4]


@pytest.mark.proof
def test_matrices_have_a_rate_by_all_who_multiply_them(tmp_path):
    figures, shown = tmp_path / "figures.json", tmp_path / "a.html"
    options = ["--inputs", "small", "--rounds", "1", "--threads", "1", "--only", "matrices", "--json", str(figures)]
    assert main(["bench", "accelerate", *options, "-o", str(shown)]) == 0
    matrices = json.loads(figures.read_text())["matrices"]
    assert len(matrices) == 14
    for matrix in matrices:
        assert matrix["flops"] > 0
        assert not [each["note"] for each in matrix["timings"] if "differs" in each["note"]]
    assert "Sparse product by lengths of rows" in shown.read_text()


def test_matrices_are_as_large_as_those_of_the_thesis():
    sizes = {}
    for row in MATRICES:
        if row.name in ("Dense", "QCD", "Circuit"):
            case = row.case("usual")
            lengths, columns, values, x = case.called[0][1]
            sizes[row.name] = len(lengths), len(x), round(len(values) / len(lengths))
            assert len(columns) == len(values) == lengths.sum()
            assert columns.min() >= 0
            assert columns.max() < len(x)
            assert row.flops(case) == 2 * len(values)
    assert sizes == {
        "Dense": (2000, 2000, 2000),
        "QCD": (49_000, 49_000, 39),
        "Circuit": (171_000, 171_000, 6),
    }


# ---- large inputs


def pairs_row(others):
    """Sums of n x n, by `others` of the usual 100 elements and of 1000 as in a table."""

    def make(draw, n):
        xs = draw.random(n)
        return Case(str(n), **alone(running_sums, (xs,)), others=lambda: others(xs), tolerance=1e-9)

    return ProgramRow("sums", "sums", make, ((10,), (100,), (1000,)), lambda n: n**2)


def test_large_inputs_are_rehearsed_with_the_usual_ones():
    row = pairs_row(lambda xs: {"NumPy": lambda: np.cumsum(np.repeat(xs[None], xs.size, axis=0), axis=1)[0]})
    assert rehearsed(row, "usual") is None
    assert rehearsed(row, "small") is None
    found = rehearsed(row, "thesis")
    assert 100 * 2 * 80_000 <= found.bytes["NumPy"] < 100 * 3 * 80_000  # two arrays of 100 x 100 f64, times 100
    assert found.seconds["NumPy"] > 0
    assert found.arrays == 100 * 2 * 800


def test_who_would_take_too_long_or_too_much_memory_is_left_out_with_the_reason(monkeypatch):
    monkeypatch.setattr(rehearsal, "bytes_available", lambda: 10**9)
    expected = rehearsal.Rehearsal({"slow": 7.0, "large": 1.0, "good": 1.0}, {"large": 5e9, "good": 1e8}, 1e8)
    calls = {"slow": pytest.fail, "large": pytest.fail, "good": lambda: np.cumsum(np.ones(3))}
    case = Case("3", **alone(running_sums, (np.ones(3),)), others=lambda: calls)
    found = dict((timing.name, timing.note) for timing, _ in contenders(case, 1, expected, 5.0))
    assert found["slow"] == "left out: about 7 s a call, more than 5 s"
    assert found["large"].startswith("left out: needs about 5 GB of memory, and 1 GB")
    assert found["good"] == ""
    assert expected.row_refusal() == ""
    assert rehearsal.Rehearsal({}, {}, 2e9).row_refusal().startswith("left out: needs about 2 GB")


def test_who_takes_too_long_or_finds_no_room_is_left_out_in_the_first_round(monkeypatch):
    def none():
        raise NoRoomError("sums with shape (9,) needs 9 GB", advice="Choose a smaller shape.")

    def slow():
        return 1.0

    monkeypatch.setattr(measure, "_seconds", lambda call, count: 2.0 if call is slow else 0.5)
    runs = [("ours", slow), ("none", none), ("slow", slow), ("good", lambda: 1.0)]
    race = ProgramRounds(ProgramResult("a", "a", ""), [(Timing(name, name), call) for name, call in runs], 0.0, 1.0)
    race.round()
    notes = {each.name: each.note for each in race.program.timings}
    assert notes["ours"] == notes["good"] == ""
    assert notes["none"].startswith("left out: sums with shape (9,) needs 9 GB")
    assert notes["slow"] == "left out: 2 s a call, more than 1 s"
    assert [each.name for each in race.program.timings if each.seconds] == ["ours", "good"]


def test_a_row_that_does_not_fit_is_named_in_the_report(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(rehearsal, "bytes_available", lambda: 1000)
    report = tmp_path / "a.html"
    assert main(["bench", "accelerate", "--inputs", "thesis", "--only", "md5", "--rounds", "1", "-o", str(report)]) == 0
    assert "MD5: left out: needs about" in capsys.readouterr().out
    assert "MD5 is left out: needs about" in report.read_text()


# ---- first calls


def test_first_calls_are_those_of_fresh_processes_with_an_empty_cache_and_a_full_one():
    (found,) = first_calls((row_of("dot_product"),), 1, 1)
    assert found.compiled[0] > 0 == found.compiled[1]
    assert min(*found.cold, *found.warm, *found.later) > 0
    table = AccelerateResults(1, 1, {"date": "today", "processor": "one"}, first_calls=(found,))
    assert "First calls" in page(table)
    assert first_calls_text(found).startswith("dot product: first call ")


def test_calls_are_timed_without_the_run():
    now, ran = [0.0], [0.0]
    taken = iter([(5.0, 1.0), *[(0.25, 0.125)] * 3])  # seconds of a call, and of the run in it

    def call():
        whole, inside = next(taken)
        now[0] += whole
        ran[0] += inside

    found = timed_calls(call, lambda: ran[0], lambda: now[0])
    assert (found.first, found.later) == (4.0, 0.125)
    assert next(taken, None) is None


def test_what_python_does_around_a_later_call_is_told_apart():
    now, called, ran = [0.0], [0.0], [0.0]
    taken = iter([(5.0, 4.0, 1.0), *[(0.5, 0.375, 0.125)] * 2])  # seconds of all, of the program's call, of its run

    def call():
        for clock, seconds in zip((now, called, ran), next(taken), strict=True):
            clock[0] += seconds

    found = timed_calls(call, lambda: ran[0], lambda: now[0], lambda: called[0])
    assert (found.first, found.later, found.around) == (4.0, 0.25, 0.125)


def test_the_clock_of_calls_counts_a_program_in_another_one_once(monkeypatch):
    monkeypatch.setattr(Collective, "__call__", Collective.__call__)  # put back at the end
    called, inner = watched_calls(), collective(lambda xs: xs + 1)
    outer = collective(lambda xs: inner(xs) * 2)
    ticks, clock = [], itertools.count()
    monkeypatch.setattr(time, "perf_counter", lambda: ticks.append(next(clock)) or ticks[-1])
    assert outer(np.ones(3), backend="reference").tolist() == [4.0] * 3
    assert called() == ticks[-1] - ticks[0] > 0


def test_the_clock_of_runs_goes_on_while_programs_run(monkeypatch):
    monkeypatch.setattr(OpenmpProgram, "__init__", OpenmpProgram.__init__)  # put back at the end
    ran = watched_runs()
    program = collective(lambda xs: while_loop(lambda u: np.max(u) > 1, lambda u: u - 0.375, xs, at_most=99))
    program.machine(np.ones(9)).plan("openmp")
    assert ran() == 0
    program(np.full(9, 7.0), backend="openmp")
    once = ran()
    assert once > 0
    program(np.full(9, 7.0), backend="openmp")
    assert ran() > once


def test_a_process_that_fails_is_named():
    broken = replace(row_of("dot_product"), name="nothing")
    with pytest.raises(RunError, match="a process that calls nothing ended with 1"):
        list(first_calls((broken,), 1, 1))


@pytest.mark.parametrize("given", [0, 1])
def test_first_calls_take_the_threads_that_are_given_or_leave_them_to_the_program(monkeypatch, tmp_path, given):
    asked = []
    monkeypatch.setattr(command, "first_calls", lambda rows, threads, processes: asked.append(threads) or ())
    request = command.AccelerateRequest(("first_calls",), threads=given, rounds=1, report=tmp_path / "report.html")
    command.run_table(request, lambda line: None)
    assert asked == [given]
