"""Sending: how a device does a Scatter, by what is known of its operator and of the places before it runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from workbench.graph import Arith, Imm, Node, Rank, Scan, Scatter
from workbench.graph.scatters import free_operation, keeps_last
from workbench.graph.types import BOOL

Way = Literal["stored", "combined", "elected", "listed"]


@dataclass(frozen=True, slots=True)
class Sending:
    """How a device does a Scatter.

    way: "stored" where no two senders have one place: each writes there; "combined" where senders combine in any order
    to the same bits: by atomic operations; "elected" where the last sender's value stays: its number is the largest;
    "listed" elsewhere: the senders of each place in a list, which is sorted. last: whether what is sent stays as it is,
    whatever was there. fills: whether each place is sent to, so that no default is left. operation: the one of
    "combined", "" elsewhere.
    """

    way: Way
    last: bool = False
    fills: bool = False
    operation: str = ""

    @property
    def lists(self) -> int:
        """How many lists it needs: the first one has a cell for each destination, the second one for each sender."""
        return {"stored": 0, "combined": 0, "elected": 1, "listed": 2}[self.way]


def sending_of(nodes: Sequence[Node], number: int) -> Sending:
    """Return how a device does the Scatter that is node `number` of a kernel."""
    node = nodes[number]
    scatter = node.instruction
    assert isinstance(scatter, Scatter)
    defaults, _, *places = node.operands
    mask = places.pop() if scatter.masked else None
    last = keeps_last(scatter.operator)
    if any(_is_rank(nodes, place) for place in places):
        all_of_them = len(places) == 1 and mask is None and nodes[places[0]].space == nodes[defaults].space
        return Sending("stored", last, fills=all_of_them and last)
    if mask is not None and any(_counts(nodes, place, mask) for place in places):
        return Sending("stored", last)
    if last:
        return Sending("elected", last)
    operation = free_operation(scatter.operator, node.value_type)
    if operation is not None and node.value_type.itemsize >= 4:  # what atomic operations of a device take
        return Sending("combined", operation=operation)
    return Sending("listed")


def _is_rank(nodes: Sequence[Node], place: int) -> bool:
    """Whether it is the rank of each sender, which no other has: a Rank has the senders' one axis."""
    return isinstance(nodes[place].instruction, Rank)


def _counts(nodes: Sequence[Node], place: int, mask: int) -> bool:
    """Whether it counts the senders that are not held back, along their only axis, up to each one or from there on.

    It may count all of them, or those before; a number may be added or taken away, as cumsum(mask) - 1 does.
    """
    node = nodes[place]
    match node.instruction:
        case Arith("add" | "subtract") if isinstance(nodes[node.operands[1]].instruction, Imm):
            return _counts(nodes, node.operands[0], mask)
        case Scan("sum") if node.value_type.itemsize == 8 and not node.value_type.is_float:
            space, counted = node.space, nodes[node.operands[0]]
            is_cast = isinstance(counted.instruction, Arith) and counted.instruction.operator == "cast"
            one_axis = space is not None and space.rank == 1
            return one_axis and is_cast and counted.operands == (mask,) and nodes[mask].type == BOOL
        case _:
            return False
