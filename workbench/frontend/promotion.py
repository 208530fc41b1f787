"""Promotion: one type and one space for operands that meet (semantics §2)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

import numpy as np

from workbench.errors import TraceError
from workbench.frontend.trace import Number, Operand, Term, Trace
from workbench.graph import (
    GLOBAL,
    Arith,
    Axis,
    Broadcast,
    Imm,
    KernelBuilder,
    Replicate,
    Space,
    StorageType,
    storage_type,
)
from workbench.graph.rewrite import copy
from workbench.graph.types import BOOL, F64, I64


def cast_term(term: Term, type_: StorageType) -> Term:
    """The term in another type; in its own it is returned as it is."""
    if term.type == type_:
        return term
    return term.trace.emit(lambda pool: pool.cast(term.index, type_)).in_order(term.order)


def spread(term: Term, space: Space) -> Term:
    """The term in every cell of `space`, which has all axes of a Local."""
    if term.space == space:
        return term
    if _is_one_element(term):
        term = number_of(term)
    if term.is_local:
        return term.trace.emit(lambda pool: pool.replicate(term.index, space))
    return term.trace.emit(lambda pool: pool.broadcast(term.index, space))


def _is_one_element(term: Term) -> bool:
    """Whether it is an array of one element along no axis by position, such as x[3]."""
    return term.is_local and term.order is not None and not any(term.order)


def number_of(term: Term) -> Term:
    """The value as a number of the program where it is x[3], else as it is."""
    if not _is_one_element(term):
        return term
    return term.trace.emit(lambda pool: only_element(pool, term.index)).in_order(term.order)


def only_element(pool: KernelBuilder, value: int) -> int:
    """The node of the one element of a Local, a Global; where an array is read the largest, or whether any holds."""
    made: dict[int, int] = {}
    for index in pool.needed([value], lambda index: pool.node(index).operands if pool.node(index).is_local else ()):
        node = pool.node(index)
        match node.instruction:
            case _ if not node.is_local:
                made[index] = index
            case Broadcast() | Replicate():
                made[index] = made[node.operands[0]]
            case Imm() | Arith():
                made[index] = copy(pool, replace(node, space=GLOBAL), tuple(made[o] for o in node.operands))
            case _:
                return pool.reduce("any" if pool.node(value).type == BOOL else "max", value)
    return made[value]


Order = tuple[Axis | None, ...] | None


def meet(operands: Sequence[Operand]) -> tuple[Sequence[Operand], Order]:
    """The operands of a function of arrays along axes that agree by position, and those; of a cell as they are."""
    found = next((o.trace.positions for o in operands if isinstance(o, Term)), None)
    return (operands, None) if found is None else found.meet(operands)


def without_ones(given: Operand) -> Operand:
    """A first value of a loop without axes of one element, along which turns may make more; of a cell as it is."""
    if not isinstance(given, Term) or given.trace.positions is None:
        return given
    return given.trace.positions.without_ones(given)


def meeting_space(trace: Trace, operands: Sequence[Operand]) -> Space:
    """The space in which the operands meet: all axes of the Locals in the machine's order; without Locals, Global.

    x[3] is a number there, unless nothing else has an axis.
    """
    terms = [o for o in operands if isinstance(o, Term)]
    arrays = [term for term in terms if not _is_one_element(term)]
    used = {axis for term in arrays for axis in term.space.axes} or {axis for term in terms for axis in term.space.axes}
    return Space(tuple(axis for axis in trace.space.axes if axis in used)) if used else GLOBAL


def constant(trace: Trace, value: Number, type_: StorageType, space: Space) -> Term:
    """A Python number as a constant of this type. Floats round to it; integers must fit."""
    if type_ == BOOL:
        if not isinstance(value, bool):
            raise TraceError(f"{value!r} is not true or false", advice="Write True or False, or compare: x > 0.")
    elif type_.is_integer:
        low, high = (
            (0, 2**type_.bits - 1) if type_.kind == "uint" else (-(2 ** (type_.bits - 1)), 2 ** (type_.bits - 1) - 1)
        )
        if isinstance(value, float) or not low <= value <= high:
            raise TraceError(
                f"{show_number(value)} does not fit {type_}, which holds whole numbers from {low} to {high}",
                advice='Use a wider type: astype(x, "i64"), or a smaller number.',
            )
        value = int(value)
    else:
        value = _rounded(value, type_)
    exact = value
    return trace.emit(lambda pool: pool.imm(exact, type_, space))


def number_type(trace: Trace, value: Number) -> StorageType:
    """The type of a Python number that meets nothing: bool, i64, or the machine's float type."""
    return trace.float_type if isinstance(value, float) else I64 if type(value) is int else BOOL


def show_number(value: Number) -> str:
    """A number for a message; Python refuses to print integers beyond 4300 digits."""
    if isinstance(value, int) and value.bit_length() > 128:
        return f"a whole number of {value.bit_length()} bits"
    return repr(value)


def _rounded(value: Number, type_: StorageType) -> float:
    try:
        wide = float(value)
    except OverflowError:
        wide = math.nan
    if type_.is_record or type_ == F64:
        rounded = wide
    else:
        with np.errstate(over="ignore"):
            rounded = float(type_.numpy.type(wide))
    if math.isinf(rounded) != (isinstance(value, float) and math.isinf(value)) or (
        math.isnan(rounded) and not isinstance(value, float)
    ):
        raise TraceError(
            f"{show_number(value)} is too large for {type_}", advice="Write a smaller number, or inf if it is meant."
        )
    return rounded


def join(a: StorageType, b: StorageType) -> StorageType:
    """The type of two values of the same space: the wider float, the float of float and integer, the wider integer.

    A signed and an unsigned integer give the signed type that holds both; u64 with a signed one has none.
    """
    if a == b:
        return a
    if BOOL in (a, b):
        number = b if a == BOOL else a
        raise TraceError(
            f"a condition (bool) cannot be combined with a number ({number})",
            advice=f'Write where(condition, a, b), or astype(condition, "{number}") for 1 and 0.',
        )
    if a.is_float and b.is_float:
        return max(a, b, key=lambda t: t.bits)
    if a.is_float != b.is_float:
        return a if a.is_float else b
    joined = storage_type(np.promote_types(a.numpy, b.numpy))
    if not joined.is_integer:
        raise TraceError(f"no integer type holds both {a} and {b}", advice='Cast one: astype(x, "i64").')
    return joined


def common_type(trace: Trace, operands: Sequence[Operand]) -> StorageType:
    """The type in which the operands meet.

    Locals decide among themselves; a Global never widens them, except that an integer Local with a float Global gives
    the machine's float type. Python numbers take the type of the others; a Python float with integers gives the
    machine's float type if there is a Local and f64 among Globals. In functions of arrays conditions are 1 and 0 beside
    numbers.
    """
    if counts_conditions(trace):
        operands = [o for o in operands if not is_condition(o)] or operands
    terms = [o for o in operands if isinstance(o, Term)]
    numbers = [o for o in operands if not isinstance(o, Term)]
    locals_, globals_ = [t.type for t in terms if t.is_local], [t.type for t in terms if not t.is_local]
    if locals_:
        type_ = reduce(join, locals_)
        if type_.is_float and any(t.is_float and t != type_ for t in locals_):
            met = " and ".join(sorted({str(t) for t in locals_ if t.is_float}))
            trace.note_promotion(f"{met} meet in {trace.text_here()}: computed in {type_}")
        for other in globals_:
            if type_.is_integer and other.is_float:
                type_ = trace.float_type
            elif BOOL in (type_, other):
                join(type_, other)  # both bool, or an error
    elif globals_:
        type_ = reduce(join, globals_)
    else:
        return _type_of_numbers(trace, numbers)
    for number in numbers:
        if type_ == BOOL and not isinstance(number, bool):
            join(type_, number_type(trace, number))
        if isinstance(number, float) and type_.is_integer:
            type_ = trace.float_type if locals_ else F64
    return type_


def counts_conditions(trace: Trace) -> bool:
    """Whether conditions are 1 and 0 beside numbers, as in NumPy: in functions of arrays and what they fold by."""
    return trace.whole_power is not None


def is_condition(operand: Operand) -> bool:
    """Whether it is a condition, of the program or of Python."""
    return operand.type == BOOL if isinstance(operand, Term) else isinstance(operand, bool)


def _type_of_numbers(trace: Trace, numbers: Sequence[Number]) -> StorageType:
    if all(isinstance(n, bool) for n in numbers):
        return BOOL
    return trace.float_type if any(isinstance(n, float) for n in numbers) else I64


def alike(trace: Trace, operands: Sequence[Operand]) -> Term | None:
    """The value whose type and axes the others have or take as they are, as most do; None where there is more to do.

    Globals of its type do, and numbers that it holds: what `common_type`, `meet` and `unify` find, found sooner.
    """
    terms = [o for o in operands if isinstance(o, Term)]
    first = next((term for term in terms if term.is_local), terms[0] if terms else None)
    if first is None:
        return None
    node, order = first.node, first.order
    type_ = node.value_type
    numbers = (int, float) if type_.is_float else (int,) if type_.is_integer else ()
    if len(terms) < len(operands) and any(type(o) not in numbers for o in operands if not isinstance(o, Term)):
        return None
    if trace.positions is not None and (order is None or len(set(order)) < len(order) or (node.is_local and not order)):
        return None
    for each in terms:
        other = each.node
        is_like = other.space == node.space and each.order == order
        if other.type != type_ or not (is_like or (other.is_global and not each.order)):
            return None
    return first


def made_alike(trace: Trace, operands: Sequence[Operand], like: Term) -> list[Term]:
    """The operands, numbers as constants, for a value that `alike` has found."""
    type_, space = like.type, like.space
    return [spread(o, space) if isinstance(o, Term) else constant(trace, o, type_, space) for o in operands]


def convert(trace: Trace, operand: Operand, type_: StorageType, space: Space) -> Term:
    """The operand in this type and space; what has fewer axes is cast before it is spread, so it is rounded once."""
    if not isinstance(operand, Term):
        if isinstance(operand, bool) and type_ != BOOL:
            operand = int(operand)
        return constant(trace, operand, type_, space)
    term = cast_term(operand, type_)
    return term if space.is_global else spread(term, space)


def unify(trace: Trace, operands: Sequence[Operand], type_: StorageType) -> list[Term]:
    """All operands in `type_`, in the space where they meet."""
    space = meeting_space(trace, operands)
    return [convert(trace, o, type_, space) for o in operands]
