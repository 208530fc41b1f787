"""Double-double arithmetic against exact whole numbers and fractions."""

from fractions import Fraction

import numpy as np
import pytest

from tests.kit.bits import assert_same_bits
from tests.kit.double_doubles import judge, numbers, pairs
from workbench.graph.extended import from_scalar, sequences, to_scalar
from workbench.graph.extended_functions import FUNCTIONS
from workbench.graph.operators import OPERATORS, accepts
from workbench.graph.sequences import apply
from workbench.graph.types import BY_NAME, DD, F32, F64, TYPES

ARITHMETIC = ("add", "subtract", "multiply", "divide", "sqrt")
PROVED = {"add": 3, "subtract": 3, "multiply": 4, "divide": 3, "sqrt": 25 / 8}
PLAIN = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide}


def applied(operator, a, b):
    arguments = (*a, *b)[: len(sequences()[operator].parameters)]
    return apply(sequences()[operator], arguments)


def check(operator, count, seed):
    a, b = pairs(np.random.default_rng(seed), operator, count)
    found = applied(operator, a, b)
    worst, inside, below = judge(operator, a, b, found)
    print(f"{operator}: {worst:.3f} times 2^-106 at most, {inside} results, {below} below 2^-960")
    assert worst <= PROVED[operator]
    return inside, below


@pytest.mark.parametrize("operator", ARITHMETIC)
def test_results_are_as_near_as_promised(operator):
    inside, below = check(operator, 20_000, seed=1)
    assert inside > 15_000
    assert below > 150 or operator == "sqrt"


@pytest.mark.proof(seeds=range(1000, 1100), batch=10, sample=1)
@pytest.mark.parametrize("operator", ARITHMETIC)
def test_results_are_as_near_as_promised_for_ten_million_pairs(operator, proof_seeds):
    for seed in proof_seeds:
        check(operator, 100_000, seed)


def test_a_product_with_cross_terms_of_one_sign_keeps_its_bound():
    """With a.hi * b.lo and a.lo * b.hi rounded each and then added it is 4.97 times 2^-106 off."""
    left, right = ("0x1.000021102e9cbp+0", "-0x1.ffc5ea960a000p-54"), ("0x1.003ec1f536742p+0", "-0x1.ffffffd9c5a06p-54")
    a, b = (tuple(np.array([float.fromhex(part)]) for part in pair) for pair in (left, right))
    worst, inside, _ = judge("multiply", a, b, applied("multiply", a, b))
    assert inside == 1
    assert worst < 1.5


@pytest.mark.parametrize("operator", PLAIN)
def test_overflow_and_special_numbers_give_what_f64_gives(operator):
    ends = [0.0, 1.0, 1.5, np.inf, np.nan, 1.7976931348623157e308, 2.0**1023, 2.0**-1074, 2.0**-1022, 2.0**970]
    a, b = np.array(np.meshgrid([*ends, *(-e for e in ends)], [*ends, *(-e for e in ends)])).reshape(2, -1)
    zeros = np.zeros(len(a))
    hi, lo = applied(operator, (a, zeros), (b, zeros))
    with np.errstate(all="ignore"):
        plain = PLAIN[operator](a, b)
    outside = ~np.isfinite(plain)
    assert 50 < outside.sum() < len(a)
    assert_same_bits(hi[outside], plain[outside])
    assert_same_bits(lo[outside], zeros[outside])
    assert np.isfinite(hi[~outside]).all()
    assert np.isfinite(lo[~outside]).all()


@pytest.mark.parametrize("operator", PLAIN)
def test_a_result_that_rounds_beyond_the_largest_number_is_that_of_the_parts(operator):
    largest = np.array([np.finfo(float).max])
    most = (largest, largest * 2.0**-54)
    other = {"add": (largest * 2.0**-54, largest * 0), "subtract": (-largest * 2.0**-54, largest * 0)}
    one = (np.array([1.0]), np.array([-0.0]))
    hi, lo = applied(operator, most, other.get(operator, one))
    assert_same_bits(hi, largest)
    assert np.isfinite(lo)


def test_roots_of_special_numbers():
    x = np.array([0.0, -0.0, np.inf, -1.0, np.nan, 2.0**-1074, 4.0])
    hi, lo = applied("sqrt", (x, np.zeros(7)), ())
    with np.errstate(all="ignore"):
        assert_same_bits(hi, np.sqrt(x))
    assert_same_bits(lo[:5], np.zeros(5))


def exact(pair):
    return [Fraction(h) + Fraction(low) for h, low in zip(pair[0].tolist(), pair[1].tolist(), strict=True)]


def test_comparisons_minimum_and_maximum_see_both_parts():
    rng = np.random.default_rng(5)
    a = numbers(rng, rng.integers(-3, 3, 2000))
    b = tuple(np.where(rng.random(2000) < 0.5, x, y) for x, y in zip(a, numbers(rng, np.zeros(2000, int)), strict=True))
    b = (b[0], np.where(a[0] == b[0], b[1] * rng.integers(-1, 2, 2000), 0.0))
    values = list(zip(exact(a), exact(b), strict=True))
    meanings = {
        "less": lambda x, y: x < y,
        "less_equal": lambda x, y: x <= y,
        "greater": lambda x, y: x > y,
        "greater_equal": lambda x, y: x >= y,
        "equal": lambda x, y: x == y,
        "not_equal": lambda x, y: x != y,
    }
    for name, meaning in meanings.items():
        (found,) = applied(name, a, b)
        assert found.dtype == bool
        assert found.tolist() == [meaning(x, y) for x, y in values], name
    assert exact(applied("minimum", a, b)) == [min(pair) for pair in values]
    assert exact(applied("maximum", a, b)) == [max(pair) for pair in values]
    assert exact(applied("absolute", a, ())) == [abs(x) for x, _ in values]
    assert exact(applied("negative", a, ())) == [-x for x, _ in values]
    assert exact(applied("sign", a, ())) == [(x > 0) - (x < 0) for x, _ in values]


def test_nan_wins_in_minimum_and_maximum_and_equals_nothing():
    nan, one, zero = np.array([np.nan]), np.array([1.0]), np.array([0.0])
    for operator in ("minimum", "maximum"):
        for a, b in (((nan, zero), (one, zero)), ((one, zero), (nan, zero))):
            assert np.isnan(applied(operator, a, b)[0])
    for operator in ("less", "less_equal", "equal", "greater", "greater_equal"):
        assert not applied(operator, (nan, zero), (nan, zero))[0]
    assert applied("not_equal", (nan, zero), (nan, zero))[0]
    assert applied("isnan", (nan, zero), ())[0]
    assert not applied("isfinite", (nan, zero), ())[0]


WHOLE = [t for t in TYPES if t.is_integer]


@pytest.mark.parametrize("type_", WHOLE, ids=str)
def test_whole_numbers_are_cast_exactly(type_):
    info = np.iinfo(type_.numpy)
    rng = np.random.default_rng(6)
    some = rng.integers(info.min, info.max, 1000, type_.numpy, endpoint=True)
    x = np.concatenate([some, np.array([info.min, info.max, 0, 1, info.max - 1, info.max // 2], type_.numpy)])
    pair = apply(from_scalar(type_), (x,))
    assert exact(pair) == x.tolist()
    assert_same_bits(apply(to_scalar(type_), pair)[0], x)


@pytest.mark.parametrize("type_", WHOLE, ids=str)
def test_casts_to_whole_numbers_truncate_and_saturate(type_):
    info = np.iinfo(type_.numpy)
    rng = np.random.default_rng(7)
    a = numbers(rng, rng.integers(-3, info.bits + 3, 3000))
    steps = np.array([0.0, 1.0, -1.0, 0.5, -0.5, 2.0**-60, -(2.0**-60)])
    for edge in (float(info.min), float(info.max), 2.0**52, 2.0**53, 3.0):
        near = apply(sequences()["add"], (np.full(7, edge), np.zeros(7), steps, np.zeros(7)))
        a = tuple(np.concatenate([x, y]) for x, y in zip(a, near, strict=True))
    (found,) = apply(to_scalar(type_), a)
    expected = [min(max(int(x), int(info.min)), int(info.max)) for x in exact(a)]
    assert found.tolist() == expected
    ends = np.array([np.inf, -np.inf, np.nan])
    assert apply(to_scalar(type_), (ends, np.zeros(3)))[0].tolist() == [info.max, info.min, 0]


def test_casts_of_floats_and_bools():
    x = np.array([0.1, -0.0, np.inf])
    assert_same_bits(apply(to_scalar(F64), apply(from_scalar(F64), (x,)))[0], x)
    assert_same_bits(apply(to_scalar(F32), (x, np.zeros(3)))[0], x.astype(np.float32))
    assert apply(from_scalar(F32), (np.float32([0.1]),))[0] == np.float64(np.float32(0.1))
    flags = np.array([True, False])
    assert apply(to_scalar(BY_NAME["bool"]), apply(from_scalar(BY_NAME["bool"]), (flags,)))[0].tolist() == [True, False]


def test_operators_without_a_sequence_are_refused():
    assert {name for name, row in OPERATORS.items() if accepts(row, DD)} == {*sequences(), *FUNCTIONS, "cast"}


def test_costs_are_those_of_the_definition():
    """20 operations for a sum, 9 for a product and its -p, and 3 that put in the f64 result where hi is not finite."""
    counts = {name: sequences()[name].operations for name in ("add", "multiply", "divide", "sqrt")}
    assert counts == {"add": 23, "multiply": 13, "divide": 38, "sqrt": 20}
