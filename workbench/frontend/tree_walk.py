"""Sums over pairs by a tree: near sources one by one, many far ones together by a few points.

Each target walks through the tree of the sources for itself (semantics §3), in a loop of its own that reads the tree.
Targets are in the order of their cells, so that neighbours read the same nodes. In a turn a target looks at some nodes,
and then takes what the points of one node contribute, or as many sources that lie near.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.errors import TraceError
from workbench.frontend.loops import iterate
from workbench.frontend.node_moments import at, choose, least, point
from workbench.frontend.oct_tree import BITS, OctTree, both, corners, numbers_along, oct_tree, size_along, total_of
from workbench.frontend.pair_formulas import PairFormula
from workbench.frontend.promotion import cast_term
from workbench.frontend.regions import last_sent
from workbench.frontend.sorting import sorted_by
from workbench.frontend.trace import Term, Trace
from workbench.frontend.value import Value, term_of, wrap
from workbench.graph.types import I64

_LOOKS = 3
"""Nodes at which a target looks in a turn, until one acts."""


@dataclass(frozen=True, slots=True)
class Far:
    """How a sum is taken by a tree. theta: the opening angle.

    own: the positions of targets, one term a dimension along one axis; positions, weight: of the sources, along the
    axis of the tree; seen: the same as formulas of a pair read them.
    """

    theta: Term | float
    own: tuple[Term, ...]
    positions: tuple[Term, ...]
    weight: Term
    seen: tuple[Term, ...]

    @property
    def key(self) -> tuple[object, ...]:
        """What tells it apart from others."""
        terms = (*self.own, *self.positions, self.weight, *self.seen)
        return (self.theta.index if isinstance(self.theta, Term) else self.theta, *(term.index for term in terms))


def opening_angle(what: str, tree: object) -> Term | float:
    """The opening angle. Raises TraceError for what is not one number."""
    if isinstance(tree, int | float) and not isinstance(tree, bool) and tree >= 0:
        return float(tree)
    given = term_of(tree) if isinstance(tree, Value) else None
    if given is not None and not given.is_local and given.type.is_float:
        return given
    shown = f"a value along {given.space.axis_names}" if given is not None and given.is_local else repr(tree)
    raise TraceError(
        f"{what}: the opening angle is {shown}, not one number from 0 on", advice="Give a number or a param: tree=0.5."
    )


def need_dimensions(what: str, count: int) -> None:
    """Raise TraceError for positions in a space that no tree divides."""
    if count not in BITS:
        raise TraceError(f"{what}: a tree of {count} positions", advice="Give 1 to 3 of them, or leave tree= out.")


def sums_by_tree(trace: Trace, given: Sequence[tuple[Far, str, Term]]) -> list[Term]:
    """The sums of what pairs contribute, each with how the text calls it; those of one tree by one walk."""
    found: list[Term | None] = [None] * len(given)
    for key in dict.fromkeys(far.key for far, _, _ in given):
        members = [number for number, (far, _, _) in enumerate(given) if far.key == key]
        far = given[members[0]][0]
        formulas = [PairFormula(trace, given[number][1], given[number][2], far.seen) for number in members]
        for number, made in zip(members, _sums(trace, far, formulas), strict=True):
            found[number] = made
    return [each for each in found if each is not None]


def _sums(trace: Trace, far: Far, formulas: Sequence[PairFormula]) -> list[Term]:
    """The sum of each formula over all sources, for each target, of the formula's type."""
    theta = wrap(far.theta) if isinstance(far.theta, Term) else far.theta
    tree = oct_tree(trace, [wrap(x) for x in far.positions], wrap(far.weight), theta)
    units = [tree.cube.units(wrap(x), axis) for axis, x in enumerate(far.own)]
    order = tree.order
    if [x.index for x in far.own] != [x.index for x in far.positions]:
        order = wrap(sorted_by(trace, term_of(tree.cube.keys(units)), len(units) * BITS[len(units)])[1])
    index = numbers_along(trace, far.own[0].space)
    walk = _Walk(trace, far, tree, formulas, order, [at(unit, order) for unit in units])
    start = choose(index < 0, 0, tree.root), walk.nothing()
    _, sums = iterate(walk.turn, while_=walk.goes, start=start, at_most=2**62)
    numbers, sent = (term_of(each).index for each in (index, order))
    keep = last_sent(trace, I64)
    place = wrap(trace.emit(lambda pool: pool.scatter(keep, numbers, numbers, [sent])))
    return [term_of(at(each, place)) for each in sums]


class _Walk:
    """The walk of a target. order: the numbers of targets, in the order in which they stand; units: of their places."""

    def __init__(
        self,
        trace: Trace,
        far: Far,
        tree: OctTree,
        formulas: Sequence[PairFormula],
        order: Value,
        units: Sequence[Value],
    ) -> None:
        self._trace, self._far, self._tree, self._formulas, self._units = trace, far, tree, formulas, units
        self._n = size_along(trace, far.weight.space)
        of_target = dict.fromkeys(index for formula in formulas for index in formula.of_target)
        self._of_target = {index: term_of(at(wrap(Term(trace, index)), order)) for index in of_target}

    def nothing(self) -> tuple[Value, ...]:
        """Sums of nothing."""
        space = self._far.own[0].space
        return tuple(
            wrap(self._trace.emit(lambda pool, f=f: pool.imm(-0.0, f.pair.type, space)))  # type: ignore[misc]  # bound now
            for f in self._formulas
        )

    def goes(self, follows: Value, _: tuple[Value, ...]) -> Value:
        """Whether the target has not come to its end."""
        return follows < 2 * self._n

    def _is_node(self, follows: Value) -> Value:
        return (follows >= self._n) & (follows < 2 * self._n)

    def turn(self, follows: Value, sums: tuple[Value, ...]) -> tuple[Value, tuple[Value, ...]]:
        """What follows after a turn, and the sums."""
        n, tree, found, points = self._n, self._tree, list(sums), corners(len(self._units))
        acts, node, looks = follows < 0, 0 * follows, self._is_node(follows)
        centre = tuple(self._units)
        for _ in range(_LOOKS):
            here = choose(looks, follows - n, 0)
            middle = [at(each, here) for each in tree.centres]
            apart = [each - unit for each, unit in zip(middle, self._units, strict=True)]
            is_far = looks & (total_of([each * each for each in apart]) > at(tree.radius2, here))
            opened, skipped = both(at(tree.links, here))
            follows = choose(looks, choose(is_far, skipped, opened), follows)
            # A condition on what `opened` alone is: gcc 12 has no vectors for one on a choice by conditions.
            looks, acts, node = looks & ~is_far & self._is_node(opened), acts | is_far, choose(is_far, here, node)
            centre = tuple(choose(is_far, new, old) for new, old in zip(middle, centre, strict=True))
        is_near = (follows < n) & ~acts
        place = choose(is_near, follows, 0)
        behind, run = both(at(tree.runs, place))
        follows, run = choose(is_near, behind, follows), choose(acts, len(points), choose(is_near, run, 0))
        weight, factor = at(tree.point_weight, node), [at(each, node) for each in tree.factors]
        for k, t in enumerate(points):
            source, x = least(place + k, n - 1), []
            for axis, (unit, near) in enumerate(zip(point(centre, factor, t), tree.positions, strict=True)):
                x.append(choose(acts, tree.cube.position(unit, axis), at(near, source)))
            given = (*x, choose(acts, weight, at(tree.weights, source)))
            of_source = {
                seen.index: cast_term(term_of(v), seen.type) for seen, v in zip(self._far.seen, given, strict=True)
            }
            for number, formula in enumerate(self._formulas):
                taking = found[number] + wrap(formula.made(self._of_target, of_source))
                found[number] = choose(run > k, taking, found[number])
        return follows, tuple(found)
