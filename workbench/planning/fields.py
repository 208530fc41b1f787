"""Field ends: which array every field is after a step; a Store of a bare Load only renames one (semantics §5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from workbench.graph import Graph, Kernel, Load

Way = Literal["keep", "rotate", "home", "copy"]


@dataclass(frozen=True, slots=True)
class FieldEnd:
    """How a field comes by its array at the end of a step.

    keep: its own array, untouched. rotate: the array that another field was; `node` is that Load. home: the array of
    the Manifest `node`. copy: a further array with the value of `node`, because `node`'s own goes to another field.
    """

    field: str
    way: Way
    node: int | None


def end_fields(graph: Graph, kernel: Kernel) -> tuple[FieldEnd, ...]:
    """Decide for every field, in the order of graph.arrays, which array it is at the end.

    Before: no Store takes an Extend. After: no array belongs to two fields; a field that keeps its value keeps its
    array, and nothing is copied unless two fields end with one value.
    """
    stored = dict(kernel.stores())
    taken: set[int] = set()
    kept = {f.name for f in graph.arrays if _keeps(kernel, f.name, stored.get(f.name))}
    ends = []
    for static in graph.arrays:
        node = stored.get(static.name)
        if static.name in kept or node is None:
            ends.append(FieldEnd(static.name, "keep", None))
            continue
        instruction = kernel.nodes[node].instruction
        if isinstance(instruction, Load):
            free = instruction.name not in kept and node not in taken
            ends.append(FieldEnd(static.name, "rotate" if free else "copy", node))
        else:
            ends.append(FieldEnd(static.name, "copy" if node in taken else "home", node))
        taken.add(node)
    return tuple(ends)


def copied_loads(kernel: Kernel, ends: Sequence[FieldEnd]) -> tuple[int, ...]:
    """The Loads whose value another field takes."""
    copied = (end.node for end in ends if end.way == "copy" and end.node is not None)
    return tuple(node for node in copied if isinstance(kernel.nodes[node].instruction, Load))


def _keeps(kernel: Kernel, field: str, node: int | None) -> bool:
    return node is None or kernel.nodes[node].instruction == Load(field)
