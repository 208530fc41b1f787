"""Arrays: programs that run once, from arrays to outputs. Fields are read relatively, arrays by their axes' names.

An axis is a name, and its extent is that of the arrays which have it. What meets has the axes of both: x[rows] with
A[rows, columns] is x along each column. A cell of arrays has one kernel, `main`, which runs at each call.
"""

from __future__ import annotations

from workbench.errors import TraceError
from workbench.frontend.called import begin_called, names_of
from workbench.frontend.field_tuple import FieldTuple
from workbench.frontend.operations import apply, parse_type
from workbench.frontend.pairs import PAIRS
from workbench.frontend.promotion import constant
from workbench.frontend.trace import Operand, Term, Trace, current_trace
from workbench.frontend.value import Value, operand
from workbench.graph import GLOBAL, OPERATORS, REDUCTIONS, Axis, Space, Static
from workbench.graph.operators import accepts
from workbench.graph.spaces import NamedExtent

_FOLDED = {row.operator: name for name, row in REDUCTIONS.items()}
"""The reduction by the name of its operator: "add" is the operator of "sum"."""


def array(name: str, *axes: str, dtype: object = None) -> Value:
    """Declare an array that is given at the call, with an axis for each name: A = array("A", "rows", "columns").

    dtype: as of a field. Axes of one name have one extent, in all arrays of the cell.
    """
    trace = _arrays("array")
    names_of("array", name, 'xs = array("xs", "n")')
    type_ = trace.float_type if dtype is None else parse_type(dtype)
    trace.declare(Static(name, "field", type_, _space_of(trace, name, axes), span=trace.here()))
    return Value(trace.emit(lambda pool: pool.load(name)))


def arrays(names: str, *axes: str, dtype: object = None) -> tuple[Value, ...]:
    """Declare several arrays with the same axes: xs, ys = arrays("xs ys", "n"). Always a tuple."""
    current_trace("arrays")
    found = names_of("arrays", names, 'xs, ys = arrays("xs ys", "n")')
    return FieldTuple(array(name, *axes, dtype=dtype) for name in found)


def output(name: str, value: object) -> Value:
    """Declare a result and what it is: output("total", fold(add, xs)). It has the type and the axes of the value."""
    trace = _arrays("output")
    names_of("output", name, 'output("total", value)')
    given = operand(value)
    if not isinstance(given, Term):
        given = constant(
            trace, given, trace.float_type if isinstance(given, float) else parse_type(type(given)), GLOBAL
        )
    role = "field" if given.is_local else "scalar"
    default = None if given.is_local else given.type.numpy.type(0).item()
    trace.declare(Static(name, role, given.type, given.space, default=default, span=trace.here()))  # type: ignore[arg-type]  # mypy widens the literal
    trace.store(name, given)
    return Value(given)


def fold(op: object, xs: object, axis: object = -1, start: object = None) -> Value:
    """Combine an array over an axis, its last one if not given, in the canonical order; over several with a tuple.

    op: add, multiply, minimum, maximum, logical_or or logical_and, also NumPy's functions of these names. axis: a
    name, or a number among the array's own axes. start: combined once, at the left. The element type is kept.
    """
    trace = current_trace("fold")
    given = operand(xs)
    name = _reduction(op)
    if not isinstance(given, Term) or not given.is_local:
        raise TraceError(
            f"{trace.text_here('fold')} needs an array, but this is one number",
            advice="Leave fold out, or fold an array.",
        )
    operator = REDUCTIONS[name].operator
    if not accepts(OPERATORS[operator], given.type):
        raise TraceError(f"fold by {operator} does not take {given.type}", advice='Cast the array: astype(xs, "i64").')
    inner, over = given.index, _own_axes(given, axis)
    result: Operand = trace.emit(lambda pool: pool.fold(name, inner, over))
    if start is not None:
        result = apply(operator, operand(start), result)
    assert isinstance(result, Term)
    return Value(result)


def _reduction(op: object) -> str:
    named = getattr(op, "__name__", op)
    if not isinstance(named, str) or named not in _FOLDED:
        shown = named if isinstance(named, str) else repr(op)
        raise TraceError(f"fold by {shown}", advice=f"Use one of {', '.join(sorted(_FOLDED))}.")
    return _FOLDED[named]


def _own_axes(given: Term, axis: object) -> tuple[int, ...]:
    """The numbers of the axes that are named, among the value's own."""
    own = given.space.axes
    found: list[int] = []
    for each in axis if isinstance(axis, tuple | list) else (axis,):
        number = next((k for k, a in enumerate(own) if a.name == each), each)
        if isinstance(number, bool) or not isinstance(number, int) or not -len(own) <= number < len(own):
            raise TraceError(
                f"fold over axis {each!r} of a value with the axes {given.space.axis_names}",
                advice="Name one of them, or give its number.",
            )
        found.append(number % len(own))
    if not found or len(set(found)) < len(found):
        raise TraceError(f"fold over the axes {axis!r}", advice="Name each axis once.")
    return tuple(sorted(found))


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
