"""Timing: what a step of a simulation and each of its launches take, as measured while it runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from workbench.backends.base import LaunchTime
from workbench.pipeline import Compiled
from workbench.planning.choices import Choices
from workbench.run.state import State
from workbench.run.watching import Watch

if TYPE_CHECKING:
    from workbench.run.simulation import Simulation

TIMED_AFTER = 0.1  # seconds of running; before it, first touches of memory and a slice's start weigh too much
AGAIN = 4  # times as long a program has run at the next measurement


@dataclass(frozen=True, slots=True)
class StepTime:
    """Seconds by the clock of a step of the program that runs now, on average over the `steps` it has done.

    `launches` as Instance.launch_times has them, of all kernels.
    """

    choices: Choices
    backend: str
    extents: tuple[int, ...]
    steps: int
    seconds: float
    launches: tuple[LaunchTime, ...]

    def subkernels(self, compiled: Compiled) -> tuple[tuple[str, float], ...]:
        """(name in the source, seconds) of each sub-kernel of a plain step of the main kernel, where they are known."""
        main = compiled.plan.main
        timed = {(t.observed, t.launch, t.member): t.seconds for t in self.launches if t.kernel == main.kernel.name}
        return tuple(
            (main.plain.subkernels[member].name, timed[False, number, member])
            for number, launch in enumerate(main.plain.launches)
            for member in launch.members
            if launch.kind == "subkernel" and (False, number, member) in timed
        )

    def since(self, earlier: StepTime) -> StepTime:
        """What was measured after that, in one step or more of the same program.

        A launch that was not timed since keeps its time.
        """
        known = {(t.kernel, t.observed, t.launch, t.member): t for t in earlier.launches}
        launches = []
        for t in self.launches:
            before = known.get((t.kernel, t.observed, t.launch, t.member))
            if before is not None and t.steps > before.steps:
                seconds = _later_mean(t.seconds, t.steps, before.seconds, before.steps)
                launches.append(replace(t, seconds=seconds, steps=t.steps - before.steps))
            else:
                launches.append(t)
        seconds = _later_mean(self.seconds, self.steps, earlier.seconds, earlier.steps)
        return replace(self, seconds=seconds, steps=self.steps - earlier.steps, launches=tuple(launches))


def _later_mean(mean: float, count: int, earlier_mean: float, earlier_count: int) -> float:
    """The mean of those that came after the earlier ones."""
    return max(0.0, mean * count - earlier_mean * earlier_count) / (count - earlier_count)


def time_launches(simulation: Simulation, wanted: bool) -> None:
    """Time the launches of this and later programs of the simulation where that is not done always, as on a GPU."""
    simulation._owner.do(lambda: simulation._state.time_launches(wanted))


def time_of(state: State) -> StepTime | None:
    """What is known now, of one whole step; None before the first one. For the thread that owns the state."""
    seconds = state.measured_step_seconds
    if seconds is None:
        return None
    compiled = state.compiled
    return StepTime(
        compiled.plan.choices,
        compiled.selection.name,
        state.extents,
        state.march_steps,
        seconds,
        state.instance.launch_times(),
    )


def timed(state: State, told: Callable[[StepTime], None], *, once: bool) -> Callable[[], None]:
    """Call `told` in the thread that runs, when the present program has run for TIMED_AFTER seconds.

    Unless `once`, again each time when it has run AGAIN times as long, with what was measured since the call before:
    views draw new code while its first steps run, on a computer with few cores at several times their cost.
    Another program that takes over ends it, and so does a call of the result.
    """
    compiled = state.compiled
    earlier: StepTime | None = None
    after = TIMED_AFTER

    def changed() -> None:
        nonlocal earlier, after
        if state.compiled is not compiled:
            state.watches.remove(watch)
            return
        time = time_of(state) if state.march_seconds >= after else None
        if time is None or (earlier is not None and time.steps == earlier.steps):
            return
        fresh = time if earlier is None else time.since(earlier)
        earlier, after = time, AGAIN * state.march_seconds
        watch.seconds = after / 2
        if once:
            state.watches.remove(watch)
        told(fresh)

    watch = Watch(changed, after / 2)
    state.watches.add(watch)
    return lambda: state.watches.remove(watch)
