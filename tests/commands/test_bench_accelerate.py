"""The command bench accelerate: one small program with its files, what it refuses, and who is left out."""

import json
import math
from dataclasses import replace
from statistics import median

import numpy as np
import pytest

from workbench.backends.build_cache import counters
from workbench.cli import main
from workbench.commands.bench.accelerate import command
from workbench.commands.bench.accelerate.measure import ProgramRounds, difference, making_of, plans_of, shape_of
from workbench.commands.bench.accelerate.page import page, table_lines
from workbench.commands.bench.accelerate.results import (
    AccelerateResults,
    Making,
    ProgramResult,
    StepsTiming,
    Timing,
    slope,
)
from workbench.commands.bench.accelerate.row import VARIANTS
from workbench.commands.bench.accelerate.rows import ROWS

NAMES = [row.name for row in ROWS]


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """The dot product of few elements: the figures, the page, and how many libraries were compiled."""
    folder = tmp_path_factory.mktemp("accelerate")
    files = ["--json", str(folder / "figures.json"), "-o", str(folder / "report.html")]
    options = ["--threads", "1", "--rounds", "3", "--small", "--only", "dot_product", *files]
    making_of(ROWS[NAMES.index("dot_product")].make(np.random.default_rng(2015), True))  # in the user's cache
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
    assert min(made[stage] for stage in ("trace", "plan", "render", "compile", "cached")) > 0
    assert measured[2] >= 1  # although the user's cache has it


def test_page_has_the_tables_and_says_what_is_missing(measured):
    figures, shown, _ = measured
    for text in ("dot product", "3,000 f32", "times as fast", "the same plan", "How it was measured"):
        assert text in shown
    for library in figures["absent"]:
        assert f"{library}</td><td>not installed" in shown.replace("\n", "")
    assert "<script" not in shown


def test_variants_differ_as_they_say():
    case = ROWS[NAMES.index("dot_product")].make(np.random.default_rng(1), True)
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
        (["--json", "nowhere/figures.json"], "there is no folder"),
    ],
)
def test_what_cannot_be_measured_is_refused_with_advice(options, said, capsys):
    assert main(["bench", "accelerate", *options]) != 0
    words = capsys.readouterr().err
    assert said in words
    assert words.strip().splitlines()[-1].endswith(".")


def test_small_is_no_option_of_other_problems(capsys):
    assert main(["bench", "heat2d", "--small"]) != 0
    assert "--small is an option of accelerate alone" in capsys.readouterr().err


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
    monkeypatch.setattr(command, "making_of", lambda case: None)
    report = tmp_path / "a.html"
    options = ["--small", "--threads", "1", "--only", "dot_product,histogram", "-o", str(report)]
    assert main(["bench", "accelerate", *options]) == 130
    assert "interrupted" in capsys.readouterr().out
    assert "Interrupted: rows have the whole rounds" in report.read_text()
    assert "histogram" not in report.read_text()


def test_a_table_names_the_fastest_of_the_others():
    timings = (Timing("ours", "ours", (2.0, 2.0)), Timing("stored", "no fusion", (1.0, 1.0)))
    timings += (Timing("NumPy", "NumPy", (6.0, 6.0)), Timing("Numba", "Numba", (4.0, 4.0)))
    making = Making(2, 1, 1, 0.1, 0.1, 0.1, 1.0, 0.01)
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
    options = ["--small", "--rounds", "1", "--threads", "2", "--only", name, "--json", str(figures)]
    assert main(["bench", "accelerate", *options, "-o", str(tmp_path / "a.html")]) == 0
    (program,) = json.loads(figures.read_text())["programs"]
    assert len([each for each in program["timings"] if each["seconds"]]) >= 2
    assert not [each["note"] for each in program["timings"] if "differs" in each["note"]]


@pytest.mark.proof
def test_ablations_and_the_curve_find_the_same_bits(monkeypatch, tmp_path):
    monkeypatch.setattr(command, "rows_named", lambda names: ())
    figures = tmp_path / "figures.json"
    options = ["--small", "--rounds", "1", "--threads", "2", "--json", str(figures), "-o", str(tmp_path / "a.html")]
    assert main(["bench", "accelerate", *options]) == 0
    found = json.loads(figures.read_text())
    assert len(found["ablations"]) == 3
    for program in found["ablations"]:
        assert len(program["timings"]) == 3
        assert all(each["seconds"] for each in program["timings"]), program
    assert [each["steps"] for each in found["curve"]] == [2, 4]
