"""What the header itself fetches ahead: rows that a tile touches for the first time in its next planes."""

import ctypes
import random

import numpy as np
import pytest

from workbench.backends.compile_pool import Unit, build
from workbench.codegen.cpp.headers import openmp_headers
from workbench.planning.schedules.diamond import lattice

TEXT = """\
#include <stdint.h>
static int64_t *found, *end;
static const int64_t BASES[2] = {int64_t(1) << 40, int64_t(1) << 41};
inline void note(int64_t kind, int64_t a, int64_t b, int64_t c, int64_t d, int64_t e) {
    const int64_t numbers[6] = {kind, a, b, c, d, e};
    for (int64_t k = 0; k < 6 && found < end; ++k) *found++ = numbers[k];
}
#define STENCIL_FETCH(place) note(1, reinterpret_cast<int64_t>(place), 0, 0, 0, 0)
#include "stencil_tiles.h"
using namespace stencil;
extern "C" __attribute__((visibility("default")))
int64_t fetched(const int64_t* numbers, int64_t* to, int64_t room) {
    found = to;
    end = to + room;
    Shape<3> shape;
    for (int k = 0; k < 3; ++k) shape.extents[k] = numbers[k];
    for (int k = 0; k < 3; ++k) shape.strides[k] = numbers[3 + k];
    shape.start = numbers[6];
    const Lattice lattice = {shape.extents[1], numbers[7], numbers[8], numbers[9], numbers[10], numbers[13] != 0};
    Ahead ahead(shape.strides[0], shape.strides[1], shape.extents[2]);
    ahead.add_array(reinterpret_cast<const char*>(BASES[0]), shape.start, 4);
    ahead.add_array(reinterpret_cast<const char*>(BASES[1]), shape.start, 8);
    for (int64_t band = -1, bands = lattice.bands_end(); band < bands; ++band) {
        for (int64_t tile = 0; tile < lattice.tiles(band); ++tile) {
            note(0, band, tile, 0, 0, 0);
            const auto body = [&](int64_t level, const Box<3>& box) {
                note(2, level, box.low[0], box.high[0], box.low[1], box.high[1]);
                Row<3> row = row_at(shape, box);
                for (int64_t rows = rows_of(box); rows > 0; --rows) next_near_row(shape, box, row);
            };
            for_tile<1, 0, false>(shape, lattice, band, tile, numbers[11], numbers[12], Window{}, &ahead, body);
        }
    }
    return (found - to) / 6;
}
"""


def compiled():
    (built,) = build([Unit("ahead", TEXT, headers=openmp_headers(TEXT))])
    function = ctypes.CDLL(str(built.path)).fetched
    function.restype = ctypes.c_int64
    return function


@pytest.mark.parametrize("seed", range(40))
def test_what_the_next_planes_need_is_fetched_once_and_in_time(seed):
    rng = random.Random(seed)
    chunk, rows, cells = rng.randint(1, 6), rng.randint(12, 40), rng.randint(1, 20)
    tiles = lattice(rows, rng.randint(1, 4), rng.randint(2, 24), rng.randint(2, 9), rng.random() < 0.5)
    skew = rng.randint(0, 3)
    planes = chunk * (rng.randint(2, 5) + 2 * tiles.height * skew // chunk)
    step, start = rng.randint(cells, 64), rng.randint(0, 9)
    strides = (step * (rows + 8), step, 1)
    sizes = tiles.slope, tiles.height, tiles.spaces, tiles.depth, skew, chunk, tiles.ring
    numbers = np.array((planes, rows, cells, *strides, start, *sizes), np.int64)
    found = np.full((1 << 20, 6), -9, np.int64)
    places = (ctypes.c_void_p(words.ctypes.data) for words in (numbers, found))
    count = compiled()(*places, ctypes.c_int64(found.size))
    assert count < len(found)
    lines = {number: -(-cells * size // 64) for number, size in ((0, 4), (1, 8))}

    def row_of(place):
        """The array, plane, row and line of an address."""
        array = int(place >= 1 << 41)
        element, line = divmod(place - (1 << 40 + array) - start * (4, 8)[array], strides[1] * (4, 8)[array])
        return array, *divmod(element, rows + 8), line // 64

    def touched(box):
        """Rows that a level reads or writes with a star that reaches as far as tiles lean."""
        _, first, last, low, high = box
        around = range(max(low - tiles.slope, 0), min(high + tiles.slope, rows))
        for plane in range(max(first - skew, 0), min(last + skew, planes)):
            yield from ((plane, row) for row in around)

    of_tile, in_time = [], 0
    for kind, *event in [*found[:count].tolist(), [0] * 6]:
        if kind == 0:
            in_time += _check(of_tile, lines, row_of, touched, skew, chunk, ring=tiles.ring)
            of_tile = []
        else:
            of_tile.append((kind, event))
    assert in_time > 0


def _check(events, lines, row_of, touched, skew, chunk, *, ring):
    """All that a tile does. Returns how many places were fetched in time.

    Its first planes are not fetched, and those after them only in part, until all levels compute. On a ring the two
    ends of a tile may touch the same rows.
    """
    known, fetched, in_time = set(), set(), 0
    levels = [event[0] for kind, event in events if kind == 2]
    first = before = min(levels, default=-1)
    started = False  # whether all levels have computed planes before those of now
    for kind, event in events:
        if kind == 1:
            line = row_of(event[0])
            assert ring or (line not in fetched and line[1:3] not in known)
            fetched.add(line)
            continue
        if event[0] == first:
            started = event[1] >= chunk + (max(levels) - first) * skew
        elif event[0] < before:
            started = False
        before = event[0]
        for place in touched(event):
            if place in known:
                continue
            whole = all((array, *place, line) in fetched for array, many in lines.items() for line in range(many))
            assert whole or not started, (event, place)
            in_time += started
            known.add(place)
    assert all(line[3] < lines[line[0]] for line in fetched)
    return in_time
