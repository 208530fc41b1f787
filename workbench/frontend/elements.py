"""Elements of arrays by indices, x[columns], A[i, j], A[rows, :]: fields are read relatively, arrays absolutely."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.errors import TraceError
from workbench.frontend.attribute_misuse import IN_FUNCTIONS, no_attribute
from workbench.frontend.promotion import cast_term, constant, meeting_space, spread
from workbench.frontend.trace import Operand, Term, Trace
from workbench.graph import Space
from workbench.graph.spaces import NamedExtent
from workbench.graph.types import BOOL, I64

_EXAMPLE = "x[columns], A[i, j] or A[rows, :]"


def is_array(space: Space) -> bool:
    """Whether a value with these axes is read by absolute indices: an array, but no value of targets or sources."""
    return bool(space.axes) and all(
        axis.kind == "array" and not (isinstance(axis.extent, NamedExtent) and axis.extent.name != axis.name)
        for axis in space.axes
    )


def parts_of(key: object) -> tuple[object, ...]:
    """The parts of a subscript, one for each axis."""
    return key if isinstance(key, tuple) else (key,)


def lengths(array: Term) -> tuple[Term, ...]:
    """The length of each axis of an array, an i64 number of the program. Raises TraceError for what is no array."""
    trace = array.trace
    if not is_array(array.space):
        raise no_attribute("shape")
    numbers = [trace.axis_names.index(axis.name) for axis in array.space.axes]
    return tuple(trace.emit(lambda pool, number=number: pool.size(number)) for number in numbers)  # type: ignore[misc]  # bound now


def element(array: Term, parts: Sequence[object]) -> Term:
    """The elements of an array that index values number, one for each axis; `:` keeps an axis.

    Index values are integers of any type. The result has the axes on which they lie and those that are kept, each index
    along all of them. An index outside is an error of the call. Raises TraceError for what is no index.
    """
    trace, own = array.trace, array.space
    text = trace.text_here("this element")
    if len(parts) != own.rank:
        raise TraceError(
            f"{text} has {len(parts)} ind{'ices' if len(parts) != 1 else 'ex'} for the axes {own.axis_names}",
            advice=f"Give one for each axis, as in {_EXAMPLE}.",
        )
    if any(isinstance(part, slice) and part != slice(None) for part in parts):
        raise TraceError(f"{text}: a cell reads arrays by indices, and has no slices", advice=IN_FUNCTIONS)
    kept = Space(tuple(axis for axis, part in zip(own.axes, parts, strict=True) if part == slice(None)))
    given = [part for part in parts if isinstance(part, Term)]
    locals_: list[Operand] = [*given]
    if kept.axes:
        locals_.append(trace.emit(lambda pool: pool.index(0, kept)))
    space = meeting_space(trace, locals_)
    if space.is_global:
        raise TraceError(
            f"{text} is one number, which no array of indices asks for",
            advice=f"Give an index value for each element of the result, as in {_EXAMPLE}.",
        )
    indices = [spread(_index(trace, part, axis, kept, text), space) for axis, part in enumerate(_named(own, parts))]
    return trace.emit(lambda pool: pool.gather(array.index, [i.index for i in indices]))


def _named(own: Space, parts: Sequence[object]) -> list[object]:
    """The parts, those that keep an axis as that axis's name."""
    return [axis.name if part == slice(None) else part for axis, part in zip(own.axes, parts, strict=True)]


def _index(trace: Trace, part: object, axis: int, kept: Space, text: str) -> Term:
    """An i64 index value along one axis."""
    if isinstance(part, str):
        number = next(k for k, each in enumerate(kept.axes) if each.name == part)
        return trace.emit(lambda pool: pool.index(number, kept))
    if isinstance(part, bool) or not isinstance(part, int | Term):
        shown = "None" if part is None else type(part).__name__
        raise TraceError(f"{text}: index {axis} is a {shown}", advice=f"Index by whole numbers, as in {_EXAMPLE}.")
    if isinstance(part, int):
        if part < 0:
            raise TraceError(
                f"{text}: index {axis} is {part}, but indices count from 0", advice='Count from the end: size("n") - 1.'
            )
        return constant(trace, part, I64, Space(()))
    if not part.type.is_integer or part.type == BOOL:
        raise TraceError(f"{text}: index {axis} is {part.type}, not whole numbers", advice='Cast it: astype(i, "i64").')
    return cast_term(part, I64)
