"""Comparison grids: each candidate in tiles meets the borders of its tiles; a fault that is only there is found."""

from dataclasses import replace
from itertools import product
from math import prod

import numpy as np
import pytest

import workbench as wb
from workbench.codegen.cpp import render
from workbench.codegen.cpp.headers import openmp_headers
from workbench.pipeline import plan_for
from workbench.planning.schedules.diamondtorre import torre_of
from workbench.solvers import gray_scott, wave
from workbench.tuning import comparison, comparison_grid, tune
from workbench.tuning.setup import Setup, write_setup
from workbench.tuning.tile_space import tile_tunables

HEAT = 'u = field("u", boundary="{0}")\nu.next = u + 0.1 * (u[-1] - 2 * u + u[+1])'
HEAT_2D = 'u = field("u", boundary="{0}")\nu.next = u + 0.1 * (u[-1, 0] + u[1, 0] + u[0, -1] + u[0, 1] - 4 * u)'
HEAT_3D = (
    'u = field("u", dtype="f32", boundary={0})\nu.next = u + 0.1 * sum(u.at(+1, a) - 2 * u + u.at(-1, a) for a in axes)'
)
OPENMP = '#include "stencil_openmp.h"\n'
RUNS = {1: (1_000_000,), 2: (4000, 40_000), 3: (600, 300, 200)}


def setup_of(folder, extents, backend="openmp", threads=2):
    checked = tune.checked_extents(len(extents), backend)
    return Setup(str(folder), backend, extents, checked, tune._CHECK_STEPS_OF_TILES, threads)


def tiled(machine, backend="openmp", schedule="diamond", **sizes):
    plan = machine.choices.plan.changed(schedule=schedule, **sizes)
    return plan_for(machine.graph, replace(machine.choices, plan=plan), backend)


@pytest.mark.parametrize("rule", ["periodic", "mirror"])
@pytest.mark.parametrize("dim", [1, 2, 3])
def test_every_width_of_the_space_meets_borders_of_its_tiles(dim, rule):
    """As the run does: of a run of three tiles or more, three; of two, where three are too many cells."""
    machine = wave.machine(dim, boundary=rule) if dim > 1 else wb.trace(HEAT.format(rule), name="heat", dim=1)
    setup = setup_of("", RUNS[dim])
    rows = [row for row in tile_tunables(machine.graph, machine.choices, "openmp") if row.name.startswith("width")]
    plan = tiled(machine)
    for depth, *values in product((0, 8, 128), *(row.sensible for row in rows)):
        chosen = plan.choices.plan.changed(depth=depth)
        for row, value in zip(rows, values, strict=True):
            chosen = row.write(chosen, value)
        grid = comparison_grid.comparison_grid(replace(plan, choices=replace(plan.choices, plan=chosen)), setup)
        assert prod(grid.extents) <= comparison_grid._MOST_CELLS
        assert grid.cuts, values
        for cut in grid.cuts:
            assert cut.compared >= min(cut.run, 2), (values, str(grid))
        if prod(grid.extents) < comparison_grid._MOST_CELLS // 8:
            assert all(cut.compared >= min(cut.run, 3) for cut in grid.cuts), (values, str(grid))


def test_tiles_of_a_comparison_are_those_of_the_run():
    """Sizes that are chosen from extents are those of the timed run, whatever the extents of the comparison."""
    machine = wb.trace(HEAT.format("periodic"), name="heat", dim=1)
    for threads in (1, 2):
        setup = setup_of("", RUNS[1], threads=threads)
        plan = tiled(machine)
        grid = comparison_grid.comparison_grid(plan, setup)
        sizes = [
            comparison_grid.tile_sizes_here(plan.main, extents, choices.plan.tiling, threads)
            for extents, choices in ((setup.extents, plan.choices), (grid.extents, grid.choices))
        ]
        assert sizes[0].height == sizes[1].height
        assert sizes[1].spaces >= 3


def test_a_tile_as_wide_as_the_run_is_said():
    grid = comparison_grid.comparison_grid(
        tiled(wb.trace(HEAT.format("periodic"), name="heat", dim=1), widths=(16384,)), setup_of("", (16500,))
    )
    assert str(grid).endswith("1 tile along x as in the run")
    machine = wb.trace(HEAT_2D.format("mirror"), name="heat", dim=2)
    grid = comparison_grid.comparison_grid(tiled(machine, widths=(16, 8192)), setup_of("", (500, 500)))
    assert str(grid) == "517 x 37 cells, 40 steps, 32 tiles along x, 1 tile along y as in the run"


def test_too_many_cells_are_said(monkeypatch):
    """A program of very many operations is compared on few cells; of its tiles as many as fit."""
    machine = wb.trace(HEAT_2D.format("mirror"), name="heat", dim=2)
    setup = setup_of("", (100_000, 100_000))
    plan = tiled(machine, widths=(128, 8192))
    assert "two are too many" not in str(comparison_grid.comparison_grid(plan, setup))
    monkeypatch.setattr(comparison_grid, "_MOST_WORK", 1 << 20)
    grid = comparison_grid.comparison_grid(plan, setup)
    assert grid.extents == setup.check_extents
    assert str(grid).endswith("4 tiles along x, 1 tile along y of 13 in the run, as two are too many cells")


def test_programs_without_tiles_have_the_usual_grid():
    machine = wb.trace(HEAT.format("periodic"), name="heat", dim=1)
    grid = comparison_grid.comparison_grid(tiled(machine, schedule="stepwise"), setup_of("", RUNS[1]))
    assert str(grid) == "2051 cells, 40 steps"


@pytest.mark.parametrize("backend", ["cuda", "cuda-sim"])
@pytest.mark.parametrize("rule", ['"periodic"', "constant(0.25)"])
def test_towers_have_neighbours(backend, rule):
    """A ring of an odd number of columns has no towers at all."""
    machine = wb.trace(HEAT_3D.format(rule), name="heat", dim=3)
    for size in (1, 2, 3, 4, 6, 8):
        plan = tiled(machine, backend, "diamondtorre", diamond_size=size, column_threads=256)
        grid = comparison_grid.comparison_grid(plan, setup_of("", (256, 256, 256), backend))
        assert all(cut.compared >= 3 for cut in grid.cuts), str(grid)
        assert torre_of(plan.main.towers, grid.extents, plan.choices.plan.tiling) is not None


# What each fault does: a row or plane of the third tile is left out; nothing has a third tile on the usual grid.
FAULTS = {
    "diamond": ("{centre(tile) + half, centre", "{centre(tile) + half + (tile == 2), centre"),
    "wave": ("at_least(start - lag, left), at_most", "at_least(start - lag, left) + (start == 2 * chunk), at_most"),
}


@pytest.mark.parametrize(
    ("fault", "text", "extents", "widths"),
    [
        ("diamond", HEAT.format("periodic"), (65_536,), (1024,)),
        ("diamond", HEAT.format("mirror"), (65_536,), (4096,)),
        ("wave", HEAT_2D.format("mirror"), (256, 4096), (16, 1024)),
        ("wave", HEAT_2D.format("periodic"), (256, 4096), (8, 512)),
    ],
)
def test_fault_at_the_second_border_of_tiles_is_found(monkeypatch, tmp_path, fault, text, extents, widths):
    """Seeded into the C++ of tiles; the usual grid does not show it, that of the candidate does."""
    old, new = FAULTS[fault]
    assert sum(code.count(old) for _, code in openmp_headers(OPENMP)) == 1
    monkeypatch.setattr(
        render, "openmp_headers", lambda text: tuple((name, c.replace(old, new)) for name, c in openmp_headers(text))
    )
    machine = wb.trace(text, name="heat", dim=len(extents))
    setup = setup_of(tmp_path, extents)
    write_setup(setup, str(machine.graph), {"u": np.ones(extents)}, {})
    comparison.write_expected(setup)
    plan = tiled(machine, widths=widths)
    found = comparison.prepared(machine.graph, plan, setup)
    assert "u differs from the reference" in comparison.deviation(machine.graph, found, setup)
    usual = replace(found, grid=replace(found.grid, extents=setup.check_extents, steps=setup.check_steps))
    assert comparison.deviation(machine.graph, usual, setup) == ""


def test_single_steps_are_compared_with_the_reference_and_run_once(monkeypatch, tmp_path):
    machine = wb.trace(HEAT.format("periodic"), name="heat", dim=1)
    setup = setup_of(tmp_path, (65_536,))
    write_setup(setup, str(machine.graph), {"u": np.ones(65_536)}, {})
    comparison.write_expected(setup)
    ran = []
    real = comparison._grid_state
    monkeypatch.setattr(comparison, "_grid_state", lambda *a: (ran.append(a[3].extents), real(*a))[1])
    for widths in ((4096,), (4080,)):
        found = comparison.prepared(machine.graph, tiled(machine, widths=widths), setup)
        assert comparison.deviation(machine.graph, found, setup) == ""
    wide = 3 * 4096 + 5
    assert ran == [(2051,), (wide,), (wide,), (2051,), (3 * 4080 + 5,), (3 * 4080 + 5,)]
    ran.clear()
    found = comparison.prepared(machine.graph, tiled(machine, widths=(4096,)), setup)
    assert found.single is None
    assert comparison.deviation(machine.graph, found, setup) == ""
    assert ran == [(wide,)]
    np.save(next(tmp_path.glob("expected/u.npy")), np.zeros(2051))
    found = comparison.prepared(machine.graph, tiled(machine, widths=(4090,)), setup)
    assert "in single steps u differs" in comparison.deviation(machine.graph, found, setup)


def test_programs_that_diverge_from_random_values_begin_with_the_study_s_own(monkeypatch, tmp_path):
    """Gray-Scott from 0.5 to 1.5 is no number anywhere after 40 steps, so that every fault would be equal to it."""
    machine = gray_scott.machine(2)
    extents = (300, 50)
    setup = replace(setup_of(tmp_path, extents), check_extents=(67, 19))
    spot = np.zeros(extents)
    spot[20:60, 3:15] = 0.25
    numbers = {static.name: static.default for static in (*machine.graph.params, *machine.graph.scalars)}
    write_setup(
        setup, str(machine.graph), {"u": 1 - spot, "v": spot}, {n: v for n, v in numbers.items() if v is not None}
    )
    comparison.write_expected(setup)
    expected = np.load(tmp_path / "expected" / "v.npy")
    assert np.isfinite(expected).all()
    assert len(np.unique(expected)) > 1000
    old, new = FAULTS["diamond"]
    monkeypatch.setattr(
        render, "openmp_headers", lambda text: tuple((name, c.replace(old, new)) for name, c in openmp_headers(text))
    )
    found = comparison.prepared(machine.graph, tiled(machine, widths=(64,)), setup)
    assert comparison.described(found, setup).endswith("along x, from the study's own values")
    assert "differs from the reference" in comparison.deviation(machine.graph, found, setup)
    (tmp_path / comparison._OWN).unlink()
    comparison._keep(tmp_path / "random", comparison._reference_state(machine.graph, machine.choices.meaning, setup))
    assert np.isnan(np.load(tmp_path / "random" / "v.npy")).all()
