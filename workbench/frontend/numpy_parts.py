"""NumPy's functions that take arrays apart, repeat them and join them: np.split, np.repeat, np.block and kin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from workbench.errors import TraceError
from workbench.frontend.arrays import generate
from workbench.frontend.numpy_products import as_array
from workbench.frontend.numpy_windows import index_along
from workbench.frontend.shapes import replicate
from workbench.frontend.trace import current_trace
from workbench.frontend.value import Value, term_of


def _text(name: str) -> str:
    return current_trace(f"np.{name}").text_here(f"np.{name}")


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _at(a: Any, axis: int, part: object) -> Any:  # noqa: ANN401  # an array value, as below
    """A part along one axis."""
    return a[(*[slice(None)] * (axis % a.ndim), part)]


def _split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:  # noqa: ANN401
    """Equal parts, as many as the number says, which a call checks; or the parts between these places."""
    if not _whole(indices_or_sections):
        return _between(ary, list(indices_or_sections), axis)
    place, count = axis % ary.ndim, indices_or_sections
    before, behind = ary.shape[:place], ary.shape[place + 1 :]
    parts = ary.reshape(*before, count, ary.shape[place] // count, *behind)
    return [_at(parts, place, k) for k in range(count)]


def _split_unevenly(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:  # noqa: ANN401
    """As many parts as the number says, of which the first ones have an element more where it does not go up."""
    if not _whole(indices_or_sections):
        return _between(ary, list(indices_or_sections), axis)
    n, count = ary.shape[axis % ary.ndim], indices_or_sections
    ends: list[Any] = [0]
    for k in range(count):
        ends.append(ends[-1] + (n - k + count - 1) // count)
    return _between(ary, ends[1:-1], axis)


def _between(ary: Any, places: Sequence[Any], axis: int) -> list[Any]:  # noqa: ANN401
    pairs = zip([None, *places], [*places, None], strict=True)
    return [_at(ary, axis, slice(begin, end)) for begin, end in pairs]


def _repeated(a: Any, repeats: Any, axis: int | None = None) -> Any:  # noqa: ANN401
    """Each element so many times."""
    if isinstance(repeats, tuple | list | np.ndarray) or (isinstance(repeats, Value) and np.ndim(cast(Any, repeats))):
        raise TraceError(
            f"{_text('repeat')}: each element another number of times",
            advice="Give one, or write x[np.searchsorted(np.cumsum(counts), generate(n, lambda i: i), 'right')].",
        )
    flat = a.ravel() if axis is None else a
    place = 0 if axis is None else axis % a.ndim
    shape = flat.shape
    made: Any = replicate(flat, repeats, place + 1)
    return made.reshape(*shape[:place], shape[place] * repeats, *shape[place + 1 :])


def _broadcast(array: Any, shape: Any) -> Any:  # noqa: ANN401
    """The array along these axes; where it lacks one, or has one element there, it is the same along it."""
    wanted = shape if isinstance(shape, tuple | list) else (shape,)
    everywhere: Any = generate(tuple(wanted), lambda *_: True)
    if everywhere.ndim < np.ndim(as_array(array)):
        raise TraceError(
            f"{_text('broadcast_to')}: the shape has fewer axes than the array", advice="Give all of them."
        )
    return np.where(everywhere, array, array)


def _of_two_axes(value: Any) -> Any:  # noqa: ANN401
    value = as_array(value)
    return value[None] if value.ndim == 1 else value


def _of_three_axes(value: Any) -> Any:  # noqa: ANN401
    value = as_array(value)
    return value[None, :, None] if value.ndim == 1 else value[:, :, None] if value.ndim == 2 else value


def _at_least(make: Callable[[Any], Any]) -> Callable[..., Any]:
    def function(*arys: Any) -> Any:  # noqa: ANN401
        made = tuple(map(make, arys))
        return made[0] if len(made) == 1 else made

    return function


def _blocks(arrays: Any) -> Any:  # noqa: ANN401
    """Nested lists: the innermost side by side along the last axis, those around them along the axes before it."""

    def depth(each: object) -> int:
        return 1 + max(map(depth, each)) if isinstance(each, list) and each else 0

    def made(each: Any, level: int) -> Any:  # noqa: ANN401
        if not isinstance(each, list):
            whole = as_array(each)
            return whole[(None,) * max(deepest - whole.ndim, 0)] if whole.ndim < deepest else whole
        return np.concatenate([made(part, level - 1) for part in each], -level)

    deepest = depth(arrays)
    return made(arrays, deepest)


def _deleted(arr: Any, obj: int, axis: int | None = None) -> Any:  # noqa: ANN401
    if not _whole(obj):
        raise TraceError(f"{_text('delete')}: the place {obj!r}", advice="Give one known whole number.")
    flat, place = (arr.ravel(), 0) if axis is None else (arr, axis)
    if obj == -1:
        return _at(flat, place, slice(None, -1))
    return np.concatenate((_at(flat, place, slice(None, obj)), _at(flat, place, slice(obj + 1, None))), place)


def _inserted(arr: Any, obj: int, values: Any, axis: int | None = None) -> Any:  # noqa: ANN401
    flat, place = (arr.ravel(), 0) if axis is None else (arr, axis)
    if not _whole(obj) or flat.ndim != 1:
        raise TraceError(
            f"{_text('insert')}: at {obj!r} of a value of {flat.ndim} axes",
            advice="Give one axis and a known whole number, or write np.concatenate((x[:k], y, x[k:])).",
        )
    given = as_array(values)
    between: Any = given if np.ndim(given) else generate(1, lambda _: given)
    return np.concatenate((flat[:obj], between.astype(flat.dtype), flat[obj:]), place)


def _along_axis(arr: Any, indices: Any, axis: int | None = -1) -> Any:  # noqa: ANN401
    """For each index the element there along the axis, in the same place of the others."""
    arr, indices = as_array(arr), as_array(indices)
    if axis is None:
        return arr.ravel()[indices]
    if arr.ndim != indices.ndim:
        raise TraceError(
            f"{_text('take_along_axis')}: {arr.ndim} axes and indices of {indices.ndim}", advice="Give as many of both."
        )
    place = axis % arr.ndim
    own = [indices if k == place else index_along(term_of(indices), k) for k in range(arr.ndim)]
    return arr[tuple(own)]


def _chosen(a: Any, choices: Any) -> Any:  # noqa: ANN401
    """For each element the value in its place of the choice that it numbers."""
    stacked: Any = np.stack([_broadcast(each, a.shape) for each in choices])
    return stacked[(a, *[index_along(term_of(a), k) for k in range(a.ndim)])]


def _pieces(x: Any, condlist: Any, funclist: Sequence[Any]) -> Any:  # noqa: ANN401
    """For each element the value of the last function whose condition holds, of x's type; all are computed."""
    conditions = list(condlist) if isinstance(condlist, tuple | list) else [condlist]
    values = [each(x) if callable(each) else each for each in funclist]
    if len(values) not in (len(conditions), len(conditions) + 1):
        raise TraceError(
            f"{_text('piecewise')}: {len(values)} functions for {len(conditions)} conditions",
            advice="Give one for each condition, and one more for all else or none.",
        )
    found: Any = np.zeros_like(x) if len(values) == len(conditions) else values[-1]
    for condition, value in zip(conditions, values, strict=False):
        found = np.where(condition, value, found)
    return np.where(x == x, found, found).astype(x.dtype)


def _without_nan(x: Any, copy: bool = True, nan: float = 0.0, posinf: Any = None, neginf: Any = None) -> Any:  # noqa: ANN401
    """nan in the place of NaN; of infinities the largest and the least number, or what is given."""
    if not term_of(x).type.is_float:
        return x
    most = float(np.finfo(term_of(x).type.name.replace("f", "float")).max)
    found = np.where(np.isnan(x), nan, x)
    found = np.where(x == np.inf, most if posinf is None else posinf, found)
    return np.where(x == -np.inf, -most if neginf is None else neginf, found).astype(x.dtype)


def _fraction_and_whole(x: Any) -> tuple[Any, Any]:  # noqa: ANN401
    """np.modf: both of the sign of x; of an infinity the fraction is 0."""
    given = as_array(x)
    if not term_of(given).type.is_float:
        given = given.astype("f64")
    whole = np.trunc(given)
    fraction = np.where(np.abs(given) == np.inf, 0.0, given - whole)
    return np.copysign(fraction, given), whole


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "split": _split,
    "array_split": _split_unevenly,
    "hsplit": lambda ary, indices_or_sections: _split(ary, indices_or_sections, 0 if ary.ndim == 1 else 1),
    "vsplit": lambda ary, indices_or_sections: _split(ary, indices_or_sections, 0),
    "repeat": _repeated,
    "broadcast_to": _broadcast,
    "atleast_1d": _at_least(lambda value: as_array(value)),
    "atleast_2d": _at_least(_of_two_axes),
    "atleast_3d": _at_least(_of_three_axes),
    "dstack": lambda tup: np.concatenate([_of_three_axes(each) for each in tup], 2),
    "block": _blocks,
    "delete": _deleted,
    "insert": _inserted,
    "take_along_axis": _along_axis,
    "choose": _chosen,
    "piecewise": _pieces,
    "nan_to_num": _without_nan,
    "ediff1d": lambda ary: np.diff(ary.ravel()),
    "real": lambda val: val,
    "divmod": lambda a, b: (as_array(a) // b, as_array(a) % b),
    "modf": _fraction_and_whole,
}
