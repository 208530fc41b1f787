"""Locality of a step and of tiles: the table of the DiamondTorre paper, and sizes of tiles from extents and cache."""

import random

import pytest

from tests.kit.random_tileable import HEAT, STAGED, TURNING, WATCHED, WAVE
from tests.kit.tiled_kernels import tiled, wave_of_order
from workbench.frontend.cell import trace_cell
from workbench.planning import plan_graph
from workbench.planning.choices import TilingChoices
from workbench.planning.schedules.diamond import lattice
from workbench.planning.schedules.least_traffic import least_bytes
from workbench.planning.schedules.locality import (
    TileSizes,
    bytes_in_use,
    choices_of_tiles,
    tile_sizes,
    updates_per_move,
)
from workbench.planning.schedules.locality_table import locality_table, locality_text, shape_row
from workbench.planning.schedules.shapes import Shape, crossing, diamond_base, lattice_tile, tower, uses_of
from workbench.solvers import gray_scott

MIB = 1 << 20


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
    # In place: both arrays are read and written again over 16 rows. 40 steps are 6 bands of tiles 8 high.
    assert crossing(uses_of(kernel), lattice_tile(1, lattice(128, 1, 16, 40))).locality == updates / (4 * 16)
    tile, band = locality_table(kernel, extents, sizes)[-2:]
    assert (tile.shape, band.shape) == ("tile", "band")
    assert tile.bytes_per_update == band.bytes_per_update == pytest.approx(8 * 4 * 16 / updates * 6 / 5)
    assert tile.asynchrony == 16 * 4 * 64
    assert band.asynchrony == 8 * tile.asynchrony
    assert "updates per value moved" in locality_text(kernel, extents, sizes)


@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_towers_are_those_of_the_paper(order, size):
    """Section 5: S = order / 2, towers of 2 size n levels; Nz cells along the last axis, of Ny rows."""
    kernel, radius, nz = tiled(wave_of_order(order), 3), order // 2, 96
    extents = (480, 240, nz)

    def row_of(height, **options):
        return shape_row(kernel, tower((0, 1), radius, size, height, **options), extents)

    flat = row_of(1)
    assert 1 / flat.vertices_per_edge == pytest.approx(3 + 2 / size + 1 / size**2)
    assert flat.asynchrony == nz * 2 * size**2 * radius**2
    for n in (1, 3):
        ends = 2 - 2 / size + 1 / size**2
        alone, row = row_of(2 * size * n), row_of(2 * size * n, row=True)
        assert alone.vertices_per_edge == pytest.approx(size * n / (4 * n + ends))
        assert row.vertices_per_edge == pytest.approx(size * n / (n * (4 - 1 / size) + ends))
        assert alone.bytes_per_update == pytest.approx(4 / alone.vertices_per_edge)


@pytest.mark.parametrize(
    "text", [WAVE, HEAT, STAGED, TURNING, WATCHED], ids=["wave", "heat", "staged", "turn", "watched"]
)
def test_what_crosses_a_border_is_what_a_walk_over_all_updates_finds(text):
    """Every reader and its source, level by level; the shape is any set of cells of six levels."""
    kernel, chooser = tiled(text, 2), random.Random(0)
    uses = uses_of(kernel)
    cells = [(x, y) for x in range(6) for y in range(6)]
    shape = Shape("any", (0, 1), tuple(frozenset(chooser.sample(cells, 12)) for _ in range(6)))
    loads, stores, wide = set(), set(), [(x, y) for x in range(-9, 15) for y in range(-9, 15)]
    for level in range(40):
        for cell in wide:
            inside = level < 6 and cell in shape.tiers[level]
            for use in uses[level % len(uses)]:
                source = tuple(c + o for c, o in zip(cell, use.offset, strict=True))
                made = None if use.back < 0 else level - use.back
                there = made is not None and 0 <= made < 6 and source in shape.tiers[made]
                if inside and not there:
                    loads.add((made, use.value, source))
                if there and not inside:
                    stores.add((made, use.value, source))
    found = crossing(uses, shape)
    assert (found.loads, found.stores, found.vertices) == (len(loads), len(stores), 72)


def bytes_of(kernel, base):
    """Bytes an update of the sixth level of a leaning tower of f32, by the difference of towers of 7 and 6."""
    towers = [tuple(frozenset((x + t, y) for x, y in base) for t in range(height)) for height in (6, 7)]
    less, more = (crossing(uses_of(kernel), Shape("", (0, 1), tiers)) for tiers in towers)
    return 4 * (more.loads + more.stores - less.loads - less.stores) / len(base)


def test_no_tile_moves_less_than_the_limit_and_diamonds_reach_it():
    """A tile that leans with time, of any cells that hang together: loads and stores of one level far from its ends."""
    text = """
u, w = fields("u w", dtype="f32", boundary=constant(0.0))
u.next = 2 * u - w + 0.1 * (u[+1, 0] + u[-1, 0] + u[0, +1] + u[0, -1] - 4 * u)
w.next = u
"""
    kernel, chooser = tiled(text, 2), random.Random(1)

    for radius in (2, 5, 9):
        base = diamond_base(radius)
        assert bytes_of(kernel, base) == pytest.approx(least_bytes(kernel, (40, 40), 8 * len(base)))
    for _ in range(20):
        base = {(0, 0)}
        while len(base) < 80:
            x, y = chooser.choice(sorted(base))
            base |= {(x, y), (x + chooser.choice([-1, 0, 1]), y + chooser.choice([-1, 0, 1]))}
        assert bytes_of(kernel, base) >= least_bytes(kernel, (40, 40), 8 * len(base))


def test_tiles_that_leave_rows_whole_move_no_less_than_their_limit_and_diamonds_reach_it():
    """Towers of the paper cut x and y; all cells of z are held, and none of them crosses a border."""
    kernel, nz, chooser = tiled(wave_of_order(2), 3), 96, random.Random(2)

    for radius in (2, 5, 9):
        base = diamond_base(radius)
        assert bytes_of(kernel, base) == pytest.approx(least_bytes(kernel, (40, 40, nz), 8 * len(base) * nz, (2,)))
    for _ in range(10):
        base = set(chooser.sample([(x, y) for x in range(12) for y in range(12)], 70))
        assert bytes_of(kernel, base) >= least_bytes(kernel, (40, 40, nz), 8 * len(base) * nz, (2,))
    assert least_bytes(kernel, (40, 40, nz), MIB) < least_bytes(kernel, (40, 40, nz), MIB, (2,))
    assert least_bytes(kernel, (40, 40, nz), MIB, (0, 1, 2)) == 0
    text = locality_text(kernel, (40, 40, nz), None, MIB)
    assert f"tiles that do not cut z move at least {least_bytes(kernel, (40, 40, nz), MIB, (2,)):.3g}" in text


@pytest.mark.parametrize("order", [2, 4, 8])
@pytest.mark.parametrize("edge", [192, 256, 384, 512])
@pytest.mark.parametrize("third", [0, 4 * MIB, 32 * MIB])
def test_planes_leave_the_second_cache_only_until_steps_suffice(order, edge, third):
    """Tiles of 384 cubed that filled the third cache took 1.08 to 1.2 of the time."""
    kernel, extents = tiled(wave_of_order(order), 3), (edge,) * 3
    sizes = tile_sizes(kernel, extents, TilingChoices("diamond"), 1, 2 * MIB, third)
    lower = TileSizes(sizes.depth, sizes.height - 1, edge // (order * (sizes.height - 1)), sizes.chunk)
    fits = bytes_in_use(kernel, extents, sizes) <= max(1.25 * 2 * MIB, third)
    near = bytes_in_use(kernel, extents, sizes) <= 1.25 * 2 * MIB
    assert fits
    assert near or updates_per_move(kernel.tiling, extents, lower) < 4.0


@pytest.mark.parametrize(("order", "height", "spaces"), [(2, 16, 12), (4, 16, 6), (8, 8, 6)])
def test_planes_fill_a_near_third_cache_until_levels_suffice(order, height, spaces):
    """15 levels a move of a star of reach 1 are 16 levels high; a part of 8 MiB ends those of reach 4 before."""
    kernel, extents = tiled(wave_of_order(order), 3), (384,) * 3
    near = tile_sizes(kernel, extents, TilingChoices(), 2, MIB // 2, 8 * MIB, shared_is_near=True)
    assert (near.height, near.spaces) == (height, spaces)
    assert near.height > tile_sizes(kernel, extents, TilingChoices(), 2, MIB // 2, 8 * MIB).height
    assert bytes_in_use(kernel, extents, near) <= 8 * MIB


def test_rows_fill_a_near_third_cache_until_levels_suffice():
    """Whole rows of 4096 cells in f64: two arrays of 17 of them take 1.1 MiB. Two stages a step count as two levels."""
    far, near = (
        tile_sizes(tiled(HEAT, 2), (4096, 4096), TilingChoices(), 2, MIB // 2, 8 * MIB, shared_is_near=is_near)
        for is_near in (False, True)
    )
    assert far.chunk < 4096
    assert (near.height, near.spaces) == (16, 128)
    assert near.chunk >= 4096
    within = [
        tile_sizes(tiled(HEAT, 2), (1400, 1400), TilingChoices(), 2, MIB // 2, 8 * MIB, shared_is_near=is_near)
        for is_near in (False, True)
    ]
    assert within[0] == within[1]  # both arrays are in the third cache
    kernel = tiled(STAGED, 2)
    assert kernel.tiling.levels == 2
    staged = tile_sizes(kernel, (4096, 4096), TilingChoices(), 2, MIB // 2, 8 * MIB, shared_is_near=True)
    assert staged.height == 16


def gray_scott_tiles(rows, cells, cache, threads=2):
    kernel = gray_scott.machine().with_choices(schedule="diamond").plan("openmp").main
    return kernel, tile_sizes(kernel, (rows, cells), TilingChoices("diamond"), threads, cache)


@pytest.mark.parametrize("edge", [640, 768, 1024, 1536, 2048])
@pytest.mark.parametrize("threads", [1, 2])
def test_rows_stay_whole_where_lower_tiles_of_them_do_steps_enough(edge, threads):
    """Parts of rows begin between two cache lines: Gray-Scott 640² in them took 1.4 of the time of whole rows."""
    kernel, sizes = gray_scott_tiles(edge, edge, 2 * MIB, threads)
    assert sizes.chunk >= edge
    assert bytes_in_use(kernel, (edge, edge), sizes) <= 0.6 * 2 * MIB
    assert updates_per_move(kernel.tiling, (edge, edge), sizes) / kernel.tiling.levels >= 3.5


def test_long_rows_are_cut_between_vectors():
    """Of 20,000 cells four rows of a tile fill the cache."""
    _, sizes = gray_scott_tiles(4096, 20_000, 2 * MIB)
    assert 512 <= sizes.chunk < 1024
    assert sizes.chunk % 16 == 0
    assert sizes.height == 32


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


@pytest.mark.parametrize("threads", [2, 7])
@pytest.mark.parametrize(("text", "dim"), [(WAVE, 3), (HEAT, 2)])
def test_each_thread_has_equally_many_tiles_where_there_is_room(text, dim, threads):
    kernel, unequal = tiled(text, dim), 0
    for edge in range(8, 400, 7):
        alone, shared = (tile_sizes(kernel, (edge,) * dim, TilingChoices(), n, MIB // 4) for n in (1, threads))
        assert 2 * shared.height * shared.spaces <= edge
        assert shared.height <= alone.height
        if edge >= 2 * threads * -(-shared.spaces // threads):
            assert shared.spaces % threads == 0
            unequal += alone.spaces % threads != 0
    assert unequal > 10


def test_choices_of_tiles_give_them_again_on_any_machine():
    """Whatever was given stays: sizes of random grids and choices, again by other caches and threads."""
    rng, decided, uneven = random.Random(3), 0, 0
    for _ in range(100):
        text, dim = rng.choice([(WAVE, 1), (WAVE, 2), (WAVE, 3), (HEAT, 2), (STAGED, 2), (TURNING, 3)])
        kernel, extents = tiled(text, dim), tuple(rng.choice([3, 17, 60, 200, 1000, 4099]) for _ in range(dim))
        given = TilingChoices(
            "diamond",
            rng.choice([0, 0, 5, 40]),
            rng.choice([(), (), (0, 13), (rng.randint(1, 40),), tuple(rng.randint(0, 40) for _ in range(dim))]),
            rng.choice([0, 0, 0, rng.randint(1, 9)]),
        )
        here = rng.choice([1, 2, 3, 16]), rng.choice([MIB // 4, MIB, 2 * MIB]), rng.choice([0, 4 * MIB])
        sizes = tile_sizes(kernel, extents, given, *here)
        if sizes is None:
            continue
        told = choices_of_tiles(kernel, given, sizes)
        elsewhere = rng.choice([1, 2, 5]), rng.choice([MIB // 8, 4 * MIB]), rng.choice([0, 16 * MIB])
        assert tile_sizes(kernel, extents, told, *elsewhere) == sizes
        assert told.depth == given.depth or not given.depth
        assert told.tile_count == given.tile_count or not given.tile_count
        assert all(now == before for now, before in zip(told.widths, given.widths, strict=False) if before)
        assert choices_of_tiles(kernel, told, sizes) == told
        decided += given == TilingChoices("diamond")
        across = extents[kernel.tiling.roles.index("diamond")]
        alone = lattice(across, kernel.tiling.slopes[kernel.tiling.roles.index("diamond")], sum(told.widths), 64)
        uneven += alone is not None and alone.spaces != sizes.spaces
    assert decided > 6
    assert uneven > 6  # no width alone says how many diamonds there are


def test_more_diamonds_than_there_is_room_for_are_fewer():
    kernel = tiled(HEAT, 2)
    assert tile_sizes(kernel, (7, 9), TilingChoices("diamond", tile_count=80)).spaces == 3
    wide = tile_sizes(kernel, (100, 9), TilingChoices("diamond", 0, (64,), 5))
    assert (wide.height, wide.spaces) == (10, 5)


def test_as_many_tiles_are_made_as_somebody_asks_for():
    sizes = tile_sizes(tiled(WAVE, 3), (192,) * 3, TilingChoices("diamond", 0, (4, 38)), 2)
    assert (sizes.height, sizes.spaces) == (19, 5)


def test_a_larger_cache_has_tiles_that_move_less():
    kernel, extents, gains = tiled(WAVE, 3), (384,) * 3, []
    for cache in (MIB // 4, MIB, 4 * MIB):
        gains.append(updates_per_move(kernel.tiling, extents, tile_sizes(kernel, extents, TilingChoices(), 2, cache)))
    assert gains == sorted(set(gains))


@pytest.mark.parametrize("shared", [2 * MIB, 4 * MIB])
def test_planes_may_lie_in_a_cache_behind_the_own_one(shared):
    kernel, extents, own = tiled(WAVE, 3), (384,) * 3, MIB // 4
    small, tall = (tile_sizes(kernel, extents, TilingChoices(), 2, own, room) for room in (0, shared))
    assert tall.height > small.height
    assert bytes_in_use(kernel, extents, small) <= 1.25 * own < bytes_in_use(kernel, extents, tall) <= shared
    rows, plane = tiled(HEAT, 2), (4096, 4096)
    assert tile_sizes(rows, plane, TilingChoices(), 2, MIB, shared) == tile_sizes(rows, plane, TilingChoices(), 2, MIB)


def test_there_is_no_tile_without_room_depth_or_tiling():
    kernel = tiled(HEAT, 1)
    assert tile_sizes(kernel, (1,), TilingChoices("diamond")) is None
    assert tile_sizes(kernel, (64,), TilingChoices("diamond", depth=1)) is None
    stepwise = plan_graph(trace_cell(HEAT, name="cell", dim=1).graph).main
    assert tile_sizes(stepwise, (64,), TilingChoices()) is None
