"""Offsets: how far away the cell lies that a subscript reads, in whole numbers that are known while tracing."""

from __future__ import annotations

import operator

from workbench.errors import TraceError
from workbench.frontend.misuse import no_offset
from workbench.frontend.promotion import show_number
from workbench.frontend.trace import Term, Trace
from workbench.graph import Space

FARTHEST = 2**31 - 1


def offsets_of(trace: Trace, key: object, space: Space | None = None) -> tuple[int, ...]:
    """The offsets of a subscript as whole numbers, one per axis of `space`, the machine's own if None."""
    parts = key if isinstance(key, tuple) else (key,)
    is_own = space is None or space in (trace.grid, trace.space)
    if len(parts) == (trace.dim if space is None or is_own else space.rank) and all(map(_is_near, parts)):
        trace.fixed |= is_own
        return parts
    text = trace.text_here("this read")
    if any(isinstance(p, slice) for p in parts):
        raise TraceError(
            f"{text} takes a part of an array, but a value is defined in every cell",
            advice="Write u[+1] for the next cell and u[-1] for the one before.",
        )
    offsets = tuple(whole_number(p, f"{text}: an offset") for p in parts)
    if space is None or is_own:
        trace.need_offsets(len(offsets), text)
    else:
        need_own_offsets(space, len(offsets), text)
    return offsets


def _is_near(part: object) -> bool:
    """Whether it is an offset as they are as a rule, of which nothing is wrong."""
    return type(part) is int and abs(part) <= FARTHEST


def need_own_offsets(space: Space, count: int, text: str) -> None:
    """Refuse another number of offsets than a value of some of the machine's axes takes."""
    if count != space.rank:
        raise TraceError(
            f"{text} has {count} offset{'s' * (count != 1)}, but the value has the axes {space.axis_names} alone",
            advice=f"Write {space.rank}, one for each of them, or .at(+1, axis) to name the axis.",
        )


def whole_or_none(value: object) -> int | None:
    """The value as an int if it is a whole number known while tracing."""
    if isinstance(value, (bool, Term)):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]  # TypeError if it has no index
    except (TypeError, TraceError):  # a traced value says what it is not with a TraceError
        return None


def whole_number(value: object, what: str) -> int:
    """A constant offset. Raises TraceError for anything that is not a whole number known while tracing."""
    number = whole_or_none(value)
    if number is None:
        raise no_offset(value, what)
    if abs(number) > FARTHEST:
        raise TraceError(f"{what} of {show_number(number)} cells is too far", advice=f"Stay within {FARTHEST} cells.")
    return number
