"""exp, log, sin and cos of double-double, each one sequence of f64 operations, written once (semantics §2).

Between 2^-960 and 2^1020 the relative error is at most 8 times 2^-106, below it is at most 2^-1072 or 2^-103 of the
result; tests found less than half of that, nothing is proved. Functions are sums of Taylor's series: coefficients that
matter to more than 53 bits are pairs, the tail is one of f64.

- exp: x = n ln 2 + r, with ln 2 in three parts of which n times the first two is exact (Cody and Waite 1980);
  e^(r/16) - 1 by its series, then four times 2 p + p^2, which is e^(2t) - 1; 2^n in two factors.
- log: x = 2^k m with m from sqrt(1/2) to sqrt(2); log m is 2 artanh s with s = (m - 1) / (m + 1).
- sin, cos: x = n pi/2 + r with pi/2 in three f64, 161 bits; the series of sin or of cos, as n asks. r may be off by
  |x| 2^-156 more, which shows next to the zeros of large x. From |x| = 2^50 on they are NaN: farther on n is no whole
  number of f64.

Where a result is not finite, it is that of the f64 function of hi: 0 and infinities where exp leaves the range, and
those of log. sin and cos of what is not finite are NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from functools import cache
from math import factorial

from workbench.graph.extended import product_of, quotient_of, sum_of
from workbench.graph.sequences import (
    Pair,
    Scalar,
    SequenceDraft,
    choose,
    finite_or,
    quick_two_sum,
    two_product,
    two_sum,
)
from workbench.graph.sequences import Sequence as Operations

_DIGITS = Context(prec=80)
_LN2 = Fraction(_DIGITS.ln(Decimal(2)))
_HALF_PI = Fraction("1.57079632679489661923132169163975144209858469968755291048747229615390820314310449931")
_SHORT = 40  # bits of the first parts of ln 2, times which a whole number below 2^13 is exact
_LEAST, _MOST = -760.0, 711.0  # beyond, e^x is 0 or infinite for certain
_TURNS = 4  # doublings of the argument of exp
_FARTHEST = 2.0**50  # of the argument of sin and cos


def _parts(x: Fraction, bits: Sequence[int]) -> list[float]:
    """The first bits of a number, those that follow, and so on: as many each time, each part a number of f64."""
    parts = []
    for count in bits:
        size = x.numerator.bit_length() - x.denominator.bit_length()
        step = Fraction(2) ** (size - count + 1)
        part = float(round(x / step) * step)
        parts.append(part)
        x -= Fraction(part)
    return parts


def _pair(near: Scalar, x: Fraction) -> Pair:
    """The constant nearest to x."""
    hi = float(x)
    return Pair(near.number(hi), near.number(float(x - Fraction(hi))))


def _alone(x: Scalar) -> Pair:
    return Pair(x, x.number(0.0))


def _scaled(a: Pair, factor: Scalar | float) -> Pair:
    """Times a power of two, or -1."""
    return Pair(a.hi * factor, a.lo * factor)


def _series(x: Pair, coefficients: Sequence[Pair], tail: Sequence[Scalar]) -> Pair:
    """The polynomial of x by Horner's rule: coefficients of the powers 0, 1, ..., the last ones in f64."""
    rest = tail[-1]
    for number in tail[-2::-1]:
        rest = rest * x.hi + number
    found = _alone(rest)
    for coefficient in reversed(coefficients):
        found = sum_of(product_of(found, x), coefficient)
    return found


def _constants(near: Scalar, values: Sequence[Fraction], pairs: int) -> tuple[list[Pair], list[Scalar]]:
    """Coefficients as `_series` takes them: so many pairs, the others of f64."""
    return [_pair(near, x) for x in values[:pairs]], [near.number(float(x)) for x in values[pairs:]]


def _nearest(x: Scalar) -> Scalar:
    return x.operation("round")


def _times_ln2(n: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    """n ln 2 for a whole number below 2^13, in three parts."""
    first, second, third = _parts(_LN2, (_SHORT, _SHORT, 53))
    return n * first, n * second, n * third


def _plus(a: Pair, *others: Scalar) -> Pair:
    """The sum with numbers of f64, one after the other; each is within 2 times 2^-106 (Joldes et al., algorithm 4)."""
    for other in others:
        s, e = two_sum(a.hi, other)
        a = quick_two_sum(s, e + a.lo)
    return a


def _power_of_two(n: Scalar) -> tuple[Scalar, Scalar]:
    """Two factors of 2^n, for neither 2^1024 nor 2^-1075 is a number."""
    half = (n * 0.5).operation("floor")
    return half.operation("exp2"), (n - half).operation("exp2")


def _exp(a: Pair) -> Pair:
    outside = (a.hi < _LEAST) | (a.hi > _MOST)
    x = choose(outside, _alone(a.hi.number(0.0)), a)
    n = _nearest(x.hi * float(1 / _LN2))
    t = _scaled(_plus(x, *(-part for part in _times_ln2(n))), 2.0**-_TURNS)
    coefficients = _constants(a.hi, [Fraction(1, factorial(k)) for k in range(1, 16)], 7)
    p = product_of(t, _series(t, *coefficients))
    for _ in range(_TURNS):
        p = sum_of(_scaled(p, 2.0), product_of(p, p))
    power = _plus(p, a.hi.number(1.0))
    for factor in _power_of_two(n):
        power = _scaled(power, factor)
    power = quick_two_sum(power.hi, power.lo)  # lo below 2^-1022 was rounded, up to half a unit of hi
    plain = a.hi.operation("exp")
    return finite_or(choose(outside, _alone(plain), power), plain)


def _log(a: Pair) -> Pair:
    k = _nearest(a.hi.operation("log2"))
    m = a
    for factor in _power_of_two(-k):
        m = _scaled(m, factor)
    s = quotient_of(_plus(m, m.hi.number(-1.0)), _plus(m, m.hi.number(1.0)))
    coefficients = _constants(a.hi, [Fraction(2, 2 * k + 1) for k in range(23)], 10)
    small = product_of(s, _series(product_of(s, s), *coefficients))
    first, second, third = _times_ln2(k)
    whole = _plus(quick_two_sum(first, second), third)
    return finite_or(sum_of(whole, small), a.hi.operation("log"))


def _turned(a: Pair, quarter: int) -> Pair:
    """sin(x + quarter * pi/2)."""
    near = (a.hi.operation("absolute") < _FARTHEST).choose(a.hi, float("nan"))
    n = _nearest(near * float(1 / _HALF_PI))
    first, second, third = _parts(_HALF_PI, (53, 53, 53))
    (p, e), (q, f) = two_product(n, near.number(first)), two_product(n, near.number(second))
    r = _plus(Pair(*two_sum(near, -p)), a.lo, -e, -q, -f, -(n * third))
    turn = n if not quarter else n + float(quarter)
    turn = turn - (turn * 0.25).operation("floor") * 4.0
    is_cos = turn.equals(1.0) | turn.equals(3.0)
    values = [[Fraction((-1) ** k, factorial(2 * k + odd)) for k in range(1, 16)] for odd in (1, 0)]
    sines, cosines = (_constants(near, each, 8) for each in values)
    pairs = [choose(is_cos, c, s) for c, s in zip(cosines[0], sines[0], strict=True)]
    tail = [is_cos.choose(c, s) for c, s in zip(cosines[1], sines[1], strict=True)]
    found = _series(product_of(r, r), [_alone(near.number(1.0)), *pairs], tail)
    found = choose(is_cos, found, product_of(found, r))
    sign = near.number(1.0) - (turn * 0.5).operation("floor") * 2.0
    return finite_or(_scaled(found, sign), near.number(float("nan")))


FUNCTIONS: Mapping[str, Callable[[Pair], Pair]] = {
    "exp": _exp,
    "log": _log,
    "sin": lambda a: _turned(a, 0),
    "cos": lambda a: _turned(a, 1),
}
"""Functions that dd has, by the operator's name."""


@cache
def function_sequences() -> Mapping[str, Operations]:
    """The sequence of each function that dd has, by the operator's name."""
    made = {}
    for name, function in FUNCTIONS.items():
        draft = SequenceDraft()
        made[name] = draft.finished(name, function(draft.operand("a")))
    return made
