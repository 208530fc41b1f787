"""NumPy's functions and methods of arrays in cells, where axes have names: sums, means, running sums, places, products.

axis= is a name or a number among the array's own axes, as in `fold`. What asks for an order of the axes, such as
reshape, has no meaning there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from workbench.errors import TraceError
from workbench.frontend.attribute_misuse import no_attribute
from workbench.frontend.axis_numbers import own_axes
from workbench.frontend.elements import is_array
from workbench.frontend.misuse import no_matrix
from workbench.frontend.operations import apply, bits, reduce_value, where
from workbench.frontend.promotion import cast_term
from workbench.frontend.trace import Operand, Term
from workbench.graph.types import BOOL, F64, I64


def _one_axis(given: Term, axis: object, what: str) -> int:
    """The number of one axis; without axis= the only one, as NumPy would count all elements one after another."""
    found = own_axes(given, axis, what)
    if len(found) > 1:
        raise TraceError(
            f"{what} over the axes {', '.join(given.space.axes[k].name for k in found)}",
            advice=f'Name one axis: axis="{given.space.axes[-1].name}".',
        )
    return found[0]


def _size(given: Term, axis: int) -> Term:
    number = given.trace.axis_names.index(given.space.axes[axis].name)
    return given.trace.emit(lambda pool: pool.size(number))


def _reduced(name: str, given: Term, axis: object = None) -> Operand:
    return reduce_value(name, given, axis)


def _mean(given: Term, axis: object = None) -> Operand:
    """The sum divided by the number of elements, in the float type of the sum, f64 of integers."""
    if not given.type.is_float:
        given = cast_term(given, F64)
    over = own_axes(given, axis, "mean")
    count: Operand = _size(given, over[0])
    for number in over[1:]:
        count = apply("multiply", count, _size(given, number))
    return apply("divide", reduce_value("sum", given, axis), count)


def _running(name: str, given: Term, axis: object = None) -> Operand:
    """Along one axis; conditions and integers below 64 bits in i64, as in NumPy."""
    along = _one_axis(given, axis, "cumsum" if name == "sum" else "cumprod")
    if given.type == BOOL or (given.type.is_integer and given.type.bits < 64):
        given = cast_term(given, I64)
    return given.trace.emit(lambda pool: pool.scan(name, given.index, along))


def _place(name: str, given: Term, axis: object = None) -> Operand:
    """The first place of the smallest or largest element along an axis; of the first NaN if there is one."""
    along = _one_axis(given, axis, f"arg{name}")
    if given.type == BOOL:
        given = cast_term(given, I64)
    is_best = apply("equal", given, reduce_value(name, given, along))
    if given.type.is_float:
        is_best = bits("logical_or", "bitwise_or", is_best, apply("not_equal", given, given))
    index = given.trace.emit(lambda pool: pool.index(along, given.space))
    return reduce_value("min", where(is_best, index, _size(given, along)), along)


def matrix_product(a: Operand, b: Operand) -> Operand:
    """a @ b: products summed over the last axis of a, which the first of b, a vector or a matrix, must be by name."""
    for each in (a, b):
        if isinstance(each, Term) and each.is_local and not is_array(each.space):
            raise no_matrix(each)
    if not isinstance(a, Term) or not isinstance(b, Term) or not (a.is_local and b.is_local):
        raise TraceError("@ takes arrays, not numbers", advice="Write a * b for a product with a number.")
    left, right = a.space.axes, b.space.axes
    text = a.trace.text_here("a @ b")
    if len(left) > 2 or len(right) > 2:
        raise TraceError(
            f"{text}: @ takes vectors and matrices in a cell",
            advice='Name the axis of the sum: fold(add, a * b, axis="k").',
        )
    if left[-1] != right[0]:
        raise TraceError(
            f"{text} sums over the last axis of the one, {left[-1].name}, and the first of the other, {right[0].name}",
            advice="Give both axes one name where they are declared, or name the axis of the sum: "
            f'fold(add, a * b, axis="{right[0].name}").',
        )
    if set(left[:-1]) & set(right[1:]):
        raise TraceError(
            f"{text} has the axis {left[0].name} twice",
            advice="Declare the second array with an axis of another name, and give the same array for both.",
        )
    return reduce_value("sum", apply("multiply", a, b), left[-1].name)


FUNCTIONS: dict[str, Callable[..., Operand]] = {
    "sum": partial(_reduced, "sum"),
    "prod": partial(_reduced, "product"),
    "min": partial(_reduced, "min"),
    "max": partial(_reduced, "max"),
    "any": partial(_reduced, "any"),
    "all": partial(_reduced, "all"),
    "mean": _mean,
    "cumsum": partial(_running, "sum"),
    "cumprod": partial(_running, "product"),
    "argmin": partial(_place, "min"),
    "argmax": partial(_place, "max"),
}
"""By NumPy's names, of functions and of methods: an array, and an axis or several."""
PRODUCTS = ("dot", "matmul")
"""NumPy's functions that are a @ b."""


def method(name: str) -> Callable[..., Operand]:
    """The method of an array, a function of the array and an axis. Raises TraceError with what to write instead."""
    if name not in FUNCTIONS:
        raise no_attribute(name, of_arrays=True)

    def call(given: Term, axis: object = None, **further: object) -> Operand:
        if further:
            raise TraceError(f".{name}: {', '.join(sorted(further))}= has no meaning in a cell", advice="Leave it out.")
        return FUNCTIONS[name](given, axis)

    return call


def of_arrays(name: str, operands: Sequence[Operand], axis: object) -> Operand | None:
    """What np.<name> means of arrays of a cell; None where it means nothing, or the same as of values of cells."""
    if not any(isinstance(each, Term) and _has_names(each) for each in operands):
        return None
    first, *others = operands
    if name in PRODUCTS and len(others) == 1 and axis is None:
        return matrix_product(first, others[0])
    if name not in FUNCTIONS or not isinstance(first, Term) or len(others) > 1:
        return None
    if others and (axis is not None or isinstance(others[0], Term)):
        return None
    return FUNCTIONS[name](first, others[0] if others else axis)


def _has_names(given: Term) -> bool:
    """Whether it is an array of a cell."""
    return given.is_local and given.trace.positions is None and is_array(given.space)
