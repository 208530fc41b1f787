"""Random numbers: a counter-based generator made of exact integer operations, so every backend gives the same bits."""

from __future__ import annotations

from functools import reduce
from typing import cast

from workbench.errors import TraceError
from workbench.frontend.operations import parse_type
from workbench.frontend.trace import Term, current_trace
from workbench.frontend.value import Value, operand, wrap

MASK = 2**64 - 1
GAMMA = 0x9E3779B97F4A7C15  # 2**64 over the golden ratio, odd
FIRST, SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def random(seed: object, step: object, *index: object, dtype: object = None) -> Value:
    """A uniform random number in [0, 1) for each cell and step, computed from its arguments alone, without a state.

    Give a seed, the number of the step (an i64 scalar that each step increments) and the cell's indices. Further whole
    numbers give further independent numbers in the same cell: random(1, n, index(0), index(1), 7). dtype: by default
    the machine's float type; f64 takes the upper 53 bits, f32 the upper 24. The arguments are hashed one after another
    by h = mix((h xor word) + gamma), wrapping in 64 bits, with mix and gamma of SplitMix64: Steele, Lea and Flood, Fast
    splittable pseudorandom number generators, OOPSLA 2014. Not for cryptography.
    """
    trace = current_trace("random")
    type_ = trace.float_type if dtype is None else parse_type(dtype)
    if not type_.is_float:
        raise TraceError(f"random gives f64 or f32, not {type_}", advice='Write astype(random(...) * 6, "i64").')
    words = (_word(seed, "the seed"), _word(step, "the step"), *(_word(i, "an index") for i in index))
    bits = reduce(lambda h, word: _mix(_wrapped((h ^ word) + GAMMA)), words, cast(Value, 0))
    kept = 53 if type_.bits == 64 else 24
    number = bits >> (64 - kept)
    if isinstance(number, Value):
        number = number.astype(type_)
    return number * 2.0**-kept


def _word(value: object, what: str) -> Value:
    """A whole number as 64 bits: negative ones as their two's complement."""
    given = operand(value)
    if isinstance(given, Term) and given.type.is_integer:
        return wrap(given).astype("u64")
    if isinstance(given, int) and not isinstance(given, bool):
        return cast(Value, given & MASK)
    found = given.type if isinstance(given, Term) else repr(given)
    raise TraceError(
        f"random: {what} must be a whole number, not {found}",
        advice='Count steps in scalar("n", 0, dtype="i64"), with n.next = n + 1.',
    )


def _wrapped(value: Value) -> Value:
    """Python's whole numbers cut to 64 bits; those of a cell wrap by themselves."""
    return cast(Value, value & MASK) if isinstance(value, int) else value


def _mix(h: Value) -> Value:
    h = _wrapped((h ^ (h >> 30)) * FIRST)
    h = _wrapped((h ^ (h >> 27)) * SECOND)
    return h ^ (h >> 31)
