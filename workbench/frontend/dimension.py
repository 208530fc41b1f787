"""Dimension: whether so many components for an index are as many as the machine has dimensions."""

from __future__ import annotations

from workbench.errors import TraceError
from workbench.frontend.attempts import DimensionFoundError
from workbench.frontend.trace import MOST_DIMENSIONS, current_trace, is_tracing, show_dim


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
        if trace.vector_dim < dim and trace.grid.is_global and not any(s.group for s in trace.statics.values()):
            raise DimensionFoundError(dim, fixed=True)
        if dim != trace.vector_dim:
            own = show_dim(trace.vector_dim)
            raise TraceError(
                f"{text} has {dim} component{'s' * (dim != 1)} for an index, but the machine has {own}",
                advice=f"Give {trace.vector_dim}, or define the cell with --dim {dim}.",
            )
    return dim
