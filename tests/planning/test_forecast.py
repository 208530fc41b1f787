"""Forecast of rates from bytes and ceilings; `tests/bench/bench_model.py` compares it with what is measured."""

from math import hypot

import pytest

from tests.kit.random_tileable import HEAT
from tests.kit.tiled_kernels import FIGURES, tiled, wave_of_order
from workbench.planning.choices import TilingChoices
from workbench.planning.cost import ESTIMATE, HostFigures
from workbench.planning.schedules.forecast import forecasts, needs_of
from workbench.planning.schedules.locality import tile_sizes


def test_a_wave_waits_for_memory_in_steps_and_for_caches_in_tiles():
    """Nine loads and stores, of which the three that come from further away are in the time of that."""
    kernel, extents = tiled(wave_of_order(2), 3), (384,) * 3
    step, tile = forecasts(kernel, extents, tile_sizes(kernel, extents, TilingChoices(), 2), FIGURES)
    assert step.near == tile.near == pytest.approx((8 + 1 - 3) * 4 / 160e9)
    assert tile.second == pytest.approx(12 / 80e9)
    assert step.second == 0  # in the time of memory
    assert step.memory == pytest.approx(12 / 40e9)  # in place: before is read and written
    arithmetic = step.arithmetic
    assert step.rate == pytest.approx(1 / hypot(24 / 160e9 + arithmetic, 12 / 40e9))  # its loop prefetches
    assert step.limit == "memory"
    assert tile.limit != "memory"
    assert tile.memory < step.memory / 5
    assert 1.4 * step.rate < tile.rate < 1.6 * step.rate


def test_a_store_to_an_array_that_is_not_read_brings_its_line_in():
    step, _ = forecasts(
        tiled(HEAT, 2), (4096, 4096), tile_sizes(tiled(HEAT, 2), (4096, 4096), TilingChoices()), FIGURES
    )
    assert step.memory == pytest.approx(3 * 8 / 40e9)


def test_slow_arithmetic_and_slow_memory_are_named():
    kernel, extents = tiled(wave_of_order(2), 3), (384,) * 3
    slow = HostFigures(40e9, 1e9, "given", FIGURES.levels)
    assert [each.limit for each in forecasts(kernel, extents, None, slow)] == ["arithmetic"]
    slow = HostFigures(4e9, 350e9, "given", FIGURES.levels)
    assert [each.limit for each in forecasts(kernel, extents, None, slow)] == ["memory"]
    assert forecasts(kernel, extents, None, ESTIMATE) == ()


def test_arrays_that_stay_in_the_second_cache_come_from_there():
    kernel, extents = tiled(HEAT, 2), (128, 128)
    (inside,) = needs_of(kernel, extents, None, 1 << 20, arrays=1 << 19)
    (beyond,) = needs_of(kernel, extents, None, 1 << 20, arrays=(1 << 19) + 1)
    near = (5 + 1 - 2) * 8 / 160e9
    assert inside.forecast(FIGURES).rate == pytest.approx(1 / (near + 2 * 8 / 80e9))
    assert beyond.forecast(FIGURES).rate == pytest.approx(1 / (near + 3 * 8 / 40e9))
    assert beyond.forecast(ESTIMATE) is None
