"""Tiles of several steps as the header itself cuts them: box by box those of workbench.planning.schedules.diamond."""

import ctypes
import random

import numpy as np
import pytest

from workbench.backends.compile_pool import Unit, build
from workbench.codegen.cpp.headers import openmp_headers
from workbench.planning.schedules.diamond import ALL, lattice, wave, windows_of_planes

TEXT = """\
#include "stencil_tiles.h"
using namespace stencil;
extern "C" __attribute__((visibility("default")))
int64_t boxes(const int64_t* extents, const int64_t* numbers, int64_t* found) {
    Shape<2> shape;
    for (int k = 0; k < 2; ++k) shape.extents[k] = extents[k];
    const bool ring = numbers[7] != 0, of_planes = numbers[8] != 0;
    const Lattice lattice = {extents[0], numbers[0], numbers[1], numbers[2], numbers[3], numbers[6] != 0};
    const Windows windows = of_planes ? windows_of_planes(extents[1], numbers[4], numbers[3], numbers[9], ring)
                                      : windows_of_tiles(lattice, numbers[9]);
    int64_t count = 0;
    for (int64_t at = 0; at < windows.all(); ++at) {
        const Window window = of_planes ? windows[at] : Window{};
        for (int64_t band = -1, end = lattice.bands_end(); band < end; ++band) {
            const BandTiles tiles = tiles_in(lattice, band, of_planes ? Window{} : windows[at]);
            for (int64_t task = 0; task < tiles.count; ++task) {
                const int64_t tile = tiles[task];
                const auto note = [&](int64_t level, const Box<2>& box) {
                    const int64_t row[8] = {at, band, tile, level, box.low[0], box.high[0], box.low[1], box.high[1]};
                    for (int64_t number : row) *found++ = number;
                    ++count;
                };
                if (ring) {
                    for_tile<0, 1, true>(shape, lattice, band, tile, numbers[4], numbers[5], window, nullptr, note);
                } else {
                    for_tile<0, 1, false>(shape, lattice, band, tile, numbers[4], numbers[5], window, nullptr, note);
                }
            }
        }
    }
    return count;
}
"""


@pytest.fixture(scope="module")
def compiled():
    (built,) = build([Unit("lattice", TEXT, headers=openmp_headers(TEXT))])
    function = ctypes.CDLL(str(built.path)).boxes
    function.restype = ctypes.c_int64
    return function


def boxes(tiles, planes, skew, chunk, ring, of_planes, size):
    """Of each window in turn; it has planes of the wave axis, or tiles."""
    windows = windows_of_planes(planes, skew, tiles.depth, size, ring) if of_planes else tiles.windows(size)
    for at, window in enumerate(windows):
        for band in tiles.bands():
            for tile in tiles.tiles_in(band, ALL if of_planes else window):
                sweep = wave(planes, skew, chunk, tiles.levels(band), ring, window if of_planes else ALL)
                for level, part in sweep:
                    for rows in tiles.parts_of(band, tile, level):
                        yield at, band, tile, level, *rows, *part


@pytest.mark.parametrize("seed", range(60))
def test_boxes_are_those_of_the_lattice(compiled, seed):
    rng = random.Random(seed)
    rows, planes = rng.randint(8, 60), rng.randint(1, 20)
    rings = rng.random() < 0.5, rng.random() < 0.5
    tiles = lattice(rows, rng.randint(1, 4), rng.randint(1, 40), rng.randint(1, 25), rings[0])
    skew, chunk = rng.randint(0, 5), rng.randint(1, 9)
    of_planes, size = rng.random() < 0.5, rng.choice((0, 1, 2, 5, 11))
    right = list(boxes(tiles, planes, skew, chunk, rings[1], of_planes, size))
    found = np.full((len(right) + 1, 8), -9, np.int64)
    extents = np.array([rows, planes], np.int64)
    sizes = tiles.slope, tiles.height, tiles.spaces, tiles.depth, skew, chunk, *rings, of_planes, size
    numbers = np.array(sizes, np.int64)
    count = compiled(*(ctypes.c_void_p(words.ctypes.data) for words in (extents, numbers, found)))
    assert count == len(right)
    assert [tuple(row) for row in found[:-1].tolist()] == right
