"""Access: where the value of a stored node is for a loop, and so how a cell reads it.

A loop chooses one for each node that it reads; `reads` has the text of each. What strips or streamed planes need is one
more of these.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RowPointers:
    """In an array in memory, by a pointer to each row and the index along the row.

    A rolling buffer is read so too: its pointers begin at the planes that it holds.
    """


@dataclass(frozen=True, slots=True)
class Linear:
    """In an array in memory, by the linear index of the cell, which a thread computes once for all arrays."""

    array: str


@dataclass(frozen=True, slots=True)
class Near:
    """In registers or shared memory, by a function of the offset. array: where it is in memory between launches."""

    array: str
    function: str


Access = RowPointers | Linear | Near
