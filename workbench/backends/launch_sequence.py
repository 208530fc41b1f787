"""Launch sequence: a step of a plan as launches with grids and blocks, the same for a device and its simulator."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import prod
from typing import Literal

from workbench.backends.part_launches import MOST_BLOCKS, part_launches, power_of_two
from workbench.codegen.cuda.device import ArrayOperand, LaunchCode, StepLaunches
from workbench.planning.axes import along
from workbench.planning.choices import DeviceChoices, PlanChoices
from workbench.planning.kernel_plan import Axes, Margins
from workbench.planning.layout import Layout
from workbench.planning.partials import CHUNK, partial_count
from workbench.planning.tunables import check_choices

LANES = 16
_MOST_BLOCKS_DOWN = 65535
_ENOUGH_BLOCKS = 8192  # several for each place on a large device; more only repeat what a block does once
_ENOUGH_TABLES = 1024  # those that a large device does side by side: each adds its table to the results
_TILE_WIDTH = 64  # cells along the last axis of a tile of several lines
_TREE_PART = 1024  # values that a block combines to one, a power of two


@dataclass(frozen=True, slots=True)
class DeviceLaunch:
    """One kernel launch. Its arguments: the arrays, the Globals block, then `numbers` (int64 each) or else the shape.

    `undefined` lists the arrays, by number, whose cells hold no value before the launch; `code` counts what the step's
    text launches, a loop as one, of which there may be several launches here, or none. shapes: the axes of the shapes,
    in order. After them come, if any, the bytes of `grown`, by how much the domain is grown, and of `stage`, a stage of
    towers. to_globals: what it does to the Globals block, the word of indices that lie outside apart: it "reads" of
    it, only "fills" a slot of its own, or "writes" and reads.
    """

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    arrays: tuple[ArrayOperand, ...]
    numbers: tuple[int, ...] = ()
    undefined: tuple[int, ...] = ()
    code: int = 0
    shapes: tuple[Axes, ...] = ((),)
    grown: bytes = b""
    stage: bytes = b""
    to_globals: Literal["reads", "fills", "writes"] = "reads"


def launches_of(step: StepLaunches, layout: Layout, choices: PlanChoices) -> tuple[DeviceLaunch, ...]:
    """All launches of one step over a domain of the layout's extents. PlanError for a block that no device has."""
    check_choices(choices)
    made: list[DeviceLaunch] = []
    number = -1
    for code in step.launches:
        number += not code.continues
        found = _launches(code, along(layout.extents, code.axes), choices.device_of(code.loop))
        made += [replace(launch, code=number, to_globals=_to_globals(code)) for launch in found]
    return tuple(made)


def _to_globals(code: LaunchCode) -> Literal["reads", "fills", "writes"]:
    if code.kind == "tree":
        return "writes" if code.renews else "fills"
    return "writes" if code.kind == "scalars" else "reads"


def _launches(code: LaunchCode, extents: tuple[int, ...], choices: DeviceChoices) -> list[DeviceLaunch]:
    match code.kind:
        case "sweep":
            most = choices.grid or (_ENOUGH_TABLES if code.tabled else _ENOUGH_BLOCKS)
            grid, block = _sweep_shape(extents, code.grown, choices, most)
        case "cells":
            grid, block = _cells_shape(extents, code.grown, choices, code.targets)
        case "chunks":
            grid, block = _chunks_shape(extents, choices)
        case "segments":
            grid, block = _segments_shape(extents, choices)
        case "ghosts":
            grid, block = _ghosts_shape(extents, code, choices)
            if grid[0] == 0:
                return []
        case "scalars":
            grid, block = (1, 1, 1), (1, 1, 1)
        case "tree":
            return _tree_launches(code, extents, choices.block)
        case "scan" | "rank" | "subtrees":
            return [
                DeviceLaunch(code.kernel, grid, block, code.arrays, numbers, undefined=code.fresh, shapes=code.shapes)
                for grid, block, numbers in part_launches(code, extents, choices)
            ]
        case "stage":
            raise ValueError("stages are launched by moves")  # workbench.backends.tower_sequence
    grown = margin_bytes(code.grown) if code.says_grown else b""
    return [DeviceLaunch(code.kernel, grid, block, code.arrays, undefined=code.fresh, shapes=code.shapes, grown=grown)]


def shape_bytes(layout: Layout) -> bytes:
    """The kernels' `Shape` argument."""
    words = layout.shape_words
    return struct.pack(f"<{len(words)}q", *words)


def margin_bytes(grown: Margins) -> bytes:
    """The kernels' `Margins` argument."""
    return struct.pack(f"<{2 * len(grown)}i", *(cells for sides in grown for cells in sides))


def index_type(layouts: Iterable[Layout]) -> str:
    """The type of element numbers: 32 bits as long as they suffice, because they are faster."""
    return "int32_t" if all(layout.elements < 2**31 for layout in layouts) else "int64_t"


def _sweep_shape(
    extents: tuple[int, ...], grown: Margins, choices: DeviceChoices, most: int
) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """Tiles of several lines, because lines read each other's cells; the grid's last axis cuts the planes into parts.

    Of two axes each row is a plane, as in the text (`Planes` in stencil_cuda.h).
    """
    *outer, width = (n + below + above for n, (below, above) in zip(extents, grown, strict=True))
    has_lines = len(outer) > 1
    lines, planes = (outer[-1], prod(outer[:-1])) if has_lines else (1, prod(outer))
    across = min(choices.block, power_of_two(width), choices.block if lines == 1 else _TILE_WIDTH)
    down = min(choices.block // across, power_of_two(lines if has_lines else planes))
    across = min(choices.block // down, power_of_two(width))
    wide = min(_divide_up(width, across), most)
    tall = min(_divide_up(lines, down), max(most // wide, 1), _MOST_BLOCKS_DOWN)
    steps = planes if has_lines else _divide_up(planes, down)
    return (wide, tall, min(steps, max(most // (wide * tall), 1), _MOST_BLOCKS_DOWN)), (across, down, 1)


def _cells_shape(
    extents: tuple[int, ...], grown: Margins, choices: DeviceChoices, targets: int
) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """Tiles of a row's cells, of several rows where these are short; a thread has a cell in `targets` of them."""
    sizes = [n + below + above for n, (below, above) in zip(extents, grown, strict=True)]
    rows, width = prod(sizes[:-1]), sizes[-1]
    across = min(choices.block, power_of_two(width))
    down = min(choices.block // across, power_of_two(rows))
    wide = _blocks(_divide_up(width, across * targets), choices)
    tall = min(_divide_up(rows, down), _MOST_BLOCKS_DOWN)
    if choices.grid:
        tall = min(tall, max(choices.grid // wide, 1))
    return (wide, tall, 1), (across, down, 1)


def _chunks_shape(
    extents: tuple[int, ...], choices: DeviceChoices
) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """Rounded up to whole warps: their two 16-lane halves exchange partial sums."""
    threads = _divide_up(choices.block, 32) * 32
    return (_blocks(_divide_up(partial_count(extents) * LANES, threads), choices), 1, 1), (threads, 1, 1)


def _segments_shape(
    extents: tuple[int, ...], choices: DeviceChoices
) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """Whole blocks, which add long segments together; each of few segments has one, as it may be long."""
    (count,) = extents
    wanted = min(count, max(_divide_up(count, choices.block), _ENOUGH_BLOCKS))
    return (_blocks(wanted, choices), 1, 1), (choices.block, 1, 1)


def _ghosts_shape(
    extents: tuple[int, ...], code: LaunchCode, choices: DeviceChoices
) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    domain = prod(extents)
    ghosts = prod(n + sum(pair) for n, pair in zip(extents, code.grown, strict=True)) - domain
    cells = ghosts + (domain if code.whole else 0)
    return (_blocks(_divide_up(cells, choices.block), choices), 1, 1), (choices.block, 1, 1)


def _tree_launches(code: LaunchCode, extents: tuple[int, ...], block_size: int) -> list[DeviceLaunch]:
    """Chunks to rows, rows to planes, and so on, many of them in parts; the last launch writes the Globals slot."""
    stages: list[tuple[int, int, int]] = []  # rows, values each, distance of values
    rows, step = prod(extents[:-1]), 1
    for axis, each in ((len(extents) - 1, _chunks_in_row(extents)), *_outer_axes(extents)):
        if axis < len(extents) - 1:
            rows //= each
        if each > 1:
            stages.append((rows, each, step))
        step *= each
    stages = stages or [(1, 1, 1)]
    made = []
    for rows, each, step in stages:
        low, parts = 1, 0
        while parts != 1:  # what one block would take long for is shared out in aligned parts, then their results
            size = low * _TREE_PART
            parts = _divide_up(each, size)
            across = min(block_size, power_of_two(_divide_up(min(each, size), 2 * low)))
            down = min(block_size // across, power_of_two(rows * parts))
            grid = (min(_divide_up(rows * parts, down), MOST_BLOCKS), 1, 1)
            slot = code.slot if rows * parts == 1 else -1
            numbers = (rows * parts, each, step, slot, parts, low, size)
            made.append(DeviceLaunch(code.kernel, grid, (across, down, 1), code.arrays, numbers))
            low = size
    return made


def _outer_axes(extents: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
    return tuple((axis, extents[axis]) for axis in range(len(extents) - 2, -1, -1))


def _chunks_in_row(extents: tuple[int, ...]) -> int:
    return _divide_up(extents[-1], CHUNK)


def _blocks(wanted: int, choices: DeviceChoices) -> int:
    """As many as there is work for, at most as chosen; the kernels loop over what is left."""
    return min(wanted, choices.grid or MOST_BLOCKS)


def _divide_up(count: int, by: int) -> int:
    return -(-count // by)
