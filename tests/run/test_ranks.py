"""Ranks: places in a stable order, on every backend, of keys that are computed and of arguments; what is refused."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from workbench.errors import TraceError
from workbench.language import ranks, scatter

BACKENDS = [("reference", 0), ("openmp", 1), ("openmp", 2), ("openmp", 3), ("cuda-sim", 0)]


def places(keys, bits):
    """By Python's own sort."""
    low = [int(key) % 2**bits for key in keys]
    order, found = sorted(range(len(low)), key=low.__getitem__), np.zeros(len(low), np.int64)
    found[order] = np.arange(len(low))
    return found


@wb.collective
def ranked(keys):
    return ranks(keys, bits=5), ranks(3 * keys[::-1] + 1, bits=2), ranks(keys, bits=11)


@pytest.mark.parametrize("n", [0, 1, 31, 32, 33, 1023, 1025])
@pytest.mark.parametrize("kind", [np.int32, np.int8, np.uint8])
def test_places_are_those_of_a_stable_sort(n, kind):
    keys = (np.random.default_rng(n).integers(0, 200, n) - 77).astype(kind)  # below zero, or round the end
    expected = places(keys, 5), places((3 * keys[::-1] + kind(1)).astype(kind), 2), places(keys, 11)
    for backend, threads in BACKENDS:
        for found, wanted in zip(ranked(keys, backend=backend, threads=threads), expected, strict=True):
            assert_same_bits(found, wanted, backend)


def test_each_thread_has_a_part_of_long_keys():
    keys = np.random.default_rng(7).integers(-(2**62), 2**62, 100_001)
    expected = np.empty(len(keys), np.int64)
    expected[np.argsort(keys & 2047, kind="stable")] = np.arange(len(keys))
    for threads in (1, 2, 3):
        assert_same_bits(ranked(keys, backend="openmp", threads=threads)[2], expected)


def test_the_rank_within_a_key_and_a_cell_of_arrays():
    machine = wb.trace("""
keys, empty = array("keys", "n", dtype="u32"), array("empty", "m", dtype="u32")
places = ranks(keys, bits=3)
counts = scatter(add, astype(empty, "i64") * 0, astype(keys, "i64") % 8, 1)
begins = scan(add, counts, exclusive=True)
output("within", places - begins[astype(keys, "i64") % 8])
""")
    keys = np.array([5, 1, 5, 13, 1, 2], np.uint32)
    for backend in ("reference", "openmp", "cuda-sim"):
        found = machine(keys=keys, empty=np.zeros(8, np.uint32), backend=backend)
        assert found["within"].tolist() == [0, 0, 1, 2, 1, 0]


def test_a_mask_sends_as_before_and_a_sort_moves_records():
    @wb.collective
    def function(keys, xs):
        order = ranks(keys, bits=4)
        return scatter(None, 0 * xs, order, xs), scatter(None, 0 * xs - 1, order, xs, where=keys > 3)

    keys, xs = np.array([9, 3, 9, 0, 4], np.uint8), np.arange(5.0)
    for backend, threads in BACKENDS:
        moved, some = function(keys, xs, backend=backend, threads=threads)
        assert moved.tolist() == [3, 1, 4, 0, 2]
        assert some.tolist() == [-1, -1, 4, 0, 2]


MISTAKES = [
    (lambda x: ranks(x * 0.5), "the keys are f64, not whole numbers"),
    (lambda x: ranks(x > 1), "the keys are bool, not whole numbers"),
    (lambda x: ranks(x, bits=12), "by 12 bits"),
    (lambda x: ranks(x, bits=2.0), "by 2.0 bits"),
    (lambda x: ranks(x[:, None] + x[None, :]), "no array of one axis"),
    (lambda x: ranks(np.max(x)) + x, "no array of one axis"),
    (lambda x: ranks(3) + x, "no array of one axis"),
]


@pytest.mark.parametrize(("body", "what"), MISTAKES, ids=[what for _, what in MISTAKES])
def test_mistakes_are_named(body, what):
    with pytest.raises(TraceError, match=what) as caught:
        wb.collective(body)(np.array([3, 1, 2]))
    assert caught.value.line
    assert caught.value.advice
