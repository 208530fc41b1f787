"""Which sums of a sequence are written as fma(a, 1.0, b), which has the same bits.

AMD's processors add on other units than those that multiply and fuse. A product and a sum of double-double have 24
sums of f64 for five products, so the units of products wait. Those sums go there that no part of the result waits for,
as an fma takes a cycle longer. The low part of a product may wait: a sum, which most products enter, takes it late.
"""

from __future__ import annotations

from workbench.graph.instructions import Arith
from workbench.graph.sequences import Sequence
from workbench.graph.types import F64

_CYCLES = {"add": 3, "subtract": 3, "multiply": 4, "fma": 4, "divide": 13, "sqrt": 20}  # Zen 4; all others take one
_BY_FMA = 4
_LOW_PART_MAY_WAIT = {"multiply": 2}  # cycles, in the sequences of these names


def sums_by_fma(sequence: Sequence) -> frozenset[int]:
    """The nodes of those sums and differences."""
    names = [each.instruction.operator if isinstance(each.instruction, Arith) else "" for each in sequence.nodes]
    cycles = [_CYCLES.get(name, 1) if name else 0 for name in names]
    done = _done(sequence, cycles)
    wait = _LOW_PART_MAY_WAIT.get(sequence.name, 0)
    wanted = [done[index] + (wait if part else 0) for part, index in enumerate(sequence.results)]
    # How long after a node each result is there; None where it does not need the node.
    after: list[list[int | None]] = [
        [0 if index == result else None for result in sequence.results] for index in range(len(names))
    ]
    chosen: set[int] = set()
    for index in reversed(range(len(names))):  # what needs a node comes after it
        operands = sequence.nodes[index].operands
        begins = max((done[operand] for operand in operands), default=0)
        may_wait = all(
            rest is None or begins + _BY_FMA + rest <= latest for rest, latest in zip(after[index], wanted, strict=True)
        )
        if may_wait and names[index] in {"add", "subtract"} and sequence.nodes[index].value_type == F64:
            cycles[index] = _BY_FMA
            chosen.add(index)
        for operand in operands:
            after[operand] = [_longer(*both, cycles[index]) for both in zip(after[operand], after[index], strict=True)]
    return frozenset(chosen)


def _longer(known: int | None, rest: int | None, taken: int) -> int | None:
    """The longer of two ways to a result: one known already, and one by a node that takes so long."""
    return known if rest is None else max(known or 0, rest + taken)


def _done(sequence: Sequence, cycles: list[int]) -> list[int]:
    """When each node is there, if nothing waits for a unit."""
    done: list[int] = []
    for node, taken in zip(sequence.nodes, cycles, strict=True):
        done.append(max((done[operand] for operand in node.operands), default=0) + taken)
    return done
