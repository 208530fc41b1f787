"""Fused sums: sums of products in which each product is rounded together with the sum before it, as a Fold of records.

A term a * b is the record (a, b), a sum s is (s, 1): combining a sum with a term is one fused multiply-add, and
combining two sums is an addition, because a product with 1 is exact. So a Fold by this region is a sum in the canonical
order whose lanes take terms by fma and whose trees add. Its first component is the sum.
"""

from __future__ import annotations

from functools import cache

from workbench.graph.instructions import Arith, Fold, Imm, Load, Node, Parameter, Region
from workbench.graph.spaces import GLOBAL
from workbench.graph.types import StorageType, pair_of


@cache
def fused_sum(type_: StorageType) -> Region:
    """The region for numbers of a float type."""
    pair = pair_of(type_, type_)

    def node(instruction: Load | Arith | Imm, operands: tuple[int, ...], made: StorageType = type_) -> Node:
        return Node(instruction, operands, made, GLOBAL)

    nodes = (
        node(Load("left"), (), pair),
        node(Load("right"), (), pair),
        node(Arith("first"), (1,)),
        node(Arith("second"), (1,)),
        node(Arith("first"), (0,)),
        node(Arith("fma"), (2, 3, 4)),
        node(Imm(1.0), ()),
        node(Arith("pair"), (5, 6), pair),
    )
    return Region((Parameter("left", pair), Parameter("right", pair)), nodes, (-0.0, 1.0))


def is_fused_sum(node: Node) -> bool:
    """Whether a node is such a Fold."""
    instruction = node.instruction
    if not isinstance(instruction, Fold) or not isinstance(instruction.operator, Region) or not node.value_type.is_pair:
        return False
    first = node.value_type.members[0]
    return not first.is_pair and first.is_float and instruction.operator == fused_sum(first)
