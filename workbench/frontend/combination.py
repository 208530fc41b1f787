"""Combination: how elements are combined, by a reduction's name or by a Python function of two numbers or records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import FunctionType
from typing import Any, cast

from workbench.errors import TraceError
from workbench.frontend.operations import apply
from workbench.frontend.records import Record, is_record, packed, record_of, unpacked
from workbench.frontend.regions import region_of
from workbench.frontend.trace import Operand, Term, Trace, current_trace
from workbench.frontend.value import operand, wrap
from workbench.graph import OPERATORS, REDUCTIONS, Imm, Load, Region, StorageType
from workbench.graph.extended_arrays import identity_of
from workbench.graph.extended_numbers import DoubleDouble
from workbench.graph.instructions import Constant
from workbench.graph.operators import accepts, identity
from workbench.graph.rewrite import copy

_FOLDED = {row.operator: name for name, row in REDUCTIONS.items()}
"""The reduction by the name of its operator: "add" is the operator of "sum"."""


@dataclass(frozen=True, slots=True)
class Combination:
    """Elements, how they are combined, and as what: a record of several values, or one value."""

    op: object
    operator: str | Region
    given: Term
    record: Record | None

    def wrapped(self, result: Operand) -> Any:  # noqa: ANN401  # one value, or a record of them
        """The result as the user holds it."""
        return wrap(result) if self.record is None else self.record.wrapped(cast(Term, result))

    def started(self, start: object, result: Operand) -> Any:  # noqa: ANN401  # one value, or a record of them
        """The result, combined once with the start, at the left, if there is one."""
        if start is None:
            return self.wrapped(result)
        if isinstance(self.operator, str):
            return wrap(apply(REDUCTIONS[self.operator].operator, operand(start), result))
        assert callable(self.op)
        made = self.op(start, self.wrapped(result))
        return made if self.record is not None else wrap(operand(made))

    def together(self, left: Term, right: Term) -> Term:
        """Two values of one space, which a fold would combine, as one."""
        if isinstance(self.operator, str):
            made = apply(REDUCTIONS[self.operator].operator, left, right)
            assert isinstance(made, Term)
            return made
        return _inlined(self.operator, left, right)


def combining(op: object, xs: object, identity: object, what: str) -> Combination:
    """How `what` combines the elements of an array or of a record of arrays. TraceError where one does not fit.

    identity: of a function of the user.
    """
    trace = current_trace(what)
    name = _reduction(op, what)
    if is_record(xs):
        if name is not None:
            raise TraceError(
                f"{trace.text_here(what)} by {REDUCTIONS[name].operator} of a record",
                advice="Give a function of two records, and their identity.",
            )
        packed, record = record_of(trace, xs, what)
        return Combination(op, _operator(trace, op, record, identity, what), packed, record)
    given = operand(xs)
    if not isinstance(given, Term) or not (given.order if trace.positions is not None else given.is_local):
        raise TraceError(
            f"{trace.text_here(what)} needs an array, but this is one number",
            advice=f"Leave {what} out, or give it an array.",
        )
    if name is None:
        return Combination(op, _operator(trace, op, given.type, identity, what), given, None)
    named = REDUCTIONS[name].operator
    if not accepts(OPERATORS[named], given.type):
        raise TraceError(f"{what} by {named} does not take {given.type}", advice='Cast the array: astype(xs, "i64").')
    return Combination(op, name, given, None)


def _inlined(region: Region, left: Term, right: Term) -> Term:
    """What the region makes of two Locals, in each of their cells."""
    trace, space = left.trace, left.space
    given = {parameter.name: term.index for parameter, term in zip(region.parameters, (left, right), strict=True)}
    made: list[int] = []
    for node in region.nodes:
        operands = tuple(made[operand] for operand in node.operands)
        match node.instruction:
            case Load(name):
                made.append(given[name])
            case Imm(value):
                made.append(trace.emit(lambda pool, n=node, v=value: pool.imm(v, n.value_type, space)).index)  # type: ignore[misc]  # bound now
            case _:
                made.append(trace.emit(lambda pool, n=node, o=operands: copy(pool, n, o)).index)  # type: ignore[misc]  # bound now
    return Term(trace, made[-1])


def identity_parts(combined: Combination) -> list[bool | int | float]:
    """What leaves the other operand unchanged, a number for each component."""
    operator, type_ = combined.operator, combined.given.type
    if isinstance(operator, Region):
        assert operator.identity is not None
        return list(_flat(operator.identity))
    return [DoubleDouble(*identity_of(operator).item()) if type_.is_record else identity(operator, type_)]


def chosen(combined: Combination, condition: Term, value: Term, *, is_identity: bool) -> Term:
    """The identity where the condition holds, or where it does not, else the value; component by component."""
    trace, space = value.trace, value.space
    count = 1 if combined.record is None else len(combined.record.types)
    parts = []
    for part, number in zip(unpacked(value, count), identity_parts(combined), strict=True):
        none = trace.emit(lambda pool, part=part, number=number: pool.imm(number, part.type, space))  # type: ignore[misc]  # bound now
        yes, no = (none, part) if is_identity else (part, none)
        choice = condition.index, yes.index, no.index
        parts.append(trace.emit(lambda pool, choice=choice: pool.arith("select", *choice)))  # type: ignore[misc]  # bound now
    return packed(trace, parts)


def _operator(trace: Trace, op: object, kind: StorageType | Record, identity: object, what: str) -> Region:
    """A Python function as an operator."""
    assert callable(op)
    if identity is None:
        raise TraceError(
            f"{trace.text_here(what)}: no identity is given for {getattr(op, '__name__', op)}",
            advice="Write identity=..., the number that leaves the other unchanged: 0 of a sum, 1 of a product.",
        )
    return region_of(trace, op, kind, identity)


def _reduction(op: object, what: str) -> str | None:
    """The reduction of an operator: a name, or a function of the language or of NumPy; None for one of the user."""
    found = reduction_of(op)
    if found is None and not _is_of_user(op):
        named = op if isinstance(op, str) else getattr(op, "__name__", None)
        shown = named if isinstance(named, str) else repr(op)
        known = ", ".join(sorted(_FOLDED))
        raise TraceError(f"{what} by {shown}", advice=f"Use one of {known}, or a Python function of two elements.")
    return found


def reduction_of(op: object) -> str | None:
    """The reduction by the name of its operator, or by a function of the language or of NumPy; None for all else."""
    named = op if isinstance(op, str) else getattr(op, "__name__", None)
    return _FOLDED.get(named) if isinstance(named, str) and not _is_of_user(op) else None


def _is_of_user(op: object) -> bool:
    return isinstance(op, FunctionType) and op.__module__ != "workbench.frontend.language"


def _flat(value: Constant) -> Iterator[bool | int | float]:
    """The components of a constant, which is a pair of the first and of the others."""
    while isinstance(value, tuple):
        yield value[0]
        value = value[1]
    yield value
