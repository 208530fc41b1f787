"""Returned: what a function of arrays returns, as results of its graph and how they are put together again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass

import numpy as np

from workbench.errors import TraceError
from workbench.frontend.positions import FunctionPositions, order_of
from workbench.frontend.promotion import constant, number_type
from workbench.frontend.selections import Selected
from workbench.frontend.structures import rebuilt, stands_for_fields, structured
from workbench.frontend.trace import Term, Trace
from workbench.frontend.value import Value, operand
from workbench.graph import GLOBAL, Load, Static


@dataclass(frozen=True, slots=True)
class Result:
    """One returned array: its static, and for each of its axes the static's axis, None for one of one element."""

    static: str
    axes: tuple[int | None, ...]


Rebuild = Callable[[Sequence[object]], object]
"""From the results, in order, to what the function returns."""


def store_results(positions: FunctionPositions, value: object, name: str, results: list[Result | Selected]) -> Rebuild:
    """Declare what is returned as results of the graph; the answer puts them together again."""
    if isinstance(value, Mapping):
        parts = {key: store_results(positions, part, f"{name}_{key}", results) for key, part in value.items()}
        return lambda found: {key: rebuild(found) for key, rebuild in parts.items()}
    if isinstance(value, tuple | list):
        items = [store_results(positions, part, f"{name}{place}", results) for place, part in enumerate(value)]
        if stands_for_fields(value):
            return lambda found: structured(value, [rebuild(found) for rebuild in items])
        return lambda found: rebuilt(type(value), [rebuild(found) for rebuild in items])
    if is_dataclass(value) and not isinstance(value, type | Value):
        names = [each.name for each in fields(value) if each.init]
        items = [store_results(positions, getattr(value, each), f"{name}_{each}", results) for each in names]
        return lambda found: rebuilt(type(value), [rebuild(found) for rebuild in items])
    if value is None or isinstance(value, str):
        return lambda found: value
    if not isinstance(value, Value | bool | int | float):
        what, advice = (
            f"{type(value).__name__}, which is no array",
            "Return arrays, numbers, or a tuple or mapping of them.",
        )
        if isinstance(value, np.ndarray):
            what = f"an array of NumPy (shape {value.shape}), which was made while the function was traced"
            advice = "Return what is computed of the arguments; generate(shape, f) makes an array of indices."
        raise TraceError(f"{positions.trace.name} returns {what}", advice=advice)
    place = len(results)
    selection = _selected(positions, value)
    results.append(_result(positions.trace, value, name) if selection is None else selection)
    return lambda found: found[place]


def _selected(positions: FunctionPositions, value: object) -> Selected | None:
    """The selection whose elements are returned as they are, if they are."""
    given = operand(value)
    if not isinstance(given, Term) or not isinstance(given.node.instruction, Load):
        return None
    reading = positions.readings.get(given.node.instruction.name)
    is_whole = reading is not None and not any(reading.cuts) and not reading.shape
    if reading is None or not is_whole or order_of(given) != given.space.axes:
        return None
    return positions.selections.get(reading.argument)


def _result(trace: Trace, value: object, name: str) -> Result:
    given = operand(value)
    if not isinstance(given, Term):
        given = constant(trace, given, number_type(trace, given), GLOBAL)
    named = [each for each in given.node.names if each not in trace.statics]
    static = next(reversed(named), name if name not in trace.statics else f"{name}_")
    role = "field" if given.is_local else "scalar"
    zero = 0.0 if given.type.is_record else given.type.numpy.type(0).item()
    default = None if given.is_local else zero
    trace.declare(Static(static, role, given.type, given.space, default=default, span=trace.here()))  # type: ignore[arg-type]  # mypy widens the literal
    trace.store(static, given)
    own = given.space.axes
    return Result(static, tuple(None if axis is None else own.index(axis) for axis in order_of(given)))
