"""Playing: runs that people start to look at, which go at a pace at which one sees something."""

from __future__ import annotations

from workbench.run.goals import Goal
from workbench.run.marching import March
from workbench.run.progress import silent
from workbench.run.simulation import Simulation


def play(simulation: Simulation, pace: float | None) -> None:
    """Start a run without an end, or let a paused one go on: at most `pace` steps per second, or fewer for a watcher.

    Nothing happens if a run goes on.
    """
    if simulation.paused:
        simulation._resume(pace)
    elif not simulation.running:
        march = March(simulation._state, simulation._owner, Goal(None), silent)
        march.pace = pace
        simulation._start(march, None)


def unpace(simulation: Simulation) -> None:
    """Let the present run go as fast as watchers allow."""
    march = simulation._march
    if march is not None:
        march.pace = None


def pace_of(simulation: Simulation) -> float | None:
    """Steps per second that the present run may do, and the next one; None: as many as it can."""
    march = simulation._march
    return march.pace_now if march is not None and simulation.running else simulation._state.watches.pace
