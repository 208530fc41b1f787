"""Keeping: which values of a function of arrays are better kept in an array than computed again where they are used."""

from __future__ import annotations

from workbench.frontend.formulas import made_of
from workbench.frontend.places import EXPENSIVE
from workbench.frontend.renaming import is_stored
from workbench.frontend.trace import Term
from workbench.graph import OPERATORS, Arith, Load, Loop


def is_expensive(term: Term) -> bool:
    """Whether many operations make it, or what makes an array of its own."""
    flops = 0.0
    for node in made_of(term):
        if isinstance(node.instruction, Arith):
            flops += OPERATORS[node.instruction.operator].flops
        if flops >= EXPENSIVE or is_stored(node) or isinstance(node.instruction, Loop):
            return True
    return False


def is_worth_keeping(term: Term) -> bool:
    """Whether an expensive value is no larger than an array that it is made of, and can be kept."""
    arrays = [node for node in made_of(term) if isinstance(node.instruction, Load) or is_stored(node)]
    return any(node.space == term.space for node in arrays) and not term.type.is_pair
