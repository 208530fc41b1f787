"""OpenMP instance: the memory of one simulation on the host, and its marches through compiled code."""

from __future__ import annotations

import ctypes
import time
from typing import Any, Protocol

import numpy as np

from workbench.backends.array_files import ArrayFiles
from workbench.backends.base import (
    Array,
    Ending,
    Instance,
    LaunchTime,
    MarchRequest,
    MarchResult,
    Number,
    StopFlag,
)
from workbench.backends.checks import checked_cells, checked_extents, named_field, named_global, number_of_kernel
from workbench.backends.gathering import noted_error
from workbench.backends.global_words import columns_of, number_in, words_of
from workbench.backends.in_files import FileStorage
from workbench.backends.instance_state import take_state
from workbench.backends.march_record import (
    MarchRecord,
    PreparedMarch,
    condition_table,
    stop_addresses,
    tile_members,
)
from workbench.backends.march_rule import diagnostic_scalars, watches
from workbench.backends.placed_blocks import Block, placed_block
from workbench.backends.stopwatch import Stopwatch
from workbench.backends.teams import usable_threads, wanted_threads
from workbench.backends.tile_sizes import tiles_of_kernels, tiling_in_use
from workbench.codegen.shapes import array_shapes
from workbench.codegen.source import Source
from workbench.codegen.uniforms import block_words
from workbench.errors import BackendError
from workbench.planning.axes import along
from workbench.planning.choices import TilingChoices
from workbench.planning.kernel_plan import Axes
from workbench.planning.layout import Layout, lay_out_packed, place_in_page
from workbench.planning.lending import lent_slots
from workbench.planning.loop_keys import tiles_of_loops
from workbench.planning.partials import host_buffers, largest_partials, partial_words
from workbench.planning.plan import GlobalSlot, Plan
from workbench.planning.plan_figures import layout_rule

_ENDINGS: tuple[Ending, ...] = ("done", "until", "stopped", "time")


class MarchingCode(Protocol):
    """A plan's loaded library: `entry` takes the address of a march record, `zero` an array, its bytes and threads."""

    plan: Plan
    source: Source
    entry: Any
    zero: Any


class OpenmpInstance:
    """The state of one simulation: an array for each slot, the Globals block, room for partial sums."""

    def __init__(
        self,
        program: MarchingCode,
        extents: tuple[int, ...],
        threads: int = 0,
        *,
        lent: bool = False,
        storage: FileStorage | None = None,
    ) -> None:
        """lent: the arrays of fields are those of the caller, see `OpenmpCall`; all arrays are packed.

        storage: they lie in files. NoRoomError if its memory has no room for a window of tiles.
        """
        plan = program.plan
        self.files = None if storage is None else ArrayFiles(storage)
        self._is_packed = lent
        self._last: PreparedMarch | None = None  # some steps of it may have to be ended
        self.plan = plan
        self._global_slots = {s.name: plan.global_slot(s.name) for s in (*plan.graph.params, *plan.graph.scalars)}
        self.extents = checked_extents(plan.graph, extents)
        self.threads = usable_threads(wanted_threads(plan, self.extents, threads))
        self._program = program
        self._shapes = array_shapes(plan)
        self._layouts = {axes: self._lay_out(axes) for axes in ((), *(shape.axes for shape in self._shapes))}
        used = frozenset(slot.index for slot in plan.array_slots)
        if lent:
            used -= {slot.index for slot in lent_slots(plan)}
        sizes = [self._layouts[s.axes].elements * s.itemsize if s.index in used else 0 for s in plan.slots]
        self._blocks = [self._array(number, size) for number, size in enumerate(sizes)]
        addresses = [block.cells.ctypes.data for block in self._blocks]
        self._by_address = dict(zip(addresses, self._blocks, strict=True))
        self._slots: Array = np.array(addresses or [0], np.uintp)
        self._tags: Array = np.zeros(len(self._slots), np.int64)
        self._globals: Array = np.zeros(block_words(plan.global_words, program.source.words), np.uint64)
        words: Array = self._globals.view(np.int64)
        self._strides = {name: words[own[0] : own[-1] + 1] for name, own in plan.stride_words.items()}
        self._scratch_stride = (
            largest_partials(plan, self.extents, scans=True, threads=self.threads) * 8 * partial_words(plan)
        )
        self._scratch = self._allocate(max(host_buffers(plan) * self._scratch_stride, 8))
        self._stopwatch = Stopwatch(plan, self.threads)
        streaming = None if self.files is None else self.files.streaming()
        self.tiles = tiles_of_kernels(plan, self.extents, self.threads, streaming)
        self._paces = [0.0] * len(plan.kernels)  # seconds a step in tiles, 0 as long as none was seen
        self._tiles: Array = np.array(() if self.files else tiles_of_loops(plan), np.int64)
        self._shape: Array = np.array([word for each in self._layouts.values() for word in each.shape_words], np.int64)
        slots_of_scalars = (plan.global_slot(s.name) for s in plan.graph.scalars)
        own_words = [word for s in slots_of_scalars for word in range(s.index, s.index + s.type.words)]
        self._scalar_slots: Array = np.array(own_words, np.int64)
        # NumPy takes a microsecond to tell an address, and a call with a loop of whole arrays makes several marches.
        self._addresses = {
            "shape": self._shape.ctypes.data,
            "slots": self._slots.ctypes.data,
            "tags": self._tags.ctypes.data,
            "globals": self._globals.ctypes.data,
            "scalar_slots": self._scalar_slots.ctypes.data,
            "tiles": self._tiles.ctypes.data if self._tiles.size else None,
            "scratch": self._scratch.cells.ctypes.data,
            "laps": self._stopwatch.laps.ctypes.data,
        }
        self._timed = self._stopwatch.timed.ctypes.data
        for static in (*plan.graph.params, *plan.graph.scalars):
            self.write_global(static.name, static.default or 0)

    @property
    def memory_bytes(self) -> int:
        """Bytes of all arrays, halos and padding included."""
        return sum(block.cells.nbytes for block in self._blocks) + self._scratch.cells.nbytes

    @property
    def tiling(self) -> TilingChoices | None:
        """The plan's choices with the sizes of tiles; None where there are none."""
        return tiling_in_use(self.plan, self.tiles)

    def read_field(self, name: str) -> Array:
        """A fresh C-ordered copy of the field's domain; in a file, where fields lie in files."""
        view = self._view(name)
        return np.array(view, order="C") if self.files is None else self.files.copied(view)

    def take_over(self, other: Instance) -> None:
        """Copy the state of another instance of this program, of equal extents, whatever its layout."""
        take_state(self, self.plan.graph, other, self._take_field)

    def _take_field(self, name: str, other: Instance) -> None:
        np.copyto(self._view(name), other.device_view(name))

    def write_field(self, name: str, values: Array) -> None:
        """Copy `values` into the field's domain; FieldError or ShapeError if dtype or shape differ."""
        cells = checked_cells(self.plan.graph, named_field(self.plan.graph, name), self.extents, values)
        view = self._view(name)
        if self.files is None:
            view[...] = cells
        else:
            self.files.copy(view, cells)

    def read_global(self, name: str) -> Number:
        """The value of a param or scalar."""
        slot = self._global(name)
        to_come = None if self._last is None else self._last.globals_to_come
        words = self._globals if to_come is None else to_come
        return number_in(words[slot.index : slot.index + slot.type.words], slot.type)

    def write_global(self, name: str, value: Number) -> None:
        """Set a param or scalar; rounded to its type."""
        slot = self._global(name)
        self._end_steps()
        self._globals[slot.index : slot.index + slot.type.words] = words_of(value, slot.type)

    def device_view(self, name: str) -> Any:  # noqa: ANN401  # as the protocol says
        """The live domain of a field, strided, valid until the next march."""
        return self._view(name)

    def time_launches(self, wanted: bool) -> None:
        """Nothing: they are timed always."""

    def launch_times(self) -> tuple[LaunchTime, ...]:
        """Seconds of each launch and member, on average over the steps that were timed so far."""
        return self._stopwatch.times()

    def close(self) -> None:
        """Free the memory; the instance cannot be used afterwards."""
        self._blocks.clear()
        self._last = None
        if self.files is not None:
            self.files.close()
        self._by_address.clear()
        self._scratch = placed_block(0)

    def march(self, request: MarchRequest) -> MarchResult:
        """Advance as MarchRequest says, in one call into compiled code that holds no lock of Python.

        Steps that another march has paused are ended first; where arrays lie in files that takes long, and may be
        stopped again.
        """
        if not self._end_steps(None if self.files is None else request.stop):
            none: Array = np.zeros((0, len(self._scalar_slots)), np.uint64)
            types = [scalar.type for scalar in self.plan.graph.scalars]
            return MarchResult(0, "stopped", False, np.zeros(0, np.int64), columns_of(none, types))
        self._last = prepared = self._prepared(request)
        march, observed_steps, observed = prepared.march, prepared.observed_steps, prepared.observed
        begin = time.perf_counter()
        status = self._program.entry(ctypes.byref(march))
        self._paces[march.kernel] = march.pace
        self._stopwatch.choose_sample(march.done, time.perf_counter() - begin)
        check_march_end(self.plan, self._globals, request.kernel, status)
        count = march.observed
        recorded = columns_of(observed[:count], [s.type for s in self.plan.graph.scalars])
        return MarchResult(
            march.done, _ENDINGS[march.ended], bool(march.current), observed_steps[:count].copy(), recorded
        )

    def _end_steps(self, stop: StopFlag | None = None) -> bool:
        """Do what is left of steps that run together in tiles, whose march was stopped between two tiles.

        Whether they are ended: `stop` may leave some once more.
        """
        if self._last is None or not self._last.march.paused:
            return True
        march = self._last.to_end(stop)
        status = self._program.entry(ctypes.byref(march))
        check_march_end(self.plan, self._globals, self.plan.kernels[march.kernel].kernel.name, status)
        return not march.paused

    def _prepared(self, request: MarchRequest) -> PreparedMarch:
        """The record for compiled code, and the arrays to which it points."""
        march_kernel = number_of_kernel(self.plan, request.kernel)
        if not self._blocks and self.plan.slots:
            raise BackendError("this simulation was closed", advice="Make a new one.")
        kernel = self.plan.kernels[march_kernel]
        every, steps = request.observe_every, max(request.steps, 0)
        room = (request.first_step + steps) // every - request.first_step // every if every > 0 else 0
        words = len(self._scalar_slots)
        observed_steps: Array = np.zeros(max(room, 1), np.int64)
        observed: Array = np.zeros((max(room, 1), max(words, 1)), np.uint64)
        rows, values = condition_table(request.until, [self._global(c.scalar) for c in request.until])
        tiles = self.tiles[march_kernel]
        tasks: Array = np.zeros(max(self.threads, 1), np.int64)
        ahead: Array = np.zeros((0 if tiles is None else tiles.depth + 1, len(self._globals)), np.uint64)
        march = MarchRecord(
            kernel=march_kernel,
            steps=steps,
            first_step=request.first_step,
            observe_every=every,
            observe_last=int(request.observe_last),
            always_observe=int(watches(request, diagnostic_scalars(self.plan, kernel))),
            threads=usable_threads(self.threads),
            tile=self.plan.choices.plan.cpu.tile if self.files is None else self._rows_a_task(self.files),
            files=self.files and ctypes.addressof(self.files.record(self.threads)),
            **tile_members(tiles),
            conditions=len(request.until),
            scalars=words,
            scratch_stride=self._scratch_stride,
            sample=self._stopwatch.sample,
            lap_stride=self._stopwatch.laps.shape[1],
            block_bytes=self._globals.nbytes,
            condition_rows=rows.ctypes.data,
            condition_values=values.ctypes.data,
            **stop_addresses(request.stop),
            seconds=request.seconds,
            pace=self._paces[march_kernel],
            ahead=ahead.ctypes.data,
            observed_steps=observed_steps.ctypes.data,
            observed_values=observed.ctypes.data,
            paused_tasks=tasks.ctypes.data,
            timed=self._timed + march_kernel * self._stopwatch.timed.strides[0],
            **self._addresses,
        )
        return PreparedMarch(march, observed_steps, observed, request, ahead, (rows, values, tasks))

    # ---- memory

    def _rows_a_task(self, files: ArrayFiles) -> int:
        along_rows = [(self._layouts[s.axes].strides, s.itemsize) for s in self.plan.slots]
        row_bytes = sum(strides[-2] * size for strides, size in along_rows if len(strides) > 1)
        return files.task_rows(row_bytes, self.threads)

    def _array(self, number: int, size: int) -> Block:
        slot, place = self.plan.slots[number], place_in_page(number)
        if self.files is None or size == 0:
            return self._allocate(size, place)
        return self.files.block(size, place, self._layouts[slot.axes], slot.itemsize)

    def _allocate(self, size: int, place: int = 0) -> Block:
        """Zeroed bytes that begin at a place in a page, first touched by the threads that will work on them."""
        block = placed_block(size, place)
        self._program.zero(block.cells.ctypes.data, size, self.threads)
        return block

    def _lay_out(self, axes: Axes) -> Layout:
        smallest = min((slot.itemsize for slot in self.plan.slots), default=8)
        rule = lay_out_packed if self._is_packed else layout_rule(self.plan)
        return rule(along(self.extents, axes), along(self.plan.halo, axes), smallest)

    def _view(self, name: str) -> Array:
        """The field's domain in the array that its slot holds now."""
        static = named_field(self.plan.graph, name)
        self._end_steps()
        slot = next(s for s in self.plan.slots if s.field == name)
        item = static.type.itemsize
        cells = self._by_address[int(self._slots[slot.index])].cells
        layout = self._layouts[slot.axes]
        strides = tuple(s * item for s in layout.strides)
        return np.ndarray(layout.extents, static.type.numpy, cells.data, layout.start * item, strides)

    def _global(self, name: str) -> GlobalSlot:
        return self._global_slots.get(name) or self.plan.global_slot(named_global(self.plan.graph, name).name)


def check_march_end(plan: Plan, words: Array, kernel: str, status: int) -> None:
    """Raise what a march has met: no memory, or an index outside; the state stays as the march left it.

    words: the Globals block.
    """
    if status != 0:
        raise BackendError("there is no memory left for the threads of a march", advice="Use fewer threads.")
    if plan.outside >= 0 and words[plan.outside]:
        error = noted_error(plan, kernel, int(words[plan.outside]))
        words[plan.outside] = 0
        raise error
