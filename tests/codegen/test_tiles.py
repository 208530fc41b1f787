"""How high the tiles of sub-kernels that run together are: as the header itself computes it, against all heights."""

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
"""


@pytest.fixture(scope="module")
def height():
    (built,) = build([Unit("tiles", TEXT, headers=openmp_headers(TEXT))])
    function = ctypes.CDLL(str(built.path)).height
    function.argtypes = [ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_int]
    function.restype = ctypes.c_int64
    return function


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
