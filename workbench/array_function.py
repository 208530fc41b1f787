"""Collective: compiles a Python function of arrays, traced once for each combination of ranks and types."""

from __future__ import annotations

import inspect
from collections import ChainMap, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import update_wrapper
from types import FunctionType
from typing import Any, NamedTuple, cast, overload

import numpy as np

from workbench.backends.registry import begin_looking, row_of, select_backend
from workbench.backends.teams import check_threads
from workbench.errors import FieldError, TraceError
from workbench.forking import forkable_lock
from workbench.frontend.called import CALL_KEYWORDS
from workbench.frontend.captured import OF_FUNCTIONS, warn_of_changed_names
from workbench.frontend.cell import closure_of, with_length
from workbench.frontend.collective import (
    ArrayKind,
    Kind,
    NumberKind,
    StaticKind,
    TracedSequence,
    TupleKind,
    trace_collective,
    value_names,
)
from workbench.frontend.structures import Structure, names_of, rebuilt, structure_of
from workbench.frontend.trace import is_tracing
from workbench.garbage import kept_garbage
from workbench.graph import StorageType, storage_type
from workbench.graph.types import F64, I64
from workbench.machine import Machine, make_machine
from workbench.pipeline import Compiled, compile_graph
from workbench.planning.choices import Choices, given_choices
from workbench.run.arrays import device_array, lies_on_device, to_host
from workbench.run.inputs import steps_of
from workbench.run.lengths import check_only, extents_of, paths_of, shapes_of
from workbench.run.prepared import Prepared
from workbench.run.sequences import PreparedSequence

_KEPT = 8
"""Combinations of shapes whose memory waits for the next call, of one function."""


class _Options(NamedTuple):
    """How a call runs."""

    backend: str
    threads: int
    choices: Choices | None


_Key = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class _Traced:
    sequence: TracedSequence
    machines: tuple[Machine, ...]


_Known = dict[tuple[int, tuple[tuple[str, int], ...]], Compiled]


class Collective:
    """A function of arrays, called with NumPy arrays; see `collective`.

    It is traced once for each combination of ranks and types, planned and compiled once for each, and keeps memory for
    the shapes of its last calls. Results are fresh NumPy arrays, in the structure that the function returns. `name` and
    `dtype` are those of `collective`.
    """

    def __init__(self, function: FunctionType, name: str, dtype: object, backend: str, threads: int) -> None:
        self.name, self._options = name, _Options(backend, threads, None)
        self._function, self.dtype = function, dtype
        self._signature = inspect.signature(function)
        for each in self._signature.parameters.values():
            if each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD):
                raise TraceError(f"{name} takes {each}", advice="Name each argument; give a tuple for several.")
            if each.name in CALL_KEYWORDS:
                raise TraceError(f"{each.name!r} is a keyword of the call", advice="Choose another name.")
        self._count = len(self._signature.parameters)
        self._traced: dict[tuple[str, tuple[object, ...]], _Traced] = {}  # "": with fallbacks alone
        self._prepared: OrderedDict[tuple[object, ...], Prepared | PreparedSequence] = OrderedDict()
        self._lock = forkable_lock()
        update_wrapper(self, function)

    def __call__(self, *arguments: object, **options: object) -> Any:  # noqa: ANN401  # what the function returns
        """Run the function on these arguments; backend=, threads= and choices= as in `Machine.__call__`.

        device=True returns arrays where the backend has them: of CuPy on a GPU, which a later call takes without the
        host; on the host of NumPy, as without it. Numbers and arrays of dd are always NumPy's.

        Arrays and lists are arrays; named tuples, data classes and structured arrays are records of arrays, which the
        function sees and returns as such. Python and NumPy numbers are params (no rebuild); bool, str, None and tuples
        without arrays are known while the function is traced. Raises TraceError with the line of the function,
        ShapeError where lengths of arrays that meet differ, FieldError for a type that no program holds.
        """
        asked, on_device = self._options, False
        if options or len(arguments) != self._count:
            take = options.pop  # what it gives is checked where it is used
            asked = _Options(
                take("backend", asked.backend),  # type: ignore[arg-type]
                take("threads", asked.threads),  # type: ignore[arg-type]
                take("choices", asked.choices),  # type: ignore[arg-type]
            )
            check_threads(asked.threads)
            if asked.choices is not None:
                given_choices(asked.choices, asked.choices)
            if not isinstance(asked.backend, str):
                row_of(asked.backend)  # which says what there is
            on_device = bool(options.pop("device", False))
            if options or len(arguments) != self._count:  # else each stands in its place
                arguments = self._bound(arguments, options)
        key = (asked, *map(_key, arguments))
        prepared = self._prepared.get(key)
        if prepared is None:
            if is_tracing():
                return with_length(self._function)(*arguments)  # inside another one: its formulas are that one's
            arguments = tuple(map(_readable, arguments))
            key = (asked, *map(_key, arguments))
            prepared = self._prepared.get(key) or self._prepare(key, arguments, asked)
        surroundings = self._surroundings()
        if not prepared.names.are_same(surroundings):
            warn_of_changed_names(self.name, prepared.names.traced, surroundings, OF_FUNCTIONS)
        return prepared.run(arguments, on_device=on_device)

    def machine(self, *arguments: object, **options: object) -> Machine:
        """The machine that runs for arguments of these ranks and types: to print, plan, draw and inspect.

        Of a function that computes with what it selects it is the first of its `machines`.
        """
        return self.machines(*arguments, **options)[0]

    def machines(self, *arguments: object, **options: object) -> tuple[Machine, ...]:
        """The machines that run one after the other; more than one where lengths become known or natives are called.

        What x[x > 0] selects, or a native returns, is an argument of the second one. Each is planned, drawn and
        inspected for itself.
        """
        given = tuple(map(_readable, self._bound(arguments, options)))
        return self._trace(given, self._options.backend).machines

    def close(self) -> None:
        """Free the memory that waits for the next call; programs stay."""
        with self._lock:
            while self._prepared:
                self._prepared.popitem()[1].give_up()

    def __get__(self, instance: object, owner: object = None) -> object:
        """Refuse to be a method, whose first argument is no array."""
        if instance is None:
            return self
        raise TraceError(f"{self.name} is a method, but takes arrays alone", advice="Define it outside the class.")

    def __repr__(self) -> str:
        count = sum(not backend for backend, _ in self._traced)
        return f"<collective {self.name}{self._signature}: traced for {count} combination{'s' * (count != 1)} of types>"

    def _bound(self, arguments: tuple[object, ...], options: dict[str, object]) -> tuple[object, ...]:
        try:
            bound = self._signature.bind(*arguments, **options)
        except TypeError as error:
            raise FieldError(f"{self.name}: {error}", advice=f"Call {self.name}{self._signature}.") from None
        bound.apply_defaults()
        return tuple(bound.arguments.values())

    def _surroundings(self) -> Mapping[str, object]:
        """The names that the function sees outside of it, as they are now."""
        of_module = self._function.__globals__
        return ChainMap(closure_of(self._function), of_module) if self._function.__closure__ else of_module

    def _trace(self, arguments: tuple[object, ...], backend: str) -> _Traced:
        """The programs for arguments of these ranks and types, traced at the first call of them.

        Where functions with natives for this backend are called, they are traced once more, around these.
        """
        names = tuple(self._signature.parameters)
        kinds = tuple(_kind(name, value) for name, value in zip(names, arguments, strict=True))
        found = self._traced_for("", names, kinds)
        natives = found.sequence.natives
        own = select_backend(backend).name if natives else ""
        return self._traced_for(own, names, kinds) if own in natives else found

    def _traced_for(self, backend: str, names: tuple[str, ...], kinds: tuple[Kind, ...]) -> _Traced:
        """The programs with the natives of a backend; with none for ""."""
        found = self._traced.get((backend, kinds))
        if found is None:
            given = dict(zip(names, kinds, strict=True))
            sequence = trace_collective(self._function, given, name=self.name, dtype=self.dtype, backend=backend)
            machines = (make_machine(each.traced, "", self._surroundings()) for each in sequence.programs)
            found = self._traced.setdefault((backend, kinds), _Traced(sequence, tuple(machines)))
        return found

    def _prepare(self, key: _Key, arguments: tuple[object, ...], asked: _Options) -> Prepared | PreparedSequence:
        """What calls like this one share, planned and compiled."""
        check_threads(asked.threads)
        with kept_garbage():
            made = self._make(arguments, asked)
        with self._lock:
            prepared = self._prepared.setdefault(key, made)
            dropped = [self._prepared.popitem(last=False)[1] for _ in range(len(self._prepared) - _KEPT)]
        for each in dropped:
            each.give_up()
        return prepared

    def _make(self, arguments: tuple[object, ...], asked: _Options) -> Prepared | PreparedSequence:
        """The same, newly made."""
        looking = None if self._traced else begin_looking(asked.backend)
        traced = self._trace(arguments, asked.backend)
        if looking is not None:
            looking.join()
        names, known = (*self._signature.parameters, *value_names(traced.sequence)), _Known()
        held = tuple(traced.sequence.held.values())
        made: Prepared | PreparedSequence = (
            self._program(traced, 0, (*arguments, *held), asked, known)
            if traced.sequence.is_plain
            else PreparedSequence(
                traced.sequence, names, lambda number, values: self._program(traced, number, values, asked, known)
            )
        )
        made.held = held
        return made

    def _program(
        self, traced: _Traced, number: int, arguments: Sequence[object], asked: _Options, known: _Known
    ) -> Prepared:
        """One program of a function, for these arguments and results of the programs before it.

        known: what was compiled of these programs for calls of other lengths, with the same options.
        """
        function, machine = traced.sequence.programs[number], traced.machines[number]
        names = (*self._signature.parameters, *value_names(traced.sequence))
        paths = paths_of(function, names)
        shapes = shapes_of(function, paths, arguments)
        extents = extents_of((*function.lengths, *function.sizes), shapes)[: len(function.lengths)]
        check_only(function.only, shapes)
        choices = given_choices(machine.choices, asked.choices)
        steps = steps_of(function, machine.graph, paths, shapes, arguments) if 0 not in extents else {}
        key = number, tuple(steps.items())
        compiled = known.get(key)
        if compiled is None:  # to look whether there is a compiler takes longer than a short call
            compiled = known[key] = compile_graph(machine.graph, choices, asked.backend, steps)
        return Prepared(function, compiled, paths, extents, asked.threads, shapes, arguments)


@overload
def collective(function: Callable[..., Any], /) -> Collective: ...


@overload
def collective(
    *, name: str | None = None, dtype: object = "f64", backend: str = "auto", threads: int = 0
) -> Callable[[Callable[..., Any]], Collective]: ...


def collective(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    dtype: object = "f64",
    backend: str = "auto",
    threads: int = 0,
) -> Collective | Callable[[Callable[..., Any]], Collective]:
    """A decorator that turns a function of arrays into a program: `@wb.collective` above `def dotp(xs, ys): ...`.

    The body is NumPy on traced arrays; `dotp(x, y)` runs it on NumPy arrays, fused and in parallel, with the same bits
    on every backend. dtype: the machine's float type, also the type of a quotient of integers. name, backend, threads:
    defaults for calls. Raises TraceError if the decorated object is not a plain function.
    """

    def decorate(given: Callable[..., Any]) -> Collective:
        if not isinstance(given, FunctionType):
            raise TraceError(
                f"collective needs a function of arrays, not {given!r}", advice="Write it above def f(xs, ys): ..."
            )
        called = "function" if given.__name__ == "<lambda>" else given.__name__
        return Collective(given, name or called, dtype, backend, threads)

    return decorate if function is None else decorate(function)


def _key(value: object) -> object:
    """By what calls are told apart: type and shape of arrays, strides if not dense, the type of numbers, or itself."""
    kind = type(value)
    if kind is _NDARRAY:
        array: np.ndarray[Any, Any] = value  # type: ignore[assignment]
        shape = array.dtype, array.shape  # which arrays of a device are told apart by, too
        return shape if array.flags.c_contiguous else (*shape, array.strides)
    if kind is float or kind is int:
        return kind
    if isinstance(value, tuple):
        return _key_of_tuple(value)
    if value is None or kind is bool or kind is str:
        return kind, value
    if isinstance(value, np.generic):
        return kind
    if lies_on_device(value) and len(value.shape):  # type: ignore[attr-defined]  # an array of another library
        return value.dtype, tuple(value.shape)  # type: ignore[attr-defined]  # an array of another library
    return object()  # equal to nothing: it is made an array first


_NDARRAY = np.ndarray


def _key_of_tuple(value: tuple[Any, ...]) -> object:
    """A named tuple and the structure that it is read as have equal ones."""
    kind = type(value)
    if kind is Structure:
        kind = value.kind  # type: ignore[attr-defined]  # by its type
    elif kind is not tuple and not hasattr(kind, "_fields"):
        return object()  # equal to nothing, as below
    array, first = _NDARRAY, cast(object, value)
    while isinstance(first, tuple) and first:
        first = first[0]
    if type(first) is not array and not _holds_array(value):
        return _exact(value)
    return kind, *[  # most are dense arrays: to ask for each by a call takes longer
        (part.dtype, part.shape) if type(part) is array and part.flags.c_contiguous else _key(part) for part in value
    ]


def _class(value: tuple[object, ...]) -> type:
    return value.kind if isinstance(value, Structure) else type(value)


def _exact(value: object) -> object:
    """What is known while the function is traced, with its types: True and 1 are different arguments."""
    return (_class(value), *map(_exact, value)) if isinstance(value, tuple) else (type(value), value)


def _holds_array(value: object) -> bool:
    if isinstance(value, tuple):
        return any(map(_holds_array, value))
    return not (value is None or isinstance(value, bool | int | float | str | np.generic))


def _readable(value: object) -> object:
    """The argument as the program takes it: lists and arrays of others as NumPy arrays in the host's byte order."""
    found = structure_of(value)
    if found is not None:
        made = Structure(map(_readable, found))
        made.kind = found.kind
        return made
    if isinstance(value, tuple):
        return tuple(map(_readable, value))
    if value is None or isinstance(value, bool | int | float | str | np.generic):
        return value
    if lies_on_device(value) and len(value.shape):  # type: ignore[attr-defined]  # as above
        return value
    array = to_host("an argument", value)
    if array.ndim == 0:
        return array[()]
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _kind(name: str, value: object) -> Kind:
    """What an argument is while the function is traced."""
    match value:
        case tuple():
            made = value.kind if isinstance(value, Structure) else tuple
            if not _holds_array(value):
                return StaticKind(rebuilt(made, value), (made, _exact(value)))
            return TupleKind(tuple(map(_kind, names_of(made, name, len(value)), value)), made)
        case None | bool() | str():
            return StaticKind(value, _exact(value))
        case np.ndarray():
            return ArrayKind(_type(name, value.dtype), value.ndim)
        case np.generic():
            return NumberKind(_type(name, value.dtype))
        case float():
            return NumberKind(F64)
        case int():
            return NumberKind(I64)
        case _ if lies_on_device(value):
            array = device_array(name, value)
            return ArrayKind(_type(name, array.dtype), array.ndim)
        case _:
            raise FieldError(
                f"{name} was given a {type(value).__name__}",
                advice="Give an array, a number, a bool or text, or a tuple, named tuple or data class of these.",
            )


def _type(name: str, dtype: Any) -> StorageType:  # noqa: ANN401  # NumPy's dtype of anything
    try:
        return storage_type(dtype)
    except KeyError:
        raise FieldError(
            f"{name} was given {dtype} values, which no program holds",
            advice="Give bool, integers, f32 or f64; complex numbers as two arrays.",
        ) from None
