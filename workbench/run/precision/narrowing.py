"""Narrowing: the narrowest types that hold a bound, found by trying them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from workbench.graph import Graph, Load
from workbench.planning.choices import EVERY, Meaning
from workbench.planning.retype import SOURCE, members_of, precision_of, retype_as
from workbench.run.precision.report import Narrowing

_LADDER = ("f32", "f64", "dd")


def narrow(graph: Graph, bound: float, measured: Callable[[Graph], float]) -> Narrowing | None:
    """Return types under which the error of all results stays within the bound, None if dd for all values breaks it.

    graph: in the types that the cell declares. measured: the error of a graph in other types. First the narrowest type
    is found that does for all values. Names then take a narrower one, as many as may: all at once, or else by halves.
    """

    def error(every: str, types: Mapping[str, str]) -> float:
        meaning = Meaning(precision=((EVERY, every), *types.items()))
        return measured(retype_as(graph, precision_of(graph, meaning)))

    everything = next((type_ for type_ in _LADDER if error(type_, {}) <= bound), None)
    if everything is None:
        return None
    types: dict[str, str] = {}
    names = candidates(graph)
    for type_ in reversed(_LADDER[: _LADDER.index(everything)]):
        allowed = _narrowed(names, lambda some: error(everything, types | dict.fromkeys(some, type_)) <= bound)  # noqa: B023  # called in this turn of the loop
        types |= dict.fromkeys(allowed, type_)
        names = [name for name in names if name in allowed]
    return Narrowing(everything, types, error(everything, types))


def candidates(graph: Graph) -> list[str]:
    """Names of floats, each once: statics, those of both sides of pairs as one, then values that are computed."""
    statics = [s.name.removesuffix(SOURCE) for s in graph.declared if s.type.is_float]
    values = [
        name
        for kernel in graph.kernels
        for node in kernel.nodes
        if node.type is not None and node.type.is_float and not isinstance(node.instruction, Load)
        for name in node.names
    ]
    known: set[tuple[str, ...]] = set()
    found = []
    for name in dict.fromkeys((*statics, *values)):
        members = members_of(graph, name)
        if members not in known:
            known.add(members)
            found.append(name)
    return found


def _narrowed(names: Sequence[str], holds: Callable[[Sequence[str]], bool]) -> list[str]:
    """As many names as `holds` allows together; each group that it refuses is divided."""
    allowed: list[str] = []
    waiting = [list(names)] if names else []
    while waiting:
        group = waiting.pop()
        if holds([*allowed, *group]):
            allowed += group
        elif len(group) > 1:
            half = len(group) // 2
            waiting += [group[half:], group[:half]]
    return allowed
