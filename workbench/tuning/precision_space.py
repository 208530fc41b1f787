"""Precision space: the types of named values, as choices of a search under a bound for the error of results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from workbench.graph import Graph
from workbench.planning.choices import Choices, PlanChoices
from workbench.planning.precision import with_types
from workbench.planning.retype import members_of, retype
from workbench.planning.simplify import simplify
from workbench.planning.transfer import carry
from workbench.run.precision.narrowing import candidates
from workbench.tuning.ties import Tie

SECTION = "precision"
"""Stands for all types, in `only`, `fixed` and trees."""

PREFIX = "precision of "
"""Before the name of a value, in the name of the choice of its type."""

_LADDER = ("f32", "f64", "dd")
_FINE = 2.0**-50  # bounds below it are for dd
_KEPT = 64  # graphs in other types


@dataclass(frozen=True, slots=True)
class TypeRow:
    """The type of one named value. types: what is tried, narrow ones first; here: its own."""

    value: str
    types: tuple[str, ...]
    here: str
    section: str = "P"
    key: str = ""

    @property
    def name(self) -> str:
        """As the study calls it."""
        return f"{PREFIX}{self.value}"


def type_rows(graph: Graph, choices: Choices, bound: float) -> tuple[TypeRow, ...]:
    """Each named float of a program; dd is tried where the program has it already, or the bound needs it.

    A name whose members have several types is left as it is.
    """
    typed = retype(graph, choices.meaning)
    own = {name: _types_of(typed, graph, name) for name in candidates(graph)}
    with_dd = bound < _FINE or any("dd" in types for types in own.values())
    ladder = _LADDER if with_dd else _LADDER[:-1]
    return tuple(TypeRow(name, ladder, *types) for name, types in own.items() if len(types) == 1)


def tie_of(first: int, rows: Sequence[TypeRow]) -> tuple[Tie, ...]:
    """All types may be set to one at once. first: the number of the first of them in the space."""
    return (tuple(range(first, first + len(rows))),) if len(rows) > 1 else ()


class Retyped:
    """Choices of one program's plan, carried over to the same program in other types."""

    def __init__(self, graph: Graph, base: Choices) -> None:
        """base: choices that the plan's are of, by the keys that values have in its own types."""
        self._graph, self._base = graph, base
        self._simplified = lru_cache(maxsize=_KEPT)(self._simplify)

    def choices(self, plan: PlanChoices, types: Mapping[str, str]) -> Choices:
        """The choices with these types by name; keys of values are those that they have then.

        Raises PlanError for a program that cannot have these types.
        """
        if not types:
            return replace(self._base, plan=plan)
        meaning = with_types(self._graph, self._base.meaning, "", types)
        changed = replace(self._base, meaning=meaning)
        return replace(changed, plan=carry(plan, self._simplified(self._base), self._simplified(changed)))

    def _simplify(self, choices: Choices) -> Graph:
        return simplify(retype(self._graph, choices.meaning))


def _types_of(typed: Graph, graph: Graph, name: str) -> tuple[str, ...]:
    members = set(members_of(graph, name))
    found = [s.type.name for s in typed.statics if s.name in members]
    found += [n.value_type.name for k in typed.kernels for n in k.nodes if n.type is not None and members & {*n.names}]
    return tuple(dict.fromkeys(found))
