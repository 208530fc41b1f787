"""Sums of double-double by the units of fma: which ones, and that their bits are those of sums."""

import ctypes
from itertools import product

import numpy as np
import pytest

from tests.kit.bits import assert_same_bits
from workbench.backends.compile_pool import Unit, build
from workbench.codegen.cpp.headers import openmp_headers
from workbench.codegen.runtime.extended import HEADER, extended_header, quick_header
from workbench.codegen.runtime.sums_by_fma import sums_by_fma
from workbench.graph.extended import sequences
from workbench.graph.instructions import Arith

SUMS = {Arith("add"), Arith("subtract")}


@pytest.mark.parametrize(("name", "expected"), [("add", 7), ("subtract", 7), ("multiply", 2)])
def test_sums_that_no_part_of_the_result_waits_for_are_taken(name, expected):
    sequence = sequences()[name]
    chosen = sums_by_fma(sequence)
    assert len(chosen) == expected
    assert {sequence.nodes[index].instruction for index in chosen} <= SUMS


def test_the_first_sum_of_the_high_parts_stays_a_sum():
    text = quick_header()
    assert "const double t1 = a.hi + b.hi;" in text
    assert "const double t3 = by_fma(a.lo, b.lo);" in text


def test_operators_that_folds_use_have_sums_alone():
    assert extended_header().count("by_fma(") == 1  # where the function is


def test_a_sum_by_fma_has_the_bits_of_the_sum():
    text = f"""#include "{HEADER}"
extern "C" __attribute__((visibility("default"))) void run(long n, const double* a, const double* b, double* found) {{
    for (long i = 0; i < n; ++i) found[i] = stencil::by_fma(a[i], b[i]);
}}
"""
    library = ctypes.CDLL(str(build([Unit("sums_by_fma", text, headers=openmp_headers(text))])[0].path))
    draw = np.random.default_rng(1)
    special = [0.0, 5e-324, 2.2250738585072014e-308, 1.0, 1.7976931348623157e308, np.inf, np.nan]
    first, second = np.array(list(product([*special, *(-x for x in special)], repeat=2))).T
    exponents = draw.integers(-1074, 1023, (2, 100_000)).astype(float)
    random = draw.uniform(-2, 2, exponents.shape) * 2.0**exponents
    a, b = (np.concatenate(each) for each in ((first, random[0]), (second, random[1])))
    with np.errstate(all="ignore"):
        near = a * draw.uniform(-2, 2, len(a))
    a, b = np.concatenate([a, a]), np.concatenate([b, near])
    found = np.empty(len(a))
    library.run(ctypes.c_long(len(a)), *(ctypes.c_void_p(each.ctypes.data) for each in (a, b, found)))
    with np.errstate(all="ignore"):
        assert_same_bits(found, a + b, "by_fma")
