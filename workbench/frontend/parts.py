"""Parts: what a tensor asks of one of its components, a traced value, a plain array or a number."""

from __future__ import annotations

from workbench.errors import TraceError
from workbench.frontend.trace import text_here
from workbench.frontend.value import Value


def declared(part: Value, name: str) -> Value:
    """The component of a tensor that was declared by this name; a computed tensor has none."""
    if not name:
        raise TraceError(
            f"{text_here('.next')}: only a declared tensor has .next, and this is a computed one",
            advice='Declare it: v = vector("v"), then v.next = value.',
        )
    return part


def neighbour(part: Value, offset: int, axis: int) -> object:
    """The component in the cell `offset` further along `axis`; a number is the same everywhere."""
    if isinstance(part, Value):
        return part.at(offset, axis)
    if isinstance(part, int | float):
        return part
    raise TraceError(
        f"{text_here('.at')}: a plain array has no neighbours outside itself",
        advice="Use .at in a cell, where boundary rules say what is outside.",
    )


def source_of(part: Value) -> object:
    """The component of the same particles as sources; a number is the same of all."""
    if isinstance(part, int | float):
        return part
    if isinstance(part, Value):
        return part.source
    raise TraceError(
        f"{text_here('.source')}: a plain array is no state of particles", advice="Use .source in a cell of particles."
    )
