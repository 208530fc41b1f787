"""Many digits: operators on arrays of decimal numbers, which tell how far any float type is from the exact result.

The type of such a number is no storage type of a program: `digits_type` makes it for the reference alone, which
evaluates a graph that was retyped to it. Python's decimal numbers round + - * / sqrt, exp and logarithms correctly;
powers and the functions that are made here of these are right but for a few units of the last digit. Every operation
is one of a context: Python's own signs and abs() would round to the digits of the thread. Integers and bools stay what
they are. Numbers far beyond f64 stay finite.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from functools import cache
from typing import Any

import numpy as np

from workbench.graph.extended_numbers import DoubleDouble
from workbench.graph.operators import OPERATORS, Array
from workbench.graph.types import StorageType

_EXTREME = 10**9
_GUARD = 20  # digits by which what is made of several operations is computed more exactly
_BITS = 3.3219280948873623  # of a digit
_NEVER, _ONE, _TWO, _NAN = Decimal(0), Decimal(1), Decimal(2), Decimal("NaN")

Function = Callable[..., Decimal]


def digits_type(digits: int) -> StorageType:
    """Return the float type of so many decimal digits; the reference alone computes with it."""
    return StorageType(f"decimal{digits}", "float", int(digits * _BITS), ("object",))


def is_many(type_: StorageType) -> bool:
    """Whether the type was made by `digits_type`."""
    return not type_.is_native and not type_.is_record


def decimal(value: bool | int | float, type_: StorageType) -> Array:
    """Return a number as a 0-d array of the type; exact but for its last digit."""
    context = context_of(type_)
    low = value.lo if isinstance(value, DoubleDouble) else 0
    return _held(context.add(Decimal(value), Decimal(low)) if low else context.create_decimal(value))


def apply_to_decimals(operator: str, operands: Sequence[Array], result: StorageType) -> Array:
    """Return the operator's value in the operands' shape: decimals, or of the result's own dtype."""
    if operator == "cast":
        return _cast(operands[0], result)
    if operator == "select":
        return np.asarray(np.where(*operands), object)
    context = context_of(result if is_many(result) else digits_type(50))  # a comparison rounds nothing
    function: Callable[..., Any] = np.frompyfunc(_function(operator, context.prec), len(operands), 1)
    return np.asarray(function(*operands), result.numpy)


@cache
def context_of(type_: StorageType) -> Context:
    """How numbers of the type are rounded: to its digits, half to even; nothing raises."""
    return _context(int(type_.name.removeprefix("decimal")))


def _context(digits: int) -> Context:
    return Context(prec=digits, rounding=ROUND_HALF_EVEN, Emin=-_EXTREME, Emax=_EXTREME, traps=[])


def _held(value: object) -> Array:
    held = np.empty((), object)
    held[()] = value
    return held


def _cast(values: Array, result: StorageType) -> Array:
    if is_many(result):
        create = context_of(result).create_decimal
        if values.dtype.names:
            add = context_of(result).add
            return np.asarray(
                np.frompyfunc(lambda hi, lo: add(Decimal(hi), Decimal(lo)), 2, 1)(values["hi"], values["lo"]), object
            )
        if values.dtype == np.bool_:
            values = values.astype(np.int8)
        numbers = values if values.dtype == object else values.astype(object)  # Python's own ints and floats
        return np.asarray(np.frompyfunc(create, 1, 1)(numbers), object)
    if result.kind == "bool":
        return np.asarray(np.frompyfunc(lambda x: x != 0, 1, 1)(values), bool)
    if result.is_integer:
        info = np.iinfo(result.numpy)
        low, high = int(info.min), int(info.max)
        return np.asarray(np.frompyfunc(lambda x: _integer(x, low, high), 1, 1)(values), result.numpy)
    return np.asarray(np.frompyfunc(float, 1, 1)(values), result.numpy)


def _integer(x: Decimal, low: int, high: int) -> int:
    if x.is_nan():
        return 0
    return low if x <= low else high if x >= high else int(x)


@cache
def _function(operator: str, digits: int) -> Any:  # noqa: ANN401  # whatever frompyfunc takes
    context = _context(digits)
    if operator in _OF_CONTEXT:
        return getattr(context, _OF_CONTEXT[operator])
    made = _MADE[operator]
    wide = _context(context.prec + _GUARD)
    meaning = OPERATORS[operator].meaning
    computes = OPERATORS[operator].rule == "same" and operator not in _EXACT

    def function_(*x: Decimal) -> Decimal:
        if not computes:
            return made(wide, *x)
        if not all(v.is_finite() for v in x):
            with np.errstate(all="ignore"):
                return Decimal(float(meaning(*(np.float64(v) for v in x))))
        return context.plus(made(wide, *x))

    return function_


def _compared(holds: Callable[[Decimal, Decimal], bool]) -> Function:
    def function(context: Context, a: Decimal, b: Decimal) -> bool:
        return not (a.is_nan() or b.is_nan()) and holds(a, b)

    return function  # type: ignore[return-value]  # a comparison gives bools


def _whole(x: Decimal, rounding: str) -> Decimal:
    return x if not x.is_finite() else x.to_integral_value(rounding)


def _floor_divide(c: Context, a: Decimal, b: Decimal) -> Decimal:
    return _whole(c.divide(a, b), ROUND_FLOOR)


def _expm1(c: Context, x: Decimal) -> Decimal:
    if x.adjusted() < -c.prec:
        return x
    return _more(c, x).subtract(_more(c, x).exp(x), _ONE)


def _log1p(c: Context, x: Decimal) -> Decimal:
    if x.adjusted() < -c.prec:
        return x
    return _more(c, x).ln(_more(c, x).add(_ONE, x))


def _more(c: Context, x: Decimal) -> Context:
    """With the digits that a sum of 1 and a small x would lose, or the quotient of a large x by pi."""
    return _context(c.prec + abs(x.adjusted()) + 5) if x else c


@cache
def _pi(digits: int) -> Decimal:
    """By Machin: pi = 16 arctan(1/5) - 4 arctan(1/239)."""
    c = _context(digits + 10)

    def arctan_of_inverse(n: int) -> Decimal:
        term = total = c.divide(_ONE, Decimal(n))
        k, sign = 1, -1
        while term.adjusted() > -digits - 10:
            term = c.divide(term, Decimal(n * n))
            k += 2
            total = c.add(total, c.divide(term if sign > 0 else term.copy_negate(), Decimal(k)))
            sign = -sign
        return total

    return c.subtract(c.multiply(Decimal(16), arctan_of_inverse(5)), c.multiply(Decimal(4), arctan_of_inverse(239)))


def _series(c: Context, x: Decimal, first: int) -> Decimal:
    """Taylor's series of sin (first = 1) or cos (first = 0) at a small x."""
    square = c.multiply(x, x)
    term = total = x if first else _ONE
    k = first
    while term and term.adjusted() > total.adjusted() - c.prec - 2:
        k += 2
        term = c.divide(c.multiply(term, square).copy_negate(), Decimal(k * (k - 1)))
        total = c.add(total, term)
    return total


def _turned(c: Context, x: Decimal, quarter: int) -> Decimal:
    """sin(x + quarter * pi/2)."""
    wide = _more(c, x)
    half_pi = wide.divide(_pi(wide.prec), _TWO)
    k = wide.divide(x, half_pi).to_integral_value(ROUND_HALF_EVEN)
    rest = wide.subtract(x, wide.multiply(k, half_pi))
    turn = (int(k) + quarter) % 4
    value = _series(c, rest, 1 - turn % 2)
    return value if turn < 2 else value.copy_negate()


def _tan(c: Context, x: Decimal) -> Decimal:
    return c.divide(_turned(c, x, 0), _turned(c, x, 1))


def _arctan(c: Context, x: Decimal) -> Decimal:
    halvings = 0
    while x.copy_abs() > Decimal("0.05"):  # arctan(x) = 2 arctan(x / (1 + sqrt(1 + x^2)))
        x = c.divide(x, c.add(_ONE, c.sqrt(c.add(_ONE, c.multiply(x, x)))))
        halvings += 1
    square, power, total, k = c.multiply(x, x), x, x, 1
    while power and power.adjusted() > total.adjusted() - c.prec - 2:
        power = c.multiply(power, square).copy_negate()
        k += 2
        total = c.add(total, c.divide(power, Decimal(k)))
    return c.multiply(total, Decimal(2**halvings))


def _arcsin(c: Context, x: Decimal) -> Decimal:
    if x.copy_abs() >= 1:
        return c.divide(_pi(c.prec), _TWO).copy_sign(x) if x.copy_abs() == 1 else _NAN
    return _arctan(c, c.divide(x, c.sqrt(c.multiply(c.subtract(_ONE, x), c.add(_ONE, x)))))


def _arccos(c: Context, x: Decimal) -> Decimal:
    if x.copy_abs() > 1:
        return _NAN
    if x == -1:
        return _pi(c.prec)
    return c.multiply(_TWO, _arctan(c, c.sqrt(c.divide(c.subtract(_ONE, x), c.add(_ONE, x)))))


def _arctan2(c: Context, y: Decimal, x: Decimal) -> Decimal:
    pi = _pi(c.prec)
    if not x and not y:
        return (pi if x.is_signed() else _NEVER).copy_sign(y)
    if y.copy_abs() > x.copy_abs():
        return c.subtract(c.divide(pi, _TWO).copy_sign(y), _arctan(c, c.divide(x, y)))
    turned = pi.copy_sign(y) if x.is_signed() else _NEVER
    return c.add(turned, _arctan(c, c.divide(y, x)))


def _sinh(c: Context, x: Decimal) -> Decimal:
    return c.divide(c.subtract(_expm1(c, x), _expm1(c, x.copy_negate())), _TWO)


def _cosh(c: Context, x: Decimal) -> Decimal:
    return c.divide(c.add(c.exp(x), c.exp(x.copy_negate())), _TWO)


def _tanh(c: Context, x: Decimal) -> Decimal:
    if x.copy_abs() > 3 * c.prec:
        return _ONE.copy_sign(x)
    grown = _expm1(c, c.multiply(_TWO, x))
    return c.divide(grown, c.add(grown, _TWO))


def _arcsinh(c: Context, x: Decimal) -> Decimal:
    size, square = x.copy_abs(), c.multiply(x, x)
    rest = c.divide(square, c.add(_ONE, c.sqrt(c.add(_ONE, square))))
    return _log1p(c, c.add(size, rest)).copy_sign(x)


def _arccosh(c: Context, x: Decimal) -> Decimal:
    t = c.subtract(x, _ONE)
    return _log1p(c, c.add(t, c.sqrt(c.multiply(t, c.add(x, _ONE))))) if x >= 1 else _NAN


def _arctanh(c: Context, x: Decimal) -> Decimal:
    if x.copy_abs() == 1:
        return Decimal("Infinity").copy_sign(x)
    return c.divide(_log1p(c, c.divide(c.multiply(_TWO, x), c.subtract(_ONE, x))), _TWO) if x.copy_abs() < 1 else _NAN


_OF_CONTEXT = {
    **{name: name for name in ("add", "subtract", "multiply", "divide", "sqrt", "exp", "log10", "fma")},
    "log": "ln",
}
_EXACT = frozenset(
    ["negative", "absolute", "sign", "minimum", "maximum", "floor", "ceil", "trunc", "round", "copysign"]
)
"""Operators that have one value for every number, infinities and NaN too."""
_MADE: dict[str, Function] = {
    "negative": lambda c, x: x.copy_negate(),
    "absolute": lambda c, x: x.copy_abs(),
    "sign": lambda c, x: _NEVER if x.is_nan() or not x else _ONE.copy_sign(x),
    "minimum": lambda c, a, b: a if a.is_nan() or (not b.is_nan() and a < b) else b,
    "maximum": lambda c, a, b: a if a.is_nan() or (not b.is_nan() and a > b) else b,
    "less": _compared(lambda a, b: a < b),
    "less_equal": _compared(lambda a, b: a <= b),
    "greater": _compared(lambda a, b: a > b),
    "greater_equal": _compared(lambda a, b: a >= b),
    "equal": _compared(lambda a, b: a == b),
    "not_equal": lambda c, a, b: a.is_nan() or b.is_nan() or a != b,
    "isnan": lambda c, x: x.is_nan(),
    "isfinite": lambda c, x: x.is_finite(),
    "floor": lambda c, x: _whole(x, ROUND_FLOOR),
    "ceil": lambda c, x: _whole(x, ROUND_CEILING),
    "trunc": lambda c, x: _whole(x, ROUND_DOWN),
    "round": lambda c, x: _whole(x, ROUND_HALF_EVEN),
    "copysign": lambda c, a, b: a.copy_sign(_ONE if b.is_nan() else b),
    "floor_divide": _floor_divide,
    "remainder": lambda c, a, b: c.subtract(a, c.multiply(b, _floor_divide(c, a, b))),
    "power": lambda c, a, b: c.power(a, b) if b else _ONE,
    "rsqrt": lambda c, x: c.divide(_ONE, c.sqrt(x)),
    "cbrt": lambda c, x: c.power(x.copy_abs(), c.divide(_ONE, Decimal(3))).copy_sign(x) if x else x,
    "exp2": lambda c, x: c.power(_TWO, x),
    "expm1": _expm1,
    "log2": lambda c, x: c.divide(c.ln(x), c.ln(_TWO)),
    "log1p": _log1p,
    "sin": lambda c, x: _turned(c, x, 0),
    "cos": lambda c, x: _turned(c, x, 1),
    "tan": _tan,
    "arcsin": _arcsin,
    "arccos": _arccos,
    "arctan": _arctan,
    "arctan2": _arctan2,
    "sinh": _sinh,
    "cosh": _cosh,
    "tanh": _tanh,
    "arcsinh": _arcsinh,
    "arccosh": _arccosh,
    "arctanh": _arctanh,
    "hypot": lambda c, a, b: c.sqrt(c.add(c.multiply(a, a), c.multiply(b, b))),
}
