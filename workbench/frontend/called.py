"""Called cells: those that run once at each call and keep nothing, as cells of pairs and of arrays do."""

from __future__ import annotations

from workbench.errors import TraceError
from workbench.frontend.declarations import check_name
from workbench.frontend.trace import Trace
from workbench.graph import Space

CALL_KEYWORDS = frozenset(["targets", "sources", "backend", "threads", "choices", "device"])


def begin_called(trace: Trace, what: str, space: Space) -> None:
    """Let the cell be a called one over `space`. Raises TraceError if it has state or values of a grid already."""
    state = next((s for s in trace.statics.values() if s.role != "param"), None)
    if state is not None or any(trace.pool.node(i).is_local for i in range(len(trace.pool))):
        held = f"the {state.role} {state.name}" if state is not None else "values of a grid"
        raise TraceError(
            f"{what} stands in a cell that has {held}",
            advice="Declare what is given at the call first, in a cell without fields and scalars.",
        )
    if len(trace.kernels) > 1:
        raise TraceError(
            f"{what} stands in a cell that has the kernel {trace.kernels[1].name}, but runs once at each call",
            advice="Write a cell of its own for the kernel.",
        )
    trace.begin_called(space)


def names_of(what: str, names: object, example: str) -> list[str]:
    """The names in a text such as "x y". Raises TraceError if one cannot be a variable of a called cell."""
    if not isinstance(names, str) or not names.replace(",", " ").split():
        raise TraceError(f"{what} needs names, not {names!r}", advice=f"Write {example}.")
    found = names.replace(",", " ").split()
    for name in found:
        check_name(name, what, steps=False)
        if name in CALL_KEYWORDS:
            raise TraceError(f"{name!r} is a keyword of the call", advice="Choose another name.")
    return found
