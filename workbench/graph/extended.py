"""Double-double: each operator on pairs of f64 as one sequence of scalar operations, written once (semantics §2).

A number of type dd is hi + lo, where hi is the f64 nearest to the sum: 106 bits or more. An operator on dd is a
`Sequence`: f64 operations of the operator table, each rounded once, with fma where its result is the exact error of a
product. `apply` runs a sequence in NumPy; `codegen/runtime/extended.py` spells the same nodes as C++ and CUDA.

Bounds are in units of u^2 = 2^-106, relative to the exact result, where that is between 2^-960 and 2^1020; below, the
error is at most 2^-1072 or 2^-104 of the result. Where a quotient or a root has small operands, these are scaled by
powers of two, which is exact.

- sum, difference: 3 (Joldes, Muller, Popescu 2017, "Tight and rigorous error bounds for basic building blocks of
  double-word arithmetic", algorithm 6)
- product: 4 (the same, algorithm 12; the bound is of Muller and Rideau 2022, "Formalization of double-word arithmetic",
  theorem 2.8). With cross terms that are rounded one by one, algorithm 10, as many operations leave up to 5.
- quotient: 3. With q1 = a.hi / b.hi the remainder a - q1 * b is a sum of two f64 but for one rounding of at most 2;
  q2 and q3 take what is left of it but for terms in u^3; the last rounding adds at most 1/2.
- root: 25/8 (Lefevre, Louvet, Muller, Picot, Rideau 2023, "Accurate calculation of Euclidean norms using double-word
  arithmetic", algorithm SQRTDWtoDW)

If the hi found is not finite, the result is that of the same f64 operation on the hi parts, with lo = 0.0. A result
that is zero is +0.0, but for negation, minimum, maximum and the root of -0.0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

import numpy as np

from workbench.graph.instructions import Load
from workbench.graph.operators import OPERATORS
from workbench.graph.sequences import (
    Pair,
    Scalar,
    Sequence,
    SequenceDraft,
    choose,
    finite_or,
    fma,
    quick_two_sum,
    two_product,
    two_sum,
)
from workbench.graph.types import BOOL, F64, I64, U64, StorageType

_SMALL, _UP = 2.0**-900, 2.0**110  # scaled, the least number is above 2^-968, where remainders are exact
_ROOT_UP, _ROOT_DOWN = 2.0**128, 2.0**-64


# ---- operators ------------------------------------------------------------------------------------------------------


def sum_of(a: Pair, b: Pair) -> Pair:
    """The sum, if it is finite."""
    s, e = two_sum(a.hi, b.hi)
    t, f = two_sum(a.lo, b.lo)
    first = quick_two_sum(s, e + t)
    return quick_two_sum(first.hi, first.lo + f)


def _add(a: Pair, b: Pair) -> Pair:
    return finite_or(sum_of(a, b), a.hi + b.hi)


def negative(a: Pair) -> Pair:
    """The number with the other sign."""
    return Pair(-a.hi, -a.lo)


def _subtract(a: Pair, b: Pair) -> Pair:
    return _add(a, negative(b))


def product_of(a: Pair, b: Pair) -> Pair:
    """The product, if it is finite."""
    p, e = two_product(a.hi, b.hi)
    cross = fma(a.lo, b.hi, fma(a.hi, b.lo, a.lo * b.lo))
    return quick_two_sum(p, e + cross)


def _multiply(a: Pair, b: Pair) -> Pair:
    return finite_or(product_of(a, b), a.hi * b.hi)


def _multiply_add(a: Pair, b: Pair, c: Pair) -> Pair:
    """The product and the sum of dd, one after the other: nothing of 106 bits rounds a * b + c once."""
    return _add(_multiply(a, b), c)


def quotient_of(a: Pair, b: Pair) -> Pair:
    """The quotient, if it is finite and no operand is small."""
    reciprocal = b.hi.number(1.0) / b.hi
    first = a.hi / b.hi
    r, s = two_sum(fma(-first, b.hi, a.hi), fma(-first, b.lo, a.lo))
    second = r * reciprocal
    third = (fma(-second, b.hi, r) + fma(-second, b.lo, s)) * reciprocal
    q = quick_two_sum(first, second)
    return quick_two_sum(q.hi, q.lo + third)


def _divide(a: Pair, b: Pair) -> Pair:
    small = (a.hi.operation("absolute") < _SMALL) | (b.hi.operation("absolute") < _SMALL)
    scale = small.choose(a.hi.number(_UP), 1.0)
    plain = a.hi / b.hi
    a, b = (Pair(x.hi * scale, x.lo * scale) for x in (a, b))
    return finite_or(quotient_of(a, b), plain)


def _sqrt(a: Pair) -> Pair:
    plain = a.hi.operation("sqrt")
    small = a.hi < _SMALL
    up, down = small.choose(a.hi.number(_ROOT_UP), 1.0), small.choose(a.hi.number(_ROOT_DOWN), 1.0)
    a = Pair(a.hi * up, a.lo * up)
    root = a.hi.operation("sqrt")
    refined = quick_two_sum(root, (fma(-root, root, a.hi) + a.lo) / (root + root))
    return finite_or(Pair(refined.hi * down, refined.lo * down), plain)


def _absolute(a: Pair) -> Pair:
    return Pair(a.hi.operation("absolute"), (a.hi < 0.0).choose(-a.lo, a.lo))


def _sign(a: Pair) -> Pair:
    return Pair(a.hi.operation("sign"), a.hi.number(0.0))


def _less(a: Pair, b: Pair) -> Scalar:
    return (a.hi < b.hi) | (a.hi.equals(b.hi) & (a.lo < b.lo))


def _less_equal(a: Pair, b: Pair) -> Scalar:
    return (a.hi < b.hi) | (a.hi.equals(b.hi) & a.lo.operation("less_equal", b.lo))


def _equal(a: Pair, b: Pair) -> Scalar:
    return a.hi.equals(b.hi) & a.lo.equals(b.lo)


def _not_equal(a: Pair, b: Pair) -> Scalar:
    return a.hi.differs(b.hi) | a.lo.differs(b.lo)


def _isnan(a: Pair) -> Scalar:
    return a.hi.operation("isnan")


def _isfinite(a: Pair) -> Scalar:
    return a.hi.operation("isfinite")


def _minimum(a: Pair, b: Pair) -> Pair:
    return choose(_less(a, b) | _isnan(a), a, b)


def _maximum(a: Pair, b: Pair) -> Pair:
    return choose(_less(b, a) | _isnan(a), a, b)


_OPERATORS: Mapping[str, Callable[..., Pair | Scalar]] = {
    "add": _add,
    "subtract": _subtract,
    "multiply": _multiply,
    "divide": _divide,
    "negative": negative,
    "absolute": _absolute,
    "sign": _sign,
    "sqrt": _sqrt,
    "fma": _multiply_add,
    "minimum": _minimum,
    "maximum": _maximum,
    "less": _less,
    "less_equal": _less_equal,
    "greater": lambda a, b: _less(b, a),
    "greater_equal": lambda a, b: _less_equal(b, a),
    "equal": _equal,
    "not_equal": _not_equal,
    "isnan": _isnan,
    "isfinite": _isfinite,
}


@cache
def sequences() -> Mapping[str, Sequence]:
    """The sequence of each operator that dd has, by the operator's name; casts have `from_scalar` and `to_scalar`."""
    made = {}
    for name, function in _OPERATORS.items():
        draft = SequenceDraft()
        operands = [draft.operand(letter) for letter in "abc"[: OPERATORS[name].arity]]
        made[name] = draft.finished(name, function(*operands))
    draft = SequenceDraft()
    condition = draft.add(Load("condition"), (), BOOL)
    chosen = choose(condition, draft.operand("a"), draft.operand("b"))
    return {**made, "select": draft.finished("select", chosen)}


# ---- casts ----------------------------------------------------------------------------------------------------------


@cache
def from_scalar(source: StorageType) -> Sequence:
    """The cast of a scalar type to dd, exact for each of them."""
    draft = SequenceDraft()
    x = draft.add(Load("x"), (), source)
    if source not in (I64, U64):
        wide = x.cast(F64)
        return draft.finished("cast", Pair(wide, wide.number(0.0)))
    upper = x.operation("shift_right", 32).cast(F64) * 2.0**32
    lower = (x & 0xFFFFFFFF).cast(F64)
    return draft.finished("cast", quick_two_sum(upper, lower))


@cache
def to_scalar(target: StorageType) -> Sequence:
    """The cast of dd to a scalar type: floats from hi; integers truncate and saturate, NaN gives 0; bool is != 0."""
    draft = SequenceDraft()
    a = draft.operand("a")
    if target.is_float:
        return draft.finished("cast", a.hi.cast(target))
    if target == BOOL:
        return draft.finished("cast", a.hi.differs(0.0))
    hi, rest = _truncated(a)
    if target not in (I64, U64):  # all of its numbers are f64, so that a sum that is rounded lies outside
        return draft.finished("cast", (hi + rest).cast(target))
    return draft.finished("cast", _whole(hi, rest, target))


def _truncated(a: Pair) -> tuple[Scalar, Scalar]:
    """Return hi without its fraction and, where it has none, lo rounded so that the sum goes towards zero."""
    hi = a.hi.operation("trunc")
    rest = (a.hi > 0.0).choose(a.lo.operation("floor"), a.lo.operation("ceil"))
    return hi, hi.equals(a.hi).choose(rest, 0.0)


def _whole(hi: Scalar, rest: Scalar, target: StorageType) -> Scalar:
    """The whole number hi + rest as one of 64 bits, saturated."""
    info = np.iinfo(target.numpy)
    end, begin = 2.0**info.bits / (2 if info.min else 1), float(info.min)
    above = (hi > end) | (hi.equals(end) & (rest >= 0.0))
    below = (hi < begin) | (hi.equals(begin) & (rest < 0.0))
    large = hi.operation("absolute") >= end / 2  # halved, because `end` itself is no number of the target
    part = large.choose(hi * 0.5, hi).cast(target)
    whole = large.choose(part + part, part) + rest.cast(I64).cast(target)
    return above.choose(whole.number(int(info.max)), below.choose(whole.number(int(info.min)), whole))
