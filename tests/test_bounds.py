"""Functions that are not exact: each applied once, on every backend, to special and to random arguments."""

import ctypes
import functools
import re

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from tests.kit.capabilities import backends_here
from workbench.backends.compile_pool import Unit, build
from workbench.codegen.cpp.headers import openmp_headers
from workbench.graph.elementary import SEQUENCES
from workbench.graph.operators import OPERATORS
from workbench.graph.types import F32, F64
from workbench.run.verification import distance

BOUNDED = {name: row for name, row in OPERATORS.items() if row.ulp or name in SEQUENCES}
TYPES = {"f32": F32, "f64": F64}
RANDOM, SIMULATED = 20_000, 100  # random arguments of each kind; a simulated cell takes 0.1 ms
FURTHER = {"rsqrt": lambda x: 1 / np.sqrt(x)}  # what NumPy has no function for
NEARLY_EXACT = 1  # ulp: computed in a wider type and rounded


def program(dtype):
    """One kernel that applies every such function to fields x and y, and stores each result in a field."""
    names = " ".join(f"of_{name}" for name in BOUNDED)
    lines = [
        f'x, y = fields("x y", dtype="{dtype}")',
        f'{names.replace(" ", ", ")} = fields("{names}", dtype="{dtype}")',
    ]
    for name, row in BOUNDED.items():
        call = "x ** y" if name == "power" else f"{name}({'x' if row.arity == 1 else 'x, y'})"
        lines.append(f"of_{name}.next = {call}")
    return "\n".join(lines)


def special(dtype):
    """Ends of the number range, zeros, infinities, NaN, and numbers around which a function turns; both signs."""
    info = np.finfo(dtype)
    turns = [0.5, 1, 2, 3, 10, np.pi, np.pi / 2, np.pi / 4, np.log(info.max), np.log(info.tiny), np.log(2), 1e5]
    ends = [info.max, info.tiny, info.smallest_subnormal, 0, np.inf, np.nan]
    numbers = np.array([*turns, *ends], dtype)
    with np.errstate(over="ignore"):
        numbers = np.concatenate([numbers, np.nextafter(numbers, dtype(0)), np.nextafter(numbers, dtype(np.inf))])
    return np.concatenate([numbers, -numbers])


@functools.cache
def arguments(type_, count, seed):
    """(x, y): pairs of special numbers (all, or a part), random bits, random numbers of several magnitudes."""
    dtype, rng = type_.numpy.type, np.random.default_rng(seed)
    left, right = np.meshgrid(special(dtype), special(dtype))
    every = 1 if count == RANDOM else 11  # divides neither side, so that each special number is there
    pairs = [(left.ravel()[::every], right.ravel()[::every])]
    whole = f"u{type_.numpy.itemsize}"
    pairs.append(tuple(rng.integers(0, 2**type_.bits, (2, count), whole).view(dtype)))
    pairs += [tuple(rng.uniform(-scale, scale, (2, count)).astype(dtype)) for scale in (1, 3, 30, 700, 1e4)]
    pairs.append(tuple((rng.random((2, count)) * 2.0 ** rng.uniform(-20, 20, (2, count))).astype(dtype)))
    return tuple(np.concatenate(parts) for parts in zip(*pairs, strict=True))


def applied(dtype, backend, seed):
    """What each operator gives on a backend, with the arguments."""
    x, y = arguments(TYPES[dtype], SIMULATED if backend == "cuda-sim" else RANDOM, seed)
    machine = wb.trace(program(dtype), name="bounded")
    zeros = dict.fromkeys((f"of_{name}" for name in BOUNDED), 0.0)
    with machine.simulate(x=x, y=y, backend=backend, **zeros) as simulation:
        found = simulation.step().to_dict()
    return {name: found[f"of_{name}"] for name in BOUNDED}, (x, y)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("backend", [name for name in backends_here() if name != "reference"])
def test_one_application_stays_within_the_bound(backend, dtype):
    found, (x, y) = applied(dtype, backend, seed=1)
    for name, row in BOUNDED.items():
        with np.errstate(all="ignore"):
            expected = row.meaning(*(x, y)[: row.arity])
        assert distance(found[name], expected, TYPES[dtype]) <= row.ulp, name


@pytest.mark.parametrize("dtype", TYPES)
def test_the_reference_is_nearly_exact_itself(dtype):
    """Else a backend whose own library keeps the bound could be farther away from the reference than the bound.

    What is a sequence has no other bound than this one.
    """
    found, (x, y) = applied(dtype, "reference", seed=1)
    for name in BOUNDED:
        function, operands = FURTHER.get(name) or getattr(np, name), (x, y)[: BOUNDED[name].arity]
        with np.errstate(all="ignore"):
            exact = function(*(v.astype(np.longdouble) for v in operands)).astype(TYPES[dtype].numpy)
        assert distance(found[name], exact, TYPES[dtype]) <= NEARLY_EXACT, name


ROOT = """
u, v = fields("u v", dtype="f32")
v.next = rsqrt(u)
"""
# All numbers of [1, 4): beyond, a power of four scales argument and result without another rounding.
FROM_ONE_TO_FOUR = np.arange(0x3F800000, 0x40800000, dtype=np.uint32).view(np.float32)


def error_of_roots(found):
    """The largest error of 1 / sqrt of FROM_ONE_TO_FOUR, in units in the last place."""
    exact = 1 / np.sqrt(FROM_ONE_TO_FOUR.astype(np.float64))
    unit = np.where(exact == 1, 2.0**-23, np.where(exact > 0.5, 2.0**-24, 2.0**-25))
    return (np.abs(found - exact) / unit).max()


def test_rsqrt_keeps_its_bound_for_every_f32():
    """Of two rounded operations: the root's half unit is at most one of the result, whose rounding is half. Estimates
    of a processor are made better than that.
    """
    with wb.trace(ROOT, name="root").simulate(u=FROM_ONE_TO_FOUR, v=0.0, backend="openmp") as simulation:
        assert error_of_roots(simulation.step()["v"]) <= 1.5
    assert len(FROM_ONE_TO_FOUR) == 2**24


@pytest.mark.parametrize("backend", [name for name in backends_here() if name != "reference"])
def test_rsqrt_is_there_on_every_backend(backend):
    x = np.array([0.25, 2.0, 3.0, 1e-310, np.inf, 0.0, -1.0])
    machine = wb.trace('u, v = fields("u v")\nv.next = rsqrt(u)', name="root")
    with np.errstate(all="ignore"), machine.simulate(u=x, v=0.0, backend=backend) as simulation:
        assert distance(simulation.step()["v"], BOUNDED["rsqrt"].meaning(x), TYPES["f64"]) <= BOUNDED["rsqrt"].ulp


@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_rsqrt_has_the_same_bits_in_loops_of_any_length(dtype):
    """Also where one number is alone, and for numbers so small that they lack digits, and so large."""
    type_ = TYPES[dtype]
    x = np.concatenate([arguments(type_, 2000, seed=3)[0], special(type_.numpy.type)])
    machine = wb.trace(f'u, v = fields("u v", dtype="{dtype}")\nv.next = rsqrt(u)', name="root")

    def roots(values):
        with machine.simulate(u=values, v=0.0, backend="openmp") as simulation, np.errstate(all="ignore"):
            return simulation.step()["v"].copy()

    found = roots(x)
    with np.errstate(all="ignore"):
        exact = 1 / np.sqrt(x.astype(np.longdouble))
        finite = np.isfinite(exact) & (exact > 0)
        unit = np.spacing(np.abs(exact[finite]).astype(type_.numpy)).astype(np.longdouble)
        assert (np.abs(found[finite] - exact[finite]) / unit).max() <= 1.5
        assert distance(found[~finite], (1 / np.sqrt(x))[~finite], type_) == 0
    for length in (1, 3, 17):
        for start in range(0, 51, length):
            part = slice(len(x) - start - length, len(x) - start)
            assert_same_bits(roots(x[part]), found[part], f"{length} numbers")


OF_PRODUCTS = """
#include "stencil_roots.h"
extern "C" __attribute__((visibility("default"))) void roots(int64_t n, const float* x, float* y) {
    for (int64_t i = 0; i < n; ++i) y[i] = stencil::rsqrt_of_products(x[i]);
}
"""


def test_rsqrt_of_products_keeps_its_bound_for_every_f32():
    """What processors with vectors of 512 bits run, on any."""
    library = ctypes.CDLL(str(build([Unit("roots", OF_PRODUCTS, headers=openmp_headers(OF_PRODUCTS))])[0].path))
    special = np.array([0, -0.0, np.inf, -1, np.nan, np.finfo(np.float32).smallest_subnormal], np.float32)
    for x in (FROM_ONE_TO_FOUR, special):
        y = np.empty_like(x)
        library.roots(ctypes.c_int64(len(x)), *(ctypes.c_void_p(a.ctypes.data) for a in (x, y)))
        if x is FROM_ONE_TO_FOUR:
            assert error_of_roots(y) <= 1.02
    with np.errstate(all="ignore"):
        assert distance(y, 1 / np.sqrt(special), F32) <= 1


def test_one_over_a_root_keeps_the_bits_of_its_two_operations():
    x = np.concatenate([arguments(F64, 1000, seed=2)[0], [0.0, -0.0, np.inf]])
    machine = wb.trace('u, v = fields("u v")\nv.next = 1 / sqrt(u)', name="over")
    with machine.simulate(u=x, v=0.0, backend="openmp") as simulation, np.errstate(all="ignore"):
        assert distance(simulation.step()["v"], 1 / np.sqrt(x), F64) == 0


# The first and the last argument for which the exact result rounds to a number, and what the neighbours beyond have.
ENDS = {
    ("exp", "f64"): ("-0x1.74910d52d3051p+9", 0.0, "0x1.62e42fefa39efp+9", np.inf),
    ("exp", "f32"): ("-0x1.9fe368p+6", 0.0, "0x1.62e42ep+6", np.inf),
    ("exp2", "f64"): ("-0x1.0cbffffffffffp+10", 0.0, "0x1.fffffffffffffp+9", np.inf),
    ("exp2", "f32"): ("-0x1.2bfffep+7", 0.0, "0x1.fffffep+6", np.inf),
}


@pytest.mark.parametrize(("name", "dtype"), ENDS)
def test_an_exponential_leaves_the_numbers_where_the_exact_one_does(name, dtype):
    first, below, last, above = ENDS[name, dtype]
    type_ = TYPES[dtype].numpy.type
    first, last = type_(float.fromhex(first)), type_(float.fromhex(last))
    meaning = OPERATORS[name].meaning
    assert meaning(np.array([first]))[0] == np.finfo(type_).smallest_subnormal
    assert meaning(np.array([np.nextafter(first, type_(-np.inf))]))[0] == below
    assert np.isfinite(meaning(np.array([last]))[0])
    assert meaning(np.array([np.nextafter(last, type_(np.inf))]))[0] == above


@pytest.mark.parametrize("dtype", TYPES)
def test_functions_are_exact_where_the_result_is_a_plain_number(dtype):
    info, type_ = np.finfo(TYPES[dtype].numpy), TYPES[dtype].numpy.type
    whole = np.arange(info.minexp - info.nmant, info.maxexp).astype(type_)
    powers = np.ldexp(type_(1), whole.astype(int))
    meaning = {name: OPERATORS[name].meaning for name in SEQUENCES}
    assert (meaning["exp2"](whole) == powers).all()
    assert (meaning["log2"](powers) == whole).all()
    tens = np.array([10.0**k for k in range(22 if dtype == "f64" else 11)], type_)
    assert (meaning["log10"](tens) == np.arange(len(tens))).all()
    assert meaning["exp"](np.array([0, -0.0], type_)).tolist() == [1, 1]
    assert np.array_equal(np.signbit(meaning["tanh"](np.array([0, -0.0], type_))), [False, True])
    assert np.array_equal(np.signbit(meaning["log"](np.array([1], type_))), [False])


def test_every_operator_with_a_bound_is_in_the_program():
    graph = wb.trace(program("f64"), name="bounded").graph
    stored = set(re.findall(r"= (\w+)", str(graph)))
    assert set(BOUNDED) <= stored
    assert len(BOUNDED) == 24
    assert not any(OPERATORS[name].ulp for name in SEQUENCES)


# Every 97th f32 up to where three parts of pi / 2 are enough, and around it; all larger ones are the C library's.
TURNED = np.arange(0, 0x47800010, 97, dtype=np.uint32).view(np.float32)


@pytest.mark.parametrize("name", ["sin", "cos"])
def test_sines_of_f32_keep_their_bound(name):
    machine = wb.trace(f'u, v = fields("u v", dtype="f32")\nv.next = {name}(u)', name="turned")
    multiples = np.arange(1, 41_722) * (np.pi / 2)  # around which the result is small, or its error large
    near = np.concatenate([np.nextafter(multiples.astype("f4"), np.float32(end)) for end in (0, np.inf)])
    for x in (TURNED, near, multiples.astype("f4")):
        with machine.simulate(u=x, v=0.0, backend="openmp") as simulation:
            found = simulation.step()["v"].astype("f8")
        exact = getattr(np, name)(x.astype("f8"))
        unit = np.spacing(np.abs(exact).astype("f4")).astype("f8")
        assert (np.abs(found - exact) / unit).max() <= 1.6


@pytest.mark.parametrize("name", ["sin", "cos"])
def test_sines_of_f32_have_the_same_bits_in_loops_of_any_length(name):
    x = np.concatenate([arguments(F32, 3000, seed=4)[0], special(np.float32)])
    machine = wb.trace(f'u, v = fields("u v", dtype="f32")\nv.next = {name}(u)', name="turned")

    def turned(values):
        with machine.simulate(u=values, v=0.0, backend="openmp") as simulation, np.errstate(all="ignore"):
            return simulation.step()["v"].copy()

    found = turned(x)
    assert_same_bits(turned(-x), found if name == "cos" else -found, "of the other sign")
    for length in (1, 3, 17):
        for start in range(0, 102, length):
            part = slice(len(x) - start - length, len(x) - start)
            assert_same_bits(turned(x[part]), found[part], f"{length} numbers")
