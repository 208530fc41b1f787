"""Independence: groups of parameters that depend on each other, one group after the other; groups are tested.

Spencer's search (2011, section 3.3) over a declared tree, or over single parameters where none is declared. Then pairs
of parameters of different groups are tested for interactions by 2 x 2 points, and groups that interact become one.
"""

from __future__ import annotations

import math
import random
from collections.abc import Container, Generator, Iterable, Mapping
from itertools import combinations, product

from workbench.errors import TuningError
from workbench.tuning.independence import optimise
from workbench.tuning.search_space import Point, SearchSpace
from workbench.tuning.strategies.base import Batches, BatchStrategy, Known, Scores
from workbench.tuning.strategies.parts import Parts
from workbench.tuning.strategies.sweep import ENUMERATED, beginning, best_of, descents, order, rank
from workbench.tuning.trees import VariableTree

INTERACTION = 0.06  # of a sum of four logarithms: three standard deviations if each score has 1 % of noise
_ROUNDS = 4  # of tests in a row that find nothing

Axes = tuple[int, ...]


class Independence(BatchStrategy):
    """A search of groups that counts on their independence, notices where it does not hold, and joins such groups.

    `tree` names the space's parameters; None: that of the space, and where it has none all are independent until a test
    says otherwise. TuningError if the tree
    has other names than the space.
    """

    def __init__(
        self, space: SearchSpace, start: tuple[Point, ...] = (), seed: int = 0, tree: VariableTree | None = None
    ) -> None:
        names = tuple(parameter.name for parameter in space.parameters)
        declared = tree or space.tree or VariableTree((), tuple(VariableTree((name,)) for name in names))
        other = set(names) ^ set(declared.flatten())
        if other:
            raise TuningError(
                f"the tree {declared} and the space differ in {', '.join(sorted(other))}",
                advice="Name each parameter of the space once.",
            )
        parts = Parts(space)
        super().__init__(_search(space, start, random.Random(seed), declared, parts), parts.note)


def _search(
    space: SearchSpace, start: tuple[Point, ...], draw: random.Random, tree: VariableTree, parts: Parts
) -> Batches:
    search = _Search(space, draw, tree, parts)
    yield from beginning(space, start, draw, search.known)
    best = best_of(search.known)
    if best is None:
        return
    search.best = best
    declared = {group for group in search.groups if len(group) > 1}
    tests = nothing = 0
    while nothing < _ROUNDS:
        yield from search.swept()
        yield from search.completed(declared)
        before = search.groups
        yield from search.tested(tests)
        nothing = nothing + 1 if search.groups == before else 0
        tests += 1
    yield from descents(space, draw, search.known, parts)


class _Search:
    """What is known, and the groups so far.

    `fair`: points that passed, each with the parameters in which it differed from the best point of its time: what they
    say of these values holds with other values of the others, as long as these are independent. The value is these
    parameters and, for a point that was better, those in which the next best point differed too: a better one of
    another group has taken its place, and whether its own values are better beside that is not known yet; with it how
    many `moves` there were, from a best point to the next.
    """

    def __init__(self, space: SearchSpace, draw: random.Random, tree: VariableTree, parts: Parts) -> None:
        self.space, self.draw, self.parts = space, draw, parts
        self.axis = {parameter.name: at for at, parameter in enumerate(space.parameters)}
        nodes = (tree,) if tree.variables else tree.children
        self.groups = [self._axes(node) for node in nodes]
        self.nested = {self._axes(node): node for node in nodes if node.children}
        self.trusted = True  # the declared groups
        self.known: Known = {}
        self.fair: dict[tuple[frozenset[int], Point], tuple[frozenset[int], int]] = {}
        self.moves: list[tuple[Point, Point]] = []
        self.best: Point = ()

    def swept(self) -> Batches:
        """One parameter at a time, each group until none of its own improves; groups within parts all at once."""
        first = order(self.space, range(len(self.space.parameters)), self.draw)
        for group in sorted(self.groups, key=lambda group: min(map(first.index, group))):
            if self.parts.axes(self.best).issuperset(group):
                found = yield from self.parts.sweep(self.best, self.known, ENUMERATED)
                if rank(self.known, found) > rank(self.known, self.best):
                    self.best = found
                continue
            improved = True
            while improved:
                before = self.best
                for axis in order(self.space, group, self.draw):
                    tried = self._tried(group)
                    yield from self._measured(
                        [p for p in self.space.line(self.best, axis) if _of(p, group) not in tried]
                    )
                improved = self.best != before and len(group) > 1

    def completed(self, declared: Container[Axes]) -> Batches:
        """The other combinations of each group, those near its best first; again for those that failed elsewhere."""
        before: Point | None = None
        while before != self.best:
            before = self.best
            for group in sorted(self.groups, key=self._size):
                if self.parts.axes(self.best).issuperset(group):
                    continue
                if group in self.nested:
                    yield from self._descended(self.nested[group])
                elif group in declared or self._size(group) <= ENUMERATED:
                    yield from self._enumerated(group)

    def tested(self, number: int) -> Batches:
        """Join groups of which two parameters interact: a second value of each, by itself and together.

        `number` of tests before this one: each takes other second values. Of very many pairs, as many as a sweep takes
        points are drawn. The first interaction between declared groups refutes the tree:
        from then on the groups are what tests have joined.
        """
        base = self.best
        second = {axis: self._second(axis, number) for axis in range(len(base))}
        changed = {axis: _with(base, {axis: value}) for axis, value in second.items() if value is not None}
        yield from self._measured(changed.values())
        apart: list[tuple[int, int]] = []
        together: list[tuple[int, int]] = []
        for pair in combinations(changed, 2):
            (together if self._group(pair[0]) == self._group(pair[1]) else apart).append(pair)
        most = sum(len(parameter.values) for parameter in self.space.parameters)
        found = yield from self._interacting(
            base, changed, self.draw.sample(apart, most) if len(apart) > most else apart
        )
        if found and self.trusted:
            self.trusted = False
            self.nested = {}
            self.groups = [(axis,) for axis in range(len(base))]
            found += yield from self._interacting(base, changed, together)
        for one, other in found:
            self._join(self._group(one), self._group(other))

    def _interacting(
        self, base: Point, changed: Mapping[int, Point], pairs: list[tuple[int, int]]
    ) -> Generator[tuple[Point, ...], Scores, list[tuple[int, int]]]:
        """Those of these pairs whose changes together do not act as the product of what each does."""
        both = {(one, other): _with(changed[one], {other: changed[other][other]}) for one, other in pairs}
        yield from self._measured(both.values())
        found = []
        for (one, other), point in both.items():
            four = [self.known.get(each) for each in (base, point, changed[one], changed[other])]
            logs = [math.log(score) for score in four if score]
            if len(logs) == len(four) and abs(logs[0] + logs[1] - logs[2] - logs[3]) > INTERACTION:
                found.append((one, other))
        return found

    def _descended(self, node: VariableTree) -> Batches:
        """Spencer's search of a subtree from the best point."""
        names = node.flatten()
        values = {name: tuple(map(str, range(len(self.space.parameters[self.axis[name]].values)))) for name in names}
        asking = optimise(node, values, "max")
        base = self.best
        try:
            asked = next(asking)
            while True:
                points = {
                    valuation: _with(
                        base, {self.axis[name]: int(at) for name, at in zip(names, valuation, strict=True)}
                    )
                    for valuation in asked
                }
                yield from self._measured(points.values())
                asked = asking.send({valuation: self.known.get(point) for valuation, point in points.items()})
        except StopIteration:
            return

    def _enumerated(self, group: Axes) -> Batches:
        """All combinations of a group, in the order of their distance from the best one."""
        while True:
            tried = self._tried(group)
            rest = []
            for values in product(*(range(len(self.space.parameters[axis].values)) for axis in group)):
                point = _with(self.best, dict(zip(group, values, strict=True)))
                if values not in tried and point not in self.known and self.space.legal(point):
                    rest.append((self._distance(point), point))
            if not rest:
                return
            nearest = min(rest)[0]
            yield from self._measured([point for distance, point in rest if distance == nearest])

    def _measured(self, points: Iterable[Point]) -> Batches:
        base = self.best
        wanted = tuple(dict.fromkeys(filter(self.space.legal, points)))
        asked = tuple(point for point in wanted if point not in self.known)
        if asked:
            self.known.update((yield asked))
        best = best_of(self.known)
        if best is not None and rank(self.known, best) > rank(self.known, base):
            self.best = best
        moved, before = _changed(base, self.best), len(self.moves)
        self.moves += [(base, self.best)] if moved else []
        for point in wanted:
            if self.known[point] is not None:
                changed = _changed(base, point)
                better = rank(self.known, point) > rank(self.known, base)
                self.fair[changed, point] = changed | moved if better else changed, before

    def _tried(self, group: Axes) -> set[Point]:
        """The combinations of a group of which a score speaks, wherever it was measured."""
        within = frozenset(group)
        doubtful = [number for number, move in enumerate(self.moves, start=1) if not self._is_fair(move, within)]
        since = max(doubtful, default=0)
        rows = ((_of(point, group), *judged) for (_, point), judged in self.fair.items())
        return {values for values, judged, moves in rows if judged <= within and moves >= since} | {
            _of(self.best, group)
        }

    def _is_fair(self, move: tuple[Point, Point], group: frozenset[int]) -> bool:
        """Whether the values of a group became no worse by a move, or stayed, whatever else it changed."""
        base, best = move
        changed = _changed(base, best)
        if not changed & group or changed <= group:
            return True
        alone = _with(base, {axis: best[axis] for axis in group})
        return rank(self.known, alone) >= rank(self.known, base)

    def _second(self, axis: int, number: int) -> int | None:
        """A value other than the best one that passed: the second best first, later ones worse."""
        scores: dict[int, float] = {}
        for changed, point in self.fair:
            if changed <= {axis} and point[axis] != self.best[axis]:
                scores[point[axis]] = rank(self.known, point)
        values = sorted(scores, key=lambda value: -scores[value])
        return values[number % len(values)] if values else None

    def _distance(self, point: Point) -> int:
        """Steps between values that are ordered, 1 for others that differ."""
        rows = zip(self.space.parameters, point, self.best, strict=True)
        return sum(abs(one - other) if parameter.ordered else int(one != other) for parameter, one, other in rows)

    def _axes(self, node: VariableTree) -> Axes:
        return tuple(sorted(self.axis[name] for name in node.flatten()))

    def _size(self, group: Axes) -> int:
        return math.prod(len(self.space.parameters[axis].values) for axis in group)

    def _group(self, axis: int) -> Axes:
        return next(group for group in self.groups if axis in group)

    def _join(self, one: Axes, other: Axes) -> None:
        if one != other:
            rest = [group for group in self.groups if group not in (one, other)]
            self.groups = [*rest, tuple(sorted((*one, *other)))]


def _of(point: Point, group: Axes) -> Point:
    return tuple(point[axis] for axis in group)


def _changed(base: Point, point: Point) -> frozenset[int]:
    """The parameters in which a point differs."""
    return frozenset(at for at, value in enumerate(point) if value != base[at])


def _with(point: Point, values: Mapping[int, int]) -> Point:
    return tuple(values.get(axis, value) for axis, value in enumerate(point))
