"""Axis numbers: the axes that NumPy's axis= names, by position in functions of arrays, by name too in cells."""

from __future__ import annotations

from workbench.errors import TraceError
from workbench.frontend.trace import Term


def own_positions(term: Term, axis: object, what: str) -> tuple[int, ...]:
    """The positions that an axis= names: a whole number, or several. Raises TraceError."""
    rank = len(term.order or ())
    found = []
    for each in axis if isinstance(axis, tuple | list) else (axis,):
        if isinstance(each, bool) or not isinstance(each, int) or not -rank <= each < rank:
            raise TraceError(
                f"{what} over axis {each!r} of a value with {rank} ax{'i' if rank == 1 else 'e'}s",
                advice=f"Give a number from {-rank} to {rank - 1}." if rank else "Leave it out: it is one number.",
            )
        found.append(each % rank)
    if not found or len(set(found)) < len(found):
        raise TraceError(f"{what} over the axes {axis!r}", advice="Name each axis once.")
    return tuple(sorted(found))


def own_axes(given: Term, axis: object, what: str) -> tuple[int, ...]:
    """The numbers of the axes that are named, among the value's own; all of them for None. Raises TraceError."""
    own = given.space.axes
    if axis is None:
        return tuple(range(len(own)))
    found: list[int] = []
    for each in axis if isinstance(axis, tuple | list) else (axis,):
        number = next((k for k, a in enumerate(own) if a.name == each), each)
        if isinstance(number, bool) or not isinstance(number, int) or not -len(own) <= number < len(own):
            raise TraceError(
                f"{what} over axis {each!r} of a value with the axes {given.space.axis_names}",
                advice="Name one of them, or give its number.",
            )
        found.append(number % len(own))
    if not found or len(set(found)) < len(found):
        raise TraceError(f"{what} over the axes {axis!r}", advice="Name each axis once.")
    return tuple(sorted(found))
