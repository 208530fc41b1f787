"""Foreign calls: what a function of arrays lets another library compute between two of its programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from workbench.frontend.axis_table import AnyOrigin
from workbench.frontend.trace import Term
from workbench.graph import Axis, StorageType


@dataclass(frozen=True, slots=True)
class ForeignArgument:
    """What a native is given: a value of the function, or without a term a length of arrays or a constant of the trace.

    name: of the argument of the function that it is, whole and as it is (`is_whole`), or under which a program stores
    it. order: the place of each of its axes among those of the stored array, None for one of one element.
    """

    term: Term | None
    name: str = ""
    is_whole: bool = False
    order: tuple[int | None, ...] = ()
    length: AnyOrigin | None = None
    constant: object = None


@dataclass(frozen=True, slots=True)
class ForeignResult:
    """One array or number that a native returns: the name under which programs read it; no axes for a number."""

    name: str
    type: StorageType
    axes: tuple[Axis, ...]


@dataclass(frozen=True, slots=True)
class ForeignCall:
    """One call of a native. kind: the tuple that it returns, None for one array or number.

    name: of the native. text, line: how and where the function has the call. on_device: whether arrays are CuPy's.
    """

    native: Callable[..., Any]
    name: str
    text: str
    line: int
    on_device: bool
    arguments: tuple[ForeignArgument, ...]
    results: tuple[ForeignResult, ...]
    kind: type | None


@dataclass(slots=True)
class ForeignCalls:
    """Those of one attempt to trace a function.

    backend: for which it is traced, "" for its meaning, which has only fallbacks. natives: the backends for which the
    functions that it calls have a native.
    """

    backend: str = ""
    natives: set[str] = field(default_factory=set)
    calls: list[ForeignCall] = field(default_factory=list)

    def of(self, name: str) -> ForeignCall | None:
        """The call that has a result of this name."""
        return next((call for call in self.calls if any(each.name == name for each in call.results)), None)

    def names(self) -> Iterable[str]:
        """Those of all results."""
        return (each.name for call in self.calls for each in call.results)
