"""Elementary functions: each as one sequence of operations, written once (semantics §3).

The reference runs these sequences on NumPy arrays (`elementary_arrays.py`), and `codegen` spells the same operations as
C++ and CUDA: all backends have the same bits. An operation is + - * / of floats, rounded once each, a comparison, a
choice between two values, or whole arithmetic on the bits of a float. There are no branches and no tables, so that
compilers make vectors of the loops, and no fma, so that processors without it are as fast as they can be and NumPy,
which has none, follows at once.

Results are within 1 unit in the last place of the rounded exact result. Zeros, infinities, subnormal numbers and the
numbers where a result leaves the range are those of IEEE 754; NaN gives NaN.

- Polynomials are summed by halves (Estrin 1960).
- exp and exp2: x = n ln 2 + r with ln 2 in two parts, the first so short that n times it is exact (Cody and Waite
  1980); e^r = 1 + r + r^2 q(r) with q by Remez's exchange on |r| <= ln(2)/2; 2^n in two factors, because neither
  2^1024 nor 2^-1075 is a number.
- log, log2, log10: x = 2^k m with m from sqrt(1/2) to sqrt(2), s = (m - 1) / (m + 1), log m = 2 s + s R(s^2).
  Coefficients of R and the order of the last sums are those of Sun's fdlibm (1993), e_log.c; of log2 and log10 those
  of FreeBSD's e_log2.c (Das 2011), which carry log m in two parts.
- tanh: a quotient of polynomials below 5/8 for f64, a polynomial for f32 (Moshier's Cephes, tanh.c and tanhf.c), else
  1 - 2 / (e^2x + 1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, Protocol, Self, TypeVar

from workbench.graph.types import F32, F64, U32, U64, StorageType

Coefficients = tuple[float, ...]
"""Of a polynomial, the highest power first; each is a number of the type."""


class SequenceValue(Protocol):
    """A float, an unsigned whole number or a condition. A Python number beside it has its type."""

    @property
    def type(self) -> StorageType:
        """The storage type."""

    def __add__(self, other: Self | float, /) -> Self: ...
    def __sub__(self, other: Self | float, /) -> Self: ...
    def __mul__(self, other: Self | float, /) -> Self: ...
    def __truediv__(self, other: Self | float, /) -> Self: ...
    def __and__(self, other: int, /) -> Self: ...
    def __or__(self, other: int, /) -> Self: ...
    def __rshift__(self, count: int, /) -> Self: ...
    def __lshift__(self, count: int, /) -> Self: ...
    def __lt__(self, other: Self | float, /) -> Self: ...
    def __gt__(self, other: Self | float, /) -> Self: ...
    def __ge__(self, other: Self | float, /) -> Self: ...

    def number(self, value: float) -> Self:
        """A constant of the same type."""

    def equals(self, other: Self | float) -> Self:
        """Whether both are equal; `==` compares objects."""

    def choose(self, yes: Self, no: Self) -> Self:
        """One of two values, by this condition."""

    def absolute(self) -> Self:
        """The float without its sign."""

    def with_sign_of(self, other: Self) -> Self:
        """This, which is not negative, with the sign of another float."""

    def bits(self) -> Self:
        """The bits of a float, as an unsigned number as wide."""

    def from_bits(self) -> Self:
        """The float of such bits."""


V = TypeVar("V", bound=SequenceValue)


@dataclass(frozen=True, slots=True)
class _Format:
    """What the sequences need to know of a float type.

    fraction: bits of it. bias: of the exponent. shift: 1.5 * 2^fraction, from which on numbers are whole: what is
    added to it is rounded to a whole number, which stands in the low bits of the sum. root: the bits of sqrt(1/2), or
    a number near. up: makes a subnormal number normal. head: the bits that leave so short a number that its product
    with the first part of a constant is exact.
    """

    unsigned: StorageType
    fraction: int
    bias: int
    shift: float
    root: int
    least: float
    up: int
    head: int
    log2_e: float
    ln2: tuple[float, float]
    exp: Coefficients
    exp_range: tuple[float, float]
    exp2_range: tuple[float, float]
    log: Coefficients
    to_log2: tuple[float, float]
    to_log10: tuple[float, float]
    log10_2: tuple[float, float]
    tanh: Coefficients
    tanh_below: Coefficients


_F64 = _Format(
    unsigned=U64,
    fraction=52,
    bias=1023,
    shift=1.5 * 2.0**52,
    root=0x3FE6A09E667F3BCD,
    least=2.0**-1022,
    up=54,
    head=0xFFFFFFFF00000000,
    log2_e=1.4426950408889634,
    ln2=(0.6931471806019545, -4.2009150726810846e-11),
    exp=(
        2.5000056604512267e-08,
        2.763024833611603e-07,
        2.7557586388429147e-06,
        2.480149309903042e-05,
        0.00019841269506564,
        0.001388888894362999,
        0.008333333333494468,
        0.04166666666653016,
        0.16666666666666413,
        0.5000000000000011,
    ),
    exp_range=(-746.0, 710.0),
    exp2_range=(-1076.0, 1025.0),
    log=(
        1.479819860511658591e-01,
        1.531383769920937332e-01,
        1.818357216161805012e-01,
        2.222219843214978396e-01,
        2.857142874366239149e-01,
        3.999999999940941908e-01,
        6.666666666666735130e-01,
    ),
    to_log2=(1.442695040255785, 6.331784189566044e-10),
    to_log10=(0.43429448176175356, 1.414982685385801e-10),
    log10_2=(0.3010299955494702, 1.1451100898021838e-10),
    tanh=(-9.64399179425052238628e-1, -9.92877231001918586564e1, -1.61468768441708447952e3),
    tanh_below=(1.0, 1.12811678491632931402e2, 2.23548839060100448583e3, 4.84406305325125486048e3),
)
_F32 = _Format(
    unsigned=U32,
    fraction=23,
    bias=127,
    shift=1.5 * 2.0**23,
    root=0x3F3504F3,
    least=2.0**-126,
    up=24,
    head=0xFFFFF000,
    log2_e=1.4426950216293335,
    ln2=(0.693359375, -0.00021219444170128554),
    exp=(
        0.0013814599951729178,
        0.008368716575205326,
        0.04166838899254799,
        0.1666652113199234,
        0.4999999403953552,
    ),
    exp_range=(-104.0, 89.0),
    exp2_range=(-151.0, 129.0),
    log=(0.24279078841209412, 0.2849878668785095, 0.40000972151756287, 0.6666666269302368),
    to_log2=(1.4423828125, 0.00031222839606925845),
    to_log10=(0.434326171875, -3.168997136526741e-05),
    log10_2=(0.301025390625, 4.605039066518657e-06),
    tanh=(
        -0.0057049887254834175,
        0.0206390880048275,
        -0.05373971536755562,
        0.13331441581249237,
        -0.3333328068256378,
    ),
    tanh_below=(1.0,),
)
_FORMATS: Mapping[StorageType, _Format] = {F32: _F32, F64: _F64}


def _polynomial(x: V, coefficients: Coefficients) -> V:
    """The sum by halves, so that a processor has several products to work on at a time."""
    terms = [x.number(c) for c in reversed(coefficients)]
    power = x
    while len(terms) > 1:
        pairs = [high * power + low for low, high in zip(terms[::2], terms[1::2], strict=False)]
        terms = pairs + terms[len(pairs) * 2 :]
        power = power * power if len(terms) > 1 else power
    return terms[0]


# ---- exponentials ---------------------------------------------------------------------------------------------------


def _limited(x: V, ends: tuple[float, float]) -> V:
    """The nearest number between the ends, or NaN."""
    low, high = (x.number(end) for end in ends)
    y = (x < low).choose(low, x)
    return (y > high).choose(high, y)


def _rounded(x: V) -> tuple[V, V]:
    """The nearest whole number n of a small x, and n + 2 bias in the low bits of an unsigned number."""
    shift = _FORMATS[x.type].shift + 2 * _FORMATS[x.type].bias
    moved = x + shift
    return moved - shift, moved.bits()


def _scaled(x: V, n: V) -> V:
    """x times 2^n, for n as `_rounded` gives it: two factors, whose exponents are the halves of n."""
    fraction = _FORMATS[x.type].fraction
    half = n >> 1
    return x * (half << fraction).from_bits() * ((n - half) << fraction).from_bits()


def _exp_of_remainder(r: V) -> V:
    """e^r for |r| <= ln(2) / 2."""
    return (_polynomial(r, _FORMATS[r.type].exp) * (r * r) + r) + 1.0


def exp(x: V) -> V:
    """e^x: infinite from the first x whose power is no number, 0 from the last."""
    form = _FORMATS[x.type]
    x = _limited(x, form.exp_range)
    n, bits = _rounded(x * form.log2_e)
    first, second = form.ln2
    return _scaled(_exp_of_remainder((x - n * first) - n * second), bits)


def exp2(x: V) -> V:
    """2^x; exact for whole numbers."""
    form = _FORMATS[x.type]
    x = _limited(x, form.exp2_range)
    n, bits = _rounded(x)
    first, second = form.ln2
    r = x - n
    return _scaled(_exp_of_remainder(r * (first + second)), bits)


# ---- logarithms -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Parts(Generic[V]):
    """x = 2^k (1 + f), and s (f^2 / 2 + R) with s and R as in log(1 + f) = f - f^2 / 2 + s (f^2 / 2 + R)."""

    k: V
    f: V
    half_square: V
    rest: V


def _parts(x: V) -> _Parts[V]:
    """Of a positive number; anything for others."""
    form = _FORMATS[x.type]
    fraction, bias = form.fraction, form.bias
    small = x < form.least
    bits = small.choose(x * 2.0**form.up, x).bits()
    # Twice the bias is added, so that nothing is negative and the shift has no sign.
    above = bits + ((2 * bias << fraction) - form.root)
    exponent = above >> fraction
    # The bits of 2^fraction and a small whole number are the number beside an exponent.
    k = (exponent | (bias + fraction << fraction)).from_bits() - (2.0**fraction + 2 * bias)
    k = small.choose(k - form.up, k)
    m = ((above & (1 << fraction) - 1) + form.root).from_bits()
    f = m - 1.0
    s = f / (f + 2.0)
    square = s * s
    half_square = f * f * 0.5
    return _Parts(k, f, half_square, s * (half_square + square * _polynomial(square, form.log)))


def _with_ends(x: V, y: V) -> V:
    """A logarithm y of x, right for positive numbers, where x is none: -inf of 0, inf of inf, else NaN."""
    infinity = float("inf")
    y = x.equals(0.0).choose(y.number(-infinity), y)
    y = x.equals(infinity).choose(y.number(infinity), y)
    return (x >= 0.0).choose(y, y.number(float("nan")))


def log(x: V) -> V:
    """The natural logarithm; 0 of 1."""
    parts, (first, second) = _parts(x), _FORMATS[x.type].ln2
    rest = (parts.rest + parts.k * second) - parts.half_square
    return _with_ends(x, (rest + parts.f) + parts.k * first)


def _head_and_tail(parts: _Parts[V]) -> tuple[V, V]:
    """log(1 + f) in two parts, the first so short that its product with the first part of a constant is exact."""
    whole = parts.f - parts.half_square
    head = (whole.bits() & _FORMATS[whole.type].head).from_bits()
    return head, ((parts.f - head) - parts.half_square) + parts.rest


def _to_base(x: V, factor: tuple[float, float], two: tuple[float, float] | None) -> V:
    """The logarithm to another base: k times that of 2, which is 1 if it is left out, and log(1 + f) times a factor."""
    parts = _parts(x)
    head, tail = _head_and_tail(parts)
    upper, whole = head * factor[0], parts.k * two[0] if two else parts.k
    lower = (head + tail) * factor[1] + tail * factor[0]
    lower = lower + parts.k * two[1] if two else lower
    total = whole + upper
    return _with_ends(x, (((whole - total) + upper) + lower) + total)


def log2(x: V) -> V:
    """The logarithm to the base 2; exact for powers of two."""
    return _to_base(x, _FORMATS[x.type].to_log2, None)


def log10(x: V) -> V:
    """The logarithm to the base 10."""
    return _to_base(x, _FORMATS[x.type].to_log10, _FORMATS[x.type].log10_2)


# ---- hyperbolic functions -------------------------------------------------------------------------------------------


def tanh(x: V) -> V:
    """The hyperbolic tangent; the sign of a zero is kept."""
    form = _FORMATS[x.type]
    size = x.absolute()
    square = size * size
    quotient = _polynomial(square, form.tanh)
    if len(form.tanh_below) > 1:
        quotient = quotient / _polynomial(square, form.tanh_below)
    small = size * square * quotient + size
    large = x.number(1.0) - x.number(2.0) / (exp(size + size) + 1.0)
    return (size < 0.625).choose(small, large).with_sign_of(x)


class Function(Protocol):
    """One of the functions above."""

    def __call__(self, x: V, /) -> V:
        """The result for one argument."""


SEQUENCES: Mapping[str, Function] = {
    "exp": exp,
    "exp2": exp2,
    "log": log,
    "log2": log2,
    "log10": log10,
    "tanh": tanh,
}
"""The sequence of each operator that has one, by the operator's name; each takes a value of type f32 or f64."""
