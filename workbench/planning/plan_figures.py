"""Figures of a whole plan: bytes of its arrays, and operations of its largest step."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from workbench.planning.axes import along
from workbench.planning.cost import step_cost
from workbench.planning.far_rows import reads_far_rows
from workbench.planning.layout import Layout, lay_out, lay_out_on_host
from workbench.planning.plan import Plan
from workbench.planning.schedules.table import schedule_of


def memory_bytes(plan: Plan, extents: tuple[int, ...], *, on_device: bool = False) -> int:
    """Return the bytes of all arrays of a simulation with these extents.

    on_device: as arrays lie there, where rows of large ones are padded too. Not counted are the Globals block, the few
    rows that a thread keeps of rolling values, and partial results of reductions.
    """
    return sum(slot_bytes(plan, extents, on_device=on_device).values())


def slot_bytes(plan: Plan, extents: tuple[int, ...], *, on_device: bool = False) -> dict[int, int]:
    """Return the bytes of each array, by the number of its slot; on_device as in `memory_bytes`."""
    lay = layout_rule(plan, on_device=on_device)
    smallest = min((slot.itemsize for slot in plan.slots), default=1)
    elements = {
        axes: lay(along(extents, axes), along(plan.halo, axes), smallest).elements
        for axes in {slot.axes for slot in plan.array_slots}
    }
    return {slot.index: slot.itemsize * elements[slot.axes] for slot in plan.array_slots}


def layout_rule(plan: Plan, *, on_device: bool = False) -> Callable[..., Layout]:
    """Return the function of extents, halo and the least item size by which arrays of the plan are laid out."""
    padding = plan.choices.plan.layout.padding
    if on_device:
        return partial(lay_out, padding=padding)
    return partial(lay_out_on_host, on_lines=rows_on_lines(plan), padding=padding)


def rows_on_lines(plan: Plan) -> bool:
    """Return whether rows of large arrays begin on cache lines on a CPU.

    So they do where several steps run together in tiles, so that most of what large arrays do is done in caches, and
    where loops read far along rows.
    """
    in_tiles = any(schedule_of(kernel).runs_on == "threads" for kernel in plan.kernels)
    return in_tiles or reads_far_rows(plan.main, len(plan.halo))


def operations_of(plan: Plan) -> float:
    """Return the weighted operations a cell in the largest step; at least 8, because moving a cell costs as much."""
    steps = (step for kernel in plan.kernels for step in (kernel.plain, kernel.observed))
    return max([step_cost(step).flops for step in steps] + [8.0])
