"""Timing: what a step of a simulation and each of its launches take, as measured while it runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.backends.base import LaunchTime
from workbench.pipeline import Compiled
from workbench.planning.choices import Choices
from workbench.run.state import State
from workbench.run.watching import Watch

if TYPE_CHECKING:
    from workbench.run.simulation import Simulation

TIMED_AFTER = 0.1  # seconds of running; before it, first touches of memory and a slice's start weigh too much
_WATCHED_EVERY = 0.05  # seconds


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


def once_timed(state: State, told: Callable[[StepTime], None], after: float = TIMED_AFTER) -> Callable[[], None]:
    """Call `told` once, in the thread that runs, when the present program has run for so many seconds.

    Another program that takes over before that ends it, and so does a call of the result.
    """
    compiled = state.compiled

    def changed() -> None:
        if state.compiled is not compiled:
            state.watches.remove(watch)
        elif state.march_seconds >= after and (time := time_of(state)) is not None:
            state.watches.remove(watch)
            told(time)

    watch = Watch(changed, _WATCHED_EVERY)
    state.watches.add(watch)
    return lambda: state.watches.remove(watch)
