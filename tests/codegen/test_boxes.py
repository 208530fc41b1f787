"""Blocks of rows as boxes, as the header itself cuts them: every row once, in order, in few boxes."""

import ctypes
import math
import random

import numpy as np
import pytest

from workbench.backends.compile_pool import Unit, build
from workbench.codegen.cpp.headers import openmp_headers

AXES = (1, 2, 3, 4)
TEXT = """\
#include "stencil_rows.h"
using namespace stencil;
constexpr int64_t AROUND = 100;
template <int D>
int64_t boxes(const int64_t* extents, const int64_t* sides, const int64_t* block, int64_t* numbers) {
    Shape<D> shape;
    Margins<D> grown;
    for (int k = 0; k < D; ++k) {
        shape.extents[k] = extents[k];
        shape.strides[k] = 0;
        for (int s = 0; s < 2; ++s) grown.sides[k][s] = sides[2 * k + s];
    }
    shape.start = 0;
    int64_t count = 0;
    for_boxes(shape, grown, Block{block[0], block[1], block[2], block[3]}, [&](const Box<D>& part) {
        ++count;
        Row<D> row = row_at(shape, part);
        for (int64_t rows = rows_of(part); rows > 0; --rows, next_row(shape, part, row)) {
            for (int k = 0; k + 1 < D; ++k) *numbers++ = row.at[k];
            *numbers++ = row_number(shape, row.at);
            *numbers++ = part.low[D - 1];
            *numbers++ = part.high[D - 1];
        }
    });
    return count;
}
"""
CUT = """\
extern "C" __attribute__((visibility("default")))
int64_t {1}_of{0}(const int64_t* extents, int threads, int tile, int most, int64_t* found) {{
    Shape<{0}> shape;
    Margins<{0}> grown;
    for (int k = 0; k < {0}; ++k) {{
        shape.extents[k] = extents[k];
        shape.strides[k] = shape.origin[k] = 0;
        grown.sides[k][0] = grown.sides[k][1] = 0;
    }}
    const Blocks<{0}> blocks = {1}(shape, grown, threads, tile{2});
    for (int64_t task = 0; task < blocks.count() && task < most; ++task) {{
        const Block block = blocks[task];
        *found++ = block.first_row;
        *found++ = block.last_row;
        *found++ = block.first;
        *found++ = block.last;
    }}
    return blocks.count() * 1000 + cut_rows(shape, grown, threads).count();
}}
"""
ENTRY = """\
extern "C" __attribute__((visibility("default")))
int64_t boxes{0}(const int64_t* extents, const int64_t* sides, const int64_t* block, int64_t* numbers) {{
    return boxes<{0}>(extents, sides, block, numbers);
}}
"""


@pytest.fixture(scope="module")
def library():
    text = TEXT + "".join(ENTRY.format(dim) + CUT.format(dim, "cut", "") for dim in AXES)
    text += "".join(CUT.format(dim, "cut_in_strips", ", AROUND") for dim in AXES if dim >= 3)
    (built,) = build([Unit("boxes", text, headers=openmp_headers(text))])
    return ctypes.CDLL(str(built.path))


def boxes_of(library, dim, extents, sides, block):
    """How many boxes the rows [first, last) make, and of each row: outer indices, number, ends of its cells."""
    rows = block[1] - block[0]
    found = np.full((rows, dim + 2), -99, np.int64)
    words = [np.array(n, np.int64) for n in (extents, sides, block)]
    function = library[f"boxes{dim}"]
    function.restype = ctypes.c_int64
    count = function(*(ctypes.c_void_p(w.ctypes.data) for w in (*words, found)))
    return count, found


@pytest.mark.parametrize("dim", AXES)
def test_boxes_hold_every_row_of_a_block_once_and_in_order(library, dim):
    rng = random.Random(dim)
    for _ in range(300):
        extents = [rng.randint(1, 5) for _ in range(dim)]
        sides = np.array([[rng.randint(0, 2), rng.randint(0, 2)] for _ in range(dim)])
        sizes = [n + below + above for n, (below, above) in zip(extents, sides.tolist(), strict=True)]
        first, last = sorted(rng.sample(range(math.prod(sizes[:-1]) + 1), 2))
        block = (first, last, -int(sides[-1, 0]), extents[-1])
        count, found = boxes_of(library, dim, extents, sides, block)
        wanted = np.array(np.unravel_index(np.arange(first, last), sizes[:-1] or (1,))).T[:, : dim - 1]
        assert (found[:, : dim - 1] == wanted - sides[: dim - 1, 0]).all()
        assert (found[:, dim:] == block[2:]).all()
        assert count <= max(2 * dim - 3, 1), (extents, sides, block)


def test_rows_of_the_domain_are_numbered_through(library):
    _, found = boxes_of(library, 3, (4, 3, 7), np.zeros((3, 2), int), (2, 11, 0, 7))
    assert found[:, 2].tolist() == list(range(2, 11))


def blocks_of(library, cut, extents, threads=1, tile=0, most=3000):
    """Rows and ends of all blocks, and how many blocks there are for ghost cells."""
    found, words = np.zeros((most, 4), np.int64), np.array(extents, np.int64)
    function = library[f"{cut}_of{len(extents)}"]
    function.restype = ctypes.c_int64
    places = (ctypes.c_void_p(words.ctypes.data), threads, tile, most, ctypes.c_void_p(found.ctypes.data))
    count, of_rows = divmod(function(*places), 1000)
    assert count <= most
    return found[:count], of_rows


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("extents", [(5, 200, 300), (11, 33, 1000), (3, 4, 181, 182), (2, 3000, 40), (1, 700, 700)])
def test_strips_of_a_plane_follow_each_other_in_all_planes(library, extents, threads):
    """Each row is in one block, and blocks are about as large as others."""
    found, _ = blocks_of(library, "cut_in_strips", extents, threads)
    planes, plane, width = math.prod(extents[:-2]), *extents[-2:]
    strips = len(found) // planes
    assert strips == -(-plane // -(-plane // (plane * width // 16384)))
    assert (found[:, 2:] == (0, width)).all()
    rows = np.concatenate([np.arange(first, last) for first, last, *_ in found])
    assert (np.sort(rows) == np.arange(planes * plane)).all()
    assert (found[:, 0] // plane == np.tile(np.arange(planes), strips)).all()
    assert (found[:, 0] // plane == (found[:, 1] - 1) // plane).all()
    assert (found[:, 0] % plane == np.repeat(found[::planes, 0] % plane, planes)).all()
    assert ((found[:, 1] - found[:, 0]) * width < 2 * 16384 + width).all()


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize(("extents", "tile"), [((90, 100, 200), 0), ((5, 200, 300), 7), ((3, 2, 4_000_000), 0)])
def test_small_planes_given_rows_and_long_rows_have_no_strips(library, extents, tile, threads):
    mine, plain = (blocks_of(library, cut, extents, threads, tile)[0] for cut in ("cut_in_strips", "cut"))
    assert (mine == plain).all()


@pytest.mark.parametrize(
    "extents", [(10, 20), (5000, 1000), (3, 3_000_000), (2_500_000,), (400, 100, 300), (1, 1, 1_048_577)]
)
def test_one_thread_has_blocks_of_a_million_cells(library, extents):
    """So that it looks between them whether its march is to stop; rows for ghost cells are in one block."""
    found, of_rows = blocks_of(library, "cut", extents)
    count, rows, width = len(found), math.prod(extents[:-1]), extents[-1]
    seen = np.zeros((rows, -(-width // 1024)), np.int64)
    for first_row, last_row, first, last in found:
        assert first % 1024 == 0
        seen[first_row:last_row, first // 1024 : -(-last // 1024)] += 1
        assert (last_row - first_row) * (last - first) <= (1 << 20) + 1024
    assert (seen == 1).all()
    assert count <= 2 * rows * width / (1 << 20) + rows * (width > 1 << 20) + 1
    assert of_rows == 1
