"""Joining: what the templates need to know of a loop that writes arrays one after another."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.codegen.cell_code import Pointer
from workbench.codegen.statement import Statement


@dataclass(frozen=True, slots=True)
class JoinedPart:
    """One array of a Join, whose cells lie in the shape `shape` of `rank` axes.

    along: for each of its axes that of the result. own: which of them comes in the place of the joined one, -1 where it
    is one cell. begin: where its cells begin along the joined axis. The rest is as in a Sweep.
    """

    shape: str
    rank: int
    along: tuple[int, ...]
    own: int
    begin: str
    pointers: tuple[Pointer, ...]
    row: tuple[Statement, ...]
    cell: tuple[Statement, ...]
    label: str
    outside: int
    extended: bool
    stages: tuple[()] = ()
    vectors: None = None


@dataclass(frozen=True, slots=True)
class Joining:
    """A Join along `axis` of the loop's axes: its parts, in order."""

    axis: int
    parts: tuple[JoinedPart, ...]
