"""NumPy's functions of arrays that are a line of others: np.nanmean, np.isclose, np.trace and their kin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.errors import TraceError
from workbench.frontend.arrays import generate
from workbench.frontend.value import term_of


def _extreme_without_nan(name: str, none: float) -> Callable[..., Any]:
    """np.nanmax or np.nanmin: NaN where there is no number. none: what NaN counts as."""

    def function(a: Any, axis: object = None, *, keepdims: bool = False) -> Any:  # noqa: ANN401  # an array value
        if not term_of(a).type.is_float:
            return getattr(a, name)(axis, keepdims=keepdims)
        found = getattr(np.where(np.isnan(a), none, a), name)(axis, keepdims=keepdims)
        return np.where(np.isnan(a).all(axis, keepdims=keepdims), np.nan, found)

    return function


def _mean_without_nan(a: Any, axis: object = None, *, keepdims: bool = False) -> Any:  # noqa: ANN401  # an array value
    if not term_of(a).type.is_float:
        return a.mean(axis, keepdims=keepdims)
    is_number = ~np.isnan(a)
    numbers: Any = np.where(is_number, a, 0.0)
    return numbers.sum(axis, keepdims=keepdims) / is_number.sum(axis, keepdims=keepdims).astype(term_of(a).type.name)


def _product_without_nan(a: Any, axis: object = None, *, keepdims: bool = False) -> Any:  # noqa: ANN401
    given: Any = np.where(np.isnan(a), 1.0, a) if term_of(a).type.is_float else a
    return given.prod(axis, keepdims=keepdims)


def _close(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:  # noqa: ANN401
    found = (a == b) | (np.isfinite(b) & (np.abs(a - b) <= atol + rtol * np.abs(b)))
    return found | (np.isnan(a) & np.isnan(b)) if equal_nan else found


def _all_close(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:  # noqa: ANN401
    return _close(a, b, rtol, atol, equal_nan).all()


def _diagonal(a: Any, offset: int = 0) -> Any:  # noqa: ANN401  # an array value
    """The elements x[i, i + offset] of a matrix."""
    if a.ndim != 2 or isinstance(offset, bool) or not isinstance(offset, int):
        raise TraceError(
            f"the diagonal {offset!r} of a value of {a.ndim} axes",
            advice="Give a matrix and a whole number known while the function is traced.",
        )
    below, beside = max(-offset, 0), max(offset, 0)
    rows, columns = a.shape
    places: Any = generate(np.minimum(rows - below, columns - beside), lambda i: i)
    return a[places + below, places + beside]


def _diag(v: Any, k: int = 0) -> Any:  # noqa: ANN401  # an array value
    if v.ndim != 1 or k != 0:
        return _diagonal(v, k)
    n = v.shape[0]
    is_on: Any = generate((n, n), lambda i, j: i == j)
    return np.where(is_on, v, False if term_of(v).type.kind == "bool" else 0)


def _trace(a: Any, offset: int = 0) -> Any:  # noqa: ANN401  # an array value
    return _diagonal(a, offset).sum()


def _turned(m: Any, k: int = 1) -> Any:  # noqa: ANN401  # an array value
    """np.rot90 in the plane of the first two axes."""
    if m.ndim < 2 or isinstance(k, bool) or not isinstance(k, int):
        raise TraceError(f"np.rot90 of a value of {m.ndim} axes by {k!r}", advice="Give a matrix and a whole number.")
    turned = m if k % 2 == 0 else np.swapaxes(m, 0, 1)
    match k % 4:
        case 0:
            return m
        case 1:
            return turned[::-1]
        case 2:
            return turned[::-1, ::-1]
        case _:
            return turned[:, ::-1]


def _sinc(x: Any) -> Any:  # noqa: ANN401  # an array value
    turns = np.pi * np.where(x == 0, 1e-20, x)
    return np.sin(turns) / turns


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "nanmax": _extreme_without_nan("max", -np.inf),
    "nanmin": _extreme_without_nan("min", np.inf),
    "nanmean": _mean_without_nan,
    "nanprod": _product_without_nan,
    "isclose": _close,
    "allclose": _all_close,
    "diagonal": _diagonal,
    "diag": _diag,
    "trace": _trace,
    "rot90": _turned,
    "flipud": lambda m: m[::-1],
    "fliplr": lambda m: m[:, ::-1],
    "fix": lambda x: np.trunc(x),
    "sinc": _sinc,
}
