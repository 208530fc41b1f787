"""Axis numbers: the axes that NumPy's axis= names."""

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
