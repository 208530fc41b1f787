"""Independence: the optimum of a tree of variables by few evaluations (Spencer 2011, sections 3.3 and 3.4)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from workbench.tuning.search_space import Point
from workbench.tuning.trees import VariableTree

Valuation = tuple[str, ...]
"""A value for each variable of the whole tree, in the order of `VariableTree.flatten`."""

Goal = Literal["min", "max"]
Asking = Generator[tuple[Valuation, ...], Mapping[Valuation, float | None], "Optimum | None"]
"""Yields valuations that do not depend on each other's scores, none of them twice; is sent the score of each."""


@dataclass(frozen=True, slots=True)
class Optimum:
    """The best valuation and its score."""

    valuation: Valuation
    score: float


def optimise(tree: VariableTree, values: Mapping[str, tuple[str, ...]], goal: Goal = "min") -> Asking:
    """Ask for evaluations until the optimum is known; returns it, or None if no evaluation passed.

    The optimum is exact if sibling subtrees are independent and no test fails; a complete tree of k children a node, p
    values a node and height h takes at most p (pk)^h evaluations. A score of None is a failed test: its valuation is
    left out and nothing else. Where every valuation of one child fails, its siblings are tried before the parent's
    value is given up, because the arbitrary value of a sibling may be the cause.
    """
    search = _Search(tree.flatten(), values, goal)
    start = {name: values[name][0] for name in tree.flatten()}
    found = yield from search.node(tree, start)
    return None if found is None else Optimum(search.whole(found[0]), found[1])


def exhaust(tree: VariableTree, values: Mapping[str, tuple[str, ...]], goal: Goal = "min") -> Asking:
    """The same by trying everything: what a flat list of all variables means."""
    return (yield from optimise(VariableTree(tree.flatten()), values, goal))


def allowed(asking: Asking, legal: Callable[[Valuation], bool]) -> Asking:
    """The same search where some valuations are none to test: they are not measured, and count as failed."""
    try:
        asked = next(asking)
        while True:
            tested = tuple(filter(legal, asked))
            scores: Mapping[Valuation, float | None] = (yield tested) if tested else {}
            asked = asking.send({valuation: scores.get(valuation) for valuation in asked})
    except StopIteration as end:
        found: Optimum | None = end.value
        return found


def evaluations(asking: Asking, evaluate: Callable[[Valuation], float | None]) -> tuple[Optimum | None, int]:
    """Run a search to its end with a function of one valuation; the optimum and how many evaluations it took."""
    count = 0
    try:
        asked = next(asking)
        while True:
            count += len(asked)
            asked = asking.send({valuation: evaluate(valuation) for valuation in asked})
    except StopIteration as end:
        return end.value, count


def as_batches(
    asking: Asking, lists: Sequence[tuple[str, ...]], ended: Callable[[Optimum | None], None]
) -> Generator[tuple[Point, ...], Mapping[Point, float | None], None]:
    """The same search over points: indices into `lists`, the values of each variable. `ended` is told the optimum."""
    try:
        asked = next(asking)
        while True:
            scores = yield tuple(point_of(valuation, lists) for valuation in asked)
            asked = asking.send({valuation: scores[point_of(valuation, lists)] for valuation in asked})
    except StopIteration as end:
        ended(end.value)


def point_of(valuation: Valuation, lists: Sequence[tuple[str, ...]]) -> Point:
    """The indices of values in their lists."""
    return tuple(values.index(value) for value, values in zip(valuation, lists, strict=True))


def valuation_of(point: Point, lists: Sequence[tuple[str, ...]]) -> Valuation:
    """The values at these indices."""
    return tuple(values[at] for at, values in zip(point, lists, strict=True))


_Result = TypeVar("_Result")
_Steps = Generator[tuple[Valuation, ...], Mapping[Valuation, float | None], _Result]
_Found = tuple[dict[str, str], float]  # values of all variables, and their score


@dataclass(slots=True)
class _Search:
    """What the recursion shares: the order of the variables, and each score that is known."""

    names: tuple[str, ...]
    values: Mapping[str, tuple[str, ...]]
    goal: Goal
    scores: dict[Valuation, float | None] = field(default_factory=dict)

    def whole(self, valued: Mapping[str, str]) -> Valuation:
        return tuple(valued[name] for name in self.names)

    def node(self, tree: VariableTree, presets: Mapping[str, str]) -> _Steps[_Found | None]:
        """The best values of the subtree's variables while all others are as in `presets`."""
        if not tree.children:
            return (yield from self._leaf(tree, presets))
        best: _Found | None = None
        for own in self._combinations(tree.variables):
            found = yield from self._children(tree, {**presets, **own})
            best = self._better(best, found)
        return best

    def _leaf(self, tree: VariableTree, presets: Mapping[str, str]) -> _Steps[_Found | None]:
        candidates = [{**presets, **own} for own in self._combinations(tree.variables)]
        yield from self._ask(candidates)
        best: _Found | None = None
        for candidate in candidates:
            best = self._better(best, self._known(candidate))
        return best

    def _children(self, tree: VariableTree, presets: Mapping[str, str]) -> _Steps[_Found | None]:
        """All children at their best, one after the other, each with the best of those before it."""
        current = dict(presets)
        pending = list(tree.children)
        while pending:
            failed = []
            for child in pending:
                found = yield from self.node(child, current)
                if found is None:
                    failed.append(child)
                else:
                    current = found[0]
            if len(failed) == len(pending):
                return None
            pending = failed
        yield from self._ask([current])
        return self._known(current)

    def _ask(self, candidates: list[dict[str, str]]) -> _Steps[None]:
        new = tuple(dict.fromkeys(v for v in map(self.whole, candidates) if v not in self.scores))
        if new:
            self.scores.update((yield new))

    def _known(self, candidate: dict[str, str]) -> _Found | None:
        score = self.scores[self.whole(candidate)]
        return None if score is None else (candidate, score)

    def _better(self, best: _Found | None, found: _Found | None) -> _Found | None:
        """The better one; of equals the one that was found first."""
        if best is None or found is None:
            return best or found
        better = found[1] < best[1] if self.goal == "min" else found[1] > best[1]
        return found if better else best

    def _combinations(self, variables: tuple[str, ...]) -> Iterator[dict[str, str]]:
        """Every valuation of these variables; one empty valuation where there are none."""
        for combination in itertools.product(*(self.values[name] for name in variables)):
            yield dict(zip(variables, combination, strict=True))
