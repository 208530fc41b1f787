"""Precision: the float type in which a cell asks that a value is computed; applied as a choice, when it is planned."""

from __future__ import annotations

from typing import cast

from workbench.errors import TraceError
from workbench.frontend.operations import parse_type
from workbench.frontend.tensors import Tensor
from workbench.frontend.total import Total
from workbench.frontend.trace import Term, Trace, current_trace
from workbench.frontend.value import Value, operand, wrap
from workbench.graph import Load


def compute_in(value: object, dtype: object) -> Value:
    """Compute the value in another float type; returns it. Results change, and the machine's card says where.

    A field, array or total is stored in that type; any other value must first be assigned to a variable. Operands are
    widened for a wider type, and the result is rounded to a narrower one. `machine.with_precision` changes it
    afterwards.
    """
    trace = current_trace("compute_in")
    type_ = parse_type(dtype)
    if not type_.is_float:
        raise TraceError(f"compute_in: {type_} is no float type", advice='Use "f32", "f64" or "dd".')
    if isinstance(value, Tensor):
        for part in value.stored.values():
            compute_in(part, dtype)
        return cast(Value, value)
    if isinstance(value, Total):
        if value.is_record:
            raise TraceError(
                f"compute_in: {value.name} are components of a record, which keep their types",
                advice='Give their types where it is declared: totals(..., dtype=("f32", "i64")).',
            )
        trace.computed_in.append((value.name, type_.name, trace.here()))
        return cast(Value, value)
    given = operand(value)
    if not isinstance(given, Term):
        raise TraceError(
            f"the Python number {given!r} takes the type of the other operand", advice="Name a traced value instead."
        )
    if not given.type.is_float:
        raise TraceError(f"{trace.text_here()} is {given.type}, which is no float", advice="Name a float.")
    static = value._static if isinstance(value, Value) else ""
    trace.computed_in.append((static or given, type_.name, trace.here()))
    return wrap(given) if not isinstance(value, Value) else value


def precisions(trace: Trace) -> tuple[tuple[str, str], ...]:
    """(name, type) pairs as the choices have them, once all names are known. TraceError for a value without a name."""
    found = []
    for value, type_, span in trace.computed_in:
        names = (value,) if isinstance(value, str) else value.node.names
        if isinstance(value, Term) and isinstance(value.node.instruction, Load):
            names = (value.node.instruction.name,)
        if not names:
            error = TraceError(
                "the value that compute_in is asked for has no name", advice="Assign it to a variable first."
            )
            raise trace.source.mark(error, span)
        found.append((names[-1], type_))
    return tuple(dict(found).items())
