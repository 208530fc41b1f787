"""Language: every name that a cell may use, in one place; outside a trace the functions raise."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Sequence
from typing import Any

from workbench.frontend import operations
from workbench.frontend.arrays import array, arrays, fold, generate, output
from workbench.frontend.boundaries import analytic, constant, fixed, mirror, neumann, periodic, reflect
from workbench.frontend.branches import branch
from workbench.frontend.calculus import curl, derivative, div, grad, laplacian
from workbench.frontend.componentwise import componentwise
from workbench.frontend.compression import compress
from workbench.frontend.coordinates import cell_centre, coordinate
from workbench.frontend.declarations import extend, field, fields, kernel, param, scalar, tensor, vector
from workbench.frontend.finite_differences import coefficients
from workbench.frontend.gathers import gather
from workbench.frontend.hints import compute, delayed, manifest, named, need_local, rolling, sync
from workbench.frontend.loops import iterate, repeat
from workbench.frontend.offsets import whole_number
from workbench.frontend.operations import parse_type
from workbench.frontend.own_dimension import OwnAxes, OwnDimension
from workbench.frontend.pairs import sources, targets, total, totals
from workbench.frontend.particles import particles
from workbench.frontend.precision import compute_in
from workbench.frontend.random_numbers import random
from workbench.frontend.ranks import ranks
from workbench.frontend.records import chosen_record, is_record
from workbench.frontend.reductions import reduce_all, reduce_any, reduce_max, reduce_min, reduce_product, reduce_sum
from workbench.frontend.scans import scan
from workbench.frontend.scatters import scatter
from workbench.frontend.segments import fold_segments, scan_segments
from workbench.frontend.shapes import replicate, zip_with
from workbench.frontend.tensor_algebra import compose, contract, cross, delta, dot, einsum, outer
from workbench.frontend.tensors import components
from workbench.frontend.time_integration import courant_step, leapfrog, midpoint, ssp_rk2, ssp_rk3
from workbench.frontend.total import Total, TotalVector
from workbench.frontend.trace import current_trace
from workbench.frontend.value import Value, operand, wrap
from workbench.frontend.while_loops import while_loop
from workbench.frontend.whole_numbers import popcount, quotient, rest, rotate_left, rotate_right
from workbench.frontend.windows import windows
from workbench.frontend.word_examples import document
from workbench.graph import OPERATORS, Operator, Space

pi, e, inf, nan = math.pi, math.e, math.inf, math.nan


dim, axes = OwnDimension(), OwnAxes()


def index(axis: int | str) -> Value:
    """The cell's index along `axis`, an i64 value per cell from 0: below 0 or above size - 1 outside the domain.

    In a cell of arrays the axis is its name: index("n")."""
    trace = current_trace("index")
    axis = trace.need_axis(axis, trace.text_here("index"))
    own = trace.space.axes[axis]
    space, number = (trace.grid, axis) if own in trace.grid.axes else (Space((own,)), 0)
    return Value(trace.emit(lambda pool: pool.index(number, space)))


def size(axis: int | str) -> Value:
    """The number of cells along `axis`, one i64 number for the grid; in a cell of arrays by axis name: size("n")."""
    trace = current_trace("size")
    axis = trace.need_axis(axis, trace.text_here("size"))
    number = trace.axis_names.index(trace.space.axes[axis].name) if trace.names_axes else axis
    return Value(trace.emit(lambda pool: pool.size(number)))


@componentwise
def shift(value: object, vector: Sequence[int]) -> Value:
    """Shift a value by a vector of whole cells, as the Orthotope Machine does: result[i] = value[i - vector]."""
    trace = current_trace("shift")
    term = need_local(value, "shift")
    text = trace.text_here("shift")
    parts = tuple(vector) if isinstance(vector, tuple | list) else (vector,)
    offsets = tuple(whole_number(v, f"{text}: a component") for v in parts)
    trace.need_offsets(len(offsets), text)
    return Value(trace.emit(lambda pool: pool.shift(term.index, offsets)))


@componentwise
def where(condition: object, yes: object, no: object) -> Any:  # noqa: ANN401  # a value, or a record of them
    """`yes` in the cells where the condition holds, `no` in the others; both are computed. Tuples by components."""
    current_trace("where")
    if is_record(yes) and is_record(no):
        return chosen_record(operand(condition), yes, no)
    return wrap(operations.where(operand(condition), operand(yes), operand(no)))


@componentwise
def astype(value: object, dtype: object) -> Value:
    """Cast: float to integer truncates and saturates, integers wrap, anything to bool is `!= 0`."""
    current_trace("astype")
    return wrap(operations.astype(operand(value), parse_type(dtype)))


@componentwise
def dd(value: object) -> Value:
    """A value of type dd, two f64 with 106 bits together: dd("0.1") is exact to 31 digits, dd(x) casts x."""
    current_trace("dd")
    return wrap(operations.double_double(value if isinstance(value, str) else operand(value)))


@componentwise
def minimum(a: object, b: object, *more: object) -> Value:
    """The smallest, cell by cell: a if a < b or a is NaN, else b; further values from left to right."""
    return _fold("minimum", a, b, *more)


@componentwise
def maximum(a: object, b: object, *more: object) -> Value:
    """The largest, cell by cell: a if a > b or a is NaN, else b; further values from left to right."""
    return _fold("maximum", a, b, *more)


def _fold(name: str, *values: object) -> Value:
    current_trace(name)
    result = operand(values[0])
    for value in values[1:]:
        result = operations.apply(name, result, operand(value))
    return wrap(result)


@componentwise
def power(a: object, b: object) -> Value:
    """a**b."""
    current_trace("power")
    return wrap(operations.power(operand(a), operand(b)))


def fma(a: object, b: object, c: object) -> Any:  # noqa: ANN401  # a value, or the total
    """a * b + c rounded once (fusedMultiplyAdd of IEEE 754); of dd the product and the sum, one after the other.

    For a total: t = fma(a, b, t) rounds the product together with the sum so far."""
    if isinstance(c, Total | TotalVector):
        return c.include_product(a, b)
    return _fused(a, b, c)


@componentwise
def _fused(a: object, b: object, c: object) -> Value:
    current_trace("fma")
    return wrap(operations.apply("fma", operand(a), operand(b), operand(c)))


def _unary(name: str, meaning: str) -> Callable[[object], Value]:
    def function(x: object) -> Value:
        current_trace(name)
        return wrap(operations.apply(name, operand(x)))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = meaning
    return componentwise(function)


def _binary(name: str, meaning: str) -> Callable[[object, object], Value]:
    def function(a: object, b: object) -> Value:
        current_trace(name)
        return wrap(operations.apply(name, operand(a), operand(b)))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = meaning
    return componentwise(function)


add = _binary("add", "The sum a + b, by its name for folds: fold(add, xs).")
multiply = _binary("multiply", "The product a * b, by its name for folds: fold(multiply, xs).")
sqrt = _unary("sqrt", "Square root, correctly rounded.")
rsqrt = _unary("rsqrt", "1 / sqrt(x) within 2 units in the last place, several times faster.")
cbrt = _unary("cbrt", "Cube root.")
exp = _unary("exp", "e to the power x.")
exp2 = _unary("exp2", "2 to the power x.")
expm1 = _unary("expm1", "exp(x) - 1, accurate near 0.")
log = _unary("log", "Natural logarithm.")
log2 = _unary("log2", "Logarithm to base 2.")
log10 = _unary("log10", "Logarithm to base 10.")
log1p = _unary("log1p", "log(1 + x), accurate near 0.")
sin = _unary("sin", "Sine, x in radians.")
cos = _unary("cos", "Cosine, x in radians.")
tan = _unary("tan", "Tangent, x in radians.")
arcsin = _unary("arcsin", "Inverse sine in radians.")
arccos = _unary("arccos", "Inverse cosine in radians.")
arctan = _unary("arctan", "Inverse tangent in radians.")
arctan2 = _binary("arctan2", "Angle of the point (b, a) in radians.")
sinh = _unary("sinh", "Hyperbolic sine.")
cosh = _unary("cosh", "Hyperbolic cosine.")
tanh = _unary("tanh", "Hyperbolic tangent.")
arcsinh = _unary("arcsinh", "Inverse hyperbolic sine.")
arccosh = _unary("arccosh", "Inverse hyperbolic cosine.")
arctanh = _unary("arctanh", "Inverse hyperbolic tangent.")
hypot = _binary("hypot", "sqrt(a*a + b*b) without overflow between.")
copysign = _binary("copysign", "|a| with the sign of b.")
absolute = _unary("absolute", "Magnitude.")
sign = _unary("sign", "-1, 0 or 1; 0 for NaN.")
floor = _unary("floor", "Largest whole number not above x.")
ceil = _unary("ceil", "Smallest whole number not below x.")
trunc = _unary("trunc", "x without its fraction.")
isnan = _unary("isnan", "Whether x is NaN, a condition.")
isfinite = _unary("isfinite", "Whether x is neither infinite nor NaN, a condition.")


__all__ = [
    "absolute",
    "add",
    "analytic",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "array",
    "arrays",
    "astype",
    "axes",
    "branch",
    "cbrt",
    "ceil",
    "cell_centre",
    "coefficients",
    "components",
    "compose",
    "compress",
    "compute",
    "compute_in",
    "constant",
    "contract",
    "coordinate",
    "copysign",
    "cos",
    "cosh",
    "courant_step",
    "cross",
    "curl",
    "dd",
    "delayed",
    "delta",
    "derivative",
    "dim",
    "div",
    "dot",
    "e",
    "einsum",
    "exp",
    "exp2",
    "expm1",
    "extend",
    "field",
    "fields",
    "fixed",
    "floor",
    "fma",
    "fold",
    "fold_segments",
    "gather",
    "generate",
    "grad",
    "hypot",
    "index",
    "inf",
    "isfinite",
    "isnan",
    "iterate",
    "kernel",
    "laplacian",
    "leapfrog",
    "log",
    "log1p",
    "log2",
    "log10",
    "manifest",
    "maximum",
    "midpoint",
    "minimum",
    "mirror",
    "multiply",
    "named",
    "nan",
    "neumann",
    "outer",
    "output",
    "param",
    "particles",
    "periodic",
    "pi",
    "popcount",
    "power",
    "quotient",
    "random",
    "ranks",
    "reduce_all",
    "reduce_any",
    "reduce_max",
    "reduce_min",
    "reduce_product",
    "reduce_sum",
    "reflect",
    "repeat",
    "replicate",
    "rest",
    "rolling",
    "rotate_left",
    "rotate_right",
    "rsqrt",
    "scalar",
    "scan",
    "scan_segments",
    "scatter",
    "shift",
    "sign",
    "sin",
    "sinh",
    "size",
    "sources",
    "sqrt",
    "ssp_rk2",
    "ssp_rk3",
    "sync",
    "tan",
    "tanh",
    "targets",
    "tensor",
    "total",
    "totals",
    "trunc",
    "vector",
    "where",
    "while_loop",
    "windows",
    "zip_with",
]  # fmt: skip


def further_functions(rows: Iterable[Operator], known: Container[str]) -> dict[str, Callable[..., Value]]:
    """A function for each row that has no sign and no function above, so that a new operator is one row in its table.

    `round` is left to the builtin, which asks the value.
    """
    named = [
        r for r in rows if r.rule in ("same", "bool") and not r.symbol and r.name not in known and r.name != "round"
    ]
    return {r.name: (_unary if r.arity == 1 else _binary)(r.name, f"The operator {r.name}.") for r in named}


_FURTHER = further_functions(OPERATORS.values(), __all__)
globals().update(_FURTHER)
__all__ += sorted(_FURTHER)
document(globals())


def vocabulary(dimension: int) -> dict[str, object]:
    """The names of a cell with `dim` and `axes` as plain numbers."""
    names = {name: globals()[name] for name in __all__}
    return {**names, "dim": dimension, "axes": tuple(range(dimension))}
