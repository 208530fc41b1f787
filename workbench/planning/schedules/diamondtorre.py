"""DiamondTorre in plans: which steps can run in towers, why others cannot, and the sizes of towers.

The geometry of towers is in `workbench.planning.schedules.torre`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from workbench.errors import PlanError
from workbench.graph import Extend, Kernel, Load, Periodic, Prescribed, SideRule
from workbench.graph.naming import value_name
from workbench.graph.spaces import axis_name
from workbench.planning.choices import TilingChoices
from workbench.planning.cost import HostFigures
from workbench.planning.kernel_plan import Fill, KernelPlan, Step, Subkernel
from workbench.planning.lines import line_of
from workbench.planning.reads import emission_in
from workbench.planning.schedules.locality import DEPTH
from workbench.planning.schedules.schedule import Extents, Schedule, TileHost, TunedSize
from workbench.planning.schedules.tiling import Refusal, refusal, refused
from workbench.planning.schedules.torre import Torre, torre
from workbench.planning.schedules.tower_table import tower_table_lines
from workbench.planning.towered import Towers, values_of_a_thread

THREADS, MOST_THREADS = 256, 1024
"""Of a tower where the length of the last axis is not known, and of any block."""

_SHARED_BYTES = 48 << 10  # of a block, on every device
_REGISTER_BYTES = 4 * 112  # of a thread that values of a tower may take; the rest are indices and temporaries
_SIZES = (4, 3, 2, 1)
_DIAMOND_SIZES = (0, 1, 2, 3, 4, 6, 8)  # that are worth trying; 0: as many values as registers have room for
_COLUMNS = (32, 64, 128, 256, 512, 1024)


def towers(kernel: KernelPlan, dim: int, choices: TilingChoices) -> Towers:
    """Return how plain steps of a kernel run together in towers. PlanError says why they cannot."""
    found = refusal(kernel.kernel, kernel.plain, dim)
    found = found if found is not None and found.by_meaning else next(_obstacles(kernel, dim), found)
    if found is not None:
        error = refused(DIAMONDTORRE.name, found.why)
        raise error if found.line is None else error.located(found.line)
    step = kernel.plain
    (loop,), (fill,) = step.subkernels, step.fills
    odd, even = loop.outputs[0].slot, fill.source
    offsets = _offsets(kernel, step, loop, even)
    reach = max(1, *(abs(x) + abs(y) for x, y, _ in offsets))
    along = max(abs(z) for *_, z in offsets)
    around = tuple((max(-o[k] for o in offsets), max(o[k] for o in offsets)) for k in range(dim))
    rings = _rings(kernel.kernel, fill)
    itemsize = kernel.kernel.nodes[loop.outputs[0].node].value_type.itemsize
    older = any(read.slot == odd for read in loop.reads)
    size = choices.diamond_size or next(
        (size for size in _SIZES if values_of_a_thread(reach, size, older) * itemsize <= _REGISTER_BYTES), 1
    )
    threads = choices.column_threads or THREADS
    group = _group(2 * (reach * size) ** 2, 2 * (threads + 2 * along) * itemsize) if along else 0
    if along and not group:
        raise refused(
            DIAMONDTORRE.name, f"a column of {threads} threads does not fit into the shared memory of a block"
        )
    ahead = bool(step.scalar_stores)
    return Towers(DIAMONDTORRE.name, even, odd, older, reach, around, rings, 0, size, threads, group, along, ahead)


def torre_of(towers: Towers, extents: tuple[int, ...], choices: TilingChoices) -> Torre | None:
    """Return the towers over these extents, None where they have no room for any.

    PlanError if the last axis has more cells than a tower has threads.
    """
    rows, columns, length = extents
    if length > towers.threads:
        raise PlanError(
            f"the last axis has {length} cells, more than the {towers.threads} threads of a tower",
            advice=f"Choose column_threads={threads_for(length)}."
            if length <= MOST_THREADS
            else "Let another axis be the last one.",
        )
    if length < 2 * towers.along:
        return None
    rings = towers.rings[0], towers.rings[1]
    return torre((rows, columns), towers.reach, towers.size, choices.depth or DEPTH, rings)


def _told(choices: TilingChoices, extents: Extents) -> TilingChoices:
    """With as many threads a tower as the last axis has cells, if none are given."""
    if choices.column_threads or not extents:
        return choices
    return replace(choices, column_threads=threads_for(extents[-1]))


def _decided(kernel: KernelPlan, extents: Extents, choices: TilingChoices, host: TileHost) -> TilingChoices | None:
    """With the sizes of towers; what choices say already stays. PlanError as of `torre_of`."""
    del host  # sizes are those of registers and shared memory
    towers = _towers(kernel)
    found = torre_of(towers, extents, choices)
    if found is None:
        return None
    return replace(
        choices,
        depth=choices.depth or found.levels,
        diamond_size=choices.diamond_size or towers.size,
        column_threads=choices.column_threads or towers.threads,
    )


def _about(kernel: KernelPlan, extents: Extents, choices: TilingChoices | None) -> str:
    towers = _towers(kernel)
    found = None if choices is None else torre_of(towers, extents, choices)
    if found is None:
        return "one step after the other: the grid has no room for towers"
    stages = list(found.stages())
    return (
        f"several steps together, {DIAMONDTORRE.name}: {found.levels} steps in {len(stages)} stages of up to "
        f"{found.most_towers} towers, diamonds of {towers.cells} cells (DTS {towers.size}), "
        f"{towers.threads} threads a tower"
    )


def _lines(kernel: KernelPlan, extents: Extents, choices: TilingChoices) -> Iterator[str]:
    """The shape of towers, and how much of it stays in registers."""
    towers = _towers(kernel)
    rings = ", ".join(axis_name(k) for k, ring in enumerate(towers.rings) if ring) or "none"
    yield (
        f"several plain steps in towers: x and y in diamonds of {towers.cells} cells (reach {towers.reach}, "
        f"DTS {towers.size}), {axis_name(2)} on {towers.threads} threads; periodic axes: {rings}"
    )
    if extents[-1] > towers.threads:
        return
    found = torre_of(towers, extents, choices)
    if found is None:
        yield f"  no room at {' x '.join(map(str, extents))} cells: one step after the other"
        return
    stages = list(found.stages())
    yield (
        f"  at {' x '.join(map(str, extents))} cells: {found.levels} steps in {len(stages)} stages of up to "
        f"{found.most_towers} towers"
    )
    yield from (f"  {line}" for line in tower_table_lines(kernel, extents, found, stages))


def _expected(
    kernel: KernelPlan, extents: Extents, choices: TilingChoices, host: TileHost, figures: Callable[[], HostFigures]
) -> Iterator[str]:
    """The same: a host's figures tell nothing of a device."""
    del host, figures
    return _lines(kernel, extents, choices)


def _tuned(kernel: KernelPlan, longest: int) -> tuple[TunedSize, ...]:
    """The size of diamonds, and threads along the last axis that are worth trying: those that it needs first."""
    del kernel
    least = threads_for(longest) if longest else 0
    columns = tuple(sorted({least, *(threads for threads in _COLUMNS if threads > least)}))
    return TunedSize("diamond_size", _DIAMOND_SIZES), TunedSize("column_threads", columns)


def _towers(kernel: KernelPlan) -> Towers:
    assert kernel.towers is not None  # it is asked of plans that have this schedule
    return kernel.towers


def threads_for(length: int) -> int:
    """Threads of whole warps for a last axis of this length."""
    return min(-(-length // 32) * 32, MOST_THREADS)


def _group(cells: int, column_bytes: int) -> int:
    """The most cells, of those that divide a level, whose columns fit into shared memory; 0 if none does."""
    fitting = [n for n in range(1, cells + 1) if cells % n == 0 and n * column_bytes <= _SHARED_BYTES]
    return max(fitting, default=0)


def _rings(kernel: Kernel, fill: Fill) -> tuple[bool, bool, bool]:
    x, y, z = (isinstance(low, Periodic) for low, _ in _sides(kernel, fill))
    return x, y, z


def _sides(kernel: Kernel, fill: Fill) -> tuple[tuple[SideRule, SideRule], ...]:
    instruction = kernel.nodes[fill.node].instruction
    assert isinstance(instruction, Extend)
    return instruction.sides


def _offsets(kernel: KernelPlan, step: Step, loop: Subkernel, slot: int) -> list[tuple[int, ...]]:
    """Where a loop reads the array in a slot."""
    nodes = {read.node for read in loop.reads if read.slot == slot}
    return sorted({offset for node, offset in emission_in(kernel, step, loop).reads if node in nodes})


def _obstacles(kernel: KernelPlan, dim: int) -> Iterator[Refusal]:
    """What towers cannot do."""
    step = kernel.plain
    if dim != 3:
        axes = "one axis" if dim == 1 else f"{dim} axes"
        yield _no(f"the grid has {axes}, towers need three")
        return
    if len(step.subkernels) != 1:
        yield _no(f"a step has {len(step.subkernels)} loops, towers have one")
        return
    (loop,) = step.subkernels
    node = loop.outputs[0].node if loop.outputs else -1
    if len(loop.outputs) != 1 or loop.reductions or loop.axes or loop.takes or any(map(any, loop.margins)):
        yield _no("towers make one array a step, of the domain's cells", _line(kernel, node))
        return
    yield from _arrays_in_the_way(kernel, loop)
    yield from _sides_in_the_way(kernel)


def _arrays_in_the_way(kernel: KernelPlan, loop: Subkernel) -> Iterator[Refusal]:
    nodes, step, odd = kernel.kernel.nodes, kernel.plain, loop.outputs[0].slot
    if len(step.fills) != 1 or step.fills[0].source != step.fills[0].target:
        yield _no(f"a step has {len(step.fills)} arrays with ghost cells, towers have one")
        return
    even = step.fills[0].source
    rotated = list(range(len(step.rotation)))
    rotated[even], rotated[odd] = odd, even
    if even == odd or tuple(rotated) != step.rotation:
        yield _no("a step does not exchange two arrays and leave the others", _line(kernel, loop.outputs[0].node))
        return
    if any(nodes[n].value_type.is_record for n in (*(r.node for r in loop.reads), loop.outputs[0].node)):
        yield _no("values of two words do not go through towers", _line(kernel, loop.outputs[0].node))
    types = {nodes[n].value_type for n in (loop.outputs[0].node, step.fills[0].node)}
    if len(types) > 1:
        yield _no("the two arrays have different types", _line(kernel, loop.outputs[0].node))
    for read in loop.reads:
        name = value_name(kernel.kernel, read.node)
        if read.slot != even and not read.is_at_cell:
            yield _no(f"{name} is read at other cells", _line(kernel, read.node))
        if nodes[read.node].space != kernel.kernel.space:
            yield _no(f"{name} has some of the axes alone", _line(kernel, read.node))
        if read.anywhere:
            yield _no(f"{name} is read at computed places", _line(kernel, read.node))
    for x, y, z in _offsets(kernel, step, loop, even):
        if z and (x or y):
            name = value_name(kernel.kernel, step.fills[0].node)
            yield _no(
                f"{name} is read at ({x}, {y}, {z}), along the last axis and another one", _line(kernel, node_of(loop))
            )


def node_of(loop: Subkernel) -> int:
    """What a loop computes."""
    return loop.outputs[0].node


def _sides_in_the_way(kernel: KernelPlan) -> Iterator[Refusal]:
    (fill,) = kernel.plain.fills
    name, line = value_name(kernel.kernel, fill.node), _line(kernel, fill.node)
    for low, high in _sides(kernel.kernel, fill):
        constant = isinstance(low, Prescribed) and isinstance(high, Prescribed)
        if not constant and low != Periodic():
            yield _no(f"{name} has sides that are neither constant nor periodic", line)
    if _changes(kernel, kernel.kernel.nodes[fill.node].operands[1:]):
        yield _no(f"{name} has values outside that change in time", line)


def _changes(kernel: KernelPlan, roots: tuple[int, ...]) -> bool:
    """Whether a scalar that each step changes is below some values."""
    names = {name for name, _ in kernel.kernel.stores()}
    waiting = list(roots)
    for index in waiting:
        node = kernel.kernel.nodes[index]
        if isinstance(node.instruction, Load) and node.instruction.name in names:
            return True
        waiting.extend(o for o in node.operands if o not in waiting)
    return False


def _no(why: str, line: int | None = None) -> Refusal:
    return Refusal(why, line, by_meaning=False)


def _line(kernel: KernelPlan, node: int) -> int | None:
    return line_of(kernel.kernel, node) if node >= 0 else None


# Not automatic: on an H100 towers are as fast as steps (planning/DECISIONS.md), so they are taken by name only.
DIAMONDTORRE = Schedule(
    "diamondtorre",
    "blocks",
    towers,
    told=_told,
    decided=_decided,
    about=_about,
    lines=_lines,
    expected=_expected,
    tuned=_tuned,
)
