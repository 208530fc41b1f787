"""What to write instead of functions of NumPy that have no meaning for traced values."""

from __future__ import annotations

import ast
import contextlib
import inspect
from collections.abc import Callable, Iterable

import numpy as np

from workbench.errors import TraceError

UFUNCS = {
    "bitwise_count": "popcount(k)",
    "divmod": "a // b and a % b",
    "ldexp": "x * np.exp2(n)",
    "logaddexp2": "np.maximum(a, b) + np.log2(1 + np.exp2(-np.abs(a - b)))",
    "modf": "x - np.trunc(x) and np.trunc(x)",
}
"""Instead of ufuncs, in cells and functions of arrays, which know np.divmod and np.modf."""
OF_ELEMENTS = {
    "choose": "np.where(k == 0, a, np.where(k == 1, b, c))",
    "isneginf": "x == -inf",
    "isposinf": "x == inf",
    "nan_to_num": "np.where(np.isnan(x), 0.0, np.clip(x, -most, most)) with the largest number that you want as most",
    "piecewise": "np.where(x < a, left, np.where(x < b, middle, right)) with the formulas of the pieces",
    "polyval": "(a * x + b) * x + c",
    "real": "x itself, as it is real",
}
"""Instead of functions that take each element for itself, in cells; functions of arrays know most of them."""
_ELSEWHERE = "the call of np.{} beside the function, with arrays of NumPy"
_UNIT = "generate((n, n), lambda i, j: where(i == j, 1.0, 0.0))"
_WITHOUT_NAN = "np.where(np.isnan(x), {}, x)"
_INSTEAD = {
    "arange": "generate(x.shape[0], lambda i: i)",
    "argpartition": "np.argsort(x)",
    "array": "np.stack((a, b)) for an array of traced numbers, or use an array as it is",
    "array_equal": "np.all(a == b)",
    "broadcast_arrays": "x[:, None] and y[None, :] in the formula, which meet any length",
    "cumulative_prod": "np.cumprod(x)",
    "cumulative_sum": "np.cumsum(x)",
    "diagflat": "np.where(generate((n, n), lambda i, j: i == j), x[:, None], 0)",
    "empty": "generate(x.shape, lambda *i: 0.0)",
    "empty_like": "np.zeros_like(x)",
    "eye": _UNIT,
    "fill": "np.full_like(x, value)",
    "fill_diagonal": "np.where(generate(x.shape, lambda i, j: i == j), value, x)",
    "flatten": "x.ravel()",
    "fromfunction": "generate(x.shape, lambda i, j: i + j)",
    "full": "generate(x.shape, lambda *i: value)",
    "geomspace": "generate(n, lambda i: first * np.exp(i * step))",
    "histogram2d": "scatter(add, generate((rows, columns), lambda i, j: 0), (row_of_each, column_of_each), 1)",
    "identity": _UNIT,
    "indices": "generate(x.shape, lambda i, j: i) for the first and generate(x.shape, lambda i, j: j) for the second",
    "item": "the value as it is",
    "ix_": "x[rows[:, None], columns[None, :]]",
    "linspace": "generate(n, lambda i: first + i * step)",
    "logspace": "generate(n, lambda i: first * np.exp(i * step))",
    "matrix_transpose": "x.T",
    "matvec": "a @ x",
    "nanargmax": f"np.argmax({_WITHOUT_NAN.format('-inf')})",
    "nanargmin": f"np.argmin({_WITHOUT_NAN.format('inf')})",
    "nancumsum": f"np.cumsum({_WITHOUT_NAN.format('0.0')})",
    "ones": "generate(x.shape, lambda *i: 1.0)",
    "put": "scatter(None, x, places, values)",
    "putmask": "np.where(condition, values, x)",
    "ravel_multi_index": "i * columns + j",
    "reduce": "a + b + c or np.maximum(np.maximum(a, b), c) of single values, np.sum(x, axis=0) or np.max of an array",
    "resize": "x.reshape(n, -1)",
    "rollaxis": "np.moveaxis(x, 2, 0)",
    "row_stack": "np.vstack((x, y))",
    "tolist": "the array; after the call it has a method tolist",
    "tri": "generate((n, n), lambda i, j: where(j <= i, 1.0, 0.0))",
    "unravel_index": "k // columns and k % columns",
    "unstack": "x[0], x[1] and so on",
    "vecdot": "np.sum(x * y, axis=-1)",
    "vecmat": "x @ a",
    "zeros": "generate(x.shape, lambda *i: 0.0)",
}
OTHERWISE = "it with operators, slices, fold, scan, scatter, generate and x[places]"


def instead_of(name: str, call: ast.Call | None = None) -> str:
    """The advice for a function of NumPy by its last name; "" if no traced value ever has to do with it.

    call: as it is written, whose shape, value and type the advice then has where it makes an array.
    """
    written = _made(name, call) if call is not None and name in _FILLED else ""
    written = written or _INSTEAD.get(name) or OF_ELEMENTS.get(name) or UFUNCS.get(name, "")
    return f"Write {written}." if written else ""


_FILLED = {"empty": 0, "full": None, "ones": 1, "zeros": 0}
"""Functions that make an array of one number, and that, if it is no argument."""
_SPELT = {
    "f64": ("float", "np.float64", "np.double", "'float64'", "'f64'"),
    "i64": ("int", "np.int64", "'int64'", "'i64'"),
    "bool": ("bool", "np.bool", "np.bool_", "'bool'"),
}
"""The types of Python's numbers as they are written; 0 and 1 in each of them."""
_NUMBERS = {"f64": ("0.0", "1.0"), "i64": ("0", "1"), "bool": ("False", "True")}


def _made(name: str, call: ast.Call) -> str:
    """The same array by `generate`, in the type that NumPy gives it; "" where its shape is not among the arguments."""
    keywords = {each.arg: each.value for each in call.keywords if each.arg is not None}
    names = ("shape", "fill_value", "dtype") if name == "full" else ("shape", "dtype")
    given: dict[str, ast.expr] = {**keywords, **dict(zip(names, call.args, strict=False))}
    if any(isinstance(each, ast.Starred) for each in call.args) or "shape" not in given:
        return ""
    dtype = _type_text(given["dtype"]) if "dtype" in given else ""
    type_ = next((type_ for type_, texts in _SPELT.items() if dtype in texts), None)
    number, cast = _FILLED[name], f".astype({dtype})" if dtype else ""
    if number is None:
        value = ast.unparse(given["fill_value"]) if "fill_value" in given else "value"
        cast = cast if type_ is None else f'.astype("{type_}")'
    else:
        value = _NUMBERS[type_ or ("i64" if dtype else "f64")][number]
        cast = cast if type_ is None else ""
    return f"generate({ast.unparse(given['shape'])}, lambda {_indices(given['shape'])}: {value}){cast}"


def _type_text(node: ast.expr) -> str:
    """A type as it is written, "" for None; of NumPy's codes, which may mean others here, the name: of 'u8' uint64."""
    text = ast.unparse(node)
    if text == "None":
        return ""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        with contextlib.suppress(TypeError):
            return repr(np.dtype(node.value).name)
    return text


def _indices(shape: ast.expr) -> str:
    """Names for the indices along the axes of a shape as it is written, of which some do not say how many they are."""
    if isinstance(shape, ast.Tuple | ast.List) and not any(isinstance(each, ast.Starred) for each in shape.elts):
        return ", ".join("ijkl"[: len(shape.elts)]) if len(shape.elts) <= 4 else "*i"
    one = isinstance(shape, ast.Constant | ast.BinOp)
    one |= isinstance(shape, ast.Subscript) and not isinstance(shape.slice, ast.Slice)
    return "i" if one else "*i"


def no_method(name: str, function: Callable[..., object] | None = None) -> TraceError:
    """The error for a method of NumPy's arrays that traced ones do not have. function: what does the same, if any."""
    written = _AS_FUNCTIONS.get(name, "")
    if function is not None and not written:
        parameters = inspect.signature(function).parameters.values()
        further = [each.name for each in parameters if each.default is each.empty][1:]
        written = f"np.{name}({', '.join(('x', *further))})"
    advice = f"Write {written}." if written else instead_of(name) or f"Write {OTHERWISE}."
    return TraceError(f"a traced array has no .{name}", advice=advice)


_AS_FUNCTIONS = {
    "clip": "np.clip(x, low, high)",
    "compress": "np.compress(condition, x)",
    "norm": "np.linalg.norm(x)",
    "round": "np.round(x)",
    "sort": "np.sort(x), which returns the sorted elements",
}
"""Functions whose operands stand in another order or have other names than their parameters say."""


def no_function(function: Callable[..., object], known: Iterable[str]) -> TraceError:
    """The error for a function of NumPy that functions of arrays do not have. known: those that they have."""
    name = getattr(function, "__name__", "")
    names = ", ".join(sorted("linalg.norm" if each == "norm" else each for each in known))
    written = f"{getattr(function, '__module__', 'numpy').replace('numpy', 'np', 1)}.{name}"
    advice = instead_of(name) or f"Write {OTHERWISE}. Known are {names}."
    if written.startswith(("np.linalg.", "np.fft.")):
        advice = instead_of(name) or f"Write {_ELSEWHERE.format(written.removeprefix('np.'))}."
    return TraceError(f"{written} has no meaning in a function of arrays", advice=advice)


RANGE = (
    "Write a formula of whole arrays, such as np.sum(x) or x[1:] - x[:-1]. For turns that need the one before write "
    "repeat(n, body, start) or while_loop(condition, body, start, at_most=...); give n in a tuple if it is known: (3,)."
)
"""Instead of a loop of Python whose number of turns is a value."""
