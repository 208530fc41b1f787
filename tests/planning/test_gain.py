"""Whether tiles gain, by ceilings of one thread; tests/run/test_schedules.py asks what a simulation makes of it."""

import pytest

from tests.kit.random_tileable import HEAT
from tests.kit.tiled_kernels import FIGURES, tiled
from workbench.codegen.rendering import template_text
from workbench.frontend.cell import trace_cell
from workbench.planning import Choices, PlanChoices, plan_graph
from workbench.planning.choices import TilingChoices
from workbench.planning.cost import CacheLevel, HostFigures
from workbench.planning.schedules.gain import FEW, LONGEST_FEW, Caches, meet_often, spares_meetings, tiles_gain
from workbench.planning.schedules.locality import TileSizes, tile_sizes
from workbench.solvers import wave


def gains(edge, threads=1, figures=FIGURES):
    kernel, extents = tiled(HEAT, 2), (edge, edge)
    sizes = tile_sizes(kernel, extents, TilingChoices(), threads)
    return tiles_gain(kernel, extents, sizes, 16 * edge**2 // threads, Caches(1 << 20, 1 << 25), figures, threads)


def test_steps_that_run_alone_have_no_tiles():
    """A step moves 24 bytes a cell at 40 GB/s and 3 loads and stores more: 0.2 s at 16,000 squared, 1.1 s at 36,000."""
    assert gains(16_000)
    assert not gains(36_000)
    assert gains(36_000, threads=2)
    assert gains(36_000, figures=None)  # nobody knows how long they take


def test_steps_count_as_alone_where_a_march_lets_them_run_alone():
    assert f"LONGEST_FEW = {LONGEST_FEW}," in template_text("stencil_openmp.h")
    assert f"FEW = {FEW};" in template_text("stencil_openmp.h")


@pytest.mark.parametrize(("flops", "edge", "chosen"), [(350e9, 600, False), (350e9, 800, True), (5e9, 800, False)])
def test_a_near_third_cache_keeps_steps_while_arrays_fill_little_of_it(flops, edge, chosen):
    """Arrays of 5.8 and 10 MB, 32 MiB of last cache: forecasts of tiles are 1.25 of steps, 1.1 where loops compute."""
    rates = {1 << 14: 160e9, 1 << 19: 80e9, 1 << 22: 72e9, 1 << 24: 72e9, 1 << 28: 12e9}
    figures = HostFigures(12e9, flops, "given", tuple(CacheLevel(size, rate) for size, rate in rates.items()))
    assert gains(edge, figures=figures) == chosen


def test_where_nothing_was_measured_a_near_last_cache_keeps_steps_until_arrays_fill_half_of_it():
    """Arrays of 9.4 and 17 MB, 32 MiB of last cache, of 2 and 3 MB beside 1 MiB of second cache."""

    def chosen(edge, near):
        kernel, extents = tiled(HEAT, 2), (edge, edge)
        sizes = tile_sizes(kernel, extents, TilingChoices())
        return tiles_gain(kernel, extents, sizes, 16 * edge**2, Caches(1 << 20, 1 << 25, near))

    assert [chosen(edge, True) for edge in (768, 1024, 1100)] == [False, False, True]
    assert [chosen(edge, False) for edge in (300, 350)] == [False, True]


PREFETCHED = HostFigures(
    14e9,
    37e9,
    "a core that fetches ahead",
    tuple(CacheLevel(*each) for each in ((1 << 14, 297e9), (1 << 20, 74e9), (1 << 24, 26e9), (1 << 27, 14e9))),
)


@pytest.mark.parametrize("figures", [PREFETCHED, None])
@pytest.mark.parametrize(
    ("order", "edge", "chosen"),
    [(2, 256, True), (2, 384, True), (4, 256, True), (4, 384, True), (8, 128, False), (8, 192, False), (8, 384, True)],
)
def test_long_formulas_run_in_tiles_only_where_memory_takes_as_long(order, edge, chosen, figures):
    """Measured on such a core, tiles over steps: 1.6, 2.4, 1.2, 1.6, 0.88, 0.91, 1.05."""
    machine = wave.machine(3, order=order, time_order=2, dtype="f32")
    kernel = plan_graph(machine.graph, Choices(plan=PlanChoices().changed(schedule="diamond"))).main
    extents = (edge, edge, edge)
    sizes = tile_sizes(kernel, extents, TilingChoices(), 2, 1 << 21)
    arrays = 8 * edge**3 // 2
    assert tiles_gain(kernel, extents, sizes, arrays, Caches(1 << 21, 1 << 24), figures, 2) == chosen


def test_only_several_threads_meet():
    plan = plan_graph(trace_cell(HEAT, name="cell", dim=2).graph)
    assert [meet_often(plan, (192, 192), threads) for threads in (1, 2, 4)] == [False, True, True]
    assert not meet_often(plan, (400, 400), 2)


def test_low_tiles_spare_no_meetings():
    kernel = tiled(HEAT, 2)
    assert [spares_meetings(kernel, TileSizes(64, height, 8, 128)) for height in (1, 7, 8, 16)] == [0, 0, 1, 1]
