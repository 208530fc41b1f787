"""Operations on traced terms and Python numbers: what an operator, a read or a reduction adds to the graph."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from workbench.errors import TraceError
from workbench.frontend.axis_numbers import own_axes
from workbench.frontend.elements import is_array
from workbench.frontend.misuse import no_power, note_power
from workbench.frontend.offsets import need_own_offsets
from workbench.frontend.promotion import (
    alike,
    cast_term,
    common_type,
    constant,
    convert,
    counts_conditions,
    is_condition,
    made_alike,
    meet,
    meeting_space,
    show_number,
    unify,
)
from workbench.frontend.trace import Number, Operand, Term, Trace, current_trace
from workbench.graph import GLOBAL, OPERATORS, REDUCTIONS, Space, StorageType, storage_type
from workbench.graph.extended_numbers import as_pairs
from workbench.graph.operators import accepts
from workbench.graph.types import BOOL, DD, F64, I64


def trace_of(operands: Sequence[Operand]) -> Trace | None:
    """The one trace to which the terms belong; None if all are Python numbers."""
    found: Trace | None = None
    for each in operands:
        if isinstance(each, Term) and each.trace is not found:
            if found is not None:
                raise TraceError(
                    "values of two different cells are combined",
                    advice="Declare in this cell every field that it uses.",
                )
            found = each.trace
    return found


def apply(name: str, *given: Operand) -> Operand:
    """Apply a row of the operator table; Python numbers alone give a Python number by the same row."""
    row = OPERATORS[name]
    operands: Sequence[Operand] = given
    trace = trace_of(operands)
    if trace is None:
        return _apply_to_numbers(name, [o for o in operands if not isinstance(o, Term)])
    if name == "add":
        kept = [o for o in operands if not (type(o) is int and o == 0)]
        if len(kept) == 1 and not (counts_conditions(trace) and is_condition(kept[0])):
            return kept[0]  # builtin sum starts from the integer 0
    like = alike(trace, operands)
    type_ = common_type(trace, operands) if like is None else like.type
    if row.kinds == "float" and type_.is_integer:
        like = None
        type_ = trace.float_type
    if not accepts(row, type_):
        spelling = row.symbol or name
        counted = "i64" if row.symbol and row.kinds != "float" else "f64"  # a sum of conditions is a whole number
        raise TraceError(
            f"{spelling} does not take {type_}: {trace.text_here()}",
            advice=f'Write where(condition, a, b), or astype(condition, "{counted}") for 1 and 0.'
            if type_ == BOOL
            else f'Cast the operand first: astype(x, "{"i64" if row.kinds == "integer" else "f64"}").',
        )
    if like is not None:
        terms, order = made_alike(trace, operands, like), like.order
    else:
        operands, order = meet(operands)
        terms = unify(trace, operands, type_)
    return trace.emit(lambda pool: pool.arith(name, *[t.index for t in terms]), order)


def _apply_to_numbers(name: str, numbers: Sequence[Number]) -> Number:
    row = OPERATORS[name]
    if row.kinds == "float":
        arguments = [np.asarray(n, np.float64) for n in numbers]
    else:
        given = [np.asarray(int(n) if isinstance(n, bool) and row.kinds == "number" else n) for n in numbers]
        arguments = [a.astype(np.result_type(*given)) for a in given]
    with np.errstate(all="ignore"):
        result: Number = np.asarray(row.meaning(*arguments)).item()
    return result


def bits(logical: str, bitwise: str, *operands: Operand) -> Operand:
    """&, |, ^ and ~: logical on conditions, bitwise on integers."""
    types = {o.type if isinstance(o, Term) else _number_kind(o) for o in operands}
    if types <= {BOOL, "bool"}:
        return apply(logical, *operands)
    symbol = OPERATORS[bitwise].symbol
    if any(t in (BOOL, "bool") or _is_float(t) or t == "float" for t in types):
        shown = ", ".join(sorted(str(t) for t in types))
        if symbol == "^":
            raise no_power(shown)
        raise TraceError(
            f"{symbol} joins conditions or whole numbers, not {shown}",
            advice=f"Put each comparison in parentheses: (a > 0) {symbol} (b > 0)."
            if len(operands) > 1
            else "Negate a condition: ~(a > 0).",
        )
    if symbol == "^" and operands[1] in (2, 3):  # a Term equals no number
        note_power(current_trace("^"))
    return apply(bitwise, *operands)


def _is_float(type_: object) -> bool:
    return isinstance(type_, StorageType) and type_.is_float


def _number_kind(number: Number) -> str:
    return type(number).__name__


def power(base: Operand, exponent: Operand) -> Operand:
    """x**n. A constant integer n is square-and-multiply from the most significant bit of |n| down: start with x, square
    for each further bit, then multiply by x if that bit is 1 (x**6 = ((x*x)*x) squared). Negative n gives 1 / x**|n|,
    n = 0 gives 1. Of a float x, the constants -1.0, 0.0, 1.0 and 2.0 are whole numbers and 0.5 is the square root, as
    in NumPy's arrays. Any other exponent is the operator `power` in floating point; of whole numbers in functions of
    arrays the result is whole.
    """  # noqa: D205  # the rule is one paragraph
    if (
        isinstance(exponent, Term)
        and exponent.trace.whole_power is not None
        and _is_whole(base)
        and _is_whole(exponent)
    ):
        return exponent.trace.whole_power(base, exponent)
    if isinstance(exponent, float) and isinstance(base, Term) and _is_float(base.type):
        if exponent == 0.5:
            return apply("sqrt", base)
        if exponent in (-1, 0, 1, 2):
            exponent = int(exponent)
    if not isinstance(exponent, int) or isinstance(exponent, bool) or not isinstance(base, Term):
        return apply("power", base, exponent)
    if exponent == 0:
        return convert(base.trace, 1, base.type, base.space).in_order(base.order)
    if abs(exponent) > 4096:
        raise TraceError(
            f"the exponent {show_number(exponent)} is too large", advice="Write a float exponent or exp and log."
        )
    result: Operand = base
    for bit in bin(abs(exponent))[3:]:
        result = apply("multiply", result, result)
        if bit == "1":
            result = apply("multiply", result, base)
    return result if exponent > 0 else apply("divide", 1, result)


def _is_whole(given: Operand) -> bool:
    if isinstance(given, Term):
        return given.type.is_integer and given.type != BOOL
    return isinstance(given, int) and not isinstance(given, bool)


def where(condition: Operand, yes: Operand, no: Operand) -> Operand:
    """Per cell `yes` where the condition holds, else `no`; both are computed."""
    trace = trace_of((condition, yes, no))
    if trace is None or not isinstance(condition, Term):
        if not isinstance(condition, bool):
            raise TraceError(f"where needs a condition, not {condition!r}", advice="Compare first: where(u > 0, a, b).")
        return yes if condition else no
    if condition.type != BOOL:
        advice = "Compare first: where(u > 0, a, b)."
        if condition.type.is_integer:
            advice = "Compare first, in parentheses: where((k & 1) != 0, a, b)."
        raise TraceError(f"where needs a condition (bool) first, but got {condition.type}", advice=advice)
    like = alike(trace, (yes, no))
    if like is not None and (condition.space, condition.order) == (like.space, like.order):
        chosen, order = [condition, *made_alike(trace, (yes, no), like)], like.order
    else:
        type_ = common_type(trace, (yes, no))
        met, order = meet((condition, yes, no))
        space = meeting_space(trace, met)
        chosen = [convert(trace, o, t, space) for o, t in zip(met, (BOOL, type_, type_), strict=True)]
    return trace.emit(lambda pool: pool.arith("select", *[t.index for t in chosen]), order)


def reduce_value(name: str, operand: Operand, axis: object = None) -> Operand:
    """Reduce a Local over all cells of the domain to a Global; of floats it is f64 (semantics §2).

    With `axis`, a number of the machine's axes or several, over these alone: a Local of the axes left and of the same
    type, or over all its axes a Global as without.

    Sums and products of f32 are cast first, so that they are accumulated in f64, and those of integers below 64 bits
    in i64, so that counting cells does not wrap. Minimum and maximum keep an integer's type; of f32 the result is cast.
    """
    trace = trace_of((operand,))
    if trace is None or not isinstance(operand, Term) or not operand.is_local:
        raise TraceError(
            f"reduce_{name} needs a value per cell, but this is one number already",
            advice="Leave the reduction out, or reduce an expression of fields.",
        )
    need_reducible(name, operand.type)
    if trace.positions is not None:
        return trace.positions.reduce(name, operand, axis)
    over = _folded_axes(trace, operand, axis, f"reduce_{name}")
    if len(over) < operand.space.rank:
        inner = operand.index
        return trace.emit(lambda pool: pool.fold(name, inner, over))
    if name in ("sum", "product"):
        wide = _wide_float if operand.type.is_float else _wide_integer
        operand = cast_term(operand, wide(operand.type))
    source = operand.index
    result = trace.emit(lambda pool: pool.reduce(name, source))
    return cast_term(result, _wide_float(result.type)) if result.type.is_float else result


def need_reducible(name: str, type_: StorageType) -> None:
    """Raise TraceError for values of a type that the reduction does not take."""
    row = OPERATORS[REDUCTIONS[name].operator]
    if not accepts(row, type_):
        raise TraceError(
            f"reduce_{name} does not take {type_}",
            advice="Compare first: reduce_any(u > 0)."
            if row.kinds == "bool"
            else 'Count cells with reduce_sum(astype(condition, "i64")).',
        )


def _folded_axes(trace: Trace, operand: Term, axis: object, what: str) -> tuple[int, ...]:
    """The numbers, among the operand's own axes, of those that `axis` names; all of them if it is None."""
    if axis is None or is_array(operand.space):
        return own_axes(operand, axis, what)
    named = axis if isinstance(axis, tuple | list) else (axis,)
    over: list[int] = []
    for each in named:
        wanted = trace.space.axes[trace.need_axis(each, what)]
        if wanted not in operand.space.axes:
            raise TraceError(
                f"{what} over axis {each}, but the value has the axes {operand.space.axis_names} alone",
                advice="Name an axis that the value has; axis 0 is x.",
            )
        over.append(operand.space.axes.index(wanted))
    if not over or len(set(over)) < len(over):
        raise TraceError(f"{what} over the axes {axis!r}", advice="Name each axis once, or leave axis out for all.")
    return tuple(sorted(over))


def _wide_float(type_: StorageType) -> StorageType:
    return type_ if type_.bits > 64 else F64


def double_double(value: Operand | str) -> Operand:
    """A term cast to dd, or a number of type dd: from a decimal text all its digits, from a Python number that number.

    The graph has constants of one f64; what needs two is their sum, which is exact.
    """
    if isinstance(value, Term):
        return cast_term(value, DD)
    trace = current_trace("dd")
    hi, lo = as_pairs(value).item()
    terms = [constant(trace, part, DD, GLOBAL) for part in ((hi, lo) if lo else (hi,))]
    return terms[0] if len(terms) == 1 else apply("add", *terms)


def _wide_integer(type_: StorageType) -> StorageType:
    return type_ if type_.bits == 64 else I64


def need_distance(given: Operand, what: str) -> None:
    """Raise TraceError for a number that is no distance of two cells; one that is traced is known only in a run."""
    if not isinstance(given, Term) and (isinstance(given, bool) or not 0 < given < math.inf):
        raise TraceError(f"{what}: dx is {given!r}", advice="Give the distance of two cells, positive and finite.")


def read(operand: Term, offsets: tuple[int, ...]) -> Term:
    """The value of the cell that lies `offsets` away: Shift by the opposite."""
    if not operand.is_local:
        raise TraceError(
            f"{operand.trace.text_here()} reads a neighbour, but the value is one number for the whole grid",
            advice="Leave the offset out.",
        )
    if any(axis.kind == "array" for axis in operand.space.axes):
        raise TraceError(
            f"{operand.trace.text_here()} reads a neighbour, but {_elements(operand.trace)} have none",
            advice=f"Leave the offset out; index(0) and index(1) number {_elements(operand.trace)}.",
        )
    if len(offsets) != operand.space.rank:
        need_own_offsets(operand.space, len(offsets), operand.trace.text_here("this read"))
    return operand.trace.emit(lambda pool: pool.shift(operand.index, tuple(-o for o in offsets)))


def _too_many(given: Space, kept: Space) -> str:
    """How a reduction names the first axis of a value that is none of those kept."""
    number, axis = next((k, axis) for k, axis in enumerate(given.axes) if axis not in kept.axes)
    return f"axis={number}" if axis.kind == "grid" else f'over="{axis.name}"'


def _elements(trace: Trace) -> str:
    return "particles and sources" if trace.populations else "targets and sources"


def parse_type(spelling: object) -> StorageType:
    """The storage type of a spelling. Raises TraceError with the list of types."""
    try:
        return storage_type(spelling)
    except KeyError:
        advice = "Use bool, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64 or dd."
        if "complex" in str(spelling):
            advice = "Keep real and imaginary parts apart, in two values of type f32 or f64."
        raise TraceError(f"{spelling!r} is no storage type", advice=advice) from None


def astype(operand: Operand, type_: StorageType) -> Term:
    """Cast explicitly; float to integer truncates and saturates."""
    if not isinstance(operand, Term):
        raise TraceError(
            f"astype casts traced values, not the Python number {operand!r}",
            advice="Leave the cast out: a Python number takes the type of the other operand.",
        )
    return cast_term(operand, type_)


def storable(trace: Trace, name: str, operand: Operand) -> Term:
    """The operand in the static's type and space. Casts within a kind and from integer to float."""
    static = trace.statics[name]
    local = not static.space.is_global
    if static.role == "param":
        raise TraceError(
            f"{name} is a param, an input that no kernel stores", advice=f"Declare {name} with scalar() instead."
        )
    if isinstance(operand, Term):
        if operand.is_local and not local:
            raise TraceError(
                f"{name} is one number, but {name}.next is given a value per cell",
                advice="Reduce it first: reduce_sum(...), reduce_max(...).",
            )
        if operand.space.positions_in(static.space) is None:
            raise TraceError(
                f"{name} has the axes {static.space.axis_names}, but {name}.next is given a value along "
                f"{operand.space.axis_names}",
                advice='Reduce over="source", which leaves one value per particle, or leave .source out.'
                if trace.populations.get(static.space.axis_names) == operand.space.axis_names
                else "Reduce it over the axes that are too many: "
                f"reduce_sum(value, {_too_many(operand.space, static.space)}).",
            )
        check_storable(trace, static.name, static.type, operand.type)
    elif (isinstance(operand, float) and static.type.is_integer) or (static.type == BOOL) != isinstance(operand, bool):
        raise TraceError(
            f"{name} is {static.type}, but {name}.next is given {operand!r}", advice="Write a number of that type."
        )
    return convert(trace, operand, static.type, static.space)


def check_storable(trace: Trace, name: str, target: StorageType, given: StorageType, written: str = "") -> None:
    """Refuse a store that would need an explicit cast; note one that loses width. `written`: if not as name.next."""
    place = written or f"{name}.next"
    same_kind = target.is_float == given.is_float and (target == BOOL) == (given == BOOL)
    if not same_kind and not (target.is_float and given.is_integer):
        begin = "" if written else f"{place} = "
        advice = f"Compare: {begin}value > 0." if target == BOOL else f'Cast it: {begin}astype(value, "{target}").'
        raise TraceError(f"{name} is {target}, but {place} is given {given}", advice=advice)
    if given.is_float and target.is_float and target.bits < given.bits:
        trace.note_promotion(f"{place} rounds {given} to {target}")
