"""Tiles of sub-kernels that run together, as the header itself cuts them: their heights and lengths of rows."""

import ctypes
import itertools

import pytest

from workbench.backends.compile_pool import Unit, build
from workbench.codegen.cpp.headers import openmp_headers

TEXT = """\
#include "stencil_rolling.h"
extern "C" __attribute__((visibility("default")))
int64_t height(int64_t extent, int64_t around, int64_t others, int threads) {
    return stencil::tile_height(extent, around, others, threads);
}
extern "C" __attribute__((visibility("default")))
int64_t row_length(int64_t rows, int64_t length, int64_t cell_bytes) {
    stencil::Shape<3> shape = {};
    shape.extents[0] = 10;
    shape.extents[1] = rows;
    shape.extents[2] = length;
    const stencil::Margins<3> none = {}, spread = {{{1, 1}, {1, 1}, {1, 1}}};
    return stencil::cut_tiles(shape, none, spread, cell_bytes, 1, 0).size[2];
}
"""


@pytest.fixture(scope="module")
def height():
    (built,) = build([Unit("tiles", TEXT, headers=openmp_headers(TEXT))])
    function = ctypes.CDLL(str(built.path)).height
    function.argtypes = [ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_int]
    function.restype = ctypes.c_int64
    return function


def row_length(rows, length, cell_bytes):
    """Cells of a row of a tile of loops that read the next cells."""
    (built,) = build([Unit("tiles", TEXT, headers=openmp_headers(TEXT))])
    function = ctypes.CDLL(str(built.path)).row_length
    function.argtypes = [ctypes.c_int64] * 3
    function.restype = ctypes.c_int64
    return function(rows, length, cell_bytes)


def longest(planes, extent, around, others, threads):
    """Planes that the thread with most tiles computes, those twice computed included."""
    tiles = -(-extent // planes) * others
    return -(-tiles // threads) * (planes + around)


@pytest.mark.parametrize("threads", [2, 3, 8, 64])
def test_no_other_height_is_much_sooner_done(height, threads):
    for extent, around, others in itertools.product((1, 7, 32, 64, 100, 1024), (0, 4, 9), (1, 3, 10)):
        planes = height(extent, around, others, threads)
        assert 1 <= planes <= extent
        about = (extent, around, others, threads)
        best = min(longest(each, *about) for each in range(1, extent + 1))
        assert longest(planes, *about) <= 1.2 * best, about


def test_one_thread_takes_all_planes_at_once(height):
    assert height(100, 4, 3, 1) == 100


def test_small_domain_is_shared_evenly(height):
    assert height(64, 4, 1, 2) == 32
    assert height(96, 4, 1, 4) == 24


def test_high_domain_has_several_tiles_a_thread(height):
    assert height(1024, 4, 1, 2) <= 256


@pytest.mark.parametrize(
    ("length", "cell_bytes", "tile"),
    [
        (512, 16, 512),
        (640, 16, 640),  # 24,576 cells in a buffer: 38 rows of 640, 8 of 3072
        (3072, 16, 3072),
        (3073, 16, 1552),
        (1536, 32, 1536),
        (1537, 32, 784),
        (640, 200, 320),  # 1,966 cells: three rows of 640
        (512, 200, 512),
    ],
)
def test_rows_are_cut_where_a_tile_would_have_few_of_them(length, cell_bytes, tile):
    """Of heat beyond the last cache, parts of rows take about twice the time of whole ones."""
    assert row_length(300, length, cell_bytes) == tile
