"""Prefetching: what the next plane reads is asked for while this one is computed, so that it is in the cache in time.

A thread that goes through planes cannot load the next one's cells early by itself: where a field is updated in place,
the compiler must take its store for one that the next load might read.

Loops that read many arrays have enough to do while they wait. On an H100 the fluxes of hydrodynamics took 1.4 times as
long when all that they read was asked for, wave and heat 0.6 to 0.8 times. On an H200 a limit of 8 arrays left
hydrodynamics in two dimensions as it was and took 1.1 times as long in three (f64); heat without any took 1.3 times.
"""

from __future__ import annotations

from workbench.codegen.cell_code import CellCode

MOST_ARRAYS = 4
"""Arrays that a cell of a loop reads; loops over more prefetch nothing."""


def prefetches(code: CellCode, rank: int) -> tuple[str, ...]:
    """Return a statement for each array that a cell of a sweep reads: the line that the next plane reads first.

    None where rows are all there is, or where a cell reads more than `MOST_ARRAYS`.
    """
    if rank < 2 or len(code.ahead) > MOST_ARRAYS:
        return ()
    axis = max(rank - 3, 0)
    return tuple(
        f"STENCIL_PREFETCH({array}, cell + {_planes(offset)} * strides[{axis}]);" for array, offset in code.ahead
    )


def _planes(offset: int) -> str:
    """How far the next plane's cells at an offset lie from this one's."""
    return f"(planes.step() {'+' if offset > 0 else '-'} {abs(offset)})" if offset else "planes.step()"
