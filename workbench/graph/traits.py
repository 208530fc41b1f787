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
    "anywhere": of operand 0 the one that the others number, of these the same one. What a body reads elements of is no
    part of a Loop's row: see `array_places`.
    result: whether it is a Local or a Global, either (as the operands, the static or the constant are), or none.
    evaluated_in: "cells": by formula wherever a loop or a fill needs a cell of it, or ahead of the loop if it is a
    Global; "fill": by a fill; "launch": it is given to launches or taken from them (statics, sizes, sums).
    on_domain: operand 0 is looked at on the domain only, never outside.
    domain_only: a Local has a value on the domain only; an Extend gives it one outside.
    moves: a cell is one of operand 0 as it is: that at an offset, or the same one along further axes.
    notes_outside: an index that lies outside of what it numbers is noted, an error of the run (semantics §2).
    uniform: a Local is the same number in all cells, whatever the operands are.
    type: the storage type of every result, None where operands, static or node decide it.
    """

    word: str
    arity: int | None
    reads: Literal["cell", "neighbour", "projection", "anywhere", "all", "none"]
    result: Literal["local", "global", "either", "none"]
    evaluated_in: Literal["cells", "fill", "launch"]
    on_domain: bool = False
    domain_only: bool = False
    moves: bool = False
    notes_outside: bool = False
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
    def is_free(self) -> bool:
        """Whether a cell costs nothing: it is a number, an index, or one that is the same along further axes."""
        return self.reads in ("none", "projection") and self.evaluated_in == "cells"

    @property
    def is_reduction(self) -> bool:
        """Whether it combines all cells along some axes to one, in the loop that makes them."""
        return self.reads == "all" and not self.domain_only

    @property
    def is_collective(self) -> bool:
        """Whether it is made of many cells by a loop of its own: one of `Collective`."""
        return self.reads == "all" and self.domain_only

    @property
    def makes_array(self) -> bool:
        """Whether its cells lie in an array in every plan, because many cells decide each."""
        return self.reads == "all" and self.result == "local"

    @property
    def is_existing(self) -> bool:
        """Whether a Local's cells are in an array before any loop runs: those of a static, with ghost cells or not."""
        return self.evaluated_in == "fill" or (self.is_leaf and self.domain_only)

    @property
    def repeats(self) -> bool:
        """Whether its cells are the same along further axes than operand 0 has."""
        return self.moves and self.reads != "neighbour"

    @property
    def is_same_where_operands_are(self) -> bool:
        """Whether its cells are all the same if those of each operand are: made by formula, of no index."""
        return self.evaluated_in == "cells" and (self.uniform or self.reads in ("cell", "neighbour", "projection"))
