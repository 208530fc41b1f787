"""CUDA instance: a simulation's state in a GPU's memory; steps on a stream, short ones as CUDA graphs."""

from __future__ import annotations

import time
from contextlib import suppress
from math import gcd, prod
from typing import Any

from workbench.backends.base import Array, LaunchTime, MarchRequest
from workbench.backends.cuda_branches import CudaBranches
from workbench.backends.cuda_copies import CudaCopies, GlobalsOnHost
from workbench.backends.cuda_launches import ArrayWords, PackedLaunch, launch_all, packed
from workbench.backends.cuda_modules import LoadedKernels
from workbench.backends.cuda_place import CudaPlace, OnDevice
from workbench.backends.device_instance import DeviceInstance
from workbench.backends.event_clock import EventClock
from workbench.backends.launch_sequence import DeviceLaunch
from workbench.codegen.cuda.device import StepLaunches
from workbench.codegen.cuda.render import CudaText
from workbench.errors import BackendError
from workbench.planning.plan import Plan

SLICE_SECONDS = 0.05  # of steps given to the device before the host looks at stop and time again
GRAPH_STEPS = 16  # at least so many in a graph, because its launch costs as much as some kernels
SHORT_CELLS = 1 << 22  # up to so many cells a launch takes a device about as long as the host needs to ask for it


class CudaInstance(DeviceInstance):
    """The state of one simulation in a device's memory, with a stream of its own.

    Steps of a small domain run as CUDA graphs: a graph holds a multiple of the rotation's period, so that it ends with
    the arrays where it began, and one is captured for each arrangement that a batch begins with. Params lie in the
    Globals block: changing one needs no new capture.
    """

    def __init__(
        self,
        plan: Plan,
        text: CudaText,
        functions: LoadedKernels,
        extents: tuple[int, ...],
        place: CudaPlace,
        *,
        lent: bool = False,
    ) -> None:
        """lent: as in DeviceInstance."""
        self.place = place
        self._functions = functions
        name = f" for {plan.graph.name} with extents {extents}"
        self._graphs: dict[tuple[int, tuple[int, ...]], Any] = {}
        self._packed: dict[tuple[int, tuple[int, ...]], tuple[PackedLaunch, ...]] = {}
        self._paces: dict[tuple[str, int], _Pace] = {}
        self._pace: _Pace | None = None  # of the batch that runs
        self._batch_begin = 0.0
        self._clock: EventClock | None = None
        self._times: tuple[LaunchTime, ...] = ()
        cuda = place.cupy.cuda
        with place.errors.as_ours(place.cupy, "the CUDA device"):
            self._device = cuda.Device(place.device)
            with self._device:
                self._stream = cuda.Stream()  # waits for the default stream, on which users write to device views
                # Any use of the default stream would break a capture on a stream that waits for it.
                self._recorder = cuda.Stream(non_blocking=True)
        self._here = OnDevice(place, self._device, self._stream, name)
        self._driver, self._launched_into = cuda.driver, self._stream
        self._branches = CudaBranches(cuda, plan.choices.plan.device.streams)
        self._has_branches = plan.choices.plan.device.streams > 1
        self._copies = CudaCopies(place.cupy, self._stream)
        super().__init__(plan, text.kernels, extents, place.cupy, lent=lent)
        with self._on_device():
            self._globals_on_host = GlobalsOnHost(place.cupy, self._stream, self._globals)
        self._words = ArrayWords(
            {
                "slot": self._memory,
                "partials": self._partials,
                "lists": self._lists,
                "scratch": self._scratch,
                "ahead": [self._levels],
                "globals": [self._globals],
            }
        )
        self._is_short = prod(self.extents) <= SHORT_CELLS

    @property
    def graphs(self) -> int:
        """How many CUDA graphs were captured."""
        return len(self._graphs)

    def time_launches(self, wanted: bool) -> None:
        """Time one step of every batch by events around its launches, which then are no part of a graph.

        Where the device has no memory left for it, nothing is timed: a simulation must not end by being looked at.
        """
        if wanted and self._clock is None:
            with suppress(BackendError), self._on_device():
                self._clock = EventClock(self.place.cupy, self.plan)
        elif not wanted:
            self._clock = None

    def launch_times(self) -> tuple[LaunchTime, ...]:
        """Seconds on the device of the steps that were timed so far; empty unless `time_launches` asked for them."""
        return self._times

    def device_view(self, name: str) -> Any:  # noqa: ANN401  # as the protocol says
        """The live domain of a field, strided, valid until the next march; nothing is under way when this returns."""
        with self._on_device():
            view = self._domain(name)
            self._stream.synchronize()
        return view

    def take_cells(self, name: str, cells: Any) -> None:  # noqa: ANN401
        """Copy an array of CuPy into the field's domain, when the stream that is current in this thread has made it."""
        with self.place.errors.as_ours(self.place.cupy, "the CUDA device"):
            self.place.cupy.cuda.get_current_stream().synchronize()
        if int(cells.device.id) != self.place.device:
            self.write_field(name, cells.get())
            return
        super().take_cells(name, cells if cells.flags.c_contiguous else cells.copy())

    def close(self) -> None:
        """Free the memory; the instance cannot be used afterwards."""
        with suppress(BackendError), self._on_device():  # memory is let go whatever the device says
            self._stream.synchronize()
        self._graphs.clear()
        self._packed.clear()
        self._functions = LoadedKernels({})
        self._clock = None
        super().close()

    def _on_device(self) -> OnDevice:
        return self._here

    def _to_host(self, cells: Any) -> Array:  # noqa: ANN401  # a CuPy array
        return self._copies.to_host(cells)

    def _from_host(self, cells: Any, values: Array) -> None:  # noqa: ANN401
        self._copies.from_host(cells, values)

    def _between(self, cells: Any, others: Any) -> None:  # noqa: ANN401
        self._copies.between(cells, others)

    def _let_go(self) -> None:
        # CuPy keeps freed memory for arrays of the same stream, which there will never be.
        with suppress(BackendError), self._on_device():
            self.place.cupy.get_default_memory_pool().free_all_blocks()
            self.place.modules.unload(self.place.cupy)

    def _batch(self, request: MarchRequest, left: int, seconds: float) -> int:
        pace = self._paces.setdefault((request.kernel, request.observe_every), _Pace())
        self._batch_begin, self._pace = time.monotonic(), pace
        least = min(left, self.steps_together(request.kernel))
        return pace.next_batch(left, min(SLICE_SECONDS, max(seconds, 0.0)), least)

    def _wait(self) -> None:
        self._stream.synchronize()
        self._waited()

    def _globals_now(self) -> Array:
        block = self._globals_on_host.fetch()
        self._waited()
        return block

    def _waited(self) -> None:
        """Take note of what was measured, of steps that are done."""
        if self._clock is not None:
            self._times = self._clock.read()
        if self._pace is not None:
            self._pace.measured(time.monotonic() - self._batch_begin)
            self._pace = None

    def _run(self, step: StepLaunches, count: int) -> None:
        if self._clock is not None and count:
            kernel = next(k for k in self._kernels.values() if step is k.plain or step is k.observed)
            self._clock.begin(kernel.name, step is not kernel.plain, self._stream, len(self.sequence(step)))
            self._launch_all(step, self._clock)
            count -= 1
        many = _steps_in_graph(step)
        if self._is_short and count >= 2 * many:
            graph = self._graph(step, many)
            while count >= many:
                graph.launch(self._stream)
                count -= many
        for _ in range(count):
            self._launch_all(step)

    def _graph(self, step: StepLaunches, many: int) -> Any:  # noqa: ANN401  # a CuPy graph
        key = (id(step), tuple(self._order))
        if key not in self._graphs:
            order = self._order  # which a graph ends with; an error leaves it as it was, because nothing has run
            try:
                with self._recorder:
                    self._recorder.begin_capture()
                    self._launched_into = self._recorder
                    try:
                        for _ in range(many):
                            self._launch_all(step)
                    except BaseException:
                        with suppress(Exception):  # what ended the capture is the cause
                            self._recorder.end_capture()
                        raise
                    self._graphs[key] = self._recorder.end_capture()
            finally:
                self._order, self._launched_into = order, self._stream
        return self._graphs[key]

    def _launch_all(self, step: StepLaunches, clock: EventClock | None = None) -> None:
        launches = self.sequence(step)
        if clock is None:
            self._launch_in_order(launches)
        else:
            for each in self._as_packed(launches):
                launch_all((each,), self._driver.launchKernel, self._launched_into.ptr)
                clock.mark(each.code, self._stream)
        self.rotate(step)

    def _launch_in_order(self, launches: tuple[DeviceLaunch, ...]) -> None:
        step = self._branches.placed(launches) if self._has_branches else None
        if step is not None and step.streams > 1:
            self._branches.launch(step, self._as_packed(launches), self._driver.launchKernel, self._launched_into)
        else:
            launch_all(self._as_packed(launches), self._driver.launchKernel, self._launched_into.ptr)

    def _as_packed(self, launches: tuple[DeviceLaunch, ...]) -> tuple[PackedLaunch, ...]:
        """Made once for each arrangement of the arrays; the launches are those that this instance keeps."""
        key = (id(launches), tuple(self._order))
        found = self._packed.get(key) if launches else ()
        if found is None:
            found = self._packed[key] = tuple(
                packed(each, self._functions, self._words, self._order, self.shapes_of(each)) for each in launches
            )
        return found


class _Pace:
    """How many steps of one kind a device does in a slice; grows by a factor at most: not all may be alike."""

    growth = 8

    def __init__(self) -> None:
        self._steps = 0
        self._step_seconds = 0.0

    def next_batch(self, left: int, seconds: float, least: int = 1) -> int:
        """Steps that should take as long as `seconds`, `least` or a multiple of it: so many run together."""
        wanted = seconds / self._step_seconds if self._step_seconds > 0.0 else 1.0
        steps = min(left, self.growth * self._steps, int(wanted))
        self._steps = max(least, steps - steps % least)
        return self._steps

    def measured(self, seconds: float) -> None:
        """Take note of what the last batch took; the first ones contain captures and so are forgotten fast."""
        now, known = seconds / self._steps, self._step_seconds
        self._step_seconds = now if known <= 0.0 else min(now, (now + known) / 2)


def _steps_in_graph(step: StepLaunches) -> int:
    """The smallest multiple of the rotation's period that is not below GRAPH_STEPS."""
    period = rotation_period(step.rotation)
    return period * -(-GRAPH_STEPS // period)


def rotation_period(rotation: tuple[int, ...]) -> int:
    """After so many steps every slot holds the array that it began with."""
    period, seen = 1, set[int]()
    for first in range(len(rotation)):
        length, slot = 0, first
        while slot not in seen:
            seen.add(slot)
            slot = rotation[slot]
            length += 1
        if length:
            period = period * length // gcd(period, length)
    return period
