"""Pair formulas: what a pair contributes as a function of the source's position and weight, for points that are none.

The formula is made again with other positions and weights in the place of the source's. Points which have the moments
of many sources then contribute what these do together, if nothing else of a source is read and the contribution is a
multiple of the weight.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.errors import StencilError, TraceError
from workbench.frontend.trace import Term, Trace
from workbench.graph import (
    Arith,
    Broadcast,
    Gather,
    Imm,
    KernelBuilder,
    Load,
    LoadIndex,
    Loop,
    Node,
    Replicate,
    Space,
)
from workbench.graph.instructions import operands_in_cell, traits_of, with_operands
from workbench.graph.rewrite import copy

_NOTHING = -1
"""The degree of a zero, which is a multiple of the weight and depends on nothing."""


class PairFormula:
    """The contribution of a pair to one sum. of_target: nodes of what it reads of the target.

    what: how the text calls the sum. seen: the source's positions and, last, its weight, as a pair reads them.
    """

    def __init__(self, trace: Trace, what: str, pair: Term, seen: Sequence[Term]) -> None:
        self._trace, self._what, self.pair = trace, what, pair
        target, self._source = pair.space.axes
        self._of_target = Space((target,))
        self._seen = {term.index for term in seen}
        self._order = trace.pool.needed([pair.index], self._made_of)
        self._check_reads()
        self._check_weight(seen[-1].index)
        self.of_target = [index for index in self._order if self._is_of_target(index)]

    def made(self, of_target: Mapping[int, Term], of_source: Mapping[int, Term]) -> Term:
        """The contribution to each target of points, one for each target, with other values of both sides."""
        made = {index: term.index for index, term in (*of_target.items(), *of_source.items())}
        space = next(iter(of_source.values())).space
        for index in self._order:
            node = self._trace.pool.node(index)
            if index not in made:
                made[index] = index if node.is_global else self._made(index, node, made, space)
        return Term(self._trace, made[self.pair.index])

    def _made(self, index: int, node: Node, made: Mapping[int, int], space: Space) -> int:
        operands = tuple(made[operand] for operand in self._made_of(index))

        def build(pool: KernelBuilder) -> int:
            match node.instruction:
                case Imm(value):
                    return pool.imm(value, node.value_type, space)
                case Broadcast():
                    return pool.broadcast(operands[0], space)
                case Replicate():
                    return operands[0]
                case _:
                    return copy(pool, node, with_operands(node, made.__getitem__))

        return self._trace.emit(build).index

    def _is_of_target(self, index: int) -> bool:
        node = self._trace.pool.node(index)
        return node.space == self._of_target and not traits_of(node.instruction).uniform

    def _made_of(self, index: int) -> tuple[int, ...]:
        """The operands that are made again with a value: none of what is given, nor arrays that it reads."""
        node = self._trace.pool.node(index)
        if index in self._seen or self._is_of_target(index) or node.is_global:
            return ()
        return operands_in_cell(node)

    def _check_reads(self) -> None:
        """Raise TraceError for what points in the place of sources do not have."""
        for index in self._order:
            node = self._trace.pool.node(index)
            if index in self._seen or self._is_of_target(index) or node.is_global:
                continue
            match node.instruction:
                case Imm() | Broadcast() | Replicate() | Arith() | Loop() | Gather():
                    continue
                case LoadIndex(axis) if node.space is not None and node.space.axes[axis] != self._source:
                    continue
                case LoadIndex():
                    called = "the number of the source"
                case Load(name):
                    called = f"{(node.names[0] if node.names else name).removesuffix('.source')} of the source"
                case _:
                    called = "what other sources make of the source"
            error = TraceError(
                f"{self._what} is summed by a tree, but what a pair contributes reads {called}",
                advice="Contribute a formula of positions and weights alone, or leave tree= out.",
            )
            raise self._marked(error)

    def _check_weight(self, weight: int) -> None:
        """Raise TraceError where it is not seen that the contribution is a multiple of the weight."""
        degrees: dict[int, int | None] = {}
        for index in self._order:
            degrees[index] = 1 if index == weight else self._degree(index, degrees)
        if degrees[self.pair.index] not in (1, _NOTHING):
            error = TraceError(
                f"{self._what} is summed by a tree, but what a pair contributes is no multiple of the source's weight",
                advice="Contribute weight * f, where f does not depend on the weight.",
            )
            raise self._marked(error)

    def _degree(self, index: int, degrees: Mapping[int, int | None]) -> int | None:
        """Of which power of the weight a value is a multiple, 0 or 1; None where that is not seen."""
        node = self._trace.pool.node(index)
        found = [degrees[operand] for operand in self._made_of(index)]
        known = [each for each in found if each is not None]
        if not found or len(known) < len(found):
            is_zero = isinstance(node.instruction, Imm) and node.instruction.value == 0
            return None if found else _NOTHING if is_zero else 0
        match node.instruction:
            case Replicate():
                return known[0]
            case Arith("multiply" | "fma"):
                product = _NOTHING if _NOTHING in known[:2] else sum(known[:2])
                return _common([product, *known[2:]])
            case Arith("divide") if known[1] != 1:
                return known[0]
            case Arith("select") if known[0] != 1:
                return _common(known[1:])
            case Arith("add" | "subtract" | "negative"):
                return _common(known)
            case Arith("cast") if node.value_type.is_float:
                return known[0]
            case _:
                return None if 1 in known else 0

    def _marked(self, error: TraceError) -> StencilError:
        """The error with the place of what a pair contributes."""
        spans = self.pair.node.spans
        return self._trace.source.mark(error, spans[0]) if spans else error


def _common(degrees: Sequence[int]) -> int | None:
    """The degree of a sum."""
    found = set(degrees) - {_NOTHING}
    if not found:
        return _NOTHING
    return found.pop() if len(found) == 1 and found <= {0, 1} else None
