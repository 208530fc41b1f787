"""Write grouping: which stored values share a loop nest (Paraiso §3.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.errors import PlanError
from workbench.graph import Broadcast, Extend, Fold, Kernel, Load, Reduce, value_name
from workbench.graph.instructions import traits_of
from workbench.planning.axes import axes_of, listed
from workbench.planning.emission import (
    EMISSION_LIMIT,
    Emission,
    direct_needs,
    emit,
    reductions_below,
)
from workbench.planning.kernel_plan import Axes, Margins, Storage
from workbench.planning.reach import no_margins, rank_of


@dataclass(frozen=True, slots=True)
class Group:
    """Values computed in one loop nest over the domain grown by `margins`.

    manifest: Manifest nodes. copies: Loads whose value another field takes. reductions: Reduce nodes. axes, reduced and
    alone: as in a Subkernel; with reduced axes all that the group makes are Folds, listed as Manifest.
    """

    margins: Margins
    manifest: tuple[int, ...] = ()
    copies: tuple[int, ...] = ()
    reductions: tuple[int, ...] = ()
    axes: Axes = ()
    reduced: Axes = ()
    alone: int = -1

    @property
    def takes(self) -> bool:
        """Whether it computes the operands of what it stores, and not that itself."""
        return bool(self.reduced) or self.alone >= 0

    @property
    def roots(self) -> tuple[int, ...]:
        """All that it makes."""
        return (*self.manifest, *self.copies, *self.reductions)


def group_writes(
    kernel: Kernel,
    storage: Sequence[Storage],
    margins: Sequence[Margins],
    live: frozenset[int],
    copies: Sequence[int] = (),
) -> tuple[Group, ...]:
    """Merge greedily the values that do not depend on each other and have the same axes and margins.

    Before: storage of every node is decided. After: each live Manifest node, each live Reduce and each copied Load
    is in exactly one group, and group(n) > group(m) for every stored value or reduction m that n needs, also
    through Extend and Global arithmetic. Reductions see the domain only, so they join groups without margins; Folds
    join Folds of the same axes alone. No other way to group had fewer groups in any program small enough to try all
    (tests/planning/test_brute_grouping).
    """
    outside: list[tuple[Margins, Axes, Axes, int]] = []
    roots: list[list[int]] = []
    sizes: list[int] = []
    position: dict[int, int] = {}

    def earliest(root: int) -> int:
        return 1 + max(
            (_made(kernel, storage, need, position) for need in direct_needs(kernel, storage, root)), default=-1
        )

    for root in _in_order(kernel, storage, live, copies):
        is_manifest = storage[root] is Storage.MANIFEST
        own = (margins[root] if is_manifest else _domain_of(kernel, root), *loop_of(kernel, root))
        size = len(emission_of(kernel, storage, _group(kernel, storage, (root,), own)).operations)
        first = earliest(root)
        found = next(
            (g for g in range(first, len(outside)) if outside[g] == own and sizes[g] + size <= EMISSION_LIMIT),
            len(outside),
        )
        if found == len(outside):
            outside.append(own)
            roots.append([])
            sizes.append(0)
        roots[found].append(root)
        sizes[found] += size
        position[root] = found
    return tuple(_group(kernel, storage, tuple(each), own) for own, each in zip(outside, roots, strict=True))


def loop_of(kernel: Kernel, root: int) -> tuple[Axes, Axes, int]:
    """Return over which axes of the graph the loop of a root runs, which of them it folds, and a root that is alone."""
    node = kernel.nodes[root]
    if traits_of(node.instruction).is_collective:
        return axes_of(node.space, kernel.space), (), root
    source = kernel.nodes[node.operands[0]] if traits_of(node.instruction).is_reduction else node
    if source.space == kernel.space and not isinstance(node.instruction, Fold):
        return (), (), -1
    axes = axes_of(source.space, kernel.space)
    folded = node.instruction.axes if isinstance(node.instruction, Fold) else ()
    every = listed(axes, kernel.space.rank)
    return axes, tuple(every[axis] for axis in folded), -1


def _domain_of(kernel: Kernel, root: int) -> Margins:
    """No margins, along the axes of a copied Load or of what a Reduce takes."""
    node = kernel.nodes[root]
    return no_margins(rank_of(kernel, node.operands[0] if isinstance(node.instruction, Reduce) else root))


def _group(
    kernel: Kernel, storage: Sequence[Storage], roots: tuple[int, ...], own: tuple[Margins, Axes, Axes, int]
) -> Group:
    margins, axes, reduced, alone = own
    return Group(margins, *_sort(kernel, storage, roots), axes, reduced, alone)


def emission_of(kernel: Kernel, storage: Sequence[Storage], group: Group) -> Emission:
    """Return what the group's loop body consists of; PlanError if that is too much for a compiler."""
    taken = (*group.reductions, *(group.manifest if group.takes else ()))
    computed = (*(() if group.takes else group.manifest), *group.copies)
    used = tuple(operand for root in taken for operand in kernel.nodes[root].operands)
    emission = emit(kernel, storage, computed, used)
    if len(emission.operations) <= EMISSION_LIMIT:
        return emission
    counts: dict[int, int] = {}
    for node, _ in emission.operations:
        counts[node] = counts.get(node, 0) + 1
    free = [n for n in counts if storage[n] is Storage.DELAYED]
    # Of the values recomputed oftenest the last one has the longest formula behind it.
    worst = max(free or counts, key=lambda n: (counts[n], n))
    named = [n for n in free if kernel.nodes[n].names and counts[n] > 1]
    if named:
        worst = max(named, key=lambda n: (counts[n], n))
    error = PlanError(
        f"a sub-kernel of {kernel.name} would hold more than {EMISSION_LIMIT} operations; "
        f"{value_name(kernel, worst)} alone is recomputed at {counts[worst]} places",
        advice=f"Make {value_name(kernel, worst)} Manifest.",
    )
    if kernel.nodes[worst].spans:
        error.located(kernel.nodes[worst].spans[0].line)
    raise error


def _sort(
    kernel: Kernel, storage: Sequence[Storage], roots: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    manifest = tuple(sorted(r for r in roots if storage[r] is Storage.MANIFEST))
    copies = tuple(sorted(r for r in roots if isinstance(kernel.nodes[r].instruction, Load)))
    reductions = tuple(sorted(r for r in roots if isinstance(kernel.nodes[r].instruction, Reduce)))
    return manifest, copies, reductions


def _made(kernel: Kernel, storage: Sequence[Storage], need: int, position: dict[int, int]) -> int:
    """The last group that must have run before the value is there; -1 for a loaded field."""
    instruction = kernel.nodes[need].instruction
    if isinstance(instruction, Load):
        return -1
    if isinstance(instruction, Extend):
        return max(_made(kernel, storage, n, position) for n in direct_needs(kernel, storage, need))
    return position[need]


def _in_order(
    kernel: Kernel, storage: Sequence[Storage], live: frozenset[int], copies: Sequence[int]
) -> tuple[int, ...]:
    """Roots in topological order, but reductions that no cell reads last, where they find most groups to join."""
    fed = reductions_below_locals(kernel, live)
    roots = [i for i in sorted(live) if storage[i] is Storage.MANIFEST or i in fed]
    last = [i for i in sorted(live) if isinstance(kernel.nodes[i].instruction, Reduce) and i not in fed]
    return (*roots, *dict.fromkeys(copies), *last)


def reductions_below_locals(kernel: Kernel, live: frozenset[int]) -> frozenset[int]:
    """Return the Reduce nodes whose result some live Local needs through a Broadcast."""
    broadcasts = [kernel.nodes[i] for i in live if isinstance(kernel.nodes[i].instruction, Broadcast)]
    return reductions_below(kernel, (b.operands[0] for b in broadcasts))
