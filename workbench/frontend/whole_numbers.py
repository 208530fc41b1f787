"""Whole numbers: rotations and counts of bits, and the division that goes toward zero, made of other operators.

So they have the same bits on every backend; compilers make one instruction of a rotation.
"""

from __future__ import annotations

from workbench.errors import TraceError
from workbench.frontend.componentwise import componentwise
from workbench.frontend.operations import apply, where
from workbench.frontend.promotion import cast_term
from workbench.frontend.trace import Operand, Term, current_trace
from workbench.frontend.value import Value, operand, wrap
from workbench.graph import StorageType, storage_type
from workbench.graph.types import BOOL


@componentwise
def rotate_left(x: object, count: object) -> Value:
    """Rotate the bits of a whole number to the left by `count`: bits that leave come back at the right.

    The count is taken modulo the number of bits, so a negative count rotates to the right. The type is kept.
    """
    return wrap(_rotated("rotate_left", operand(x), operand(count), to_left=True))


@componentwise
def rotate_right(x: object, count: object) -> Value:
    """Rotate the bits of a whole number to the right by `count`: bits that leave come back at the left."""
    return wrap(_rotated("rotate_right", operand(x), operand(count), to_left=False))


@componentwise
def popcount(x: object) -> Value:
    """The number of bits of a whole number that are 1, in its type; negative numbers are in two's complement."""
    given = _whole("popcount", operand(x))
    unsigned = _unsigned(given.type)
    bits, every = unsigned.bits, 2**unsigned.bits - 1
    pairs, fours, eights = (every // divisor for divisor in (3, 5, 17))  # 0x55.., 0x33.., 0x0f..
    found: Operand = cast_term(given, unsigned)
    found = apply("subtract", found, _and(_right(found, 1), pairs))
    found = apply("add", _and(found, fours), _and(_right(found, 2), fours))
    found = _and(apply("add", found, _right(found, 4)), eights)
    if bits > 8:  # the sum of all bytes, in the highest one (Warren 2012, §5-1)
        found = _right(apply("multiply", found, every // 255), bits - 8)
    assert isinstance(found, Term)
    return wrap(cast_term(found, given.type))


@componentwise
def quotient(a: object, b: object) -> Value:
    """a / b of whole numbers, rounded toward zero as in C; `//` rounds down. Division by zero gives 0."""
    left, right = _both("quotient", operand(a), operand(b))
    floor = apply("floor_divide", left, right)
    return wrap(where(_rounds_up(left, right), apply("add", floor, 1), floor))


@componentwise
def rest(a: object, b: object) -> Value:
    """The remainder of quotient(a, b), with the sign of a as C's `%`; Python's `%` has that of b. 0 if b is 0."""
    left, right = _both("rest", operand(a), operand(b))
    remainder = apply("remainder", left, right)
    return wrap(where(_rounds_up(left, right), apply("subtract", remainder, right), remainder))


def _rotated(what: str, x: Operand, count: Operand, *, to_left: bool) -> Operand:
    given = _whole(what, x)
    unsigned = _unsigned(given.type)
    if isinstance(count, Term):
        steps: Operand = cast_term(_whole(what, count), unsigned)
    elif isinstance(count, bool) or not isinstance(count, int):
        raise TraceError(f"{current_trace(what).text_here(what)}: a count of {count!r}", advice="Give a whole number.")
    else:
        steps = count % unsigned.bits
    bits = cast_term(given, unsigned)
    there = _and(steps, unsigned.bits - 1) if isinstance(steps, Term) else steps
    back = _and(apply("subtract", 0, steps), unsigned.bits - 1) if isinstance(steps, Term) else -steps % unsigned.bits
    left, right = (there, back) if to_left else (back, there)
    made = apply("bitwise_or", apply("shift_left", bits, left), apply("shift_right", bits, right))
    assert isinstance(made, Term)
    return cast_term(made, given.type)


def _rounds_up(a: Operand, b: Operand) -> Operand:
    """Whether the quotient toward zero is above the one rounded down."""
    leaves = apply("not_equal", apply("remainder", a, b), 0)
    return apply("logical_and", leaves, apply("logical_xor", apply("less", a, 0), apply("less", b, 0)))


def _both(what: str, a: Operand, b: Operand) -> tuple[Operand, Operand]:
    """Two whole numbers, at least one of them of the program."""
    terms = [each for each in (a, b) if isinstance(each, Term)]
    if not terms:
        _whole(what, a)
    for each in terms:
        _whole(what, each)
    if any(isinstance(each, bool | float) for each in (a, b)):
        raise _no_whole(what, next(each for each in (a, b) if isinstance(each, bool | float)))
    return a, b


def _whole(what: str, given: Operand) -> Term:
    if not isinstance(given, Term) or not given.type.is_integer or given.type == BOOL:
        raise _no_whole(what, given)
    return given


def _no_whole(what: str, given: Operand) -> TraceError:
    shown = str(given.type) if isinstance(given, Term) else repr(given)
    return TraceError(
        f"{current_trace(what).text_here(what)} takes whole numbers of the program, not {shown}",
        advice='Cast it: astype(x, "i64").',
    )


def _unsigned(type_: StorageType) -> StorageType:
    return storage_type(f"u{type_.bits}")


def _and(a: Operand, b: int) -> Operand:
    return apply("bitwise_and", a, b)


def _right(a: Operand, count: int) -> Operand:
    return apply("shift_right", a, count)
