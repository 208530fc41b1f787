"""Device instance: a simulation's state in a device's memory and the march over it; cuda and cuda-sim share it."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from workbench.backends.base import Array, Instance, LaunchTime, MarchRequest, MarchResult, Number
from workbench.backends.checks import checked_cells, checked_extents, named_field, named_global, number_of_kernel
from workbench.backends.gathering import noted_error
from workbench.backends.global_words import columns_of, number_in, words_of
from workbench.backends.instance_state import take_state
from workbench.backends.launch_sequence import DeviceLaunch, launches_of, shape_bytes
from workbench.backends.march_rule import diagnostic_scalars, ending_after, ending_before, holds, next_steps
from workbench.backends.tower_sequence import move_of
from workbench.codegen.cuda.device import KernelLaunches, StepLaunches
from workbench.codegen.shapes import array_shapes
from workbench.codegen.uniforms import block_words
from workbench.errors import BackendError
from workbench.planning.axes import along
from workbench.planning.choices import TilingChoices
from workbench.planning.kernel_plan import Axes
from workbench.planning.layout import Layout, lay_out_packed
from workbench.planning.lending import lent_slots
from workbench.planning.partials import largest_partials, list_lengths, partial_words, scratch_bytes
from workbench.planning.plan import GlobalSlot, Plan
from workbench.planning.plan_figures import layout_rule
from workbench.planning.schedules.schedule import TileHost
from workbench.planning.schedules.table import schedule_of

_NOTHING: Array = np.zeros(0, np.uint64)

Cells = Any
"""A one-dimensional contiguous array of the device's array library (NumPy or CuPy)."""


class DeviceInstance(ABC):
    """Arrays for slots, the Globals block and partial results; `library` (NumPy or CuPy) makes them.

    With `until` the host looks at the Globals block after every step, so that a march never does a step too many;
    without it steps are done in batches, and stop and time are looked at between two of them.
    """

    def __init__(
        self,
        plan: Plan,
        kernels: tuple[KernelLaunches, ...],
        extents: tuple[int, ...],
        library: Any,  # noqa: ANN401
        *,
        lent: bool = False,
    ) -> None:
        """Fields zero, scalars and params at their defaults. ShapeError if the extents do not fit the program.

        lent: the arrays of fields are those of the caller, see `CallInstance`; all arrays are packed.
        """
        self.plan = plan
        self.extents = checked_extents(plan.graph, extents)
        self.layouts = layouts_of(plan, self.extents, packed=lent)
        self.layout = self.layouts[()]
        self.shape = shape_bytes(self.layout)
        self._library = library
        self._kernels = {k.name: k for k in kernels}
        self._sequences: dict[int, tuple[DeviceLaunch, ...]] = {}
        self._begins: dict[str, tuple[DeviceLaunch, ...]] = {}
        words = tuple(word for kernel in kernels for word in kernel.words)
        block = block_words(plan.global_words, words)
        self._moves = {k.name: move_of(k, self.layout, plan.choices.plan, block) for k in kernels}
        self._together = max((move.steps for move in self._moves.values() if move is not None), default=0)
        self._memory: list[Cells] = []
        self._partials: list[Cells] = []
        self._lists: list[Cells] = []
        self._scratch: list[Cells] = []
        self._order = list(range(len(plan.slots)))  # slot s holds array _order[s]
        self._closed = False
        self._partial_cells = largest_partials(plan, self.extents, scans=False)
        buffers = max((len(s.buffers) for k in kernels for s in (k.plain, k.observed)), default=0)
        theirs = {slot.index for slot in lent_slots(plan)} if lent else set()
        try:
            with self._on_device():
                self._globals: Cells = library.zeros(block, np.uint64)
                self._levels: Cells = library.zeros(max(self._together * block, 1), np.uint64)
                for slot in plan.slots:
                    elements = 0 if slot.index in theirs else self.layouts[slot.axes].elements
                    self._memory.append(library.zeros(elements * slot.itemsize, np.uint8))
                for _ in range(buffers):
                    self._partials.append(library.zeros(self._partial_cells * 8 * partial_words(plan), np.uint8))
                for length in list_lengths(plan, self.extents):
                    self._lists.append(library.zeros(length, np.int64))
                self._scratch.append(library.zeros(max(scratch_bytes(plan, self.extents), 64), np.uint8))
        except BaseException:
            self._release()  # a traceback that somebody keeps must not keep arrays
            raise
        for static in (*plan.graph.params, *plan.graph.scalars):
            self.write_global(static.name, static.default or 0)

    # ---- what the two devices do differently

    @abstractmethod
    def _on_device(self) -> AbstractContextManager[Any]:
        """Within it the array library works on this instance's device and stream."""

    @abstractmethod
    def _run(self, step: StepLaunches, count: int) -> None:
        """Do `count` steps of the same variant, rotations included; may return before they are done."""

    @abstractmethod
    def _launch_in_order(self, launches: tuple[DeviceLaunch, ...]) -> None:
        """Do the launches one after the other; may return before they are done."""

    @abstractmethod
    def _wait(self) -> None:
        """Return when all steps so far are done."""

    def _globals_now(self) -> Array:
        """The Globals block when all steps so far are done, valid until the next look. Waits."""
        self._wait()
        return self._to_host(self._globals)

    @abstractmethod
    def _to_host(self, cells: Cells) -> Array:
        """A fresh C-ordered copy in the host's memory, after all steps so far are done."""

    @abstractmethod
    def _from_host(self, cells: Cells, values: Array) -> None:
        """Fill cells with values of their shape and dtype; the values are not needed afterwards."""

    @abstractmethod
    def _between(self, cells: Cells, others: Cells) -> None:
        """Fill cells with others of their shape and dtype, both on this device, when it is their turn."""

    @abstractmethod
    def _let_go(self) -> None:
        """No array of this instance is needed any more."""

    @abstractmethod
    def _batch(self, request: MarchRequest, left: int, seconds: float) -> int:
        """How many of the `left` steps to do before the host looks at stop and time; `seconds` are left."""

    # ---- Instance

    @property
    def memory_bytes(self) -> int:
        """Bytes of all arrays, halos and padding included."""
        return sum(int(cells.nbytes) for cells in (*self._memory, *self._partials, *self._lists, *self._scratch))

    @property
    def tiling(self) -> TilingChoices | None:
        """The plan's choices with the sizes of towers; None where there are none."""
        kernel, choices = self.plan.main, self.plan.choices.plan.tiling
        return schedule_of(kernel).decided(kernel, self.extents, choices, TileHost())

    def read_field(self, name: str) -> Array:
        """A fresh C-ordered copy of the field's domain, on the host."""
        type_ = named_field(self.plan.graph, name).type
        with self._on_device():
            found = self._to_host(self._domain(name))
        return found.view(type_.numpy)[..., 0] if type_.is_record else found

    def write_field(self, name: str, values: Array) -> None:
        """Copy `values` into the field's domain; FieldError or ShapeError if dtype or shape differ."""
        static = named_field(self.plan.graph, name)
        given = checked_cells(self.plan.graph, static, self.extents, values)
        if static.type.is_record:
            given = np.ascontiguousarray(given)[..., None].view(static.type.components[0])
        with self._on_device():
            self._from_host(self._domain(name), given)

    def take_over(self, other: Instance) -> None:
        """Copy the state of another instance of this program, of equal extents; on a device not by way of the host."""
        take_state(self, self.plan.graph, other, self._take_field)

    def _take_field(self, name: str, other: Instance) -> None:
        if not isinstance(other, DeviceInstance):
            self.write_field(name, other.read_field(name))
            return
        with other._on_device():
            other._wait()  # streams do not wait for each other
            others = other._domain(name)
        with self._on_device():
            self._between(self._domain(name), others)
            self._wait()  # the other one may free its memory as soon as this returns

    def read_global(self, name: str) -> Number:
        """The value of a param or scalar."""
        slot = self._global(name)
        with self._on_device():
            words = self._to_host(self._globals[slot.index : slot.index + slot.type.words])
        return number_in(words, slot.type)

    def write_global(self, name: str, value: Number) -> None:
        """Set a param or scalar; rounded to its type. Nothing is compiled or captured anew."""
        slot = self._global(name)
        with self._on_device():
            self._from_host(self._globals[slot.index : slot.index + slot.type.words], words_of(value, slot.type))

    def device_view(self, name: str) -> Any:  # noqa: ANN401  # as the protocol says
        """The live domain of a field, strided, valid until the next march; of a dd the last axis has hi and lo."""
        with self._on_device():
            return self._domain(name)

    def take_cells(self, name: str, cells: Cells) -> None:
        """Copy an array on the device, of the field's dtype and extents, into the field's domain."""
        with self._on_device():
            self._between(self._domain(name), cells)

    def give_cells(self, name: str) -> Cells:
        """A fresh C-ordered array on the device with the field's domain; nothing is under way when this returns."""
        with self._on_device():
            domain = self._domain(name)
            made = self._library.empty(domain.shape, domain.dtype)
            self._between(made, domain)
            self._wait()
        return made

    def time_launches(self, wanted: bool) -> None:
        """Nothing, unless the device says otherwise."""
        del wanted

    def launch_times(self) -> tuple[LaunchTime, ...]:
        """None, unless the device says otherwise."""
        return ()

    def close(self) -> None:
        """Free the memory; the instance cannot be used afterwards."""
        self._closed = True
        self._release()

    def march(self, request: MarchRequest) -> MarchResult:
        """Advance as MarchRequest says."""
        if self._closed:
            raise BackendError("this simulation was closed", advice="Make a new one.")
        number_of_kernel(self.plan, request.kernel)
        with self._on_device():
            return self._march(request)

    def _march(self, request: MarchRequest) -> MarchResult:
        begin = time.monotonic()
        kernel = self._kernels[request.kernel]
        diagnostics = diagnostic_scalars(self.plan, self.plan.kernel(request.kernel))
        done, current = 0, False
        numbers: list[int] = []
        records: list[Array] = []
        ended = ending_before(request)
        if ended is None:
            self._launch_in_order(self._begin(kernel))
        while ended is None:
            left = request.steps - done
            seconds = request.seconds - (time.monotonic() - begin)
            target = done + (1 if request.until else max(1, min(left, self._batch(request, left, seconds))))
            listed_count = _multiples(request.observe_every, request.first_step + done, request.first_step + target)
            rows = self._library.empty((listed_count, self._globals.size), np.uint64) if listed_count else ()
            recorded = 0
            while done < target:
                coming = next_steps(request, done, diagnostics, target - done)
                current = coming.observed
                if current:
                    self._run(kernel.observed, coming.count)
                else:
                    self._run_plain(kernel, coming.count)
                done += coming.count
                if coming.listed:
                    numbers.append(request.first_step + done)
                    self._between(rows[recorded], self._globals)
                    recorded += 1
            block = self._looked(request)
            if recorded:
                records += list(self._to_host(rows))
            met = bool(request.until) and all(holds(c, self._number(block, c.scalar)) for c in request.until)
            ended = ending_after(request, done, met=met, seconds=time.monotonic() - begin)
        return MarchResult(done, ended, current, np.array(numbers, np.int64), self._observed(records))

    def steps_together(self, kernel: str) -> int:
        """Steps of a move of towers; 1 where steps follow each other."""
        move = self._moves[kernel]
        return 1 if move is None else move.steps

    def _run_plain(self, kernel: KernelLaunches, count: int) -> None:
        """Do plain steps: as many moves as they are enough for, then what remains one after the other."""
        move = self._moves[kernel.name]
        while move is not None and count >= move.steps:
            self._launch_in_order(move.launches)
            count -= move.steps
        if count:
            self._run(kernel.plain, count)

    def _looked(self, request: MarchRequest) -> Array:
        """The Globals block after all steps so far, or nothing where a march need not look. Waits.

        Raises RunError if a step met an index outside; the state stays as the last step left it.
        """
        if not request.until and self.plan.outside < 0:
            self._wait()
            return _NOTHING
        block = self._globals_now()
        self._take_note(request.kernel, block)
        return block

    def _take_note(self, kernel: str, block: Array) -> None:
        """Raise RunError if the block says that a step met an index outside, and forget it."""
        slot = self.plan.outside
        bits = int(block[slot]) if slot >= 0 else 0
        if bits:
            self._from_host(self._globals[slot : slot + 1], np.zeros(1, np.uint64))
            raise noted_error(self.plan, kernel, bits)

    def _number(self, block: Array, name: str) -> Number:
        """A param or scalar in a copy of the Globals block."""
        slot = self._global(name)
        return number_in(block[slot.index : slot.index + slot.type.words], slot.type)

    def _observed(self, records: list[Array]) -> tuple[Array, ...]:
        slots = [self.plan.global_slot(static.name) for static in self.plan.graph.scalars]
        words = [word for slot in slots for word in range(slot.index, slot.index + slot.type.words)]
        rows: Array = np.array(records, np.uint64).reshape(len(records), self._globals.size)
        return columns_of(rows[:, words], [slot.type for slot in slots])

    # ---- memory

    def _release(self) -> None:
        self._memory.clear()
        self._partials.clear()
        self._lists.clear()
        self._scratch.clear()
        self._let_go()

    def shapes_of(self, launch: DeviceLaunch) -> list[bytes]:
        """The shape arguments of a launch, in order."""
        return [self.shape if axes == () else shape_bytes(self.layouts[axes]) for axes in launch.shapes]

    def sequence(self, step: StepLaunches) -> tuple[DeviceLaunch, ...]:
        """The launches of a step; made once."""
        key = id(step)
        if key not in self._sequences:
            self._sequences[key] = launches_of(step, self.layout, self.plan.choices.plan)
        return self._sequences[key]

    def _begin(self, kernel: KernelLaunches) -> tuple[DeviceLaunch, ...]:
        """The launches before the first step of a march; made once."""
        if kernel.name not in self._begins:
            codes = StepLaunches(kernel.begin, (), ())
            self._begins[kernel.name] = launches_of(codes, self.layout, self.plan.choices.plan)
        return self._begins[kernel.name]

    def rotate(self, step: StepLaunches) -> None:
        """Let the slots take the arrays that the step's rotation gives them."""
        self._order = [self._order[s] for s in step.rotation]

    def _domain(self, name: str) -> Cells:
        """The field's domain in the array that its slot holds now; of a dd the last axis has hi and lo."""
        if self._closed:
            raise BackendError("this simulation was closed", advice="Make a new one.")
        static = named_field(self.plan.graph, name)
        slot = next(s for s in self.plan.slots if s.field == name)
        layout = self.layouts[slot.axes]
        parts, item = static.type.components, static.type.itemsize
        cells = self._memory[self._order[slot.index]][layout.start * item : layout.elements * item].view(parts[0])
        strides = tuple(item * stride for stride in layout.strides)
        extents = layout.extents
        if len(parts) > 1:
            strides, extents = (*strides, item // len(parts)), (*extents, len(parts))
        return self._library.lib.stride_tricks.as_strided(cells, extents, strides)

    def _global(self, name: str) -> GlobalSlot:
        return self.plan.global_slot(named_global(self.plan.graph, name).name)


def _multiples(every: int, after: int, upto: int) -> int:
    """How many multiples of `every` are above `after` and not above `upto`; none of 0."""
    return upto // every - after // every if every > 0 else 0


def layout_of(plan: Plan, extents: tuple[int, ...]) -> Layout:
    """The layout of the arrays that have all axes, in a simulation of these extents."""
    return layouts_of(plan, extents)[()]


def layouts_of(plan: Plan, extents: tuple[int, ...], *, packed: bool = False) -> dict[Axes, Layout]:
    """The layouts that arrays of a simulation of these extents have, by their axes. packed: as NumPy makes arrays."""
    smallest = min((s.itemsize for s in plan.slots), default=8)
    kinds = ((), *(shape.axes for shape in array_shapes(plan)))
    rule = lay_out_packed if packed else layout_rule(plan, on_device=True)
    return {axes: rule(along(extents, axes), along(plan.halo, axes), smallest) for axes in kinds}
