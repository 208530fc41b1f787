"""Dimension: whether so many components for an index are as many as vectors of the machine have."""

from __future__ import annotations

from workbench.errors import TraceError
from workbench.frontend.attempts import DimensionFoundError
from workbench.frontend.trace import MOST_DIMENSIONS, Trace, current_trace, is_tracing, show_dim


def need_dim(text: str, dim: int) -> int:
    """`dim` if it is the machine's; while that is a guess, a larger one raises it. Outside a trace any will do.

    A cell without a grid and without declared vectors has no dimension of its own: its tuples give it one.
    """
    if isinstance(dim, bool) or not isinstance(dim, int) or not 1 <= dim <= MOST_DIMENSIONS:
        raise TraceError(f"{text}: no tensor has {dim!r} dimensions", advice=f"Use 1 to {MOST_DIMENSIONS}.")
    if is_tracing():
        trace = current_trace(text)
        if trace.vector_dim < dim <= 3 and not trace.fixed:
            raise DimensionFoundError(dim, fixed=False)
        if trace.vector_dim < dim and trace.grid.is_global and not _has_vectors(trace):
            raise DimensionFoundError(dim, fixed=True)
        if dim != trace.vector_dim:
            own = show_dim(trace.vector_dim)
            raise TraceError(
                f"{text} has {dim} component{'s' * (dim != 1)} for an index, but the machine has {own}",
                advice=f"Give {trace.vector_dim}, or define the cell with --dim {dim}.",
            )
    return dim


def let_vectors_have(trace: Trace, what: str, dim: object) -> None:
    """All vectors of a cell have one dimension, which `dim`, `axes` and compose(...) mean: the cell is run with it.

    what: the word of the cell that declares them. Raises TraceError where grid or other vectors have another one.
    """
    if isinstance(dim, bool) or not isinstance(dim, int) or not 1 <= dim <= MOST_DIMENSIONS:
        raise TraceError(f"{what}: no vector has dim={dim!r}", advice="Give dim as 1, 2, 3, ...")
    if dim == trace.vector_dim:
        return
    if trace.fixed and not trace.grid.is_global and any(s.role == "field" for s in trace.statics.values()):
        raise TraceError(
            f"{what}: dim={dim}, but the grid has {trace.dim} dimension{'s' * (trace.dim != 1)}",
            advice=f"Give vectors dim={trace.dim}, or declare components one by one.",
        )
    if _has_vectors(trace):
        raise TraceError(
            f"{what}: dim={dim}, but other vectors of the cell have {trace.vector_dim} components",
            advice="Give all vectors of a cell one dim.",
        )
    raise DimensionFoundError(dim, fixed=True)


def _has_vectors(trace: Trace) -> bool:
    """Whether a vector is declared; totals have as many components as each of them is asked for."""
    return any(static.group and trace.kinds[static.name] != "a total" for static in trace.statics.values())
