"""Launch trace: which thread touches which cell, and how many memory sectors that takes, recorded by the simulator."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.backends.base import Array, MarchRequest
from workbench.backends.cuda_sim import CudaSimBackend, CudaSimProgram
from workbench.backends.launch_sequence import DeviceLaunch
from workbench.backends.simulated_device import SectorCount
from workbench.planning.layout import Layout
from workbench.planning.plan import Plan

SECTOR = 32  # bytes that memory moves at least
_STORE = 1


@dataclass(frozen=True, slots=True)
class Accesses:
    """How one line of the text touches an array, by whole warps; `least` are the sectors that its bytes fill.

    efficiency: bytes asked for in bytes moved, from 0 to 1; 1 is perfect coalescing.
    """

    array: str
    line: int
    store: bool
    warp_accesses: int
    sectors: int
    least: int

    @property
    def efficiency(self) -> float:
        """The least sectors in those that are needed."""
        return self.least / self.sectors if self.sectors else 1.0


@dataclass(frozen=True, slots=True, eq=False)
class LaunchTrace:
    """One launch of one step over a domain of `extents` cells.

    thread_of: for each cell of the domain the number of the thread, counted through the whole grid, that stored to it
    in `array`; -1 where none did. reads: cells that the thread which stored to `probed` has loaded, as (array, cell),
    each once; they may lie outside of the domain. items: the most cells that one thread stored to.
    """

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    array: str
    thread_of: Array
    probed: tuple[int, ...]
    reads: tuple[tuple[str, tuple[int, ...]], ...]
    items: int
    accesses: tuple[Accesses, ...]

    @property
    def block_threads(self) -> int:
        """Threads in a block."""
        return self.block[0] * self.block[1] * self.block[2]


def trace_plan(plan: Plan, extents: tuple[int, ...], cancel: threading.Event | None = None) -> tuple[LaunchTrace, ...]:
    """Compile a plan for the simulator and run one step of its main kernel; as `trace_step`."""
    return trace_step(CudaSimBackend().compile(plan, cancel), extents, plan.main.kernel.name)


def trace_step(program: CudaSimProgram, extents: tuple[int, ...], kernel: str = "step") -> tuple[LaunchTrace, ...]:
    """Run one step of zeros on the simulator; the launches that store to cells of a whole domain, in order.

    Addresses of the generated code do not depend on values, so zeros do. Raises what the simulator finds wrong.
    """
    instance = program.instantiate(extents)
    made: list[LaunchTrace] = []

    def record(launch: DeviceLaunch, trace: Array, sectors: tuple[SectorCount, ...]) -> None:
        axes = {instance.plan.slots[o.index].axes for o in launch.arrays if o.kind == "slot"}
        if axes != {()}:  # of loops over some axes, and of those that read arrays of other axes, no cell is shown
            return
        found = _trace_of(launch, trace, sectors, instance.layout)
        if found is not None:
            made.append(found)

    instance.recorder = record
    try:
        instance.march(MarchRequest(kernel, 1, observe_last=False))
    finally:
        instance.close()
    return tuple(made)


def _trace_of(
    launch: DeviceLaunch,
    trace: np.ndarray[Any, np.dtype[np.void]],
    sectors: tuple[SectorCount, ...],
    layout: Layout,
) -> LaunchTrace | None:
    """None for launches that store to no cell of the domain: ghost cells, sums and scalars."""
    stores = trace[(trace["kind"] == _STORE) & (trace["parameter"] >= 0)]
    slots = [n for n, operand in enumerate(launch.arrays) if operand.kind == "slot"]
    written = [n for n in slots if np.any(stores["parameter"] == n)]
    if not written:
        return None
    block_threads = launch.block[0] * launch.block[1] * launch.block[2]
    first = stores[stores["parameter"] == written[0]]
    cells, inside = cells_of(first["index"], layout)
    if not inside.any():
        return None
    thread_of: Array = np.full(layout.extents, -1, np.int64)
    threads = first["block"].astype(np.int64) * block_threads + first["thread"]
    thread_of[tuple(cells[inside].T)] = threads[inside]
    probed = tuple(n // 2 for n in layout.extents)
    return LaunchTrace(
        launch.kernel,
        launch.grid,
        launch.block,
        launch.arrays[written[0]].parameter,
        thread_of,
        probed,
        _reads_of(trace, launch, slots, int(thread_of[probed]), block_threads, layout),
        int(np.unique(threads, return_counts=True)[1].max()),
        tuple(_accesses(count, launch) for count in sectors if _operand(launch, count["array"]) is not None),
    )


def _reads_of(
    trace: np.ndarray[Any, np.dtype[np.void]],
    launch: DeviceLaunch,
    slots: list[int],
    thread: int,
    block_threads: int,
    layout: Layout,
) -> tuple[tuple[str, tuple[int, ...]], ...]:
    mine = trace[
        (trace["kind"] != _STORE)
        & (trace["block"] == thread // block_threads)
        & (trace["thread"] == thread % block_threads)
        & np.isin(trace["parameter"], slots)
    ]
    cells, _ = cells_of(mine["index"], layout)
    named = [launch.arrays[n].parameter for n in mine["parameter"]]
    found = ((name, tuple(int(k) for k in cell)) for name, cell in zip(named, cells, strict=True))
    return tuple(dict.fromkeys(found))


def cells_of(elements: Array, layout: Layout) -> tuple[Array, Array]:
    """Coordinates (count, axes) of elements of an array, ghost cells below 0 or beyond, and which are in the domain."""
    below = [pair[0] for pair in layout.halo]
    left = np.asarray(elements, np.int64) - layout.start
    left = left + sum(b * stride for b, stride in zip(below, layout.strides, strict=True))
    cells: Array = np.empty((left.size, len(layout.extents)), np.int64)
    for axis, (stride, b) in enumerate(zip(layout.strides, below, strict=True)):
        cells[:, axis] = left // stride - b
        left = left % stride
    extents = np.array(layout.extents)
    return cells, np.asarray(np.logical_and(cells >= 0, cells < extents).all(axis=1))


def _operand(launch: DeviceLaunch, name: str) -> int | None:
    return next((n for n, operand in enumerate(launch.arrays) if operand.parameter == name), None)


def _accesses(count: SectorCount, launch: DeviceLaunch) -> Accesses:
    number = _operand(launch, count["array"])
    assert number is not None
    size = launch.arrays[number].type.itemsize
    lanes, warps = count["lanes"], count["warp_accesses"]
    # A warp's bytes fill at least so many sectors; lanes are spread evenly over the accesses.
    least = warps * -(-(lanes * size) // (SECTOR * warps)) if warps else 0
    return Accesses(count["array"], count["line"], bool(count["store"]), warps, count["sectors32"], least)
