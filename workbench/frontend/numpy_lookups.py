"""NumPy's functions that read an array at computed places: np.searchsorted, np.interp, np.convolve, np.tile and kin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.errors import TraceError
from workbench.frontend.arrays import generate
from workbench.frontend.numpy_products import as_array
from workbench.frontend.scatters import scatter
from workbench.frontend.shapes import replicate
from workbench.frontend.trace import current_trace
from workbench.frontend.while_loops import while_loop

_MOST_HALVES = 64
"""Of an array; each turn of a search leaves half of it."""


def _searched(a: Any, v: Any, side: str = "left") -> Any:  # noqa: ANN401  # an array value, as below
    """np.searchsorted: for each number of v the place before, or after, equal ones of a, which ascends; NaN is largest.

    All numbers of v are sought together, by halves, in as many turns as a has binary digits of its length.
    """
    text = current_trace("np.searchsorted").text_here("np.searchsorted")
    a, v = as_array(a), as_array(v)
    if side not in ("left", "right"):
        raise TraceError(
            f'{text}: side={side!r} is neither "left" nor "right"', advice='Leave it out, or write "right".'
        )
    if a.ndim != 1:
        raise TraceError(f"{text}: the first array has {a.ndim} axes", advice="Give one axis, in ascending order.")
    n = a.shape[0]
    last = np.maximum(n - 1, 0)
    low, high = _in_each_place_of(v, 0), _in_each_place_of(v, n)

    def halved(low: Any, high: Any) -> Any:  # noqa: ANN401
        middle = (low + high) // 2
        seen = a[np.minimum(middle, last)]
        beyond = comes_before(seen, v) if side == "left" else ~comes_before(v, seen)
        goes_on = low < high
        return np.where(goes_on & beyond, middle + 1, low), np.where(goes_on & ~beyond, middle, high)

    found, _ = while_loop(lambda low, high: np.any(low < high), halved, (low, high), at_most=_MOST_HALVES)
    return found


def comes_before(a: Any, b: Any) -> Any:  # noqa: ANN401
    """Whether a comes before b in ascending order: NaN after all numbers."""
    return (a < b) | ((b != b) & (a == a))


def _in_each_place_of(v: Any, value: Any) -> Any:  # noqa: ANN401
    """A whole number in each place of an array."""
    return np.where(v == v, value, value)


def _interpolated(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None) -> Any:  # noqa: ANN401
    """np.interp: on the line between the two nearest points; left and right of them what is given, else the end's."""
    x, xp, fp = as_array(x), as_array(xp), as_array(fp)
    n = xp.shape[0]
    last, place = n - 1, _searched(xp, x, "right") - 1
    k = np.clip(place, 0, np.maximum(n - 2, 0))
    after = np.minimum(k + 1, last)
    slope = (fp[after] - fp[k]) / (xp[after] - xp[k])
    inside = np.where(place >= last, fp[last], slope * (x - xp[k]) + fp[k])
    below = np.where(x < xp[0], fp[0] if left is None else left, inside)
    found = np.where(x > xp[last], fp[last] if right is None else right, below)
    return np.where((x == x) | (n == 1), found, x)  # as NumPy, which takes the one point for NaN too


def _convolved(a: Any, v: Any, mode: str = "full") -> Any:  # noqa: ANN401
    """np.convolve: the sum of a[i - j] v[j] over j."""
    text = current_trace("np.convolve").text_here("np.convolve")
    a, v = as_array(a), as_array(v)
    if a.ndim != 1 or v.ndim != 1:
        raise TraceError(f"{text}: arrays of {a.ndim} and {v.ndim} axes", advice="Give two arrays of one axis each.")
    n, m = a.shape[0], v.shape[0]
    shorter, longer = np.minimum(n, m), np.maximum(n, m)
    parts = {"full": (0, n + m - 1), "same": ((shorter - 1) // 2, longer), "valid": (shorter - 1, longer - shorter + 1)}
    if mode not in parts:
        raise TraceError(f"{text}: mode={mode!r} is unknown", advice=f"Use one of {', '.join(parts)}.")
    first, length = parts[mode]
    places: Any = generate((length, m), lambda i, j: i + first - j)
    is_inside = (places >= 0) & (places < n)
    values = np.where(is_inside, a[np.clip(places, 0, np.maximum(n - 1, 0))], 0)
    return (values * v).sum(1)


def _tiled(A: Any, reps: Any) -> Any:  # noqa: ANN401, N803  # NumPy's name
    """np.tile of an array of one axis."""
    if A.ndim != 1 or isinstance(reps, tuple | list):
        raise TraceError(
            f"{current_trace('np.tile').text_here('np.tile')}: {A.ndim} axes and the repetitions {reps!r}",
            advice="Give one axis and one number, or write replicate(x, n, axis) and reshape.",
        )
    copies: Any = replicate(A, reps, 0)
    return copies.reshape(-1)


def _mesh(*xi: Any, indexing: str = "xy") -> list[Any]:  # noqa: ANN401  # array values
    """np.meshgrid: each array along its own axis, the same along those of the others; nothing is stored."""
    text = current_trace("np.meshgrid").text_here("np.meshgrid")
    if indexing not in ("xy", "ij"):
        raise TraceError(f'{text}: indexing={indexing!r} is neither "xy" nor "ij"', advice="Leave it out.")
    if any(x.ndim != 1 for x in xi):
        raise TraceError(f"{text}: arrays of {', '.join(str(x.ndim) for x in xi)} axes", advice="Give one axis each.")
    order = [1, 0, *range(2, len(xi))] if indexing == "xy" and len(xi) > 1 else list(range(len(xi)))
    found = []
    for x, own in zip(xi, order, strict=True):
        made = x
        for position, number in enumerate(sorted(range(len(xi)), key=order.__getitem__)):
            if position != own:
                made = replicate(made, xi[number].shape[0], position)
        found.append(made)
    return found


def _is_in(element: Any, test_elements: Any, *, invert: bool = False) -> Any:  # noqa: ANN401
    """np.isin: whether each element is one of the others; all pairs are compared, and none is stored."""
    element, sought = as_array(element), as_array(test_elements)
    found = (element[..., None] == (sought if sought.ndim == 1 else sought.ravel())).any(-1)
    return ~found if invert else found


def _digitized(x: Any, bins: Any, right: bool = False) -> Any:  # noqa: ANN401
    """np.digitize: how many edges are at or below each element; below it if right. Traced edges ascend."""
    side, edges = "left" if right else "right", as_array(bins)
    if isinstance(bins, list | np.ndarray):
        steps = np.diff(np.asarray(bins))
        if not ((steps >= 0).all() or (steps <= 0).all()):
            raise TraceError(
                f"{current_trace('np.digitize').text_here('np.digitize')}: the edges neither ascend nor descend",
                advice="Sort them.",
            )
        if (steps < 0).any():
            return edges.shape[0] - _searched(edges[::-1], x, side)
    return _searched(edges, x, side)


def _histogram(a: Any, bins: Any = 10, range: Any = None, density: bool = False, weights: Any = None) -> Any:  # noqa: ANN401  # NumPy's name
    """np.histogram: how many elements, or the sum of their weights, between each two edges, and the edges."""
    x = a.ravel()
    w = None if weights is None else weights.ravel()
    if isinstance(bins, int) and not isinstance(bins, bool):
        first, last = (x.min(), x.max()) if range is None else range
        is_one = first == last
        first, last = np.where(is_one, first - 0.5, first), np.where(is_one, last + 0.5, last)
        step, count = (last - first) / bins, bins
        edges: Any = generate(bins + 1, lambda i: _end_at(i, bins, last, i * step + first))
        guess = np.where((x >= first) & (x <= last), (x - first) / (last - first) * bins, 0).astype("i64")
        k = np.minimum(guess, bins - 1)  # the last edge belongs to the bin before it
        k = np.where(x < edges[k], k - 1, k)
        k = np.where((x >= edges[np.clip(k + 1, 0, bins)]) & (k != bins - 1), k + 1, k)
    else:
        edges = as_array(bins)
        count, first, last = edges.shape[0] - 1, edges[0], edges[-1]
        k = np.minimum(_searched(edges, x, "right"), count) - 1
    is_inside = (x >= first) & (x <= last)
    zero = 0 if w is None else 0.0
    places = np.where(is_inside, k, 0)
    found: Any = scatter("add", generate(count, lambda _: zero), places, 1 if w is None else w, where=is_inside)
    if density:
        found = found / np.diff(edges) / found.sum()
    return found, edges


def _end_at(i: Any, last: int, end: Any, inner: Any) -> Any:  # noqa: ANN401
    """The end itself at the last index, as np.linspace has it."""
    return np.where(i == last, end, inner)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "isin": _is_in,
    "digitize": _digitized,
    "histogram": _histogram,
    "searchsorted": _searched,
    "interp": _interpolated,
    "convolve": _convolved,
    "tile": _tiled,
    "meshgrid": _mesh,
}
