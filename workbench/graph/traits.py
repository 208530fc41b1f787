"""Traits: what a kind of instruction is, as one row of a table; the table stands beside the instructions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from workbench.graph.types import StorageType


@dataclass(frozen=True, slots=True)
class Traits:
    """What a kind of instruction is, for all who ask no more than that; what it does they find by `match`.

    word: what the text form calls it; "" for an Arith, which goes by its operator.
    arity: number of operands; None: an Arith has those of its operator, an Extend at least one, a Gather one more than
    its first has axes, a Scatter two or three more, a Loop one more than its body has parameters, a Join at least one.
    reads: which cells of its operands a cell of the result depends on; "none" also where they are numbers,
    "projection": the one with the same indices along the operand's axes, "all": all along some axes, or along all,
    "anywhere": of operand 0 the one that the others number, of these the same one.
    result: whether it is a Local or a Global, either (as the operands, the static or the constant are), or none.
    evaluated_in: "cells": by formula wherever a loop or a fill needs a cell of it, or ahead of the loop if it is a
    Global; "fill": by a fill; "launch": it is given to launches or taken from them (statics, sizes, sums).
    on_domain: operand 0 is looked at on the domain only, never outside.
    uniform: a Local is the same number in all cells, whatever the operands are.
    type: the storage type of every result, None where operands, static or node decide it.
    """

    word: str
    arity: int | None
    reads: Literal["cell", "neighbour", "projection", "anywhere", "all", "none"]
    result: Literal["local", "global", "either", "none"]
    evaluated_in: Literal["cells", "fill", "launch"]
    on_domain: bool = False
    uniform: bool = False
    type: StorageType | None = None

    @property
    def is_leaf(self) -> bool:
        """Whether it has no operands."""
        return self.arity == 0

    @property
    def is_elementwise(self) -> bool:
        """Whether a cell is computed from the same cell of the operands: arithmetic, and worth storing."""
        return self.reads == "cell" and self.evaluated_in == "cells"

    @property
    def is_worth_storing(self) -> bool:
        """Whether storing it may save work: arithmetic, and what is read at computed places."""
        return self.reads in ("cell", "anywhere") and self.evaluated_in == "cells"

    @property
    def is_same_where_operands_are(self) -> bool:
        """Whether its cells are all the same if those of each operand are: made by formula, of no index."""
        return self.evaluated_in == "cells" and (self.uniform or self.reads in ("cell", "neighbour", "projection"))
