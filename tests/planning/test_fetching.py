"""Which tiles fetch what they come to next: those whose loops keep the rows of a place in the first cache."""

from dataclasses import replace

import pytest

from tests.kit.random_tileable import HEAT, STAGED, WAVE
from tests.kit.tiled_kernels import tiled, wave_of_order
from workbench.planning.choices import TilingChoices
from workbench.planning.schedules.diamond_schedule import sizes_on
from workbench.planning.schedules.locality_table import locality_text
from workbench.planning.schedules.schedule import TileHost

KIB, MIB = 1 << 10, 1 << 20


def fetching(kernel, extents, first=48 * KIB, second=2 * MIB, third=0, widths=()):
    host = TileHost(2, second, third, first_cache_bytes=first)
    return sizes_on(kernel, extents, TilingChoices("diamond", widths=widths), host).fetches


@pytest.mark.parametrize(("order", "rows"), [(2, 4 * 3 + 2 + 4), (4, 4 * 5 + 4 + 4), (8, 4 * 9 + 8 + 4)])
def test_rows_of_a_place_have_to_stay_in_the_first_cache(order, rows):
    """A star on four planes: rows beside the place, planes above and below it, and what it is written over."""
    kernel, extents = tiled(wave_of_order(order), 3), (256, 256, 128)
    assert fetching(kernel, extents, first=rows * 128 * 4 + 1)
    assert not fetching(kernel, extents, first=rows * 128 * 4)


def test_the_locality_text_tells_of_it():
    kernel, extents = tiled(wave_of_order(2), 3), (256, 256, 128)
    sizes = sizes_on(kernel, extents, TilingChoices("diamond"), TileHost(2, 2 * MIB))
    told = "a tile fetches the rows that it comes to next while it computes"
    assert told in locality_text(kernel, extents, sizes).split("\n")
    assert told not in locality_text(kernel, extents, replace(sizes, fetches=False))


def test_tiles_larger_than_the_second_cache_do_not_fetch():
    kernel, extents = tiled(wave_of_order(8), 3), (512, 512, 192)
    assert fetching(kernel, extents)
    assert not fetching(kernel, extents, second=MIB // 4, third=16 * MIB)


def test_boxes_of_many_planes_run_plane_by_plane_and_do_not_fetch():
    kernel, extents = tiled(wave_of_order(2), 3), (256, 256, 64)
    assert fetching(kernel, extents, widths=(16, 8))
    assert not fetching(kernel, extents, first=MIB, widths=(17, 8))


@pytest.mark.parametrize(("text", "dim"), [(HEAT, 1), (HEAT, 2), (WAVE, 2), (STAGED, 2)])
def test_only_planes_of_three_axes_are_fetched(text, dim):
    assert not fetching(tiled(text, dim), (256,) * dim, first=MIB)
