"""exp, log, sin and cos of double-double against decimal numbers of 70 digits."""

from decimal import Context, Decimal

import numpy as np
import pytest

from tests.kit.bits import assert_same_bits
from workbench.graph.extended_functions import FUNCTIONS, function_sequences
from workbench.graph.many_digits import apply_to_decimals, digits_type
from workbench.graph.sequences import apply

MANY = digits_type(70)
CONTEXT = Context(prec=70)
BOUND = Decimal(8) / 2**106
LEAST, BELOW = Decimal(2) ** -960, Decimal(2) ** -1072
OF_PI = Decimal(2) ** -156
"""Of the argument: what pi in three f64 leaves out."""


def applied(name, a):
    with np.errstate(all="ignore"):
        return apply(function_sequences()[name], a)


def exact(pair):
    return [CONTEXT.add(Decimal(h), Decimal(low)) for h, low in zip(pair[0].tolist(), pair[1].tolist(), strict=True)]


def with_tails(draw, hi):
    """Numbers with these hi, whose lo has any size."""
    lo = draw.uniform(-0.49, 0.49, hi.size) * np.spacing(np.abs(hi)) * draw.choice([0.0, 1.0, 1.0, 2.0**-20], hi.size)
    return hi, lo


def ranges(name, draw, count):
    """Arguments: as many as can be, near where the function has a zero, of all magnitudes."""
    small = draw.uniform(-1, 1, count) * 2.0 ** draw.integers(-200, 2, count)
    match name:
        case "exp":
            end_of_normal = draw.uniform(-709, -704, count)
            return draw.uniform(-744, 709.7, count), end_of_normal, small
        case "log":
            near = 1 + draw.uniform(-1, 1, count) * 2.0 ** draw.integers(-52, -1, count)
            return draw.uniform(0.5, 2, count), near, 2.0 ** draw.uniform(-1074, 1024, count)
        case _:
            turns = draw.integers(-(10**9), 10**9, count) * (np.pi / 2)
            return draw.uniform(-7, 7, count), small, turns, draw.uniform(-1, 1, count) * 2.0**50


def check(name, count, seed):
    draw = np.random.default_rng(seed)
    argument = tuple(map(np.concatenate, zip(*(with_tails(draw, hi) for hi in ranges(name, draw, count)), strict=True)))
    hi, lo = found = applied(name, argument)
    assert (hi + lo == hi).all()
    arguments = exact(argument)
    expected = apply_to_decimals(name, [np.array(arguments, object)], MANY).tolist()
    worst, below = Decimal(0), 0
    for x, y, result in zip(arguments, expected, exact(found), strict=True):
        error, size = CONTEXT.subtract(y, result).copy_abs(), y.copy_abs()
        if size < LEAST:
            below += 1
            assert error <= max(BELOW, size * BOUND), (name, x)
            continue
        error -= x.copy_abs() * OF_PI if name in ("sin", "cos") else 0
        assert error <= size * BOUND, (name, x, error / size * 2**106)
        worst = max(worst, error / size)
    print(f"{name}: {float(worst * 2**106):.2f} times 2^-106 at most, {below} results below 2^-960")
    return below


@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_are_as_near_as_documented(name):
    below = check(name, 300, seed=2)
    assert below > 5 or name != "exp"


@pytest.mark.proof(seeds=range(1000, 1100), batch=10, sample=1)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_many_results_are_as_near_as_documented(name, proof_seeds):
    for seed in proof_seeds:
        check(name, 2000, seed)


def test_special_numbers_give_what_f64_gives():
    ends = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e300, -1e300, 710.0, -800.0, -1.0, 5e-324])
    for name, function in {"exp": np.exp, "log": np.log}.items():
        hi, lo = applied(name, (ends, np.zeros(ends.size)))
        with np.errstate(all="ignore"):
            plain = function(ends)
        outside = ~np.isfinite(plain)
        assert outside.sum() > 2
        assert_same_bits(hi[outside], plain[outside])
        np.testing.assert_allclose(hi[~outside], plain[~outside], rtol=1e-15, atol=0)
        assert_same_bits(lo[outside], np.zeros(outside.sum()))
        assert np.isfinite(lo).all()
    zeros, ones = np.zeros(1), np.ones(1)
    assert_same_bits(np.array(applied("exp", (zeros, zeros))), np.array([ones, zeros]))
    assert_same_bits(np.array(applied("log", (ones, zeros))), np.array([zeros, zeros]))
    assert_same_bits(np.array(applied("sin", (-zeros, zeros))), np.array([zeros, zeros]))
    assert_same_bits(np.array(applied("cos", (zeros, zeros))), np.array([ones, zeros]))


def test_what_cannot_be_turned_back_to_the_first_quarter_is_nan():
    farthest = np.array([2.0**50, -(2.0**50), 1e300, np.inf, -np.inf, np.nan])
    for name in ("sin", "cos"):
        hi, lo = applied(name, (farthest, np.zeros(farthest.size)))
        assert np.isnan(hi).all()
        assert_same_bits(lo, np.zeros(farthest.size))
        assert np.isfinite(applied(name, (np.nextafter(farthest[:2], 0), np.zeros(2)))[0]).all()
