"""Arrays: programs that run once, from arrays to outputs. Fields are read relatively, arrays by their axes' names.

An axis is a name, and its extent is that of the arrays which have it. What meets has the axes of both: x[rows] with
A[rows, columns] is x along each column. A cell of arrays has one kernel, `main`, which runs at each call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.errors import TraceError
from workbench.frontend.axis_numbers import own_axes
from workbench.frontend.called import begin_called, names_of
from workbench.frontend.combination import combining
from workbench.frontend.compression import Compressed
from workbench.frontend.field_tuple import FieldTuple
from workbench.frontend.operations import parse_type
from workbench.frontend.promotion import constant, meeting_space, number_type, spread
from workbench.frontend.total import PAIRS
from workbench.frontend.trace import Operand, Term, Trace, current_trace
from workbench.frontend.value import Value, operand, wrap
from workbench.graph import GLOBAL, Axis, Space, Static
from workbench.graph.spaces import NamedExtent


def array(name: str, *axes: str, dtype: object = None) -> Value:
    """Declare an array that is given at the call, with an axis for each name: A = array("A", "rows", "columns").

    dtype: as in `field`. Axes of the same name have the same extent in all arrays of the cell. A @ x, x.sum(),
    A.max(axis="rows"), .min, .prod, .any, .all, .mean, .cumsum, .cumprod, .argmin, .argmax and NumPy's functions of
    these names mean what they do in NumPy; axis= may be a name.
    """
    trace = _arrays("array")
    names_of("array", name, 'xs = array("xs", "n")')
    type_ = trace.float_type if dtype is None else parse_type(dtype)
    trace.declare(Static(name, "field", type_, _space_of(trace, name, axes), span=trace.here()), "an array")
    return Value(trace.emit(lambda pool: pool.load(name)))


def arrays(names: str, *axes: str, dtype: object = None) -> tuple[Value, ...]:
    """Declare several arrays with the same axes: xs, ys = arrays("xs ys", "n"). Always a tuple."""
    current_trace("arrays")
    found = names_of("arrays", names, 'xs, ys = arrays("xs ys", "n")')
    return FieldTuple((array(name, *axes, dtype=dtype) for name in found), "arrays")


def output(name: str, value: object) -> Value:
    """Declare a result and its value: output("total", fold(add, xs)). It has the type and the axes of the value."""
    trace = _arrays("output")
    names_of("output", name, 'output("total", value)')
    if isinstance(value, Compressed):
        output(f"{name}_length", value.count)
        value = value.elements
    given = operand(value)
    if not isinstance(given, Term):
        given = constant(trace, given, number_type(trace, given), GLOBAL)
    role = "field" if given.is_local else "scalar"
    default = None if given.is_local else {"bool": False, "float": 0.0}.get(given.type.kind, 0)
    static = Static(name, role, given.type, given.space, default=default, span=trace.here())  # type: ignore[arg-type]  # mypy widens the literal
    trace.declare(static, "an output")
    trace.store(name, given)
    return Value(given)


def fold(
    op: object,
    xs: object,
    axis: object = -1,
    start: object = None,
    *,
    identity: object = None,
    commutative: bool = False,
) -> Any:  # noqa: ANN401  # one value, or a record of them
    """Combine an array along an axis, by default its last one, in the canonical order; a tuple names several axes.

    op: add, multiply, minimum, maximum, logical_or or logical_and, also NumPy's functions of these names, or a Python
    function of two elements, which must be associative; identity, for a function: the element that leaves the other one
    unchanged; commutative=True lets a fold over all axes be faster. axis: a name, or a number among the array's own
    axes. start: combined with the result from the left, once. The element type is kept. xs may be a tuple, a named
    tuple or a data class of arrays: elements are then such records, which the function takes and returns.
    """
    trace = current_trace("fold")
    combined = combining(op, xs, identity, "fold")
    given, operator = combined.given, combined.operator
    in_any_order = isinstance(operator, str) or (commutative and combined.record is None)
    if trace.positions is not None:
        result: Operand = trace.positions.fold_axes(operator, given, axis, in_any_order)
    else:
        inner, over = given.index, own_axes(given, axis, "fold")
        if len(over) == given.space.rank and not in_any_order:
            advice = "Write commutative=True if the function may swap its arguments, or keep an axis."
            if combined.record is not None:
                advice = "Keep an axis, or write the fold in a function of arrays: @wb.collective."
            raise TraceError(
                f"{trace.text_here('fold')} combines all elements in an order of 16 interleaved lanes", advice=advice
            )
        result = trace.emit(lambda pool: pool.fold(operator, inner, over))
    return combined.started(start, result)


def generate(shape: object, f: Callable[..., object]) -> Value:
    """The array of f(i, j, ...), where i, j, ... are the indices along the axes of the shape, i64 numbers from 0.

    shape: one axis or a tuple of them; in a cell their names, generate("n", lambda i: i % 3), in a function of arrays
    whole numbers or lengths of arrays, generate(A.shape, lambda i, j: i == j).
    """
    trace = current_trace("generate")
    given = tuple(shape) if isinstance(shape, tuple | list) else (shape,)
    if trace.positions is not None:
        return wrap(trace.positions.generate(given, f))
    numbers = sorted(trace.need_axis(axis, trace.text_here("generate")) for axis in given)
    space = Space(tuple(trace.space.axes[number] for number in numbers))
    names = [trace.space.axes[trace.need_axis(axis, "generate")] for axis in given]
    indices = [trace.emit(lambda pool, axis=axis: pool.index(0, Space((axis,)))) for axis in names]  # type: ignore[misc]  # bound now
    result = operand(f(*map(Value, indices)))
    if not isinstance(result, Term):
        return Value(constant(trace, result, number_type(trace, result), space))
    return Value(spread(result, meeting_space(trace, [result, *indices])))


def _space_of(trace: Trace, name: str, axes: tuple[object, ...]) -> Space:
    """The array's space; new axes go to the end of the cell's, or before those that they must precede."""
    if not axes:
        raise TraceError(f"array {name!r} has no axis", advice=f'Name its axes: array("{name}", "n").')
    for axis in axes:
        if not isinstance(axis, str) or not axis.isidentifier() or not axis.isascii():
            raise TraceError(f"array {name!r}: {axis!r} names no axis", advice=f'Write array("{name}", "n").')
    if len(set(axes)) < len(axes):
        raise TraceError(
            f"array {name!r} has an axis twice: {', '.join(map(str, axes))}",
            advice="Give each axis a name of its own; their extents may be equal.",
        )
    space = Space(tuple(Axis(str(axis), NamedExtent(str(axis)), "array") for axis in axes))
    made = (trace.pool.node(number).space for number in range(len(trace.pool)))
    spaces = list(dict.fromkeys(each for each in made if each is not None and not each.is_global))
    trace.widen(_merged([*spaces, space], name))
    return space


def _merged(spaces: list[Space], name: str) -> Space:
    """All axes, in an order that is that of each space."""
    left = [list(space.axes) for space in spaces]
    order: list[Axis] = []
    while any(left):
        heads = [axes[0] for axes in left if axes]
        free = next((h for h in heads if not any(h in axes[1:] for axes in left)), None)
        if free is None:
            raise TraceError(
                f"array {name!r} has the axes {spaces[-1].axis_names}, other arrays have them in another order",
                advice="Declare all arrays with the axes in one order, and give transposed arrays at the call.",
            )
        order.append(free)
        left = [[axis for axis in axes if axis != free] for axes in left]
    return Space(tuple(order))


def _arrays(what: str) -> Trace:
    """The trace, now one of arrays."""
    trace = current_trace(what)
    if not trace.is_called:
        begin_called(trace, what, Space(()))
    if trace.space == PAIRS:
        raise TraceError(
            f"{what} stands in a cell of targets and sources",
            advice="Declare results with totals(...), or write two cells.",
        )
    return trace
