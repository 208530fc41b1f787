"""Partials: how many cells the buffers have that reductions and scans leave what chunks combine to in."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from workbench.graph import Rank, Scatter
from workbench.graph.scatters import neutral_number
from workbench.planning.axes import along
from workbench.planning.plan import Plan, Step

CHUNK = 1024
"""Cells of a row that are combined in one go, as in the texts (semantics §3)."""
MOST_COPIED = 65536
"""Destinations of a Scatter of which each thread may have a copy, as in the texts."""


def partial_count(extents: tuple[int, ...]) -> int:
    """Return the cells of a buffer for a loop over these extents: one for each chunk of each row."""
    return prod(extents[:-1]) * -(-extents[-1] // CHUNK)


def largest_partials(plan: Plan, extents: tuple[int, ...], *, scans: bool, threads: int = 1) -> int:
    """Return the cells of the largest buffer that a loop needs over a domain of these extents.

    scans: those of scans, ranks and scatters too; each of so many threads counts the digits of a rank, or has a copy of
    the few destinations of a scatter.
    """
    loops = (loop for step in _steps(plan) for loop in step.subkernels)
    wanting = (loop for loop in loops if loop.reductions or (scans and loop.alone >= 0))
    most = max((partial_count(along(extents, loop.axes)) for loop in wanting), default=0)
    return max(most, threads * cells_a_thread(plan, extents)) if scans else most


def cells_a_thread(plan: Plan, extents: tuple[int, ...] | None = None) -> int:
    """Return the cells that each thread needs for itself: counts of a Rank's digits, copies of a Scatter's places.

    Without extents as many as there may be for any.
    """
    most = 0
    for kernel in plan.kernels:
        for node in kernel.kernel.nodes:
            match node.instruction:
                case Rank(bits):
                    most = max(most, 2**bits)
                case Scatter(operator) if neutral_number(operator, node.value_type) is not None:
                    assert node.space is not None  # a Local
                    copied = MOST_COPIED if extents is None else prod(node.space.extents_in(plan.graph.space, extents))
                    most = max(most, copied if copied <= MOST_COPIED else 0)
                case _:
                    pass
    return most


def list_lengths(plan: Plan, extents: tuple[int, ...]) -> tuple[int, int]:
    """Return how many destinations and how many senders a Scatter of the plan has at most; zeros without one.

    At least 1 of each, because launches name both arrays.
    """
    most = (0, 0)
    for kernel in plan.kernels:
        nodes = kernel.kernel.nodes
        for node in nodes:
            if isinstance(node.instruction, Scatter):
                spaces = (node.space, nodes[node.operands[1]].space)
                counts = (prod(s.extents_in(plan.graph.space, extents)) if s is not None else 1 for s in spaces)
                most = tuple(map(max, most, counts, (1, 1)))  # type: ignore[assignment]  # of two and two
    return most


def partial_words(plan: Plan) -> int:
    """Return the words of 8 bytes that one cell of a buffer takes at most."""
    types = [
        kernel.kernel.nodes[loop.alone].type
        for kernel in plan.kernels
        for step in (kernel.plain, kernel.observed)
        for loop in step.subkernels
        if loop.alone >= 0
    ]
    return max([plan.widest_reduction, *(type_.words for type_ in types if type_ is not None)])


def host_buffers(plan: Plan) -> int:
    """Return how many buffers a march needs: one for each reduction of a step, and one for its scans."""
    return max(
        sum(len(loop.reductions) for loop in step.subkernels) + any(loop.alone >= 0 for loop in step.subkernels)
        for step in _steps(plan)
    )


def _steps(plan: Plan) -> Iterator[Step]:
    return (step for kernel in plan.kernels for step in (kernel.plain, kernel.observed))
