"""Moments of nodes: weight, centre and covariance of the particles of each, and points that have the same moments.

A node of weight M, centre c and covariance C = L L^T acts as points of equal weights at c + L t: with unit points t
whose mean is 0 and whose mean of t t^T is 1, moments up to the second are those of the particles, whatever the formula
of a pair is (Makino 1999).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.frontend.operations import where
from workbench.frontend.value import Value, binary, operand, term_of, unary, wrap


def at(array: Value, place: Value) -> Value:
    """The elements at these places."""
    values, index = term_of(array), term_of(place).index
    return wrap(values.trace.emit(lambda pool: pool.gather(values.index, [index])))


def choose(condition: Value, yes: object, no: object) -> Value:
    """One or the other, by a condition."""
    return wrap(where(term_of(condition), operand(yes), operand(no)))


def least(a: Value, b: object) -> Value:
    """The smaller one."""
    return binary("minimum", a, b)


def most(a: Value, b: object) -> Value:
    """The larger one."""
    return binary("maximum", a, b)


def point(centre: Sequence[Value], factors: Sequence[Value], t: Sequence[int]) -> list[Value]:
    """The point c + L t, for L row by row and t of 1 and -1."""
    found: list[Value] = []
    rest = list(factors)
    for middle in centre:
        place = middle
        for sign in t[: len(found) + 1]:
            factor = rest.pop(0)
            place = place + factor if sign > 0 else place - factor
        found.append(place)
    return found


@dataclass(frozen=True, slots=True)
class Moments:
    """Moments of nodes. weight: dd. are_mixed: whether weights have both signs, so that no centre lies among them.

    centres: in units of the cube, f64. factors: the lower triangle L of the covariance C = L L^T, row by row, f64.
    """

    weight: Value
    are_mixed: Value
    centres: tuple[Value, ...]
    factors: tuple[Value, ...]


def moments_of(units: Sequence[Value], weights: Value, begin: Value, end: Value) -> Moments:
    """Return the moments of nodes, each the difference of two sums of all particles up to a place.

    The sums are taken in dd: 106 bits leave enough of small nodes. units: positions of particles, in units of their
    cube; begin, end: the first and the last place of each node.
    """

    def together(each: Value) -> Value:
        term = term_of(each)
        sums = wrap(term.trace.emit(lambda pool: pool.scan("sum", term.index, 0)))
        return at(sums, end) - choose(begin > 0, at(sums, most(begin - 1, 0)), 0)

    wide = weights.astype("dd")
    first = [wide * unit.astype("dd") for unit in units]
    weight, above, below = map(together, (wide, choose(weights > 0, 1, 0), choose(weights < 0, 1, 0)))
    divisor = choose(weight == 0, 1, weight)  # what has no weight has a centre too, and acts from afar as nothing
    places = [at(unit, begin).astype("dd") for unit in units]
    middle = [choose(weight == 0, x, together(each) / divisor) for x, each in zip(places, first, strict=True)]
    found: dict[tuple[int, int], Value] = {}
    for a in range(len(units)):
        for b in range(a + 1):
            mean = together(first[a] * units[b].astype("dd")) / divisor
            rest = (mean - middle[a] * middle[b]).astype("f64")
            for c in range(b):
                rest = rest - found[a, c] * found[b, c]
            if a == b:  # rounding may make it negative where all particles lie in a line or plane
                found[a, b] = unary("sqrt", most(rest, 0.0))
            else:
                found[a, b] = choose(found[b, b] > 0, rest / found[b, b], 0.0)
    return Moments(
        weight, (above > 0) & (below > 0), tuple(each.astype("f64") for each in middle), tuple(found.values())
    )
