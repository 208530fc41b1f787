"""Locality of a step and of tiles: the table of the DiamondTorre paper, and sizes of tiles from extents and cache."""

import pytest

from tests.planning.random_tileable import HEAT, WAVE
from workbench.frontend.cell import trace_cell
from workbench.planning import Choices, PlanChoices, plan_graph
from workbench.planning.choices import TilingChoices
from workbench.planning.schedules.locality import locality_table, locality_text, tile_sizes, updates_per_move

MIB = 1 << 20


def tiled(text, dim):
    choices = Choices(plan=PlanChoices().changed(schedule="diamond"))
    return plan_graph(trace_cell(text, name="cell", dim=dim).graph, choices).main


def wave_of_order(order):
    """The paper's equation: two arrays, a star of order / 2 cells along each axis."""
    star = " + ".join(f"(u.at(+{k}, x) + u.at(-{k}, x)) / {k * k}" for k in range(1, order // 2 + 1))
    return f"""
u, w = fields("u w", dtype="f32", boundary=constant(0.0))
u.next = 2 * u - w + 0.1 * sum({star} - 2 * u for x in axes)
w.next = u
"""


@pytest.mark.parametrize("order", [2, 4, 8])
def test_shapes_of_one_step_are_those_of_the_paper(order):
    rows = {row.shape: row for row in locality_table(tiled(wave_of_order(order), 3), (384,) * 3, None)}
    assert 1 / rows["cell"].vertices_per_edge == pytest.approx(3 + 3 * order)
    assert 1 / rows["row"].vertices_per_edge == pytest.approx(3 + 2 * order)
    assert 1 / rows["step"].vertices_per_edge == pytest.approx(3)
    assert rows["step"].bytes_per_update == 12
    assert rows["row"].bytes_per_update == 4 * (3 + 2 * order)


def test_a_tile_updates_as_often_as_a_count_of_its_cells_says():
    kernel, extents = tiled(WAVE, 3), (50, 128, 64)
    sizes = tile_sizes(kernel, extents, TilingChoices("diamond", 40, (4, 16, 0)))
    assert (sizes.height, sizes.spaces, sizes.chunk) == (8, 8, 4)
    # Even tiles of this size: 15 levels of 2, 4, ... 16 ... 4, 2 rows; 16 rows and one more on either side are moved.
    updates = sum(2 * min(level + 1, 15 - level) for level in range(15))
    assert updates == 8 * 16
    assert updates_per_move(kernel.tiling, extents, sizes) == pytest.approx(updates / (16 + 2))
    last = locality_table(kernel, extents, sizes)[-1]
    assert last.shape == "tile"
    assert last.bytes_per_update == pytest.approx(24 * (16 + 2) / updates)
    assert "updates per value moved" in locality_text(kernel, extents, sizes)


@pytest.mark.parametrize("cache", [MIB // 4, MIB, 2 * MIB, 8 * MIB])
@pytest.mark.parametrize(("text", "extents"), [(WAVE, (384, 384, 384)), (HEAT, (4096, 4096)), (HEAT, (100_000,))])
def test_tiles_fit_into_the_cache(text, extents, cache):
    kernel = tiled(text, len(extents))
    sizes = tile_sizes(kernel, extents, TilingChoices("diamond"), 2, cache)
    lag = 2 * sizes.height
    shape = {
        1: sizes.height,
        2: sizes.height * min(sizes.chunk + lag, extents[-1]),
        3: sizes.height * (sizes.chunk + lag) * extents[-1],
    }
    assert 2 * 8 * shape[len(extents)] <= cache or sizes.height == 1 or sizes.chunk == 512
    assert sizes.spaces >= 4  # two tiles a thread


def test_a_larger_cache_has_tiles_that_move_less():
    kernel, extents, gains = tiled(WAVE, 3), (384,) * 3, []
    for cache in (MIB // 4, MIB, 4 * MIB):
        gains.append(updates_per_move(kernel.tiling, extents, tile_sizes(kernel, extents, TilingChoices(), 2, cache)))
    assert gains == sorted(set(gains))


def test_there_is_no_tile_without_room_depth_or_tiling():
    kernel = tiled(HEAT, 1)
    assert tile_sizes(kernel, (1,), TilingChoices("diamond")) is None
    assert tile_sizes(kernel, (64,), TilingChoices("diamond", depth=1)) is None
    stepwise = plan_graph(trace_cell(HEAT, name="cell", dim=1).graph).main
    assert tile_sizes(stepwise, (64,), TilingChoices()) is None
