"""Looping: a program whose graph has loops over whole arrays, as one that marches like any other.

Each kernel of such a program is compiled like any kernel, the parts of loops too. A run of a kernel that has loops
before it is a sequence of marches: for each loop one of `begin`, then one of `turn` until its condition is false, and
at last the kernel itself. A `turn` that has loops before it is such a sequence again. Compiled code looks at the
condition and at `stop` after each turn as after each step; on a device the host reads the condition, but for loops
that count their turns (`counted_loops`). Parts of loops store inner statics only, so that a step that is broken off has
changed nothing that a user sees, and goes on where it was unless something was written meanwhile.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np

from workbench.backends.base import (
    Array,
    CallInstance,
    Condition,
    DeviceCells,
    Ending,
    Instance,
    LaunchTime,
    LendingProgram,
    MarchRequest,
    MarchResult,
    Number,
    PreparingCall,
    Program,
    StopFlag,
)
from workbench.backends.called_loops import SLICE_SECONDS, CalledLoops
from workbench.backends.checks import too_long
from workbench.backends.counted_loops import counted_loops
from workbench.backends.march_rule import ending_after, ending_before
from workbench.errors import RunError
from workbench.graph import While
from workbench.planning.plan import Plan


@dataclass(slots=True)
class _Progress:
    """How far the loops before a kernel are: the loop that is under way, and its turns so far, -1 before it began.

    inside: how far the loops before its next turn are, if it has some.
    """

    kernel: str
    loop: int = 0
    turns: int = -1
    inside: _Progress | None = None


class LoopingProgram:
    """A compiled program of kernels, some of which are parts of loops."""

    def __init__(self, program: Program) -> None:
        self.program = program

    @property
    def plan(self) -> Plan:
        """The plan it was made from."""
        return self.program.plan

    @property
    def compile_seconds(self) -> float:
        """Seconds spent in compilers; 0 if nothing was compiled."""
        return self.program.compile_seconds

    @property
    def from_cache(self) -> bool:
        """Whether the binary came from the build cache."""
        return self.program.from_cache

    def compiler_words(self) -> Mapping[tuple[str, str], str]:
        """(kernel, sub-kernel) -> what the compiler said of its loops when it made this program."""
        return self.program.compiler_words()

    def free_memory(self, beside: Instance | None = None) -> int | None:
        """Bytes that an instance may take of the device's own memory; None where that is the host's."""
        return self.program.free_memory(bare_instance(beside))

    def instantiate(
        self, extents: tuple[int, ...], threads: int = 0, beside: Instance | None = None
    ) -> LoopingInstance:
        """Allocate a state: fields zero, scalars and params at their defaults."""
        return LoopingInstance(self.plan, self.program.instantiate(extents, threads, bare_instance(beside)))

    def instantiate_for_calls(self, extents: tuple[int, ...], threads: int = 0) -> LoopingCall | None:
        """Allocate what a call does not lend; None where the program itself does not work on arrays of the caller."""
        if not isinstance(self.program, LendingProgram):
            return None
        made = self.program.instantiate_for_calls(extents, threads)
        return None if made is None else LoopingCall(self.plan, made)


def bare_instance(instance: Instance | None) -> Instance | None:
    """The instance that has the arrays, without the loops around it."""
    return instance.instance if isinstance(instance, LoopingInstance) else instance


class LoopingInstance:
    """The state of one simulation; `instance` has it and runs one kernel at a time."""

    def __init__(self, plan: Plan, instance: Instance) -> None:
        self.plan, self.instance = plan, instance
        self._turns = _Turns(plan, instance)

    @property
    def extents(self) -> tuple[int, ...]:
        """Cells of the domain along each axis."""
        return self.instance.extents

    @property
    def memory_bytes(self) -> int:
        """Bytes of all arrays."""
        return self.instance.memory_bytes

    def read_field(self, name: str) -> Array:
        """A fresh C-ordered copy of the field's domain, on the host."""
        return self.instance.read_field(name)

    def take_over(self, other: Instance) -> None:
        """Copy the whole state of another instance of this program; a step that was broken off begins anew."""
        self._turns.progress = None
        bare = bare_instance(other)
        assert bare is not None
        self.instance.take_over(bare)

    def write_field(self, name: str, values: Array) -> None:
        """Copy `values` into the field's domain."""
        self._turns.progress = None
        self.instance.write_field(name, values)

    def read_global(self, name: str) -> Number:
        """A param's or scalar's value."""
        return self.instance.read_global(name)

    def write_global(self, name: str, value: Number) -> None:
        """Set a param or scalar; rounded to its type."""
        self._turns.progress = None
        self.instance.write_global(name, value)

    def device_view(self, name: str) -> Any:  # noqa: ANN401  # as the protocol says
        """The live domain of a field, valid until the next march. What is written there begins a step anew."""
        self._turns.progress = None
        return self.instance.device_view(name)

    def time_launches(self, wanted: bool) -> None:
        """Time launches from now on, or no longer."""
        self.instance.time_launches(wanted)

    def launch_times(self) -> tuple[LaunchTime, ...]:
        """What was timed so far, of each launch in order."""
        return self.instance.launch_times()

    def close(self) -> None:
        """Free the memory."""
        self.instance.close()

    def march(self, request: MarchRequest) -> MarchResult:
        """Advance as MarchRequest says; broken off inside of a loop with fewer steps than were done to the end.

        Raises RunError, with the loop's line, if a loop still goes on after the most turns that it may make. Where
        steps were done before and the caller will ask again, because time is short, they are told first.
        """
        loops = self.plan.graph.loops_before(request.kernel)
        if not loops:
            self._turns.progress = None
            return self.instance.march(request)
        begin, done, current = time.monotonic(), 0, False
        results: list[MarchResult] = []
        ended = ending_before(request)
        while ended is None:
            try:
                ended = self._turns.made(request.kernel, request.stop, begin + request.seconds)
            except RunError:
                if not done or request.seconds == inf:
                    raise
                ended = "time"
            if ended is not None:
                break
            result = self._stepped(request, done)
            results.append(result)
            done += 1
            current, met = result.diagnostics_current, result.ended == "until"
            ended = ending_after(request, done, met=met, seconds=time.monotonic() - begin)
        return MarchResult(done, ended, current, *self._recorded(results))

    def _stepped(self, request: MarchRequest, done: int) -> MarchResult:
        """The kernel itself, once, after its loops."""
        self._turns.progress = None
        last = done + 1 == request.steps
        one = replace(
            request,
            steps=1,
            first_step=request.first_step + done,
            observe_last=request.observe_last and last,
            stop=StopFlag(),
            seconds=inf,
        )
        return self.instance.march(one)

    def _recorded(self, results: list[MarchResult]) -> tuple[Array, tuple[Array, ...]]:
        """The steps that were observed, and the scalars then."""
        scalars = self.plan.graph.scalars
        steps = np.concatenate([np.zeros(0, np.int64), *(result.observed_steps for result in results)])
        values = [
            np.concatenate([np.zeros(0, static.type.numpy), *(result.observed[k] for result in results)])
            for k, static in enumerate(scalars)
        ]
        return steps, tuple(values)


class LoopingCall:
    """A program that runs once at each call, on arrays of the caller, its loops first."""

    def __init__(self, plan: Plan, instance: CallInstance) -> None:
        self.plan, self._instance = plan, instance
        self.lend, self.write_global, self.read_global = instance.lend, instance.write_global, instance.read_global
        self.march, self.close = instance.march, instance.close
        self.made, self.on_device, self.steps = instance.made, instance.on_device, instance.steps
        self.lend_all, self.number = instance.lend_all, instance.number
        self._loops: CalledLoops | _TurnsOfCall
        if isinstance(instance, PreparingCall):
            self._loops = CalledLoops(plan.graph, instance, plan.kernels[0].kernel.name)
        else:
            self._loops = _TurnsOfCall(plan, instance)

    def run(self) -> None:
        """Run the program once. RunError as without loops, and if a loop goes on too long."""
        self._loops.run()
        self._instance.run()


class _TurnsOfCall:
    """The loops of a call whose marches are not prepared."""

    def __init__(self, plan: Plan, instance: CallInstance) -> None:
        self._kernel, self._turns = plan.kernels[0].kernel.name, _Turns(plan, instance)

    def run(self) -> None:
        """Run them to their ends."""
        self._turns.progress = None
        self._turns.made(self._kernel, StopFlag(), inf)


class _Turns:
    """The loops before kernels; `progress` is forgotten where something was written meanwhile."""

    def __init__(self, plan: Plan, instance: Instance | CallInstance) -> None:
        self._graph, self._instance = plan.graph, instance
        self._device = instance if isinstance(instance, DeviceCells) else None
        self._counted = {} if self._device is None else counted_loops(plan.graph)  # elsewhere a look costs nothing
        self.progress: _Progress | None = None

    def made(self, kernel: str, stop: StopFlag, end: float) -> Ending | None:
        """Run the loops before a kernel to their ends; "stopped" or "time" if they are not there yet.

        end: when to break off, by time.monotonic().
        """
        if self.progress is None or self.progress.kernel != kernel:
            self.progress = _Progress(kernel)
        return self._after_loops(self.progress, stop, end)

    def _after_loops(self, progress: _Progress, stop: StopFlag, end: float) -> Ending | None:
        loops = self._graph.loops_before(progress.kernel)
        while progress.loop < len(loops):
            loop = loops[progress.loop]
            if progress.turns < 0:
                self._instance.march(MarchRequest(loop.begin, 1))
                progress.turns = 0
            ended = self._turn(loop, progress, stop, end)
            if ended is not None:
                return ended
            progress.loop, progress.turns = progress.loop + 1, -1
        return None

    def _turn(self, loop: While, progress: _Progress, stop: StopFlag, end: float) -> Ending | None:
        """Make the turns of one loop that are left; why it was broken off, None if it has ended.

        end: when to break off, by time.monotonic().
        """
        while self._instance.read_global(loop.going):
            if progress.turns >= loop.at_most:
                if loop.at_most_ok:
                    return None
                self.progress = None
                raise too_long(self._graph, loop)
            if self._graph.loops_before(loop.turn):
                progress.inside = progress.inside or _Progress(loop.turn)
                ended = self._after_loops(progress.inside, stop, end)
                if ended is not None:
                    return ended
                self._instance.march(MarchRequest(loop.turn, 1))
                progress.turns, progress.inside = progress.turns + 1, None
                continue
            turns, until = self._next_turns(loop, progress.turns)
            now = min(max(end - time.monotonic(), 0.0), SLICE_SECONDS)
            result = self._instance.march(MarchRequest(loop.turn, turns, until=until, stop=stop, seconds=now))
            progress.turns += result.steps
            if result.ended == "stopped" or (result.ended == "time" and time.monotonic() >= end):
                return result.ended
        return None

    def _next_turns(self, loop: While, done: int) -> tuple[int, tuple[Condition, ...]]:
        """How many turns to make of a loop that goes on, and the condition that ends them earlier; done: those before.

        Of a counted loop on a device, after a first turn that says that it goes on, as many as it counts unasked.
        """
        left, counted = loop.at_most - done, self._counted.get(loop.turn)
        over = (Condition(loop.going, "==", 0.0),)
        if counted is None or self._device is None:
            return left, over
        if not done:
            return 1, over
        return min(left, counted.turns_left(self._instance.read_global, self._device.extents)), ()
