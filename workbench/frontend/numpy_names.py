"""NumPy names: which NumPy functions mean an operator or a reduction when they meet a traced value."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from workbench.errors import TraceError
from workbench.frontend.array_misuse import OF_ELEMENTS
from workbench.frontend.array_misuse import UFUNCS as INSTEAD_OF_UFUNCS
from workbench.frontend.attribute_misuse import instead_in_cells
from workbench.frontend.elements import is_array
from workbench.frontend.named_axes import matrix_product, of_arrays
from workbench.frontend.operations import apply, bits, power, reduce_value, where
from workbench.frontend.promotion import cast_term
from workbench.frontend.trace import Operand, Term, is_tracing, text_here
from workbench.graph import OPERATORS
from workbench.graph.types import BOOL, F64

# The table's names are NumPy's, so a new row is known here by itself.
_SAME = tuple(row.name for row in OPERATORS.values() if row.rule in ("same", "bool"))


def _holds(given: Operand) -> Operand:
    """A condition; of a number whether it is not 0, as np.logical_and takes it."""
    if isinstance(given, Term):
        return given if given.type == BOOL else apply("not_equal", given, 0)
    return bool(given)


def _as_float(given: Operand) -> Operand:
    if isinstance(given, Term):
        return cast_term(given, F64) if given.type.is_integer else given
    return float(given)


def _is_infinite(given: Operand) -> Operand:
    if isinstance(given, Term) and not given.type.is_float:
        return apply("not_equal", given, given)
    return apply("equal", apply("absolute", given), math.inf)


def _extreme_number(name: str) -> Callable[..., Operand]:
    """np.fmax or np.fmin: of NaN and a number the number."""

    def function(a: Operand, b: Operand) -> Operand:
        other = where(apply("not_equal", b, b), a, apply(name, a, b))
        return where(apply("not_equal", a, a), b, other)

    return function


def _remainder_to_zero(a: Operand, b: Operand) -> Operand:
    """np.fmod, of the sign of a; the remainder of sizes is exact."""
    a, b = _as_float(a), _as_float(b)
    return apply("copysign", apply("remainder", apply("absolute", a), apply("absolute", b)), a)


def _step_at_zero(x: Operand, at_zero: Operand) -> Operand:
    """np.heaviside."""
    x = _as_float(x)
    above = where(apply("greater", x, 0.0), 1.0, x)
    return where(apply("equal", x, 0.0), _as_float(at_zero), where(apply("less", x, 0.0), 0.0, above))


def _log_of_sum(a: Operand, b: Operand) -> Operand:
    """np.logaddexp: log(exp(a) + exp(b)), where the exponentials may be infinite."""
    a, b = _as_float(a), _as_float(b)
    distance = apply("subtract", a, b)
    size = apply("absolute", distance)
    more = apply("log1p", apply("exp", apply("negative", size)))
    found = where(apply("not_equal", distance, distance), distance, apply("add", apply("maximum", a, b), more))
    return where(apply("equal", a, b), apply("add", a, math.log(2)), found)


UFUNCS: dict[str, Callable[..., Operand]] = {
    **{name: (lambda *operands, _name=name: apply(_name, *operands)) for name in _SAME},
    "true_divide": lambda a, b: apply("divide", a, b),
    "mod": lambda a, b: apply("remainder", a, b),
    "fabs": lambda a: apply("absolute", a),
    "rint": lambda a: apply("round", a),
    "positive": lambda a: a,
    "logical_and": lambda a, b: apply("logical_and", _holds(a), _holds(b)),
    "logical_or": lambda a, b: apply("logical_or", _holds(a), _holds(b)),
    "logical_xor": lambda a, b: apply("logical_xor", _holds(a), _holds(b)),
    "logical_not": lambda a: apply("logical_not", _holds(a)),
    "power": power,
    "float_power": lambda a, b: power(_as_float(a), b),
    "square": lambda a: power(a, 2),
    "reciprocal": lambda a: apply("divide", 1, a),
    "bitwise_and": lambda a, b: bits("logical_and", "bitwise_and", a, b),
    "bitwise_or": lambda a, b: bits("logical_or", "bitwise_or", a, b),
    "bitwise_xor": lambda a, b: bits("logical_xor", "bitwise_xor", a, b),
    "invert": lambda a: bits("logical_not", "bitwise_not", a),
    "isinf": _is_infinite,
    "signbit": lambda a: apply("less", apply("copysign", 1.0, _as_float(a)), 0.0),
    "fmax": _extreme_number("maximum"),
    "fmin": _extreme_number("minimum"),
    **dict.fromkeys(("degrees", "rad2deg"), lambda a: apply("multiply", _as_float(a), 180 / math.pi)),
    **dict.fromkeys(("radians", "deg2rad"), lambda a: apply("multiply", _as_float(a), math.pi / 180)),
    "fmod": _remainder_to_zero,
    "heaviside": _step_at_zero,
    "logaddexp": _log_of_sum,
    "conjugate": lambda a: a,
    "left_shift": lambda a, b: apply("shift_left", a, b),
    "right_shift": lambda a, b: apply("shift_right", a, b),
}

_REDUCTIONS = {
    "sum": "sum",
    "prod": "product",
    "min": "min",
    "amin": "min",
    "max": "max",
    "amax": "max",
    "any": "any",
    "all": "all",
}
OF_EACH_CELL = {*_REDUCTIONS, "where", "clip", "round"}
"""NumPy's functions that are no ufuncs and have a meaning for values of cells and of elements."""
_INSTEAD = {
    "around": "Write np.round(u).",
    "fix": "Write np.trunc(u).",
    "isclose": "Write (a == b) | (np.isfinite(b) & (np.abs(a - b) <= 1e-8 + 1e-5 * np.abs(b))).",
    "sinc": "Write np.where(u == 0, 1.0, np.sin(pi * u) / (pi * u)).",
    "roll": "Write u[-1] for the value of the cell before.",
    "mean": "Write reduce_sum(u) / size(0), with one size per axis.",
    "gradient": "Write (u[+1] - u[-1]) / (2 * dx).",
    "diff": "Write u[+1] - u.",
    "zeros_like": "Write the number 0.0; it is the same in every cell.",
    "ones_like": "Write the number 1.0; it is the same in every cell.",
    "array": "Use the value as it is.",
}


_OF_TENSORS = {
    "dot": "Write dot(a, b).",
    "inner": "Write dot(a, b).",
    "vdot": "Write dot(a, b).",
    "matmul": "Write dot(a, b) or einsum.",
    "outer": "Write outer(a, b).",
    "einsum": "Write einsum without np.",
    "trace": "Write contract(T).",
    "transpose": "Write compose(lambda a, b: T[b, a]).",
    "norm": "Write np.sqrt(dot(v, v)).",
}


_JOINED = {
    "sum": "v[0] + v[1] + ...",
    "product": "v[0] * v[1] * ...",
    "min": "minimum(v[0], v[1])",
    "max": "maximum(v[0], v[1])",
    "any": "v[0] | v[1] | ...",
    "all": "v[0] & v[1] & ...",
}


def need_meaning(name: str, method: str, extra: Sequence[str], kind: str) -> None:
    """Refuse np.<name> of a tensor, traced or not, unless it means the same for each component as for a value.

    method: of a ufunc, else empty. extra: the keywords given. kind: what it is, as "the vector v". A reduction is
    refused: NumPy's takes the components too, those of the language each component for itself.
    """
    if not method and name in _REDUCTIONS:
        each = f"reduce_{_REDUCTIONS[name]}(v)" if is_tracing() else f"v.map(np.{name})"
        raise TraceError(
            f"{text_here('this value')}: np.{name} of {kind} may mean its components, or all cells or pairs",
            advice=f"Write {_JOINED[_REDUCTIONS[name]]} for its components, {each} for all cells or pairs of each one.",
        )
    known = method == "__call__" and name in UFUNCS if method else name in OF_EACH_CELL
    if not known:
        shown = name if method in ("", "__call__") else f"{name}.{method}"
        advice = _OF_TENSORS.get(name, "Write the formula with compose(lambda a: ...), or use the components v[0], ...")
        raise TraceError(f"np.{shown} has no meaning for tensors", advice=advice)
    if extra:
        raise TraceError(f"np.{name}: {', '.join(extra)}= has no meaning for tensors", advice="Leave it out.")


def call_ufunc(name: str, method: str, operands: Sequence[Operand], extra: Sequence[str]) -> Operand:
    """What np.<name>(*operands) means. `extra` are the keywords given, none of which has a meaning here."""
    if method != "__call__":
        raise TraceError(f"np.{name}.{method} has no meaning in a cell", advice="Use reduce_sum, reduce_max and so on.")
    if name == "matmul" and not extra:
        return matrix_product(*operands)
    function = UFUNCS.get(name)
    if function is None:
        of_arrays = any(isinstance(each, Term) and each.trace.positions is not None for each in operands)
        known = ", ".join(sorted(f"np.{each}" for each in UFUNCS if hasattr(np, each)))
        raise TraceError(
            f"np.{name} has no meaning in a {'function of arrays' if of_arrays else 'cell'}",
            advice=f"Write {INSTEAD_OF_UFUNCS[name]}." if name in INSTEAD_OF_UFUNCS else f"Use one of {known}.",
        )
    if extra:
        raise TraceError(f"np.{name}: {', '.join(extra)}= has no meaning in a cell", advice="Leave it out.")
    return function(*operands)


def _no_meaning(name: str, operands: Sequence[Operand]) -> TraceError:
    advice = f"Write {OF_ELEMENTS[name]}." if name in OF_ELEMENTS else "Write the formula for one cell."
    advice = _INSTEAD.get(name, advice)
    if any(isinstance(each, Term) and is_array(each.space) for each in operands):
        advice = instead_in_cells(name)
    return TraceError(f"np.{name} has no meaning in a cell", advice=advice)


def call_function(name: str, operands: Sequence[Operand], extra: Sequence[str], axis: object = None) -> Operand:
    """What np.<name>(*operands, axis=axis) means for functions that are no ufuncs."""
    found = None if extra else of_arrays(name, operands, axis)
    if found is not None:
        return found
    if name not in OF_EACH_CELL:
        raise _no_meaning(name, operands)
    if axis is not None and name not in _REDUCTIONS:
        extra = ["axis", *extra]
    if extra:
        raise TraceError(f"np.{name}: {', '.join(extra)}= has no meaning in a cell", advice="Leave it out.")
    match name, len(operands):
        case "where", 3:
            return where(*operands)
        case "clip", 3:
            return apply("minimum", apply("maximum", operands[0], operands[1]), operands[2])
        case "round", 1:
            return apply("round", operands[0])
        case "round", _:
            raise TraceError("np.round to decimals has no meaning in a cell", advice="Write round(u * 100) / 100.")
        case (("where" | "clip"), count):
            raise TraceError(f"np.{name} takes 3 operands here, not {count}", advice=f"Write np.{name}(a, b, c).")
        case _, 1:
            return reduce_value(_REDUCTIONS[name], operands[0], axis)
        case _:
            raise TraceError(f"np.{name} of a traced value takes one value", advice=f"Write np.{name}(u, axis=0).")
