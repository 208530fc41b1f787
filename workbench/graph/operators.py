"""Operators: one table row each, with arity, type rule and meaning in NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from workbench.graph import elementary_arrays, remainders
from workbench.graph.fused import fused_multiply_add
from workbench.graph.types import BOOL, StorageType, pair_of

Array = np.ndarray[Any, np.dtype[Any]]
Meaning = Callable[..., Any]
Rule = Literal["same", "bool", "select", "cast", "pair", "first", "second"]
Kinds = Literal["number", "integer", "float", "bool", "any", "bits"]


@dataclass(frozen=True, slots=True)
class Operator:
    """One operator. All operands have one type (select: the last two), except as `rule` says.

    rule: "same" result as operands; "bool" result bool; "select" (bool, T, T) -> T; "cast" any -> the node's type;
    "pair" (S, T) -> a pair of both, "first" and "second" a pair -> what it has there.
    kinds: which operand types are legal; "number" = integers and floats, "bits" = integers and bool.
    ulp: 0 if every backend gives the same bits: the operation is exact, or one sequence of such (`elementary`); else
    how far one application may be from `meaning` on a backend, in units in the last place of the result's type
    (semantics §3).
    meaning: NumPy function on arrays or NumPy scalars of the operand type, result of the result type.
    flops: weight in the cost model.
    """

    name: str
    arity: int
    rule: Rule
    kinds: Kinds
    meaning: Meaning
    symbol: str = ""
    ulp: int = 0
    flops: float = 1.0


def _minimum(a: Array, b: Array) -> Array:
    return np.where((a < b) | (a != a), a, b)


def _maximum(a: Array, b: Array) -> Array:
    return np.where((a > b) | (a != a), a, b)


def _floor_divide(a: Array, b: Array) -> Array:
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype.kind == "f":
        return remainders.floor_divide(a, b)
    safe = np.where(b == 0, np.ones_like(b), b)
    with np.errstate(over="ignore"):
        if a.dtype.kind == "i":  # the one overflow, min // -1, wraps to min
            negated = (np.zeros_like(a) - a).astype(a.dtype)
            quotient = np.where(safe == -1, negated, a // np.where(safe == -1, np.ones_like(b), safe))
        else:
            quotient = a // safe
    return np.where(b == 0, np.zeros_like(a), quotient).astype(a.dtype)


def _remainder(a: Array, b: Array) -> Array:
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype.kind == "f":
        return remainders.remainder(a, b)
    special = (b == 0) | (b == -1) if a.dtype.kind == "i" else b == 0
    return np.where(special, np.zeros_like(a), a % np.where(special, np.ones_like(b), b)).astype(a.dtype)


def _shift_left(a: Array, b: Array) -> Array:
    a, b = np.asarray(a), np.asarray(b)
    bits = a.dtype.itemsize * 8
    inside = (b >= 0) & (b < bits)
    unsigned = np.dtype(f"u{a.dtype.itemsize}")
    moved = a.view(unsigned) << np.where(inside, b, 0).astype(unsigned)
    return np.where(inside, moved.view(a.dtype), np.zeros_like(a))


def _shift_right(a: Array, b: Array) -> Array:
    a, b = np.asarray(a), np.asarray(b)
    bits = a.dtype.itemsize * 8
    inside = (b >= 0) & (b < bits)
    beyond = np.where(a < 0, -1, 0).astype(a.dtype) if a.dtype.kind == "i" else np.zeros_like(a)
    return np.where(inside, a >> np.where(inside, b, 0).astype(a.dtype), beyond)


def _sign(a: Array) -> Array:
    a = np.asarray(a)
    difference = (a > 0).astype(a.dtype) - (a < 0).astype(a.dtype)  # sign(NaN) = 0, sign(-0.0) = 0.0
    return np.asarray(difference, a.dtype)


def _absolute(a: Array) -> Array:
    a = np.asarray(a)
    return np.abs(a) if a.dtype.kind == "f" else np.where(a < 0, (np.zeros_like(a) - a).astype(a.dtype), a)


def _negative(a: Array) -> Array:
    a = np.asarray(a)
    return -a if a.dtype.kind == "f" else (np.zeros_like(a) - a).astype(a.dtype)


def _copysign(a: Array, b: Array) -> Array:
    return np.copysign(a, np.where(b != b, np.ones_like(b), b))  # NaN counts as positive: its sign is not defined


def _reciprocal_sqrt(a: Array) -> Array:
    return np.divide(1.0, np.sqrt(a))


def _bounded(function: Meaning) -> Meaning:
    """The function computed in the next wider type and rounded: NumPy's own are up to 4 ulp off (f32), 3 ulp (f64)."""

    def meaning(*operands: Array) -> Array:
        given = [np.asarray(operand) for operand in operands]
        wider = np.float64 if all(a.dtype == np.float32 for a in given) else np.longdouble
        return np.asarray(function(*(a.astype(wider) for a in given)), np.result_type(*given))

    return meaning


def cast(a: Array, target: StorageType) -> Array:
    """Convert as semantics §2: float to int truncates and saturates, NaN gives 0; int wraps; to bool is != 0."""
    a = np.asarray(a)
    dtype = target.numpy
    if dtype.kind == "b":
        return np.asarray(a != 0)
    if a.dtype.kind == "f" and dtype.kind in "iu":
        info = np.iinfo(dtype)
        wide = np.trunc(np.where(a != a, np.zeros_like(a), a))
        # 2**63 and 2**64 are exact in both float types, their predecessors are not: compare with the power of two.
        low, high = float(info.min), float(info.max // 2 + 1) * 2.0
        below, above = wide <= low, wide >= high
        inside = np.where(below | above, np.zeros_like(wide), wide).astype(dtype)
        return np.where(below, dtype.type(info.min), np.where(above, dtype.type(info.max), inside)).astype(dtype)
    with np.errstate(over="ignore"):
        return a.astype(dtype)


def _pair(a: Array, b: Array) -> Array:
    a, b = np.asarray(a), np.asarray(b)
    made = np.empty(a.shape, np.dtype([("first", a.dtype), ("second", b.dtype)], align=True))
    made["first"], made["second"] = a, b
    return made


def _row(
    name: str,
    arity: int,
    rule: Rule,
    kinds: Kinds,
    meaning: Meaning,
    *,
    symbol: str = "",
    ulp: int = 0,
    flops: float = 1.0,
) -> Operator:
    return Operator(name, arity, rule, kinds, meaning, symbol, ulp, flops)


COMMUTATIVE = frozenset(
    {
        *("add", "multiply", "equal", "not_equal", "logical_and", "logical_or", "logical_xor"),
        *("bitwise_and", "bitwise_or", "bitwise_xor"),
    }
)
"""Operators whose operands may change places: no bit differs, except of dd. minimum and maximum tell 0 from -0."""

_ROWS: tuple[Operator, ...] = (
    _row("add", 2, "same", "number", np.add, symbol="+"),
    _row("subtract", 2, "same", "number", np.subtract, symbol="-"),
    _row("multiply", 2, "same", "number", np.multiply, symbol="*"),
    _row("divide", 2, "same", "float", np.divide, symbol="/", flops=8),
    _row("floor_divide", 2, "same", "number", _floor_divide, symbol="//", flops=10),
    _row("remainder", 2, "same", "number", _remainder, symbol="%", flops=12),
    _row("negative", 1, "same", "number", _negative, symbol="-"),
    _row("absolute", 1, "same", "number", _absolute),
    _row("sign", 1, "same", "number", _sign, flops=2),
    _row("minimum", 2, "same", "number", _minimum),
    _row("maximum", 2, "same", "number", _maximum),
    _row("less", 2, "bool", "any", np.less, symbol="<"),
    _row("less_equal", 2, "bool", "any", np.less_equal, symbol="<="),
    _row("greater", 2, "bool", "any", np.greater, symbol=">"),
    _row("greater_equal", 2, "bool", "any", np.greater_equal, symbol=">="),
    _row("equal", 2, "bool", "any", np.equal, symbol="=="),
    _row("not_equal", 2, "bool", "any", np.not_equal, symbol="!="),
    _row("logical_and", 2, "same", "bool", np.logical_and, symbol="&"),
    _row("logical_or", 2, "same", "bool", np.logical_or, symbol="|"),
    _row("logical_xor", 2, "same", "bool", np.logical_xor, symbol="^"),
    _row("logical_not", 1, "same", "bool", np.logical_not, symbol="~"),
    _row("bitwise_and", 2, "same", "integer", np.bitwise_and, symbol="&"),
    _row("bitwise_or", 2, "same", "integer", np.bitwise_or, symbol="|"),
    _row("bitwise_xor", 2, "same", "integer", np.bitwise_xor, symbol="^"),
    _row("bitwise_not", 1, "same", "integer", np.bitwise_not, symbol="~"),
    _row("shift_left", 2, "same", "integer", _shift_left, symbol="<<"),
    _row("shift_right", 2, "same", "integer", _shift_right, symbol=">>"),
    _row("select", 3, "select", "any", np.where),
    _row("cast", 1, "cast", "any", cast),
    _row("sqrt", 1, "same", "float", np.sqrt, flops=8),
    _row("floor", 1, "same", "float", np.floor),
    _row("ceil", 1, "same", "float", np.ceil),
    _row("trunc", 1, "same", "float", np.trunc),
    _row("round", 1, "same", "float", np.rint),  # half to even
    _row("fma", 3, "same", "float", fused_multiply_add),  # one operation of a processor, as a product is
    _row("isnan", 1, "bool", "float", np.isnan),
    _row("isfinite", 1, "bool", "float", np.isfinite),
    _row("copysign", 2, "same", "float", _copysign),
    _row("rsqrt", 1, "same", "float", _bounded(_reciprocal_sqrt), ulp=2, flops=4),
    _row("cbrt", 1, "same", "float", _bounded(np.cbrt), ulp=4, flops=20),
    _row("exp", 1, "same", "float", elementary_arrays.meaning("exp"), flops=15),
    _row("exp2", 1, "same", "float", elementary_arrays.meaning("exp2"), flops=15),
    _row("expm1", 1, "same", "float", _bounded(np.expm1), ulp=4, flops=18),
    _row("log", 1, "same", "float", elementary_arrays.meaning("log"), flops=18),
    _row("log2", 1, "same", "float", elementary_arrays.meaning("log2"), flops=18),
    _row("log10", 1, "same", "float", elementary_arrays.meaning("log10"), flops=18),
    _row("log1p", 1, "same", "float", _bounded(np.log1p), ulp=4, flops=20),
    _row("sin", 1, "same", "float", _bounded(np.sin), ulp=4, flops=18),
    _row("cos", 1, "same", "float", _bounded(np.cos), ulp=4, flops=18),
    _row("tan", 1, "same", "float", _bounded(np.tan), ulp=4, flops=22),
    _row("arcsin", 1, "same", "float", _bounded(np.arcsin), ulp=4, flops=22),
    _row("arccos", 1, "same", "float", _bounded(np.arccos), ulp=4, flops=22),
    _row("arctan", 1, "same", "float", _bounded(np.arctan), ulp=4, flops=22),
    _row("arctan2", 2, "same", "float", _bounded(np.arctan2), ulp=4, flops=28),
    _row("sinh", 1, "same", "float", _bounded(np.sinh), ulp=4, flops=25),
    _row("cosh", 1, "same", "float", _bounded(np.cosh), ulp=4, flops=25),
    _row("tanh", 1, "same", "float", elementary_arrays.meaning("tanh"), flops=25),
    _row("arcsinh", 1, "same", "float", _bounded(np.arcsinh), ulp=4, flops=25),
    _row("arccosh", 1, "same", "float", _bounded(np.arccosh), ulp=4, flops=25),
    _row("arctanh", 1, "same", "float", _bounded(np.arctanh), ulp=4, flops=25),
    _row("power", 2, "same", "float", _bounded(np.power), ulp=8, flops=40),
    _row("hypot", 2, "same", "float", _bounded(np.hypot), ulp=4, flops=20),
    _row("pair", 2, "pair", "any", _pair, flops=0),
    _row("first", 1, "first", "any", lambda a: np.asarray(a["first"]), flops=0),
    _row("second", 1, "second", "any", lambda a: np.asarray(a["second"]), flops=0),
)
OPERATORS: dict[str, Operator] = {row.name: row for row in _ROWS}


@dataclass(frozen=True, slots=True)
class Reduction:
    """A reduction by name: the combining operator and the identity for each kind of type."""

    name: str
    operator: str


REDUCTIONS: dict[str, Reduction] = {
    r.name: r
    for r in (
        Reduction("sum", "add"),
        Reduction("product", "multiply"),
        Reduction("min", "minimum"),
        Reduction("max", "maximum"),
        Reduction("any", "logical_or"),
        Reduction("all", "logical_and"),
    )
}


def identity(reduction: str, type_: StorageType) -> bool | int | float:
    """Return the value that changes nothing: -0.0 for float sums (0.0 would turn a sum of -0.0 into +0.0)."""
    if reduction == "any":
        return False
    if reduction == "all":
        return True
    if reduction == "sum":
        return -0.0 if type_.is_float else 0
    if reduction == "product":
        return 1.0 if type_.is_float else 1
    if type_.is_float:
        return float("inf") if reduction == "min" else float("-inf")
    info = np.iinfo(type_.numpy)
    return int(info.max if reduction == "min" else info.min)


_OF_RECORDS = frozenset(
    {
        *(
            "add",
            "subtract",
            "multiply",
            "divide",
            "negative",
            "absolute",
            "sign",
            "sqrt",
            "minimum",
            "maximum",
            "less",
            "fma",
        ),
        *("less_equal", "greater", "greater_equal", "equal", "not_equal", "isnan", "isfinite", "select", "cast"),
        *("exp", "log", "sin", "cos"),
    }
)
"""Operators that a type of several components has: those with a sequence in graph/extended*."""


PAIR_RULES = ("pair", "first", "second")
"""Rules of what makes pairs and takes them apart; all other operators take no pair."""


def result_type(operator: Operator, types: Sequence[StorageType], stated: StorageType | None) -> StorageType | None:
    """The type that the operator gives for operands of these types, None if it does not take them.

    stated: the type of a cast, which nothing else tells.
    """
    if len(types) != operator.arity:
        return None
    match operator.rule:
        case "pair":
            return pair_of(types[0], types[1])
        case "first" | "second":
            return types[0].members[operator.rule == "second"] if types[0].is_pair else None
        case "select" if types[0] != BOOL:
            return None
        case _:
            values = types[operator.rule == "select" :]
            if len(set(values)) != 1 or not accepts(operator, values[0]):
                return None
            return BOOL if operator.rule == "bool" else stated if operator.rule == "cast" else values[0]


def accepts(operator: Operator, type_: StorageType) -> bool:
    """Whether an operand of this type is legal."""
    if type_.members or operator.rule in PAIR_RULES:
        return type_.is_pair and operator.rule in ("first", "second")
    if len(type_.parts) > 1 and operator.name not in _OF_RECORDS:
        return False
    match operator.kinds:
        case "number":
            return type_.is_float or type_.is_integer
        case "any":
            return True
        case "integer":
            return type_.is_integer
        case "float":
            return type_.is_float
        case "bool":
            return type_.kind == "bool"
        case "bits":
            return type_.is_integer or type_.kind == "bool"
