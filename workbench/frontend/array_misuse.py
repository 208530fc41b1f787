"""What to write in a function of arrays instead of NumPy's functions that it does not have."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.errors import TraceError

_PLACES = "compress(generate(x.shape, lambda i: i), x != 0)"
_INSTEAD = {
    "arange": "generate(x.shape[0], lambda i: i)",
    "argsort": "ranks(keys, bits) of whole numbers, which says where each element goes",
    "argwhere": _PLACES,
    "array": "np.stack((a, b)) for an array of traced numbers, or use an array as it is",
    "convolve": "windows(lambda w: w[-1] + w[0] + w[+1], x, boundary=...)",
    "cross": "the three components: x[:, 1] * y[:, 2] - x[:, 2] * y[:, 1], and so on",
    "diag": "x[i, i] with i = generate(x.shape[0], lambda i: i)",
    "diagonal": "x[i, i] with i = generate(x.shape[0], lambda i: i)",
    "empty": "generate(x.shape, lambda i: 0.0)",
    "eye": "generate((n, n), lambda i, j: i == j)",
    "flatnonzero": _PLACES,
    "flatten": "x.ravel()",
    "full": "generate(x.shape, lambda i: 1.0)",
    "histogram": "np.bincount(bin_of_each, minlength=bins)",
    "insert": "np.concatenate((x[:1], y, x[1:]))",
    "linspace": "generate(n, lambda i: first + i * step)",
    "median": "the call of np.median beside the function, with arrays of NumPy",
    "nonzero": _PLACES,
    "ones": "generate(x.shape, lambda i: 1.0)",
    "reduce": "a + b + c or np.maximum(np.maximum(a, b), c) of single values, np.sum(x, axis=0) or np.max of an array",
    "repeat": "replicate(x, n, axis).reshape(-1)",
    "searchsorted": "np.sum(edges[None, :] <= x[:, None], axis=1)",
    "sort": "scatter(None, x, ranks(keys, bits), x) for each few bits of whole keys, as workbench.programs.radix_sort",
    "take_along_axis": "x[rows, places] with rows = generate(places.shape, lambda i, j: i)",
    "tensordot": "np.einsum",
    "tile": "replicate(x, n, 0).reshape(-1)",
    "tolist": "the array; after the call it has a method tolist",
    "trace": "np.sum(np.where(generate(x.shape, lambda i, j: i == j), x, 0))",
    "unique": "compress(x, np.append(x[:1] == x[:1], x[1:] != x[:-1])) of sorted elements",
    "zeros": "generate(x.shape, lambda i: 0.0)",
}
_OTHERWISE = "it with operators, slices, fold, scan, scatter, generate and x[places]"


def instead_of(name: str) -> str:
    """The advice for a function of NumPy by its last name; "" if no traced value ever has to do with it."""
    return f"Write {_INSTEAD[name]}." if name in _INSTEAD else ""


def no_method(name: str) -> TraceError:
    """The error for a method of NumPy's arrays that traced ones do not have."""
    advice = instead_of(name) or f"Write {_OTHERWISE}."
    return TraceError(f"a traced array has no .{name}", advice=advice)


def no_function(name: str, known: Iterable[str]) -> TraceError:
    """The error for a function of NumPy that functions of arrays do not have. known: those that they have."""
    advice = instead_of(name) or f"Write {_OTHERWISE}. Known are {', '.join(sorted(known))}."
    return TraceError(f"np.{name} has no meaning in a function of arrays", advice=advice)


RANGE = "Write repeat(n, body, start) or while_loop(condition, body, start, at_most=...), or give n in a tuple: (3,)."
"""Instead of a loop of Python whose number of turns is a value."""
