"""Carried: what a loop takes from one iteration to the next, values and records of values, as a list of all values."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from workbench.amounts import counted
from workbench.errors import TraceError
from workbench.frontend.records import Rebuild, is_record, leaves_of
from workbench.frontend.structures import names_of as names_of_components
from workbench.frontend.structures import rebuilt


@dataclass(frozen=True, slots=True)
class Carried:
    """The values that a loop begins with.

    records: of each argument of the body how many values it has, and what makes it of them. kinds: its class, None for
    one value.
    """

    what: str
    start: object
    values: tuple[object, ...]
    records: tuple[tuple[int, Rebuild], ...]
    kinds: tuple[type | None, ...]

    def names(self, body: Callable[..., object]) -> tuple[str, ...]:
        """What the body calls each value, those of records with the name of their component."""
        found: list[str] = []
        for name, (count, _), kind in zip(names_of(body, len(self.records)), self.records, self.kinds, strict=True):
            components = [] if kind is None else names_of_components(kind, name, count)
            plain = components if len(components) == count else [f"{name}{k}" for k in range(count)]
            found += [name] if kind is None else [each.replace(".", "_") for each in plain]
        return tuple(found)

    def condition(self, function: Callable[..., object]) -> Callable[..., object]:
        """The function of all values."""
        return function if self._is_plain else lambda *values: function(*self._arguments(values))

    def body(self, function: Callable[..., object]) -> Callable[..., object]:
        """The function of all values, which returns as many."""
        return function if self._is_plain else lambda *values: self._next(function(*self._arguments(values)))

    def result(self, values: Sequence[object]) -> object:
        """What the loop returns, as the start: one value, a record, a tuple or a named tuple of them."""
        found = values if self._is_plain else [*self._arguments(values)]
        if isinstance(self.start, tuple) and hasattr(self.start, "_fields"):
            return rebuilt(type(self.start), found)
        return tuple(found) if isinstance(self.start, tuple | list) else found[0]

    @property
    def _is_plain(self) -> bool:
        return not any(self.kinds)

    def _arguments(self, values: Sequence[object]) -> Iterator[object]:
        begin = 0
        for count, rebuild in self.records:
            yield rebuild(values[begin : begin + count])
            begin += count

    def _next(self, made: object) -> tuple[object, ...]:
        parts = tuple(made) if isinstance(made, tuple | list) else (made,)
        if len(self.records) == 1 and len(parts) != 1:
            parts = (made,)  # the record itself
        if len(parts) != len(self.records):
            raise TraceError(
                f"the body of {self.what} gives {counted(len(parts), 'value')} of {len(self.records)}",
                advice="Return the next value of each argument, in their order.",
            )
        found: list[object] = []
        for number, (part, (count, _)) in enumerate(zip(parts, self.records, strict=True), 1):
            leaves, _ = leaves_of(part)
            if len(leaves) != count:
                raise TraceError(
                    f"the body of {self.what} gives {counted(len(leaves), 'value')} as its result {number}, of {count}",
                    advice="Return a record of as many components as the first one has.",
                )
            found += leaves
        return tuple(found)


def carried(what: str, start: object) -> Carried:
    """The values of a start: one value or record, or a tuple of them, each of which is an argument of the body."""
    begins = tuple(start) if isinstance(start, tuple | list) else (start,)
    taken = [leaves_of(each) for each in begins]
    kinds = tuple(type(each) if is_record(each) else None for each in begins)
    records = tuple((len(leaves), rebuild) for leaves, rebuild in taken)
    return Carried(what, start, tuple(leaf for leaves, _ in taken for leaf in leaves), records, kinds)


def names_of(body: Callable[..., object], count: int) -> tuple[str, ...]:
    """What the body calls its arguments, where each is one value."""
    try:
        parameters = inspect.signature(body).parameters.values()
    except (TypeError, ValueError):
        parameters = {}.values()  # a function of C
    names = [each.name for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    return tuple(names) if len(names) == count else tuple(f"x{number}" for number in range(count))
