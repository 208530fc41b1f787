"""Foreign functions: another library computes a part of a function of arrays; the fallback says what that is.

They stand between programs (`frontend.sequences`): what the native is given is computed by earlier ones, and what it
returns is an argument of later ones. Types and shapes of the results are those of the fallback, which is traced either
way (McDonell's thesis, section 6.6: `aforeign`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from workbench.errors import TraceError
from workbench.frontend.foreign_calls import ForeignArgument, ForeignCall, ForeignResult
from workbench.frontend.positions import FunctionPositions, order_of
from workbench.frontend.promotion import constant, number_type
from workbench.frontend.selections import function_inside, origins_of, selected_in
from workbench.frontend.structures import rebuilt
from workbench.frontend.trace import Term, Trace, current_trace, is_tracing
from workbench.frontend.value import Value, operand
from workbench.graph import GLOBAL, Load, Static


@dataclass(frozen=True, eq=False)
class Foreign:
    """A function that a native computes on one backend and the fallback on all others; called in functions of arrays.

    backend: of the native. on_device: whether its arrays are those of CuPy. The fallback may be a Foreign itself.
    """

    native: Callable[..., Any]
    fallback: Callable[..., Any]
    backend: str
    on_device: bool

    @property
    def name(self) -> str:
        """Of the native, as users write it: numpy.linalg.solve."""
        module = getattr(self.native, "__module__", None) or ""
        name: str = getattr(self.native, "__name__", type(self.native).__name__)
        return f"{module}.{name}" if module and not module.startswith(("__", "builtins")) else name

    def __call__(self, *arguments: object) -> Any:  # noqa: ANN401  # what the fallback returns
        """The results for traced arguments. TraceError with the line where no program can stop for it."""
        if not is_tracing():
            raise TraceError(
                f"{self.name} with a fallback is called outside of a function of arrays",
                advice="Call it in a function under @wb.collective, or call the native or the fallback itself.",
            )
        trace = current_trace("foreign")
        positions, text = trace.positions, trace.text_here("this call")
        if not isinstance(positions, FunctionPositions):
            place = "a function of elements" if trace.operator_of else "a cell"
            raise TraceError(
                f"{text}: a native is called between two programs, but {place} is part of one",
                advice="Write a function of arrays, @wb.collective, which may stop for it, or call the fallback.",
            )
        given = [made for each in arguments if isinstance(each, Value) and isinstance(made := operand(each), Term)]
        function = function_inside(trace, given)
        if function:
            raise TraceError(
                f"{text}: a native is called between two programs, and this function of {function} is part of one",
                advice="Call it before or after it, or call the fallback here.",
            )
        foreign, before = positions.foreign, set(positions.selections)
        foreign.natives.add(self.backend)
        made = self.fallback(*arguments)
        parts = tuple(made) if isinstance(made, tuple | list) else (made,)
        if not parts:
            raise TraceError(f"{text}: the fallback returns nothing", advice="Let it return what the native computes.")
        results = [_value(trace, each, f"{self.name} returns") for each in parts]
        selected = {each.length.name for name, each in positions.selections.items() if name not in before}
        for each in results:
            _check_lengths(positions, each, selected, text)
        number = len(foreign.calls) + 1
        taken = tuple(_argument(positions, each, f"foreign{number}_{k}", text) for k, each in enumerate(arguments))
        if self.backend != foreign.backend:
            return made
        declared = [_declared(positions, each, f"foreign{number}", k) for k, each in enumerate(results)]
        kind = type(made) if isinstance(made, tuple | list) else None
        returned = tuple(result for result, _ in declared)
        foreign.calls.append(
            ForeignCall(self.native, self.name, text, trace.here().line, self.on_device, taken, returned, kind)
        )
        values = [positions.wrap(term) for _, term in declared]
        return values[0] if kind is None else rebuilt(kind, values)


def _value(trace: Trace, value: object, what: str) -> Term:
    """The traced value that an argument or result is."""
    made = operand(value) if isinstance(value, Value | bool | int | float) else None
    if made is None:
        raise TraceError(
            f"{trace.text_here('this call')}: {what} a {type(value).__name__} in its fallback",
            advice="Let it return an array, a number, or a tuple of these.",
        )
    term = made if isinstance(made, Term) else constant(trace, made, number_type(trace, made), GLOBAL).in_order(())
    _check_type(term, trace.text_here("this call"))
    return term


def _check_type(term: Term, text: str) -> None:
    if term.type.is_pair or term.type.is_record:
        raise TraceError(
            f"{text}: {term.type} values, which other libraries do not have",
            advice='Give their f64, x.astype("f64"), or the components of a record one by one.',
        )


def _check_lengths(positions: FunctionPositions, result: Term, selected: set[str], text: str) -> None:
    """Raise TraceError if a length depends on what the fallback selects: no native could be held to it."""
    for axis in order_of(result):
        origins = () if axis is None else origins_of(positions.table, axis)
        if origins and all(any(each.name in selected for each in selected_in(origin)) for origin in origins):
            raise TraceError(
                f"{text}: how long the result is depends on values, by a condition in the fallback",
                advice="Return all elements and a condition on them, and select after the call.",
            )


def _argument(positions: FunctionPositions, value: object, name: str, text: str) -> ForeignArgument:
    """What the native is given for an argument: an array of the call as it is, one that a program stores, a length."""
    made = operand(value) if isinstance(value, Value) else None
    if not isinstance(made, Term):
        if isinstance(value, tuple | list) and any(isinstance(each, Value) for each in value):
            raise TraceError(f"{text}: a {type(value).__name__} of arrays", advice="Give each array by itself.")
        return ForeignArgument(None, constant=value)
    _check_type(made, text)
    length = None if made.is_local else positions.computed(made)
    if length is not None:
        return ForeignArgument(None, length=length)
    own, order = made.space.axes, order_of(made)
    whole = _whole(positions, made)
    name = whole or _free(positions, name)
    places = tuple(None if axis is None else own.index(axis) for axis in order)
    return ForeignArgument(made, name, bool(whole), places)


def _whole(positions: FunctionPositions, term: Term) -> str:
    """The argument of the call, or the array from before, that a value is with all of its axes in order."""
    instruction = term.node.instruction
    if not isinstance(instruction, Load):
        return ""
    if not term.is_local:
        static = positions.trace.statics[instruction.name]
        return instruction.name if static.role == "param" else ""
    reading, order = positions.readings.get(instruction.name), order_of(term)
    if reading is None or any(reading.cuts) or reading.shape or None in order:
        return ""
    places = tuple(order.index(axis) for axis in term.space.axes if axis in order)
    return reading.argument if places == reading.positions and len(order) == len(reading.cuts) else ""


def _free(positions: FunctionPositions, name: str) -> str:
    """The name, longer where the function has it."""
    while name in positions.trace.statics or name in positions.foreign.names():
        name += "_"
    return name


def _declared(positions: FunctionPositions, made: Term, name: str, place: int) -> tuple[ForeignResult, Term]:
    """The array or number that programs read in the place of what the fallback makes."""
    name = _free(positions, name if place == 0 else f"{name}_result{place}")
    if not order_of(made):
        zero = made.type.numpy.type(0).item()
        positions.trace.declare(Static(name, "param", made.type, GLOBAL, default=zero, span=positions.trace.here()))
        term = positions.trace.emit(lambda pool: pool.load(name)).in_order(())
        return ForeignResult(name, made.type, ()), term
    axes = order_of(positions.with_own_axes(made))
    term = positions.argument(name, made.type, [positions.table.length_of(axis) for axis in axes if axis is not None])
    return ForeignResult(name, made.type, tuple(axis for axis in order_of(term) if axis is not None)), term
