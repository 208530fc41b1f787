"""Tower table: locality, bytes an update and asynchrony of towers, beside the least that so many values allow.

The formulas are those of Levchenko, Perepelkina and Zakirov, Computation 4 (2016) 29, section 5, for any step that has
towers; `workbench.planning.schedules.shapes` counts the same value by value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod

from workbench.amounts import bytes_text
from workbench.graph.spaces import axis_name
from workbench.planning.kernel_plan import KernelPlan
from workbench.planning.schedules.least_traffic import least_bytes
from workbench.planning.schedules.locality import slot_bytes
from workbench.planning.schedules.locality_table import Locality, locality_table, table_lines
from workbench.planning.schedules.torre import Stage, Torre
from workbench.planning.towered import Towers


def values_moved(towers: Towers, levels: int, *, row: bool = False) -> int:
    """Return the values of a column's cell that one tower inside the domain loads and stores.

    The paper's count: what a cover has beyond the tier and what a tier leaves behind on each level, the covers at the
    bottom, and the tiers at the top. row: in a row of towers, whose neighbours read a corner of each cover too.
    """
    square, size = 2 * towers.reach**2, towers.size
    beside = (size + 1) ** 2 - size**2
    left = size**2 - (size - 1) ** 2
    bottom = (size + 1) ** 2 + (size**2 if towers.older else 0)
    shared = levels if row else 0
    return square * ((levels - 1) * beside + bottom + levels * left + 2 * (size - 1) ** 2 - shared)


def tower_table(kernel: KernelPlan, extents: tuple[int, ...], torre: Torre) -> tuple[Locality, ...]:
    """Return the shapes from the smallest to what runs: a cell, a row, a step, a level of a tower, a tower, a stage.

    A stage is a row of towers, which do not need each other. Arrays that no step changes are read at each update.
    """
    towers = kernel.towers
    assert towers is not None
    sizes = slot_bytes(kernel)
    value = sizes.pop(towers.even)
    del sizes[towers.odd]
    cells, length = towers.cells, extents[-1]
    flat = 2 * towers.reach**2 * ((towers.size + 1) ** 2 + towers.size**2 * (2 if towers.older else 1))
    shapes = (
        ("level", flat, cells, 1),
        ("tower", values_moved(towers, torre.levels), cells * torre.levels, 1),
        ("stage", values_moved(towers, torre.levels, row=True), cells * torre.levels, torre.most_towers),
    )
    found = [
        Locality(name, 1 / (moved / updates + len(sizes)), value * moved / updates + sum(sizes.values()), many)
        for name, moved, updates, many in shapes
    ]
    rows = (replace(row, asynchrony=row.asynchrony * cells * length) for row in found)
    return (*locality_table(kernel, extents, None), *rows)


def tower_table_lines(
    kernel: KernelPlan, extents: tuple[int, ...], torre: Torre, stages: Sequence[Stage]
) -> Iterator[str]:
    """The table as text, and the least that tiles move that keep as many values and cut the same axes."""
    towers = kernel.towers
    assert towers is not None
    yield f"locality at {' x '.join(map(str, extents))} cells, {prod(extents):,} in all"
    rows = tower_table(kernel, extents, torre)
    yield from table_lines(rows)
    kept = towers.values * slot_bytes(kernel)[towers.even] * extents[-1]
    whole = len(extents) - 1
    least = least_bytes(kernel, extents, kept, (whole,))
    yield (
        f"  tiles that keep {bytes_text(kept)}, as towers do, and do not cut {axis_name(whole)} move at least "
        f"{least:.3g} bytes an update"
    )
    alone, beside = (row.bytes_per_update / least for row in rows[-2:])
    yield f"  (a tower moves {alone:.3g} times that, one with others beside it {beside:.3g} times)"
    yield f"  stages of {torre.moves_at_once(len(stages))} moves could run at the same time; they follow each other"
