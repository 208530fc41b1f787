"""Predicate: the condition of sim.run(until=...) as comparisons of scalars with numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NoReturn

import numpy as np

from workbench.errors import TraceError
from workbench.graph import Graph

Sign = Literal["<", "<=", ">", ">=", "==", "!="]
_ADVICE = "Write comparisons of a scalar with a number, joined by &: lambda s: (s.residual < 1e-6) & (s.time > 1)."


@dataclass(frozen=True, slots=True)
class Comparison:
    """`scalar sign value`, asked after each whole step."""

    scalar: str
    sign: Sign
    value: float


@dataclass(frozen=True, slots=True, eq=False)
class _Joined:
    """Comparisons that must all hold."""

    comparisons: tuple[Comparison, ...]

    def __and__(self, other: object) -> _Joined:
        if not isinstance(other, _Joined):
            raise TraceError(f"& joins comparisons, not {other!r}", advice=_ADVICE)
        return _Joined(self.comparisons + other.comparisons)

    def __or__(self, other: object) -> NoReturn:
        raise TraceError("a run cannot end when one of several conditions holds: | is not supported", advice=_ADVICE)

    def __invert__(self) -> NoReturn:
        raise TraceError("~ is not supported in until", advice="Turn the comparison round: >= instead of ~(... < ...).")

    def __bool__(self) -> bool:
        raise TraceError("and, or, not, if and chained comparisons need one true or false", advice=_ADVICE)


class _Scalar:
    """A scalar inside the predicate: it can be compared with a number and nothing else."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def _compare(self, sign: Sign, value: object) -> _Joined:
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, bool | int | float):
            return _Joined((Comparison(self._name, sign, float(value)),))
        shown = f"s.{value._name}" if isinstance(value, _Scalar) else repr(value)
        raise TraceError(
            f"s.{self._name} is compared with {shown}, but until takes numbers on the other side",
            advice=f"Store the difference in a scalar of the cell and compare that. {_ADVICE}",
        )

    def __lt__(self, other: object) -> _Joined:
        return self._compare("<", other)

    def __le__(self, other: object) -> _Joined:
        return self._compare("<=", other)

    def __gt__(self, other: object) -> _Joined:
        return self._compare(">", other)

    def __ge__(self, other: object) -> _Joined:
        return self._compare(">=", other)

    def __eq__(self, other: object) -> _Joined:  # type: ignore[override]  # a comparison to be made later
        return self._compare("==", other)

    def __ne__(self, other: object) -> _Joined:  # type: ignore[override]  # a comparison to be made later
        return self._compare("!=", other)

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise TraceError(f"s.{self._name} is used as true or false", advice=_ADVICE)

    def _refuse(self, *_: object) -> NoReturn:
        raise TraceError(
            f"s.{self._name} is used in a formula, but until compares scalars as they are",
            advice="Compute the formula in the cell, store it in a scalar, and compare that.",
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refuse
    __pow__ = __rpow__ = __mod__ = __neg__ = __abs__ = __float__ = __int__ = __array__ = _refuse


class _State:
    """What the predicate gets: the scalars as attributes."""

    __slots__ = ("_graph",)

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def __getattr__(self, name: str) -> _Scalar:
        roles = {s.name: s.role for s in self._graph.statics}
        if roles.get(name) == "scalar":
            return _Scalar(name)
        if name in roles:
            kind = "a field, which has one value per cell" if roles[name] == "field" else "a param, which never changes"
            raise TraceError(
                f"s.{name} is {kind}", advice="Compare a scalar: in the cell, s.next = reduce_max(...) or the like."
            )
        known = ", ".join(s.name for s in self._graph.scalars) or "none"
        raise TraceError(
            f"the machine {self._graph.name} has no scalar {name!r}; its scalars: {known}",
            advice="Declare it in the cell and store it: scalar(...), then .next = reduce_max(...).",
        )

    def __getitem__(self, name: str) -> _Scalar:
        return self.__getattr__(name)


def trace_predicate(graph: Graph, function: Callable[..., object]) -> tuple[Comparison, ...]:
    """Call `function` once with a stand-in for the simulation; all comparisons returned must hold to end the run.

    Supported are comparisons of a scalar with a number, joined by &. Raises TraceError for everything else.
    """
    result = function(_State(graph))
    if not isinstance(result, _Joined):
        raise TraceError(f"the until function returns {result!r}, not a comparison", advice=_ADVICE)
    return result.comparisons
