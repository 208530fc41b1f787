"""Field tuple: what `fields` and its like give, a tuple that says so where one of its values is meant."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn, SupportsIndex, TypeVar

from workbench.errors import TraceError
from workbench.frontend.misuse import signed_subscript
from workbench.frontend.trace import text_here

_BINARY = ["sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor", "lshift", "rshift"]
_OTHERS = ["radd", "neg", "pos", "abs", "invert", "lt", "le", "gt", "ge", "eq", "ne", "call", "array_ufunc"]


_T = TypeVar("_T")


class FieldTuple(tuple[_T, ...]):
    """Several fields, to be unpacked. A formula with the tuple itself is an error that says how to unpack it.

    A plain tuple would multiply: 2 * fields("u") is a tuple of two, and Python's own messages speak of tuples only.
    word: what has declared them.
    """

    def __new__(cls, values: Iterable[_T], word: str = "fields") -> FieldTuple[_T]:
        """The values, in order."""
        made = super().__new__(cls, values)
        made._word = word
        return made

    _word: str

    def explained(self) -> TraceError:
        """The error for the tuple where one value is meant."""
        if self._word != "fields":
            return TraceError(
                f"{text_here('this name')}: {self._word}(...) gives a tuple, and one of its values is meant",
                advice=f'Unpack it, with a comma also where it is one: name, = {self._word}("x").',
            )
        names = [str(getattr(value, "_static", "")) for value in self]
        some = "one field" if len(names) == 1 else f"{len(names)} fields"
        advice = f'Write {", ".join(names)} = fields("{" ".join(names)}", ...).'
        if len(names) == 1:
            advice = f'Write {names[0]} = field("{names[0]}", ...): fields always gives a tuple.'
        return TraceError(
            f"{text_here('this name')} uses a tuple of {some}, which fields(...) returns, as a field", advice=advice
        )

    def _refuse(self, *arguments: object, **options: object) -> NoReturn:
        raise self.explained()

    def __add__(self, other: object) -> tuple[Any, ...]:
        if isinstance(other, tuple):
            return (*self, *other)
        raise self.explained()

    next = property(_refuse, _refuse)
    at = astype = property(_refuse)

    def __setitem__(self, key: SupportsIndex, value: object) -> None:
        """Take back what `bins[k] += value` gives: the same total. Raises TraceError for all else."""
        kept = self[key]
        if value is kept:
            return
        if isinstance(key, slice):
            raise self.explained()
        text, static = text_here("this name"), getattr(kept, "_static", "")
        advice = f"Write {text} += value." if self._word == "totals" else f"Give it a name: {static or 'v'} = value."
        if self._word in ("fields", "particles", "scalars"):
            advice = f"Write {text}.next = value for the new value of {static}."
        raise TraceError(f"{text} is one of {self._word}(...), and no other value takes its place", advice=advice)

    def __getitem__(self, key: SupportsIndex | slice) -> _T | tuple[_T, ...]:  # type: ignore[override]
        beyond = isinstance(key, int) and not -len(self) <= key < len(self)
        if beyond or isinstance(key, tuple) or signed_subscript(text_here("")):
            raise self.explained()
        return tuple.__getitem__(self, key)


for _name in (*_OTHERS, *_BINARY, *(f"r{name}" for name in _BINARY)):
    setattr(FieldTuple, f"__{_name}__", FieldTuple._refuse)
