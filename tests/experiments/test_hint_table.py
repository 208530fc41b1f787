"""The hint table: what it says of each plan is the plan's, and the text explains the ratio."""

import json
import math

import pytest

from workbench.cli import main
from workbench.errors import StencilError
from workbench.experiments import hint_table
from workbench.experiments.hint_table import HINTS, HintFigures, HintTable, measure_hints
from workbench.planning.cost import step_cost
from workbench.solvers import hydro


@pytest.fixture(scope="module")
def table():
    return measure_hints(64, dim=1, backend="reference", rounds=2, seconds=1e-3)


def test_every_plan_is_measured_in_both_precisions(table):
    assert {(row.hints, row.precision) for row in table.rows} == {(h, p) for h in HINTS for p in ("f32", "f64")}
    assert all(row.mcups > 0 for row in table.rows)


def test_figures_are_those_of_the_plan(table):
    plan = hydro.machine(1, manifest=HINTS["DM"]).plan()
    row = table.row("DM", "f64")
    cost = step_cost(plan.main.plain)
    assert (row.subkernels, row.arrays) == (len(plan.subkernels), len(plan.slots))
    assert (row.bytes_a_cell, row.operations_a_cell) == (cost.bytes_moved, cost.flops)
    assert row.memory_a_cell >= 8 * len(plan.slots)
    assert row.source_lines > 100


def test_the_default_is_a_row_of_the_table():
    assert hydro.machine(2).plan() == hydro.machine(2, manifest=HINTS["PDM"]).plan()


def test_storing_moves_bytes_and_spares_operations(table):
    stored, recomputed, least = (table.row(name, "f64") for name in ("DM", "DD", "all Delayed"))
    assert stored.bytes_a_cell > recomputed.bytes_a_cell > least.bytes_a_cell
    assert stored.operations_a_cell < recomputed.operations_a_cell < least.operations_a_cell
    assert stored.memory_a_cell > recomputed.memory_a_cell
    assert table.row("DM", "f32").bytes_a_cell == stored.bytes_a_cell / 2


def test_in_two_dimensions_the_extremes_differ_by_more_than_twice_the_work():
    flops = {name: step_cost(hydro.machine(2, manifest=m).plan().main.plain).flops for name, m in HINTS.items()}
    print(flops)
    assert max(flops.values()) > 4 * min(flops.values())


def test_the_text_says_why():
    def row(hints, precision, mcups, moved, work):
        return HintFigures(hints, precision, 1, 1, moved, work, 8.0, 10, mcups, 1e4 / moved, 1e4 / work)

    rows = [row(h, p, 1.0 + (h == "DM"), 100.0, 500.0 if h == "DM" else 1000.0) for h in HINTS for p in ("f32", "f64")]
    table = HintTable(2, 64, "openmp", 3, "figures", tuple(rows))
    assert table.ratio("f32") == 2.0
    assert "DM is 2.0 times as fast as" in table.explain()
    assert "2.00 times the operations (1000, not 500)" in table.explain()
    assert table.explain().endswith(": arithmetic binds both.")
    lines = str(table).splitlines()
    head = next(at for at, line in enumerate(lines) if line.startswith("hints"))
    assert len({len(line) for line in lines[head : head + 1 + len(HINTS)]}) == 1
    assert " ".join(lines[head + 1 + len(HINTS) :]) == table.explain()
    assert max(map(len, lines)) <= 84  # one precision fewer: 73, which a narrow notebook shows whole
    with pytest.raises(KeyError):
        table.row("DM", "f16")


@pytest.fixture
def two_hints(monkeypatch):
    """The extremes of the table, where the others would say nothing more."""
    monkeypatch.setattr(hint_table, "HINTS", {name: HINTS[name] for name in ("DM", "all Delayed")})


def test_ctrl_c_leaves_the_table_of_whole_rounds(monkeypatch, two_hints):
    said, measured = [], hint_table._seconds

    def interrupted(simulation, steps):
        if any(text.startswith("round 1") for text in said):
            raise KeyboardInterrupt
        return measured(simulation, steps)

    monkeypatch.setattr(hint_table, "_seconds", interrupted)
    options = {"dim": 1, "backend": "reference", "seconds": 1e-3, "precisions": ("f64",)}
    table = measure_hints(64, rounds=3, say=said.append, **options)
    assert table.rounds == 1
    assert all(row.mcups > 0 for row in table.rows)
    assert said[-1] == "stopped: the table is of 1 of 3 rounds"


def test_the_command_prints_the_table(tmp_path, capsys, two_hints):
    file = tmp_path / "table.json"
    options = ["--cells", "16", "--dim", "1", "--backend", "reference", "--rounds", "1", "--seconds", "0.001"]
    assert main(["table5", *options, "--json", str(file)]) == 0
    assert "sub-kernels" in capsys.readouterr().out
    figures = json.loads(file.read_text())
    assert len(figures["rows"]) == 4
    assert figures["best_over_worst"]["f64"] >= 1


def test_one_precision_is_enough(two_hints):
    table = measure_hints(16, dim=1, backend="reference", rounds=1, seconds=1e-3, precisions=("f32",))
    assert {row.precision for row in table.rows} == {"f32"}
    assert "Mcups f32" in str(table)
    assert "f64" not in str(table)
    assert table.explain().startswith("f32")


def test_numbers_without_sense_are_refused():
    for options in (
        {"cells": 4},
        {"dim": 4},
        {"rounds": 0},
        {"seconds": 0},
        {"seconds": math.nan},
        {"seconds": math.inf},
    ):
        with pytest.raises(StencilError, match="cannot be measured"):
            measure_hints(**{"cells": 16, **options})
