"""Formulas: the operations that make a value of a function of arrays in each cell."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from workbench.frontend.renaming import is_stored
from workbench.frontend.trace import Term
from workbench.graph import Node


def contains(term: Term, wanted: Callable[[Node], bool]) -> bool:
    """Whether a node of this kind is among what makes a value in each cell; not inside of what is stored."""
    return any(map(wanted, made_of(term)))


def made_of(term: Term) -> Iterator[Node]:
    """The nodes that make a value in each cell, the value's own first; not those inside of what is stored."""
    pool, waiting, seen = term.trace.pool, [term.index], {term.index}
    while waiting:
        node = pool.node(waiting.pop())
        if not node.is_local:
            continue
        yield node
        if is_stored(node):
            continue
        waiting += [index for index in node.operands if index not in seen]
        seen.update(node.operands)
