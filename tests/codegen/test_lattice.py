"""Tiles of several steps as the header itself cuts them: box by box those of workbench.planning.schedules.diamond."""

import ctypes
import random

import numpy as np
import pytest

from workbench.backends.compile_pool import Unit, build
from workbench.codegen.cpp.headers import openmp_headers
from workbench.planning.schedules.diamond import lattice, wave

TEXT = """\
#include "stencil_tiles.h"
using namespace stencil;
extern "C" __attribute__((visibility("default")))
int64_t boxes(const int64_t* extents, const int64_t* numbers, int64_t* found) {
    Shape<2> shape;
    for (int k = 0; k < 2; ++k) shape.extents[k] = extents[k];
    const Lattice lattice = {extents[0], numbers[0], numbers[1], numbers[2], numbers[3], numbers[6] != 0};
    int64_t count = 0;
    for (int64_t band = -1, end = lattice.bands_end(); band < end; ++band) {
        for (int64_t tile = 0; tile < lattice.tiles(band); ++tile) {
            const auto note = [&](int64_t level, const Box<2>& box) {
                const int64_t row[7] = {band, tile, level, box.low[0], box.high[0], box.low[1], box.high[1]};
                for (int64_t number : row) *found++ = number;
                ++count;
            };
            if (numbers[7] != 0) {
                for_tile<0, 1, true>(shape, lattice, band, tile, numbers[4], numbers[5], note);
            } else {
                for_tile<0, 1, false>(shape, lattice, band, tile, numbers[4], numbers[5], note);
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


def boxes(tiles, planes, skew, chunk, ring):
    for band in tiles.bands():
        for tile in range(tiles.tiles(band)):
            for level, part in wave(planes, skew, chunk, tiles.levels(band), ring):
                for rows in tiles.parts_of(band, tile, level):
                    yield band, tile, level, *rows, *part


@pytest.mark.parametrize("seed", range(30))
def test_boxes_are_those_of_the_lattice(compiled, seed):
    rng = random.Random(seed)
    rows, planes = rng.randint(8, 60), rng.randint(1, 20)
    rings = rng.random() < 0.5, rng.random() < 0.5
    tiles = lattice(rows, rng.randint(1, 4), rng.randint(1, 40), rng.randint(1, 25), rings[0])
    skew, chunk = rng.randint(0, 5), rng.randint(1, 9)
    right = list(boxes(tiles, planes, skew, chunk, rings[1]))
    found = np.full((len(right) + 1, 7), -9, np.int64)
    extents = np.array([rows, planes], np.int64)
    numbers = np.array([tiles.slope, tiles.height, tiles.spaces, tiles.depth, skew, chunk, *rings], np.int64)
    count = compiled(*(ctypes.c_void_p(words.ctypes.data) for words in (extents, numbers, found)))
    assert count == len(right)
    assert [tuple(row) for row in found[:-1].tolist()] == right
