"""Numbers of type dd: decimal texts and back, fractions, arrays in and out."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from tests.kit.bits import assert_same_bits
from tests.kit.double_doubles import numbers
from workbench.errors import FieldError
from workbench.graph import extended_numbers
from workbench.graph.extended_numbers import DD_DTYPE, as_fraction, as_pairs, as_texts, nearest, parse, to_text


class Mpf:
    """Stands in for a number of mpmath, which is not installed here."""

    def __init__(self, mantissa, exponent, value=0.0):
        self.man_exp, self.value = (mantissa, exponent), value

    def __float__(self):
        return self.value


def test_a_decimal_text_is_the_nearest_number():
    assert parse("0.1") == (0.1, -5.551115123125783e-18)
    for text in (
        "0.1",
        "-6.02214076e23",
        "3.14159265358979323846264338327950288",
        "1e-250",
        "123456789012345678901234",
    ):
        exact = Fraction(text)
        found = as_fraction(*parse(text))
        assert abs(found - exact) <= abs(exact) / 2**106
    assert parse(" 1_000.5 ") == (1000.5, 0.0)


def test_the_ends_of_the_range():
    assert parse("1e-999999999") == (0.0, 0.0)
    assert str(parse("-0.0")[0]) == "-0.0"
    assert parse("5e-324") == (5e-324, 0.0)
    assert parse("1.7976931348623157e308")[0] == 1.7976931348623157e308
    assert parse("-inf") == (-np.inf, 0.0)
    assert np.isnan(parse("nan")[0])


@pytest.mark.parametrize("text", ["", "0.1x", "one", "1/3", "0x1p3"])
def test_other_texts_are_refused(text):
    with pytest.raises(FieldError, match="is no number"):
        parse(text)


@pytest.mark.parametrize("text", ["1e309", "-1.8e308", "1e999999999"])
def test_numbers_that_are_too_large_are_refused(text):
    with pytest.raises(FieldError, match="is larger than any number of type dd"):
        parse(text)


def test_a_tie_goes_to_the_even_hi():
    half = Fraction(1) + Fraction(1, 2**53)
    assert nearest(half) == (1.0, 2.0**-53)
    assert nearest(half + Fraction(1, 2**52)) == (1 + 2.0**-51, -(2.0**-53))
    just_below = Fraction(1) + Fraction(3, 2**53) - Fraction(1, 2**300)
    assert nearest(just_below) == (1 + 2.0**-51, -(2.0**-53))


def test_texts_are_short_and_name_this_very_pair():
    assert to_text(*nearest(Fraction(1, 3))) == "0.333333333333333333333333333333332"
    assert to_text(*parse("0.1")) == "0.1"
    assert to_text(0.1, 0.0) == "0.1000000000000000055511151231257827021181583404541015625"
    assert to_text(12.0, 0.0) == "12.0"
    assert to_text(1e22, 0.0) == "10000000000000000000000.0"
    assert to_text(2.0**-30, 0.0) == "9.31322574615478515625e-10"
    assert to_text(-0.0, 0.0) == "-0.0"
    assert to_text(np.inf, 0.0) == "inf"
    assert to_text(1.0, 2.0**-300).startswith(f"1.{'0' * 90}4909093465297726")
    rng = np.random.default_rng(1)
    hi, lo = numbers(rng, rng.integers(-1074, 1024, 2000))
    for pair in zip(hi.tolist(), lo.tolist(), strict=True):
        assert parse(to_text(*pair)) == pair


def test_texts_of_33_digits_tell_numbers_of_106_bits_apart():
    rng = np.random.default_rng(2)
    for _ in range(500):
        value = Fraction(int(rng.integers(2**52, 2**53)) * 2**53 + int(rng.integers(0, 2**53)), 2**105)
        text = to_text(*nearest(value), digits=33)
        assert len(text) <= 34
        assert round(as_fraction(*parse(text)) * 2**105) == value * 2**105
    assert to_text(0.1, 0.0, digits=33) == "0.100000000000000005551115123125783"
    assert to_text(1.7976931348623157e308, 0.0, digits=3) == "1.8e+308"


def test_arrays_of_scalars_are_exact():
    for values in (
        np.arange(6).reshape(2, 3),
        np.float32([0.1, -0.0]),
        np.array([True, False]),
        np.array([0.1, np.nan]),
    ):
        pairs = as_pairs(values)
        assert pairs.dtype == DD_DTYPE
        assert pairs.shape == values.shape
        assert_same_bits(pairs["hi"], values.astype(float))
        assert not pairs["lo"].any()
    large = np.array([2**63 - 1, -(2**63) + 1])
    assert [as_fraction(*p) for p in as_pairs(large).tolist()] == large.tolist()
    wide = np.array(["0.1", "1e300"], np.longdouble)
    assert [as_fraction(*p) for p in as_pairs(wide).tolist()] == [Fraction(*x.as_integer_ratio()) for x in wide]


def test_texts_fractions_and_numbers_of_other_libraries():
    pairs = as_pairs([["0.1", Fraction(1, 3)], [2**100 + 1, Decimal("0.1")]])
    assert pairs.shape == (2, 2)
    assert pairs[0, 0].tolist() == pairs[1, 1].tolist() == parse("0.1")
    assert pairs[0, 1].tolist() == nearest(Fraction(1, 3))
    assert as_fraction(*pairs[1, 0].tolist()) == 2**100 + 1
    assert as_pairs("0.1").shape == ()
    assert as_pairs(2**100).tolist() == (2.0**100, 0.0)
    assert as_pairs(Mpf(2**100 + 1, -100)).tolist() == (1.0, 2.0**-100)
    assert as_pairs([Mpf(0, -123, np.inf), Mpf(0, 0), np.float64(0.5)])["hi"].tolist() == [np.inf, 0.0, 0.5]


def test_parts_that_overlap_are_normalised_and_normal_ones_keep_their_bits():
    given = np.array([(1.0, 1.0), (1.0, 2.0**-60), (-0.0, -0.0), (np.inf, 5.0), (2.0**-60, 1.0)], DD_DTYPE)
    found = as_pairs(given)
    assert found.tolist()[:2] == [(2.0, 0.0), (1.0, 2.0**-60)]
    assert_same_bits(found["hi"][2:], np.array([-0.0, np.inf, 1.0]))
    assert_same_bits(found["lo"][2:], np.array([-0.0, 0.0, 2.0**-60]))


def test_normal_pairs_are_only_copied(monkeypatch):
    """The sequence of a sum takes two hundred times as long as a copy, and calls of machines begin with this."""
    given = np.array([(1.0, 2.0**-60), (-3.0, 0.0)], DD_DTYPE)
    monkeypatch.setattr(extended_numbers, "apply", lambda *_: pytest.fail("a normal pair is computed"))
    assert as_pairs(given).tolist() == given.tolist()


def test_arrays_of_texts_are_read_back():
    pairs = as_pairs([["0.1", "2"], ["1e-30", "-3.25"]])
    texts = as_texts(pairs)
    assert texts.tolist() == [["0.1", "2.0"], ["1e-30", "-3.25"]]
    assert as_pairs(texts).tolist() == pairs.tolist()


@pytest.mark.parametrize("values", [np.array([1j]), object(), [None], np.zeros(1, [("a", "f8")]), ["a"]])
def test_what_is_no_number_is_refused(values):
    with pytest.raises(FieldError):
        as_pairs(values)
