"""Records: tuples, named tuples and data classes of arrays as the elements that folds, scans and segments combine.

In the graph a record is a pair of its first component and of the others, made where it is combined and taken apart
behind; a program keeps one array a component.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, is_dataclass

from workbench.errors import TraceError
from workbench.frontend.operations import check_storable, where
from workbench.frontend.promotion import cast_term, constant, meet, meeting_space, number_type, spread
from workbench.frontend.structures import components_of, rebuilt
from workbench.frontend.tensors import Tensor
from workbench.frontend.trace import Number, Operand, Term, Trace
from workbench.frontend.value import operand, wrap
from workbench.graph import GLOBAL, StorageType
from workbench.graph.instructions import Constant
from workbench.graph.types import DD, pair_of

Rebuild = Callable[[Sequence[object]], object]


@dataclass(frozen=True, slots=True)
class Record:
    """How a record is put together: the types of its components, the first one first, and what makes it of them."""

    types: tuple[StorageType, ...]
    rebuild: Rebuild

    @property
    def type(self) -> StorageType:
        """The type of the pairs that it is in the graph."""
        *others, type_ = self.types
        for each in reversed(others):
            type_ = pair_of(each, type_)
        return type_

    def wrapped(self, term: Term) -> object:
        """The record of values that the user holds."""
        return self.rebuild([wrap(part) for part in unpacked(term, len(self.types))])

    def numbers(self, trace: Trace, value: object, text: str) -> Constant:
        """A record of numbers, such as an identity, as a constant. Raises TraceError for another structure."""
        found, _ = leaves_of(value)
        parts = [operand(each) for each in found]
        if any(isinstance(each, Term) for each in parts):
            raise TraceError(f"{text}: identity is computed in the program", advice="Write the number: identity=0.0.")
        if len(parts) != len(self.types):
            raise TraceError(
                f"{text}: identity is {value!r}, but the elements have {len(self.types)} components",
                advice=f"Give as many numbers: identity=({', '.join('0' * len(self.types))}).",
            )
        exact = [_exact(trace, number, type_) for number, type_ in zip(parts, self.types, strict=True)]
        made: Constant = exact[-1]
        others = exact[:-1]
        for each in reversed(others):
            made = (each, made)
        return made

    def result(self, trace: Trace, value: object, text: str) -> Term:
        """What a function of records returns, as one of this kind. Raises TraceError for another structure."""
        found, _ = leaves_of(value)
        if len(found) != len(self.types):
            raise TraceError(
                f"{text}: the function returns {len(found)} value{'s' * (len(found) != 1)} for {len(self.types)}",
                advice="Return as many as an element has, in their order.",
            )
        parts = []
        for each, type_ in zip(map(operand, found), self.types, strict=True):
            if isinstance(each, Term):
                check_storable(trace, "the result", type_, each.type, written=text)
                parts.append(cast_term(each, type_))
            else:
                parts.append(constant(trace, each, type_, GLOBAL))
        return packed(trace, parts)


def is_record(value: object) -> bool:
    """Whether a value is a tuple, named tuple or data class of values."""
    if isinstance(value, Tensor):
        return False
    return isinstance(value, tuple | list) or (is_dataclass(value) and not isinstance(value, type))


def leaves_of(value: object) -> tuple[list[object], Rebuild]:
    """The components of a record, those of records inside it too, and what puts others in their places."""
    if not is_record(value):
        return [value], lambda parts: parts[0]
    inner = value if isinstance(value, tuple | list) else components_of(value)
    found = [leaves_of(each) for each in inner]
    counts = [len(leaves) for leaves, _ in found]

    def rebuild(parts: Sequence[object]) -> object:
        places = [sum(counts[:k]) for k in range(len(counts))]
        inside = [put(parts[p : p + n]) for (_, put), p, n in zip(found, places, counts, strict=True)]
        return rebuilt(type(value), inside)

    return [leaf for leaves, _ in found for leaf in leaves], rebuild


def chosen_record(condition: Operand, yes: object, no: object) -> object:
    """The record of where(condition, a, b) of each component. Raises TraceError where there are not as many."""
    (mine, rebuild), (others, _) = leaves_of(yes), leaves_of(no)
    if len(mine) != len(others):
        raise TraceError(
            f"where chooses between a record of {len(mine)} and one of {len(others)}", advice="Give as many of both."
        )
    return rebuild([wrap(where(condition, operand(a), operand(b))) for a, b in zip(mine, others, strict=True)])


def record_of(trace: Trace, value: object, what: str) -> tuple[Term, Record]:
    """The record as one value, and how it is taken apart. Components meet as operands do; numbers are everywhere."""
    found, rebuild = leaves_of(value)
    text = trace.text_here(what)
    if not found:
        raise TraceError(f"{text}: a record without components", advice="Give it an array.")
    given, order = meet([operand(each) for each in found])
    space = meeting_space(trace, given)
    if space.is_global and not order:
        raise TraceError(f"{text} needs arrays, but these are numbers", advice=f"Leave {what} out, or give an array.")
    types = tuple(each.type if isinstance(each, Term) else number_type(trace, each) for each in given)
    if DD in types:
        raise TraceError(f"{text}: a component of a record is dd", advice="Combine values of type dd by themselves.")
    terms = [
        spread(each, space) if isinstance(each, Term) else constant(trace, each, type_, space)
        for each, type_ in zip(given, types, strict=True)
    ]
    return packed(trace, terms).in_order(order), Record(types, rebuild)


def packed(trace: Trace, terms: Sequence[Term]) -> Term:
    """The components, of one space, as one value."""
    *others, made = terms
    for each in reversed(others):
        left, right = each.index, made.index
        made = trace.emit(lambda pool, left=left, right=right: pool.arith("pair", left, right))  # type: ignore[misc]  # bound now
    return made


def unpacked(term: Term, count: int) -> list[Term]:
    """The components of a value."""
    found: list[Term] = []
    for _ in range(count - 1):
        inner = term.index
        found.append(term.trace.emit(lambda pool, inner=inner: pool.arith("first", inner)).in_order(term.order))  # type: ignore[misc]  # bound now
        term = term.trace.emit(lambda pool, inner=inner: pool.arith("second", inner)).in_order(term.order)  # type: ignore[misc]  # bound now
    return [*found, term]


def _exact(trace: Trace, number: Operand, type_: StorageType) -> Number:
    assert not isinstance(number, Term)
    made: Number = getattr(constant(trace, number, type_, GLOBAL).node.instruction, "value")  # noqa: B009  # an Imm
    return made
