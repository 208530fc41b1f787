"""Launch features: what a task takes of the caches, and what blocks leave of a device, before anything is built."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log2, prod

from workbench.backends.occupancy import MOST_REGISTERS, device_limits, occupancy, registers_of_a_thread
from workbench.backends.processor import available_threads, cache_bytes, last_cache_bytes
from workbench.backends.tile_sizes import tile_sizes_here
from workbench.planning.choices import TilingChoices
from workbench.planning.features import Features, StorageFeatures
from workbench.planning.plan import Plan
from workbench.planning.schedules.locality import bytes_in_use
from workbench.planning.schedules.table import schedule_named
from workbench.planning.towered import Towers, values_of_a_thread
from workbench.planning.tunables import Setting, Tunable
from workbench.tuning.outlook import MachineOutlook
from workbench.tuning.search_space import LaunchNumbers, Point

_TASK_CELLS, _TASKS = 16384, 4  # of a task without chosen rows; of a loop for each thread (`cut`, stencil_rows.h)
_LIMITS = device_limits("8.0")  # 7.0, 9.0 and 10.0 have as many warps and registers
_USUAL_BLOCK, _LARGEST_BLOCK = 256, 1024  # by which the text of a loop bounds its block (`backends.nvrtc`)
_REGISTERS, _OPERATIONS = 24, 4  # of a loop that computes nothing; operations for which it takes one more
_REGISTER_BYTES = 4
_LAUNCHING = ("tile", "block")
_KEPT = 4096  # points


@dataclass(frozen=True, slots=True)
class Rows:
    """The tunables of a space, the values of each, and the plan that its start stands for."""

    plan: Plan
    tunables: tuple[Tunable, ...]
    values: tuple[tuple[Setting, ...], ...]

    def settings(self) -> Callable[[Point], dict[str, Setting]]:
        """What a point sets of launches, by the names of tunables; of thousands of rows only these are looked at."""
        rows = [
            (number, row.name, values)
            for number, (row, values) in enumerate(zip(self.tunables, self.values, strict=True))
            if row.section == "T" or row.member in _LAUNCHING
        ]
        return lambda point: {name: values[point[number]] for number, name, values in rows}


def footprint(
    rows: Rows, tiled: Plan | None, outlook: MachineOutlook | None, extents: tuple[int, ...], threads: int
) -> LaunchNumbers | None:
    """Bytes that a task of a host's thread works on, against a core's own cache and the last one, as logarithms.

    Of single steps those of the arrays of a loop, in the mean of all; of several steps what `tile_sizes` counts. None
    where nothing in the space changes them, or extents are not known. tiled: the plan by a schedule of several steps,
    None where there is none. threads: 0 for all.
    """
    changing = [row for row in rows.tunables if row.section == "T" or row.name == "tile"]
    if not extents or not changing:
        return None
    features = _features(rows.plan, outlook)
    many = threads or available_threads()
    caches = cache_bytes(), last_cache_bytes()
    schedule, cpu = rows.plan.schedule, rows.plan.choices.plan.cpu
    settings = rows.settings()

    @lru_cache(maxsize=_KEPT)
    def of_tile(choices: TilingChoices) -> int:
        if tiled is None or (sizes := tile_sizes_here(tiled.main, extents, choices, many)) is None:
            return 0
        return bytes_in_use(tiled.main, extents, sizes)

    def numbers(point: Point) -> tuple[float, ...]:
        named = settings(point)
        taken = 0
        if schedule_named(str(named.get("schedule", schedule))).is_blocked:
            plan = rows.plan.choices.plan
            for row in changing:
                plan = row.write(plan, named[row.name]) if row.section == "T" else plan
            taken = of_tile(plan.tiling)
        if not taken:
            found = features(point)
            cells = _cells_of_a_task(extents, _number(named.get("tile", cpu.tile), 0), many)
            taken = round(cells * found.bytes_moved / max(found.loops, 1))
        return tuple(log2(1.0 + taken / cache) for cache in caches)

    return numbers


def device_share(rows: Rows, tiled: Plan | None, outlook: MachineOutlook | None) -> LaunchNumbers | None:
    """Warps that a multiprocessor has at once, of the most there can be, as a logarithm; None where no block is chosen.

    The mean of all loops; of towers that of a tower. Registers of a loop are what its longest one seems to need, and at
    most what the text of a block leaves; of a tower the values that its threads hold, with a column in shared memory.
    """
    blocks = [row for row in rows.tunables if row.member == "block"]
    towers = None if tiled is None else tiled.main.towers
    if not blocks and towers is None:
        return None
    features = _features(rows.plan, outlook)
    device, schedule = rows.plan.choices.plan.device, rows.plan.schedule
    settings = rows.settings()

    def numbers(point: Point) -> tuple[float, ...]:
        named = settings(point)
        if towers is not None and schedule_named(str(named.get("schedule", schedule))).is_blocked:
            return (log2(1.0 + _share_of_a_tower(towers, named)),)
        general = _number(named.get("block"), device.block)
        own = [named[row.name] for row in blocks if row.section == "L"]
        longest = features(point).longest
        sizes = [_number(size, general) for size in own] or [general]
        return (log2(1.0 + sum(_share(size, longest) for size in sizes) / len(sizes)),)

    return numbers


def _features(plan: Plan, outlook: MachineOutlook | None) -> Callable[[Point], Features]:
    """Of the step of a point; where storage is not tuned, of the plan's."""
    if outlook is not None:
        return outlook.features_at
    storage = StorageFeatures(plan)
    found = storage.of(storage.start)
    return lambda point: found


def _cells_of_a_task(extents: Sequence[int], tile: int, threads: int) -> float:
    rows, width = prod(extents[:-1]), extents[-1]
    wanted = _TASKS * threads
    automatic = rows if threads == 1 else min(max(_TASK_CELLS // width, 1), -(-rows // wanted))
    tall = min(tile or automatic, rows)
    tasks = -(-rows // tall)
    cut = -(-wanted // tasks) if threads > 1 and tasks < wanted else 1  # rows are cut where they are too few
    return tall * width / cut


def _share(block: int, operations: int) -> float:
    """Of loops of single steps, which have nothing in shared memory."""
    bound = registers_of_a_thread(_USUAL_BLOCK if block <= _USUAL_BLOCK else _LARGEST_BLOCK)
    registers = min(_REGISTERS + operations // _OPERATIONS, bound, MOST_REGISTERS)
    return occupancy(_LIMITS, block, registers).share


def _share_of_a_tower(towers: Towers, named: Mapping[str, Setting]) -> float:
    size = _number(named.get("diamond_size"), towers.size)
    threads = _number(named.get("column_threads"), towers.threads)
    held = values_of_a_thread(towers.reach, size, towers.older)
    registers = min(_REGISTERS + held, MOST_REGISTERS)
    shared = _REGISTER_BYTES * (threads + 2 * towers.along) * towers.group
    return occupancy(_LIMITS, min(threads, _LARGEST_BLOCK), registers, shared).share


def _number(setting: Setting, otherwise: int) -> int:
    """A setting that is a number; otherwise where it says that something else decides."""
    return setting if isinstance(setting, int) and setting else otherwise
