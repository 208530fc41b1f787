"""Partials: how large the buffers are that reductions, scans and ranks leave what parts combine to or count in."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from math import prod

from workbench.graph import Join, Rank, Scan, Scatter, SegmentedReduce
from workbench.graph.instructions import collective_of
from workbench.graph.scatters import neutral_number
from workbench.planning.axes import along
from workbench.planning.kernel_plan import Step
from workbench.planning.plan import Plan
from workbench.planning.sending import sending_of

CHUNK = 1024
"""Cells of a row that are combined in one go, as in the texts (semantics §3)."""
MOST_COPIED = 65536
"""Destinations of a Scatter of which each thread may have a copy, as in the texts."""


def partial_count(extents: tuple[int, ...]) -> int:
    """Return the cells of a buffer for a loop over these extents: one for each chunk of each row."""
    return prod(extents[:-1]) * -(-extents[-1] // CHUNK)


def line_chunks(extents: tuple[int, ...], axis: int) -> tuple[int, int]:
    """Return how many lines a loop over these extents has along an axis, and the chunks of each."""
    return prod(n for k, n in enumerate(extents) if k != axis), -(-extents[axis] // CHUNK)


def scan_threads(itemsize: int, *, across: bool) -> int:
    """Return the most threads of a block that scans values of so many bytes on a device, as its text has it.

    across: along another axis than the last one. What threads of a block share takes 36 KiB at most.
    """
    each = itemsize * (33 if not across and itemsize <= 16 else 2)
    return max((n for n in (64, 128, 256) if n * each <= 36 << 10), default=32)


def rank_threads(digits: int) -> int:
    """Return the most threads of a block that ranks on a device, as its text has it."""
    return 32 * min(4096 // digits, 8)


def rank_parts(cells: int, digits: int) -> int:
    """Return how many parts a device cuts cells into to rank them, as its text does."""
    return -(-cells // max(32 * digits, CHUNK))


def scratch_bytes(plan: Plan, extents: tuple[int, ...]) -> int:
    """Return the bytes that scans and ranks of a device keep between their launches, one loop at a time."""
    most = 0
    for kernel in plan.kernels:
        for loop in (loop for step in (kernel.plain, kernel.observed) for loop in step.subkernels if loop.alone >= 0):
            node, sizes = kernel.kernel.nodes[loop.alone], along(extents, loop.axes)
            match collective_of(node):
                case Scan() as scan:
                    lines, each = line_chunks(sizes, scan.axis)
                    parts = lines * each * (3 if scan.exclusive else 1)  # with the last runs of chunks
                    most = max(most, node.value_type.itemsize * parts if each > 1 else 0)
                case Rank(bits):
                    most = max(most, 8 * 2**bits * rank_parts(sizes[0], 2**bits))
                case SegmentedReduce() | Scatter() | Join():
                    pass
    return most


def largest_partials(plan: Plan, extents: tuple[int, ...], *, scans: bool, threads: int = 1) -> int:
    """Return the cells of the largest buffer that a loop needs over a domain of these extents.

    scans: those of a host's scans, ranks and scatters too; each of so many threads counts the digits of a rank, or has
    a copy of the few destinations of a scatter.
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


def list_lengths(plan: Plan, extents: tuple[int, ...]) -> tuple[int, ...]:
    """Return the cells of the lists that a device needs for its Scatters (`Sending.lists`): of none, one or two.

    At least 1 of each, because launches name the arrays.
    """
    most: list[int] = []
    for kernel in plan.kernels:
        nodes = kernel.kernel.nodes
        for number, node in enumerate(nodes):
            if isinstance(node.instruction, Scatter):
                spaces = (node.space, nodes[node.operands[1]].space)[: sending_of(nodes, number).lists]
                counts = [prod(s.extents_in(plan.graph.space, extents)) if s is not None else 1 for s in spaces]
                most = [max(pair) for pair in zip_longest(most, counts, fillvalue=1)]
    return tuple(most)


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
