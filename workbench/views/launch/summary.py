"""Launch: how a plan's loops are spread over threads; grids, occupancy, who touches which cell. A frozen summary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Literal

from workbench.amounts import in_digits
from workbench.backends.device_instance import layout_of
from workbench.backends.launch_sequence import DeviceLaunch, launches_of
from workbench.backends.launch_trace import LaunchTrace
from workbench.backends.nvrtc import KernelResources
from workbench.backends.occupancy import (
    MOST_REGISTERS,
    DeviceLimits,
    Occupancy,
    best_block,
    device_limits,
    largest_block,
    occupancy,
)
from workbench.backends.registry import SHOWN, row_of
from workbench.backends.tower_sequence import move_of
from workbench.codegen.cuda.render import render_cuda
from workbench.planning.axes import loop_extents
from workbench.planning.plan import Plan
from workbench.planning.schedules.table import schedule_of
from workbench.run.calling import Terms, terms_of
from workbench.views.launch.tiles import locality_lines

ASSUMED_REGISTERS = 32  # of a thread, until a compiler has said
CAPABILITY = "9.0"


@dataclass(frozen=True, slots=True)
class LaunchRow:
    """One launch of a step.

    On a device: grid and block, `items` cells a thread, and what limits the occupancy (None where the device is not
    looked at). On CPU threads: `tasks` that the threads share, 0 if the code decides when it runs.
    """

    name: str
    cells: int
    grid: tuple[int, int, int] = (1, 1, 1)
    block: tuple[int, int, int] = (1, 1, 1)
    items: float = 0.0
    tasks: int = 0
    registers: int = 0
    shared: int = 0
    spills: int = 0
    occupancy: Occupancy | None = None


@dataclass(frozen=True, slots=True)
class OccupancyCurve:
    """Occupancy (0 to 1) against one thing that may be changed; `at` is where the launch is now."""

    what: Literal["threads a block", "registers a thread", "shared memory a block"]
    points: tuple[tuple[int, float], ...]
    at: tuple[int, float]


@dataclass(frozen=True, slots=True)
class Findings:
    """What compiler and simulator have said of a plan's CUDA text; `told` names the compiler, "" before it has spoken.

    traces: of one step over `trace_extents` cells. problem: why something is not known.
    """

    resources: tuple[KernelResources, ...] = ()
    told: str = ""
    traces: tuple[LaunchTrace, ...] = ()
    trace_extents: tuple[int, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class LaunchSummary:
    """What a launch view shows of a plain step of the main kernel.

    threads, tile, block and grid as in CpuChoices and DeviceChoices. rows: on a device all launches, on CPU threads the
    loops. shown: number of the row that the curves are of. told: what says how many registers there are, "" if nothing
    has yet and ASSUMED_REGISTERS are taken. traces: recorded by the simulator on `trace_extents` cells. terms: words
    for what loops count, because a called machine has no cells. locality: lines on
    what steps in tiles move, and how fast they should be.
    """

    machine: str
    backend: str
    extents: tuple[int, ...]
    threads: int
    tile: int
    block: int
    grid: int
    schedule: str
    rows: tuple[LaunchRow, ...]
    device: DeviceLimits | None = None
    shown: int = 0
    curves: tuple[OccupancyCurve, ...] = ()
    told: str = ""
    traces: tuple[LaunchTrace, ...] = ()
    trace_extents: tuple[int, ...] = ()
    problem: str = ""
    terms: Terms = field(default=Terms())
    locality: tuple[str, ...] = ()

    @property
    def trace(self) -> LaunchTrace | None:
        """What was recorded of the row that is shown."""
        name = self.rows[self.shown].name if self.rows else ""
        return next((trace for trace in self.traces if trace.kernel == name), None)


def summarise_launch(
    plan: Plan,
    *,
    extents: tuple[int, ...],
    backend: str = SHOWN,
    threads: int = 0,
    capability: str = CAPABILITY,
    shown: str = "",
    findings: Findings | None = None,
) -> LaunchSummary:
    """The summary of a plan on a backend.

    threads: on the CPU, as they were asked for. shown: the name of the launch that curves are of, "" for the first
    that does cells. Raises PlanError for a block that no device has, KeyError for an unknown capability.
    """
    choices, found = plan.choices.plan, findings or Findings()
    cpu, device_choices = choices.cpu, choices.device
    numbers = (threads or cpu.threads, cpu.tile, device_choices.block, device_choices.grid, choices.tiling.schedule)
    if row_of(backend).runs_on != "blocks":
        rows, terms = _cpu_rows(plan, extents), terms_of(plan.graph)
        moved = locality_lines(plan, extents, threads or cpu.threads)
        return LaunchSummary(
            plan.graph.name, backend, extents, *numbers, rows, problem=found.problem, terms=terms, locality=moved
        )
    device = device_limits(capability)
    known = {each.kernel: each for each in found.resources}
    launches = _device_launches(plan, extents)
    rows = tuple(_device_row(launch, extents, device, known) for launch in launches)
    names = [row.name for row in rows]
    wanted = [n for n, name in enumerate(names) if name == shown or (shown and name.endswith(f"_{shown}"))]
    first = next((n for n, name in enumerate(names) if name.startswith("sweep_")), 0)
    number = wanted[0] if wanted else first
    curves = _curves(rows[number], device) if rows else ()
    return LaunchSummary(
        plan.graph.name,
        backend,
        extents,
        *numbers,
        rows,
        device,
        number,
        curves,
        found.told,
        found.traces,
        found.trace_extents,
        found.problem,
        terms_of(plan.graph),
        locality_lines(plan, extents) if schedule_of(plan.main).runs_on == "blocks" else (),
    )


def _cpu_rows(plan: Plan, extents: tuple[int, ...]) -> tuple[LaunchRow, ...]:
    """The loops over cells; a tile of 0 is decided by the code, which knows its threads."""
    tile = plan.choices.plan.cpu.tile
    rows = []
    for subkernel in plan.subkernels:
        sizes = loop_extents(subkernel, extents)
        lines = prod(sizes[:-1])
        rows.append(LaunchRow(subkernel.name, prod(sizes), tasks=-(-lines // tile) if tile else 0))
    return tuple(rows)


def _device_launches(plan: Plan, extents: tuple[int, ...]) -> tuple[DeviceLaunch, ...]:
    text = render_cuda(plan)
    kernel = next(k for k in text.kernels if k.name == plan.main.kernel.name)
    move = move_of(kernel, layout_of(plan, extents), plan.choices.plan, 0)
    if move is not None:
        return move.shown
    return launches_of(kernel.plain, layout_of(plan, extents), plan.choices.plan)


def _device_row(
    launch: DeviceLaunch, extents: tuple[int, ...], device: DeviceLimits, known: Mapping[str, KernelResources]
) -> LaunchRow:
    block, threads = prod(launch.block), prod(launch.block) * prod(launch.grid)
    found = known.get(launch.kernel)
    registers, shared = (found.registers, found.shared_bytes) if found else (ASSUMED_REGISTERS, 0)
    spills = found.spill_store_bytes + found.spill_load_bytes if found else 0
    cells = prod(extents) if launch.kernel.startswith("sweep_") else 0
    return LaunchRow(
        launch.kernel,
        cells,
        launch.grid,
        launch.block,
        cells / threads,
        0,
        registers,
        shared,
        spills,
        occupancy(device, block, registers, shared),
    )


def _curves(row: LaunchRow, device: DeviceLimits) -> tuple[OccupancyCurve, ...]:
    """Each with all else as it is now."""
    block, registers, shared = prod(row.block), row.registers, row.shared
    here = occupancy(device, block, registers, shared).share
    blocks = tuple((n, occupancy(device, n, registers, shared).share) for n in range(32, device.block_threads + 1, 32))
    by_registers = tuple((n, occupancy(device, block, n, shared).share) for n in range(8, MOST_REGISTERS + 1))
    step = max(device.shared_block // 128, 1)
    by_shared = tuple(
        (n, occupancy(device, block, registers, n).share) for n in range(0, device.shared_block + 1, step)
    )
    return (
        OccupancyCurve("threads a block", blocks, (block, here)),
        OccupancyCurve("registers a thread", by_registers, (registers, here)),
        OccupancyCurve("shared memory a block", by_shared, (shared, here)),
    )


def describe_launch(summary: LaunchSummary) -> str:
    """In words: the choices, every launch, what limits it, and what was recorded."""
    cells, terms = " x ".join(map(str, summary.extents)), summary.terms
    lines = [f"launches of {summary.machine}, {cells} {terms.cells}, {summary.backend}, schedule {summary.schedule}"]
    if summary.device is None:
        threads = str(summary.threads) if summary.threads else "automatic"
        tile = f"{summary.tile} rows" if summary.tile else f"automatic, about 16384 {terms.cells}"
        lines.append(f"  threads {threads}; a task: {tile}")
        lines += [f"  {row.name}: {row.cells} {terms.cells}{_tasks_text(row)}" for row in summary.rows]
        lines += [f"  {line}" for line in summary.locality]
    else:
        grid = str(summary.grid) if summary.grid else "as many blocks as keep a device busy"
        lines.append(f"  {summary.block} threads a block; grid {grid}; {device_text(summary.device)}")
        lines.append(f"  registers {summary.told or f'not known yet, {ASSUMED_REGISTERS} assumed'}")
        lines += [f"  {row_text(row, terms)}" for row in summary.rows]
        lines += [f"  {text}" for text in (advice_text(summary), *summary.locality) if text]
        if summary.trace is not None:
            lines += trace_lines(summary.trace, summary.trace_extents, terms)
    if summary.problem:
        lines.append(f"  {summary.problem}")
    return "\n".join(lines)


def device_text(device: DeviceLimits) -> str:
    """Its capability and a card that has it."""
    return f"compute capability {device.capability} ({device.example})"


def row_text(row: LaunchRow, terms: Terms) -> str:
    """One launch on a device."""
    shape = f"grid {_shape(row.grid)}, block {_shape(row.block)}"
    items = f", {in_digits(row.items, 3)} {terms.cells} a thread" if row.cells else ""
    held = row.occupancy
    if held is None:
        return f"{row.name}: {shape}{items}"
    spills = f", {row.spills} bytes spilled" if row.spills else ""
    return (
        f"{row.name}: {shape}{items}; {row.registers} registers{spills}, {row.shared} bytes shared; "
        f"occupancy {held.share:.0%} ({held.blocks} blocks, {held.warps} warps; limit: {held.limit})"
    )


def advice_text(summary: LaunchSummary) -> str:
    """Which blocks would hold the most warps for the launch that is shown; "" where nothing is known."""
    if summary.device is None or not summary.rows:
        return ""
    row, device = summary.rows[summary.shown], summary.device
    best = best_block(device, row.registers)
    most = min(largest_block(device, row.registers), device.block_threads)
    share = occupancy(device, best, row.registers, row.shared).share
    return f"{row.name}: blocks of {best} threads reach {share:.0%} already; registers allow blocks up to {most}"


def trace_lines(trace: LaunchTrace, extents: tuple[int, ...], terms: Terms) -> list[str]:
    """What the simulator has recorded, in words."""
    cells = " x ".join(map(str, extents))
    lines = [f"  recorded on {cells} {terms.cells}: {trace.kernel} stores {trace.items} {terms.cells} a thread at most"]
    for access in trace.accesses:
        kind = "store" if access.store else "load"
        lines.append(
            f"    line {access.line}: {kind} {access.array}, {access.warp_accesses} warps, {access.sectors} sectors, "
            f"coalesced {access.efficiency:.0%}"
        )
    return lines


def _tasks_text(row: LaunchRow) -> str:
    return f" in {row.tasks} tasks" if row.tasks else ""


def _shape(numbers: tuple[int, int, int]) -> str:
    return " x ".join(str(n) for n in numbers)
