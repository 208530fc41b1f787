"""What to write instead of attributes that traced values do not have: .shape in a cell, .next of a computed value."""

from __future__ import annotations

from workbench.errors import TraceError
from workbench.frontend.trace import Trace

IN_FUNCTIONS = "In a function of arrays, below @wb.collective, x[1:], x.T, a @ b and others mean what they do in NumPy."
"""The advice for what NumPy's arrays have by position, in cells, where axes have names."""
_METHODS = {
    "sum": "Write reduce_sum(u).",
    "min": "Write reduce_min(u).",
    "max": "Write reduce_max(u).",
    "prod": "Write reduce_product(u).",
    "any": "Write reduce_any(u).",
    "all": "Write reduce_all(u).",
    "mean": "Write reduce_sum(u) / size(0), with one size per axis.",
    "shape": "Use size(axis).",
    "size": "Use size(axis).",
    "ndim": "Use dim.",
    "copy": "Use the value as it is: values never change.",
    "shift": "Write u[+1], u.at(+1, axis) or shift(u, vector).",
}

_AS_IT_IS = "Use the array as it is, whose axes meet others by name, and transpose the output after the call."
_IN_ITS_SHAPE = (
    "Axes have names, and extents are those of the arrays that are given: give the array in that shape, or write a "
    "function of arrays, below @wb.collective."
)
_OF_ARRAYS = {
    **dict.fromkeys(("T", "transpose"), _AS_IT_IS),
    "einsum": 'Write fold(add, a * b, axis="k"), which has the axes that are not named.',
    "outer": "Write a * b of arrays whose axes have different names.",
    **dict.fromkeys(("reshape", "ravel", "flatten"), _IN_ITS_SHAPE),
    "size": 'Use size("n") of each axis.',
    "copy": _METHODS["copy"],
}


def no_attribute(name: str, of_arrays: bool = False) -> TraceError:
    """The error for what arrays have and traced values have not. of_arrays: in a cell where axes have names."""
    if of_arrays:
        return TraceError(f"in a cell an array has no .{name}", advice=instead_in_cells(name))
    return TraceError(
        f"a traced value has no .{name}",
        advice=_METHODS.get(name, "Use .next, .at(offset, axis), .astype(dtype), or .source of particles."),
    )


def instead_in_cells(name: str) -> str:
    """The advice for a function of NumPy that is called with an array of a cell, where axes have names."""
    return _OF_ARRAYS.get(name, IN_FUNCTIONS)


def not_stored(trace: Trace) -> TraceError:
    """The error for .next of what is neither a field nor a scalar."""
    text = trace.text_here("this value")
    name, dot, _ = text.partition(".next")
    if trace.positions is not None:
        advice = "Return the value from the function."
    elif trace.is_called:
        advice = 'Name a result: output("y", value) of arrays, t += value for a total t of pairs.'
    elif dot and name.endswith(".source"):
        advice = f"Write {name.removesuffix('.source')}.next = value: each particle is a source too."
    elif dot and name in trace.statics and trace.statics[name].role != "param":
        advice = f"Keep the name {name} for what is declared: write {name}1 = ..., then {name}.next = {name}1."
    else:
        advice = 'Declare it: u = field("u"), then u.next = value.'
    return TraceError(f"{text}: only a field or a scalar has .next, and this is a computed value", advice=advice)
