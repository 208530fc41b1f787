"""Life: Conway's cellular automaton (Gardner 1970) in two dimensions."""

from __future__ import annotations

from workbench.language import astype, field
from workbench.machine import Machine, stencil


def machine(*, boundary: object = "periodic") -> Machine:
    """Field alive, u8: 1 where a cell lives. It is born with three neighbours of eight, survives with two or three."""

    @stencil(2, name="life")
    def solver() -> None:
        alive = field("alive", dtype="u8", boundary=boundary)
        around = sum(alive[i, j] for i in (-1, 0, 1) for j in (-1, 0, 1)) - alive
        alive.next = astype((around == 3) | ((around == 2) & (alive == 1)), "u8")

    return solver
