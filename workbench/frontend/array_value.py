"""Array value: what a name in a function of arrays holds while it is traced; it is used as a NumPy array is."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from inspect import signature
from typing import Any, NoReturn, cast

import numpy as np

from workbench.errors import TraceError
from workbench.frontend.array_misuse import no_function, no_method
from workbench.frontend.axis_numbers import own_positions
from workbench.frontend.compression import compress
from workbench.frontend.concatenation import concatenate
from workbench.frontend.conditions import nonzero, selected
from workbench.frontend.elements import parts_of
from workbench.frontend.numpy_formulas import FUNCTIONS as FORMULAS
from workbench.frontend.numpy_functions import FUNCTIONS
from workbench.frontend.numpy_lookups import FUNCTIONS as LOOKUPS
from workbench.frontend.numpy_names import OF_EACH_CELL
from workbench.frontend.numpy_parts import FUNCTIONS as PARTS
from workbench.frontend.numpy_products import FUNCTIONS as PRODUCTS
from workbench.frontend.numpy_sorting import FUNCTIONS as SORTING
from workbench.frontend.operations import apply
from workbench.frontend.positions import FunctionPositions, order_of
from workbench.frontend.products import dot, einsum, inner, matrix_product, outer
from workbench.frontend.promotion import cast_term
from workbench.frontend.shapes import reshape
from workbench.frontend.subscripts import listed_place, subscript
from workbench.frontend.trace import Operand, Positions, Term, Trace, current_trace
from workbench.frontend.type_names import TypeName
from workbench.frontend.ufunc_methods import ufunc_method
from workbench.frontend.value import Value, operand, term_of, wrap
from workbench.graph.types import BOOL, F32, F64, I64


class ArrayValue(Value):
    """A traced array, or one number for rank 0. Immutable; lengths are known when the function is called.

    Axes go by position, the last one fastest. `x[:, None]`, `x.T`, `a @ b`, `x.sum(axis)`, np.sum, np.where and the
    operators mean what they do in NumPy: a value of fewer axes is the same along the first ones of another.
    """

    __slots__ = ()

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(order_of(term_of(self)))

    @property
    def shape(self) -> tuple[Value | int, ...]:
        """The length of each axis, an i64 number of the program (1 where `None` made the axis)."""
        trace = current_trace("shape")
        return tuple(
            1 if a is None else wrap(_size(trace, a.extent.name))  # type: ignore[union-attr]  # all are named
            for a in order_of(term_of(self))
        )

    @property
    def size(self) -> Value | int:
        """The number of elements, an i64 number of the program."""
        result: Operand = 1
        for length in self.shape:
            given = operand(length)
            result = given if result == 1 else apply("multiply", result, given)
        return wrap(result)

    @property
    def dtype(self) -> TypeName:
        """The storage type, such as "f64", which equals np.float64 too."""
        return TypeName(term_of(self).type)

    @property
    def T(self) -> Value:  # noqa: N802  # NumPy's name
        """The array with its axes in reverse order; moves nothing."""
        return self.transpose()

    def transpose(self, *axes: int) -> Value:
        """The array with its axes in that order, in reverse if none is given."""
        term = term_of(self)
        order = order_of(term)
        given = axes[0] if len(axes) == 1 and isinstance(axes[0], tuple | list) else axes
        numbers = tuple(given) or tuple(reversed(range(len(order))))
        own = [own_positions(term, each, "transpose")[0] for each in numbers]
        if sorted(own) != list(range(len(order))):
            raise TraceError(f"transpose by {numbers} of {len(order)} axes", advice="Name each axis once.")
        return wrap(term.in_order(tuple(order[k] for k in own)))

    def reshape(self, *shape: object) -> Value:
        """The elements, the last axis fastest, in another shape of as many: lengths, of which one may be -1."""
        given = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple | list) else shape
        return wrap(reshape(_function_positions(self), term_of(self), tuple(given)))

    def ravel(self) -> Value:
        """All elements along one axis, the last axis fastest."""
        return self.reshape(-1)

    def __getitem__(self, key: object) -> Value:
        """Elements as NumPy selects them: slices, whole numbers or a list of them, arrays of indices, None, `...`.

        Bounds of slices are known while the function is traced, or computed of lengths. Indices of arrays count from 0;
        one outside is an error of the call. What a condition selects, x[x > 0], has a length that becomes known during
        the call; a condition of fewer axes selects along the first ones.
        """
        term = term_of(self)
        parts = [operand(part) if isinstance(part, Value | np.generic | np.ndarray) else part for part in parts_of(key)]
        place = listed_place(parts)
        if place is not None:
            numbers: Any = parts[place]
            stacked: Any = np.stack([self[(*parts[:place], k, *parts[place + 1 :])] for k in numbers], place)
            return stacked  # type: ignore[no-any-return]  # an array value
        if len(parts) == 1 and isinstance(parts[0], Term) and parts[0].type == BOOL:
            return selected(_function_positions(self), term, parts[0])
        return wrap(subscript(_function_positions(self), term, parts))

    def __matmul__(self, other: object) -> Value:
        return wrap(matrix_product(term_of(self), operand(other)))

    def __rmatmul__(self, other: object) -> Value:
        return wrap(matrix_product(operand(other), term_of(self)))

    def __divmod__(self, other: object) -> Any:  # noqa: ANN401  # a tuple
        return _FUNCTIONS["divmod"](self, other)

    def sum(self, axis: object = None, *, keepdims: bool = False) -> Value:
        """The sum over an axis or several, over all without; conditions and narrow integers are counted in i64."""
        return wrap(reduced("sum", term_of(self), axis, keepdims))

    def prod(self, axis: object = None, *, keepdims: bool = False) -> Value:
        """The product, as `sum`."""
        return wrap(reduced("product", term_of(self), axis, keepdims))

    def min(self, axis: object = None, *, keepdims: bool = False) -> Value:
        """The smallest element; NaN if one is NaN. Of no elements inf, of whole numbers the type's largest."""
        return wrap(reduced("min", term_of(self), axis, keepdims))

    def max(self, axis: object = None, *, keepdims: bool = False) -> Value:
        """The largest element; NaN if one is NaN. Of no elements -inf, of whole numbers the type's least."""
        return wrap(reduced("max", term_of(self), axis, keepdims))

    def any(self, axis: object = None, *, keepdims: bool = False) -> Value:
        """Whether a condition holds somewhere."""
        return wrap(reduced("any", term_of(self), axis, keepdims))

    def all(self, axis: object = None, *, keepdims: bool = False) -> Value:
        """Whether a condition holds everywhere."""
        return wrap(reduced("all", term_of(self), axis, keepdims))

    def mean(self, axis: object = None, *, keepdims: bool = False) -> Value:
        """The sum over an axis or several, over all without, divided by the number of elements."""
        return wrap(mean(term_of(self), axis, keepdims))

    def var(self, axis: object = None, *, ddof: float = 0, keepdims: bool = False) -> Value:
        """The mean square of the distance from the mean, with n - ddof for the number of elements n."""
        return _FUNCTIONS["var"](self, axis, ddof=ddof, keepdims=keepdims)

    def std(self, axis: object = None, *, ddof: float = 0, keepdims: bool = False) -> Value:
        """The root of `var`."""
        return _FUNCTIONS["std"](self, axis, ddof=ddof, keepdims=keepdims)

    def argmin(self, axis: int | None = None, *, keepdims: bool = False) -> Value:
        """The first place of the smallest element, of the first NaN if there is one; of `ravel` without axis.

        Of no elements it is 2**63 - 1, where nothing can be read: x[place] is an error of the call.
        """
        return _FUNCTIONS["argmin"](self, axis, keepdims=keepdims)

    def argmax(self, axis: int | None = None, *, keepdims: bool = False) -> Value:
        """The first place of the largest element, as `argmin`."""
        return _FUNCTIONS["argmax"](self, axis, keepdims=keepdims)

    def cumsum(self, axis: int | None = None) -> Value:
        """The running sums along an axis."""
        return _FUNCTIONS["cumsum"](self, axis)

    def dot(self, other: object) -> Value:
        """The product with a vector or a matrix: a @ b."""
        return _FUNCTIONS["dot"](self, other)

    def copy(self) -> Value:
        """The array itself, as values never change."""
        return self

    def __getattr__(self, name: str) -> object:
        if name in _METHODS:
            return partial(_FUNCTIONS[_METHODS[name]], self)
        if name in _FUNCTIONS or name in OF_EACH_CELL:
            raise no_method(name, _FUNCTIONS.get(name))
        if name.startswith("_"):
            return super().__getattr__(name)
        raise no_method(name)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: object, **options: object) -> Value:
        if ufunc is np.matmul and method == "__call__" and not options:
            return wrap(matrix_product(operand(inputs[0]), operand(inputs[1])))
        if ufunc is np.sign and method == "__call__" and not options and term_of(self).type in (F32, F64):
            return cast(Value, np.where(self == self, wrap(apply("sign", term_of(self))), self))  # NaN stays
        if method == "__call__" and not options and ufunc.nout > 1 and ufunc.__name__ in _FUNCTIONS:
            return _FUNCTIONS[ufunc.__name__](*inputs)
        if method != "__call__":
            return ufunc_method(ufunc.__name__, method, inputs, options)
        return super().__array_ufunc__(ufunc, method, *inputs, **options)

    def __array_function__(
        self, function: Callable[..., object], types: object, arguments: tuple[object, ...], options: dict[str, object]
    ) -> Value:
        name = getattr(function, "__name__", "")
        known = _FUNCTIONS.get(name)
        if name == "where" and len(arguments) == 1:  # the places where a condition holds
            return _nonzero(cast(ArrayValue, arguments[0]))  # type: ignore[no-any-return]  # a tuple
        if known is None:
            if name not in OF_EACH_CELL:
                raise no_function(function, {*_FUNCTIONS, *OF_EACH_CELL})
            return super().__array_function__(function, types, arguments, options)
        try:
            signature(known).bind(*arguments, **options)
        except TypeError as error:
            advice = f"Its parameters are {', '.join(signature(known).parameters)}."
            raise TraceError(f"np.{name} of a traced array: {error}", advice=advice) from None
        return known(*arguments, **options)

    def __setitem__(self, key: object, value: object) -> NoReturn:
        raise TraceError(
            f"{term_of(self).trace.text_here()}: elements of an array cannot be assigned",
            advice="Write np.where(condition, a, x), or scatter(None, x, places, values) for the array with others.",
        )

    def __len__(self) -> NoReturn:
        text = current_trace("len").text_here("this array")
        if not self.ndim:
            raise TraceError(f"{text}: a number has no length", advice="Take the length of an array.")
        raise TraceError(
            f"{text}: the length of an array is known only at the call",
            advice="Use x.shape[0], a number of the program; len(x) is that in the function of arrays itself.",
        )

    def __repr__(self) -> str:
        term = term_of(self)
        axes = ", ".join("1" if a is None else a.name for a in order_of(term))
        return f"<{', '.join(term.node.names) or 'array'}: {term.type} ({axes})>"

    def at(self, offset: int, axis: int) -> NoReturn:
        """No function of arrays reads relatively."""
        raise TraceError("an array of a function has no .at", advice="Write x[1:] and x[:-1], or a %%stencil cell.")


def positions_of(trace: Trace) -> Positions:
    """How arrays meet in the trace. Raises TraceError in a cell."""
    if trace.positions is None:
        raise TraceError(
            f"{trace.text_here()} has a meaning only in a function of arrays",
            advice="Write @wb.collective above a function of arrays.",
        )
    return trace.positions


def _function_positions(value: ArrayValue) -> FunctionPositions:
    positions = positions_of(term_of(value).trace)
    assert isinstance(positions, FunctionPositions)
    return positions


def _size(trace: Trace, length: str) -> Term:
    """The length that all copies of an axis have."""
    number = trace.axis_names.index(length)
    return trace.emit(lambda pool: pool.size(number)).in_order(())


def reduced(name: str, given: Operand, axis: object = None, keepdims: bool = False) -> Operand:
    """np.sum and its kin; one number is its own sum. keepdims: the axes stay, with one element."""
    if not isinstance(given, Term) or (axis is None and not order_of(given)):
        return given
    result = positions_of(given.trace).reduce(name, given, axis)
    if not keepdims:
        return result
    order = order_of(given)
    gone = range(len(order)) if axis is None else own_positions(given, axis, name)
    return result.in_order(tuple(None if k in gone else own for k, own in enumerate(order)))


def mean(term: Term, axis: object = None, keepdims: bool = False) -> Operand:
    """The sum divided by the number of elements, in the float type of the elements, f64 of integers."""
    order = order_of(term)
    numbers = range(len(order)) if axis is None else own_positions(term, axis, "mean")
    given = term if term.type.is_float else cast_term(term, F64)
    result = reduced("sum", given, axis, keepdims)
    count: Operand = 1
    for number in numbers:
        found = order[number]
        if found is not None:
            length = _size(term.trace, found.extent.name)  # type: ignore[union-attr]  # all are named
            count = length if count == 1 else apply("multiply", count, length)
    return apply("divide", result, count)


def _reduction(name: str) -> Callable[..., Value]:
    def function(a: object, axis: object = None, *, keepdims: bool = False) -> Value:
        return wrap(reduced(name, operand(a), axis, keepdims))

    return function


def _mean(a: object, axis: object = None, *, keepdims: bool = False) -> Value:
    given = operand(a)
    return wrap(mean(given, axis, keepdims) if isinstance(given, Term) else given)


def _transpose(a: ArrayValue, axes: tuple[int, ...] | None = None) -> Value:
    return a.transpose(*(axes or ()))


def _reshape(a: ArrayValue, shape: object) -> Value:
    return a.reshape(*(shape if isinstance(shape, tuple | list) else (shape,)))


def _expand_dims(a: ArrayValue, axis: int) -> Value:
    term = term_of(a)
    order = order_of(term)
    if type(axis) is not int or not -len(order) - 1 <= axis <= len(order):
        raise TraceError(
            f"{term.trace.text_here('np.expand_dims')}: axis {axis!r} of {len(order) + 1} axes",
            advice=f"Give a number from {-len(order) - 1} to {len(order)}.",
        )
    place = axis % (len(order) + 1)
    return wrap(term.in_order((*order[:place], None, *order[place:])))


def _cumulative(name: str) -> Callable[..., Value]:
    def function(a: ArrayValue, axis: int | None = None) -> Value:
        term = term_of(a)
        if axis is None and len(order_of(term)) > 1:
            return function(cast(ArrayValue, a.ravel()))
        if term.type == BOOL or (term.type.is_integer and term.type.bits < 64):
            term = cast_term(term, I64)
        term, number = positions_of(term.trace).own_axis(term, 0 if axis is None else axis, name)
        return wrap(term.trace.emit(lambda pool: pool.scan(name, term.index, number)).in_order(term.order))

    return function


def _nonzero(a: ArrayValue) -> Any:  # noqa: ANN401  # a tuple, where NumPy has one
    return nonzero(_function_positions(a), a)


def _argwhere(a: ArrayValue) -> Value:
    return cast(Value, np.stack(_nonzero(a), axis=-1))


_FUNCTIONS: dict[str, Callable[..., Value]] = {
    "sum": _reduction("sum"),
    "prod": _reduction("product"),
    "min": _reduction("min"),
    "amin": _reduction("min"),
    "max": _reduction("max"),
    "amax": _reduction("max"),
    "any": _reduction("any"),
    "all": _reduction("all"),
    "mean": _mean,
    "transpose": _transpose,
    "reshape": _reshape,
    "ravel": lambda a: a.ravel(),
    "expand_dims": _expand_dims,
    "dot": dot,
    "outer": outer,
    "einsum": einsum,
    "inner": inner,
    "compress": lambda condition, a: compress(a, condition),
    "nonzero": _nonzero,
    "flatnonzero": lambda a: _nonzero(a.ravel())[0],
    "argwhere": _argwhere,
    "extract": lambda condition, arr: compress(arr.ravel(), condition.ravel() != 0),
    "concatenate": concatenate,
    "cumsum": _cumulative("sum"),
    "cumprod": _cumulative("product"),
    "around": FUNCTIONS["round"],
    **FUNCTIONS,
    **FORMULAS,
    **LOOKUPS,
    **SORTING,
    **PARTS,
    **PRODUCTS,
}
"""NumPy's functions that mean something else for arrays than for the value of a cell."""

_METHODS = {
    **{name: name for name in ("argsort", "choose", "clip", "cumprod", "diagonal", "repeat", "round")},
    **{name: name for name in ("searchsorted", "squeeze", "swapaxes", "take", "trace")},
    "flatten": "ravel",
    "nonzero": "nonzero",
}
"""Methods of NumPy's arrays that are these functions of it, of the array and what else they are given."""
