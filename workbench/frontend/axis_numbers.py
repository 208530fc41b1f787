"""Axis numbers: the axes that NumPy's axis= names, by position in functions of arrays, by name too in cells."""

from __future__ import annotations

from workbench.errors import TraceError
from workbench.frontend.trace import Term


def own_positions(term: Term, axis: object, what: str) -> tuple[int, ...]:
    """The positions that an axis= names: a whole number, or several. Raises TraceError."""
    rank = len(term.order or ())
    axes = f"{rank} ax{'i' if rank == 1 else 'e'}s"
    advice = f"Give a number from {-rank} to {rank - 1}." if rank else "Leave it out: it is one number."
    return _numbers(axis, {}, rank, what, f"with {axes}", advice)


def own_axes(given: Term, axis: object, what: str) -> tuple[int, ...]:
    """The numbers of the axes that are named, among the value's own; all of them for None. Raises TraceError."""
    own = given.space.axes
    if axis is None:
        return tuple(range(len(own)))
    names: dict[object, int] = {each.name: number for number, each in enumerate(own)}
    described = f"with the axes {given.space.axis_names}"
    return _numbers(axis, names, len(own), what, described, "Name one of them, or give its number.")


def _numbers(
    axis: object, names: dict[object, int], rank: int, what: str, described: str, advice: str
) -> tuple[int, ...]:
    """The numbers of one axis or several, each once; described, advice: what an error says of the value."""
    found = []
    for each in axis if isinstance(axis, tuple | list) else (axis,):
        number = names.get(each, each) if isinstance(each, str) else each
        if isinstance(number, bool) or not isinstance(number, int) or not -rank <= number < rank:
            raise TraceError(f"{what} over axis {each!r} of a value {described}", advice=advice)
        found.append(number % rank)
    if not found or len(set(found)) < len(found):
        raise TraceError(f"{what} over the axes {axis!r}", advice="Name each axis once.")
    return tuple(sorted(found))
