"""NumPy's functions that multiply arrays: np.tensordot, np.kron, np.cross, np.cov, np.polyval and their kin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from workbench.errors import TraceError
from workbench.frontend.axis_table import Origin
from workbench.frontend.positions import FunctionPositions, order_of
from workbench.frontend.trace import current_trace
from workbench.frontend.value import operand, term_of, wrap

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def as_array(value: object) -> Any:  # noqa: ANN401  # an array value, as below
    """A value of the program: what is traced itself, an array of NumPy or a list as one that the function holds."""
    return wrap(operand(value))


def _text(name: str) -> str:
    return current_trace(f"np.{name}").text_here(f"np.{name}")


def _tensordot(a: Any, b: Any, axes: Any = 2) -> Any:  # noqa: ANN401
    """The sum of products over the last axes of a and the first ones of b, or over pairs of axes that are named."""
    a, b = as_array(a), as_array(b)
    if isinstance(axes, int) and not isinstance(axes, bool):
        of_a, of_b = tuple(range(a.ndim - axes, a.ndim)), tuple(range(axes))
    else:
        of_a, of_b = (tuple(each) if isinstance(each, tuple | list) else (each,) for each in axes)
    of_a, of_b = tuple(k % a.ndim for k in of_a), tuple(k % b.ndim for k in of_b)
    if len(of_a) != len(of_b):
        raise TraceError(
            f"{_text('tensordot')}: {len(of_a)} axes of one array meet {len(of_b)} of the other",
            advice="Name as many of both: axes=([1], [0]).",
        )
    letters = iter(_LETTERS)
    first = [next(letters) for _ in range(a.ndim)]
    second = [next(letters) for _ in range(b.ndim)]
    for mine, other in zip(of_a, of_b, strict=True):
        second[other] = first[mine]
    kept = [each for k, each in enumerate(first) if k not in of_a] + [e for k, e in enumerate(second) if k not in of_b]
    return np.einsum(f"{''.join(first)},{''.join(second)}->{''.join(kept)}", a, b)


def _kron(a: Any, b: Any) -> Any:  # noqa: ANN401
    a, b = as_array(a), as_array(b)
    if a.ndim != b.ndim or a.ndim not in (1, 2):
        raise TraceError(f"{_text('kron')}: arrays of {a.ndim} and {b.ndim} axes", advice="Give two of 1 or 2 axes.")
    if a.ndim == 1:
        return (a[:, None] * b[None, :]).reshape(-1)
    (rows, columns), (height, width) = a.shape, b.shape
    return (a[:, None, :, None] * b[None, :, None, :]).reshape(rows * height, columns * width)


def _components(name: str, value: Any, axis: int) -> list[Any]:  # noqa: ANN401
    """The three components of vectors; a call checks that there are three."""
    term = term_of(value)
    positions, place = term.trace.positions, axis % value.ndim
    assert isinstance(positions, FunctionPositions)
    own, three = order_of(term)[place], positions.table.length(Origin("", 3))
    if own is None:
        raise TraceError(f"{_text(name)}: vectors of one component", advice="Give vectors of three.")
    if positions.table.length_of(own) != three:
        positions.join(positions.table.length_of(own), three, f"np.{name}")
    return [value[(*[slice(None)] * place, k)] for k in range(3)]


def _cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Any:  # noqa: ANN401
    """The product of vectors of three components."""
    axisa, axisb, axisc = (axisa, axisb, axisc) if axis is None else (axis, axis, axis)
    x, y, z = _components("cross", as_array(a), axisa)
    p, q, r = _components("cross", as_array(b), axisb)
    return np.stack([y * r - z * q, z * p - x * r, x * q - y * p], axisc)


def _matrix_power(a: Any, n: int) -> Any:  # noqa: ANN401
    """The n-th power by squares, in NumPy's order."""
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise TraceError(f"{_text('matrix_power')}: the power {n!r}", advice="Give a known whole number from 1.")
    if n == 3:  # as NumPy
        return (a @ a) @ a
    power, found = None, None
    while n:
        power = a if power is None else power @ power
        n, bit = divmod(n, 2)
        if bit:
            found = power if found is None else found @ power
    return found


def _multi_dot(arrays: Sequence[Any]) -> Any:  # noqa: ANN401
    """The product from the left: which order takes fewest operations depends on lengths, known at the call."""
    found = as_array(arrays[0])
    for each in arrays[1:]:
        found = found @ as_array(each)
    return found


def _correlated(a: Any, v: Any, mode: Any = "valid") -> Any:  # noqa: ANN401
    """The sum of a[i + j] v[j] over j."""
    return np.convolve(as_array(a), as_array(v)[::-1], mode)


def _polynomial(p: Any, x: Any) -> Any:  # noqa: ANN401
    """The polynomial with these coefficients, that of the highest power first."""
    if not isinstance(p, list | tuple | np.ndarray) or np.ndim(np.asarray(p, object)) != 1:
        raise TraceError(
            f"{_text('polyval')}: how many coefficients there are is known at the call",
            advice="Give a list of numbers: np.polyval([a, b, c], x).",
        )
    found: Any = 0 * x
    for each in p:
        found = found * x + each
    return found


def _vandermonde(x: Any, N: int | None = None, increasing: bool = False) -> Any:  # noqa: ANN401, N803  # NumPy's name
    if isinstance(N, bool) or not isinstance(N, int) or N < 1:
        raise TraceError(f"{_text('vander')}: {N!r} columns", advice="Give a known whole number: np.vander(x, 3).")
    x = as_array(x)
    powers = [np.ones_like(x)]
    for _ in range(N - 1):
        powers.append(powers[-1] * x)
    return np.stack(powers if increasing else powers[::-1], 1)


def _covariance(
    m: Any,  # noqa: ANN401  # an array value, as below
    y: Any = None,  # noqa: ANN401
    rowvar: bool = True,
    bias: bool = False,
    ddof: float | None = None,
) -> Any:  # noqa: ANN401
    """Of the variables that rows are, or columns; of one variable its variance."""
    x = as_array(m)
    if x.ndim == 2 and not rowvar:
        x = x.T
    if y is not None:
        other = as_array(y)
        other = other[None] if other.ndim == 1 else other if rowvar else other.T
        x = np.concatenate((x[None] if x.ndim == 1 else x, other))
    if x.ndim not in (1, 2):
        raise TraceError(f"{_text('cov')}: a value of {x.ndim} axes", advice="Give variables as rows, or one.")
    away = x - x.mean(-1, keepdims=True)
    count = x.shape[-1] - (ddof if ddof is not None else 0 if bias else 1)
    return ((away * away).sum() if x.ndim == 1 else away @ away.T) / count


def _correlation(x: Any, y: Any = None, rowvar: bool = True) -> Any:  # noqa: ANN401
    found = _covariance(x, y, rowvar)
    if found.ndim == 0:
        return found / found
    spread = np.sqrt(np.diagonal(found))
    return np.clip(found / spread[:, None] / spread[None, :], -1, 1)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "tensordot": _tensordot,
    "kron": _kron,
    "cross": _cross,
    "matrix_power": _matrix_power,
    "multi_dot": _multi_dot,
    "correlate": _correlated,
    "polyval": _polynomial,
    "vander": _vandermonde,
    "cov": _covariance,
    "corrcoef": _correlation,
}
