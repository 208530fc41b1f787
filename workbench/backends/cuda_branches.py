"""CUDA branches: launches of a step in several streams, which begin and end in the stream of the step.

In a graph that is captured they become branches, which cost nothing when it runs; else each wait costs the host about
as long as a launch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from workbench.backends.cuda_launches import PackedLaunch, launch_all
from workbench.backends.launch_sequence import DeviceLaunch
from workbench.backends.side_by_side import PlacedStep, side_by_side


class CudaBranches:
    """Streams beside that of an instance, and events by which they wait; made when first needed."""

    def __init__(self, cuda: Any, most: int) -> None:  # noqa: ANN401  # CuPy carries no annotations
        """cuda: of CuPy. most: streams of a step, its own one included."""
        self._cuda, self._most = cuda, most
        self._streams: list[Any] = []
        self._events: list[Any] = []
        self._placed: dict[int, PlacedStep] = {}

    def placed(self, launches: tuple[DeviceLaunch, ...]) -> PlacedStep:
        """Where the launches of a step go, made once; the instance keeps the launches."""
        found = self._placed.get(id(launches))
        if found is None:
            found = self._placed[id(launches)] = side_by_side(launches, self._most)
        return found

    def launch(
        self,
        step: PlacedStep,
        launches: Sequence[PackedLaunch],
        launch_kernel: Callable[..., None],
        own: Any,  # noqa: ANN401
    ) -> None:
        """Ask for all launches; `own` is the stream of the step. Returns before they are done."""
        self._make(step)
        streams, begin = (own, *self._streams), self._events[-1]
        begin.record(own)
        begun = {0}
        for each in step.launches:
            stream = streams[each.stream]
            if each.stream not in begun:
                stream.wait_event(begin)
                begun.add(each.stream)
            for other in each.waits:
                stream.wait_event(self._events[other])
            launch_all((launches[each.launch],), launch_kernel, stream.ptr)
            if each.marked:
                self._events[each.launch].record(stream)
        for end in step.ends:
            own.wait_event(self._events[end])

    def _make(self, step: PlacedStep) -> None:
        """What a step takes: an event for each launch, and one for its begin."""
        while len(self._streams) < step.streams - 1:
            self._streams.append(self._cuda.Stream(non_blocking=True))  # the begin of a step waits for the default one
        while len(self._events) < len(step.launches) + 1:
            self._events.append(self._cuda.Event(disable_timing=True))
