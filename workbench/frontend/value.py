"""Value: what a name in a cell holds while the cell is traced, with Python's and NumPy's operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn, cast

import numpy as np

from workbench.errors import TraceError
from workbench.frontend import misuse
from workbench.frontend.attribute_misuse import no_attribute, not_stored
from workbench.frontend.elements import element, is_array, lengths, parts_of
from workbench.frontend.named_axes import matrix_product, method
from workbench.frontend.numpy_names import call_function, call_ufunc
from workbench.frontend.offsets import offsets_of, whole_number
from workbench.frontend.operations import (
    apply,
    astype,
    bits,
    parse_type,
    power,
    read,
    storable,
    trace_of,
)
from workbench.frontend.populations import as_source
from workbench.frontend.trace import Operand, Term, current_trace


class Value:
    """A traced value, immutable: fields, scalars, params and whatever is computed from them.

    `u[+1, 0]` is the value of the next cell along axis 0; `u.next = value` says what field or scalar u holds after the
    step. Comparisons give conditions for where(); `&`, `|`, `~` join conditions.
    """

    __array_priority__ = 1000
    __slots__ = ("_resolve", "_static", "_term")
    _resolve: Callable[[], Term] | None
    _static: str
    _term: Term | None

    def __init__(self, term: Term | None, static: str = "", resolve: Callable[[], Term] | None = None) -> None:
        """`static` is the name of the declared variable that this is; `resolve` makes the term at its first use."""
        object.__setattr__(self, "_term", term)
        object.__setattr__(self, "_static", static)
        object.__setattr__(self, "_resolve", resolve)

    @property
    def next(self) -> Value:
        """The value after this step: a kernel sets it once, by u.next = value, and may read it afterwards."""
        trace = current_trace(".next")
        if not self._static:
            raise not_stored(trace)
        return Value(trace.stored(self._static))

    @next.setter
    def next(self, value: object) -> None:
        trace = current_trace(".next")
        if not self._static:
            raise not_stored(trace)
        given = operand(value)
        trace_of([given, *([self._term] if self._term is not None else [])])
        if self._static not in trace.statics:
            raise TraceError(
                f"{self._static} is a variable of another cell", advice=f'Declare it here: field("{self._static}").'
            )
        trace.store(self._static, storable(trace, self._static, given))

    @property
    def source(self) -> Value:
        """The same particles as sources: a formula of x and x.source has one value per pair.

        A sum over the sources can be read in this way too, in the same step: density.source.
        """
        return Value(as_source(term_of(self)))

    @property
    def shape(self) -> tuple[Value | int, ...]:
        """The length of each axis of an array, an i64 number of the program, in a cell as in a function of arrays."""
        return tuple(map(Value, lengths(term_of(self))))

    def at(self, offset: int, axis: int) -> Value:
        """The value `offset` cells away along `axis`, in any number of dimensions."""
        term = term_of(self)
        trace = term.trace
        axis = trace.need_axis(axis, trace.text_here())
        offset = whole_number(offset, f"{trace.text_here()}: an offset")
        wanted = trace.space.axes[axis]
        if term.is_local and wanted not in term.space.axes:
            raise TraceError(
                f"{trace.text_here()}: the value has the axes {term.space.axis_names} alone",
                advice="Leave .at out: along another axis the value is the same everywhere.",
            )
        return Value(read(term, tuple(offset if own == wanted else 0 for own in term.space.axes)))

    def astype(self, dtype: object) -> Value:
        """The value in another storage type."""
        return wrap(astype(term_of(self), parse_type(dtype)))

    def __getitem__(self, key: object) -> Value:
        """The value at an offset in cells, one whole number per axis: u[+1, 0] is u in the next cell along x.

        Outside the domain it is the value that the field's boundary rule gives. Of an array, x[i] is element i.
        """
        if self._term is None:  # a field before its first use; its boundary may depend on the dimension found here
            offsets_of(current_trace("a relative read"), key)
        term = term_of(self)
        if is_array(term.space):
            return Value(element(term, [operand(p) if isinstance(p, Value) else p for p in parts_of(key)]))
        if not term.is_local:
            raise misuse.no_neighbours(term)
        return Value(read(term, offsets_of(term.trace, key, term.space)))

    def __setitem__(self, key: object, value: object) -> None:
        raise TraceError(
            f"{term_of(self).trace.text_here()}: single cells cannot be assigned",
            advice="Write u.next = where(index(0) == 0, a, b) for all cells at once.",
        )

    def __setattr__(self, name: str, value: object) -> None:
        if name != "next":
            raise TraceError(
                f".{name} of a traced value cannot be assigned", advice="Assign .next of a field or scalar."
            )
        object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> object:
        if name.startswith("_"):  # what Python and NumPy probe for
            raise AttributeError(name)
        if self._term is None or not is_array(self._term.space):
            raise no_attribute(name)
        function = method(name)
        return lambda *axis, **options: wrap(function(term_of(self), *axis, **options))

    def __repr__(self) -> str:
        if self._term is None:
            return f"<{self._static}>"
        node = self._term.node
        label = self._static or ", ".join(node.names) or type(node.instruction).__name__
        return f"<{label}: {node.value_type} {'Local' if node.is_local else 'Global'}>"

    __hash__ = object.__hash__

    def __add__(self, other: object) -> Value:
        return binary("add", self, other)

    def __radd__(self, other: object) -> Value:
        return binary("add", other, self)

    def __sub__(self, other: object) -> Value:
        return binary("subtract", self, other)

    def __rsub__(self, other: object) -> Value:
        return binary("subtract", other, self)

    def __mul__(self, other: object) -> Value:
        return binary("multiply", self, other)

    def __rmul__(self, other: object) -> Value:
        return binary("multiply", other, self)

    def __truediv__(self, other: object) -> Value:
        return binary("divide", self, other)

    def __rtruediv__(self, other: object) -> Value:
        return binary("divide", other, self)

    def __floordiv__(self, other: object) -> Value:
        return binary("floor_divide", self, other)

    def __rfloordiv__(self, other: object) -> Value:
        return binary("floor_divide", other, self)

    def __mod__(self, other: object) -> Value:
        return binary("remainder", self, other)

    def __rmod__(self, other: object) -> Value:
        return binary("remainder", other, self)

    def __pow__(self, other: object) -> Value:
        if answers(other, "power"):
            return NotImplemented
        return wrap(power(operand(self), operand(other)))

    def __rpow__(self, other: object) -> Value:
        return wrap(power(operand(other), operand(self)))

    def __matmul__(self, other: object) -> Value:
        return wrap(matrix_product(operand(self), operand(other)))

    def __rmatmul__(self, other: object) -> Value:
        return wrap(matrix_product(operand(other), operand(self)))

    def __lshift__(self, other: object) -> Value:
        return binary("shift_left", self, other)

    def __rlshift__(self, other: object) -> Value:
        return binary("shift_left", other, self)

    def __rshift__(self, other: object) -> Value:
        return binary("shift_right", self, other)

    def __rrshift__(self, other: object) -> Value:
        return binary("shift_right", other, self)

    def __and__(self, other: object) -> Value:
        if answers(other, "and"):
            return NotImplemented
        return wrap(bits("logical_and", "bitwise_and", operand(self), operand(other)))

    def __rand__(self, other: object) -> Value:
        return wrap(bits("logical_and", "bitwise_and", operand(other), operand(self)))

    def __or__(self, other: object) -> Value:
        if answers(other, "or"):
            return NotImplemented
        return wrap(bits("logical_or", "bitwise_or", operand(self), operand(other)))

    def __ror__(self, other: object) -> Value:
        return wrap(bits("logical_or", "bitwise_or", operand(other), operand(self)))

    def __xor__(self, other: object) -> Value:
        if answers(other, "xor"):
            return NotImplemented
        return wrap(bits("logical_xor", "bitwise_xor", operand(self), operand(other)))

    def __rxor__(self, other: object) -> Value:
        return wrap(bits("logical_xor", "bitwise_xor", operand(other), operand(self)))

    def __invert__(self) -> Value:
        return wrap(bits("logical_not", "bitwise_not", operand(self)))

    def __neg__(self) -> Value:
        return unary("negative", self)

    def __pos__(self) -> Value:
        return self

    def __abs__(self) -> Value:
        return unary("absolute", self)

    def __round__(self, digits: int | None = None) -> Value:
        if digits is not None:
            raise TraceError("round to decimals has no meaning in a cell", advice="Write round(u * 100) / 100.")
        return unary("round", self)

    def __floor__(self) -> Value:
        return unary("floor", self)

    def __ceil__(self) -> Value:
        return unary("ceil", self)

    def __trunc__(self) -> Value:
        return unary("trunc", self)

    def __lt__(self, other: object) -> Value:
        return binary("less", self, other)

    def __le__(self, other: object) -> Value:
        return binary("less_equal", self, other)

    def __gt__(self, other: object) -> Value:
        return binary("greater", self, other)

    def __ge__(self, other: object) -> Value:
        return binary("greater_equal", self, other)

    def __eq__(self, other: object) -> Value:  # type: ignore[override]  # a condition, as in NumPy
        return binary("equal", self, other)

    def __ne__(self, other: object) -> Value:  # type: ignore[override]  # a condition, as in NumPy
        return binary("not_equal", self, other)

    def __bool__(self) -> bool:
        raise misuse.no_truth(term_of(self))

    def __float__(self) -> float:
        raise misuse.no_number(term_of(self), "float")

    def __int__(self) -> int:
        raise misuse.no_number(term_of(self), "int")

    def __complex__(self) -> complex:
        raise misuse.no_number(term_of(self), "complex")

    def __index__(self) -> int:
        raise misuse.no_number(term_of(self), "an index or count")

    def __iter__(self) -> NoReturn:
        raise misuse.no_iteration(term_of(self))

    def __len__(self) -> int:
        raise misuse.no_length(term_of(self))

    def __contains__(self, item: object) -> bool:
        raise misuse.no_membership(term_of(self), of_all=True)

    def __array__(self, *arguments: object, **options: object) -> NoReturn:
        raise misuse.no_array(term_of(self))

    def __format__(self, form: str) -> str:
        if form:
            raise misuse.no_digits(term_of(self))
        return str(self)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: object, **options: object) -> Value:
        if any(answers(i, "*") for i in inputs):
            return cast(Value, NotImplemented)  # a tensor combines its components
        return wrap(call_ufunc(ufunc.__name__, method, [operand(i) for i in inputs], sorted(options)))

    def __array_function__(
        self, function: Callable[..., object], types: object, arguments: tuple[object, ...], options: dict[str, object]
    ) -> Value:
        if any(answers(a, "*") for a in arguments):
            return cast(Value, NotImplemented)
        name = getattr(function, "__name__", str(function))
        axis = options.pop("axis", None)
        given = [operand(a) for a in arguments if isinstance(a, Value | int | float | np.generic | np.ndarray)]
        extra = [*sorted(options), *(repr(a) for a in arguments if isinstance(a, tuple | list | str))]
        return wrap(call_function(name, given, extra, axis))


def wrap(result: Operand) -> Value:
    """A term as a Value. A Python number stays what it is; it is typed as a Value, because it is used like one."""
    if not isinstance(result, Term):
        return cast(Value, result)
    positions = result.trace.positions
    return Value(result) if positions is None else cast(Value, positions.wrap(result))


def term_of(value: Value) -> Term:
    """The term of a value; a field's is made at its first use."""
    term: Term | None = value._term
    if term is None:
        assert value._resolve is not None
        term = value._resolve()
        object.__setattr__(value, "_term", term)
    trace = current_trace("a traced value")
    if term.trace is not trace:
        raise misuse.not_of(trace)
    return term


def operand(value: object) -> Operand:
    """What an operation takes: a term or a Python number. Raises TraceError for anything else."""
    if isinstance(value, Value):
        return term_of(value)
    if answers(value, "*"):
        raise TraceError(
            f"{getattr(value, 'kind', value)} stands where one value is needed",
            advice="Pick a component, or write dot(a, b) for a product of vectors.",
        )
    if isinstance(value, np.generic | np.ndarray) and np.ndim(value) == 0:
        value = value.item()
    if isinstance(value, bool | int | float):
        return value
    if (explained := getattr(value, "explained", None)) is not None:  # a tuple of fields, a total of pairs
        raise explained()
    if isinstance(value, list | tuple) and value and all(isinstance(item, Value) for item in value):
        raise TraceError(
            f"a {type(value).__name__} of {len(value)} stands where one value is needed",
            advice="Take one of them out: (a,) = ... unpacks a tuple of one, a, b = ... a tuple of two.",
        )
    if isinstance(value, np.ndarray) or hasattr(value, "__array__") or isinstance(value, list | tuple):
        trace = current_trace("an array")
        if trace.held_array is not None:
            return trace.held_array(value)
        shape = f" of shape {np.shape(value)}" if isinstance(value, np.ndarray) else ""
        advice = 'Declare a field, name = field("name"), and give the array to simulate(name=array).'
        raise TraceError(f"{type(value).__name__}{shape} cannot be combined with a traced value", advice=advice)
    if isinstance(value, complex):
        raise TraceError(f"complex numbers such as {value!r} have no storage type", advice="Use two fields.")
    if value is None:
        raise TraceError("None cannot be combined with a traced value", advice="Let the function return its result.")
    kind = "a function" if callable(value) else type(value).__name__
    shown = getattr(value, "__name__", repr(value))
    raise TraceError(
        f"{kind} ({shown}) cannot be combined with a traced value", advice="Write a number or a traced value there."
    )


def answers(value: object, operator: str) -> bool:
    """Whether `value`, right of a traced value, answers the operator itself: a tensor all, `delta` the product."""
    known = getattr(type(value), "_answers", "")
    return bool(known) and known in ("*", operator)


def binary(name: str, a: object, b: object) -> Value:
    """Apply an operator of two operands; NotImplemented, by which Python asks `b`, if that answers it."""
    if answers(b, name):
        return cast(Value, NotImplemented)
    return wrap(apply(name, operand(a), operand(b)))


def unary(name: str, a: object) -> Value:
    """Apply an operator of one operand."""
    return wrap(apply(name, operand(a)))
