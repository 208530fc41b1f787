"""Hooks: what views ask of a simulation beyond its public methods, so that only this file knows its private parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from workbench.backends.base import Number
from workbench.planning.choices import Choices
from workbench.run.simulation import Simulation
from workbench.run.state import State
from workbench.run.storage import files_of
from workbench.run.timing import StepTime, timed
from workbench.run.values import unwise_text
from workbench.run.watching import Watch

Found = TypeVar("Found")


def read_state(simulation: Simulation, read: Callable[[State], Found]) -> Found:
    """What `read` makes of the state, in the thread that owns it. RunError if the simulation was closed."""
    return simulation._owner.do(lambda: read(simulation._state))


def lies_in_files(simulation: Simulation) -> bool:
    """Whether its arrays lie in files: whole fields have no room in memory."""
    return simulation._owner.do(lambda: files_of(simulation._state.instance)) is not None


def made_by(simulation: Simulation, machine: Callable[[Choices, str], Any]) -> Simulation:
    """The simulation, which knows its machine by now: `machine` makes it of the choices and the backend in use."""
    simulation._made_by = machine
    return simulation


def when_timed(simulation: Simulation, told: Callable[[StepTime], None]) -> Callable[[], None]:
    """Call `told` in the thread that runs, each time a step's time is known anew; what is returned ends that."""
    return timed(simulation._state, told, once=False)


def watch(simulation: Simulation, changed: Callable[[], None], seconds: float) -> Watch:
    """Call `changed()` after every change, in the thread that made it, at least every `seconds` of a run."""
    made = Watch(changed, seconds)
    simulation._state.watches.add(made)
    return made


def unwatch(simulation: Simulation, watch: Watch) -> None:
    """Call it no more."""
    simulation._state.watches.remove(watch)


def outdate(simulation: Simulation, why: str) -> None:
    """Its cell describes another program now: say so wherever the simulation is shown. "": it does not, any more."""
    simulation._state.outdated = why
    simulation._state.watches.tell()


def outdated(simulation: Simulation) -> str:
    """Why the simulation is no longer of the program that its cell describes; "" if it is."""
    return simulation._state.outdated


def note_of(simulation: Simulation, params: Mapping[str, Number]) -> str:
    """What one should know: which of these values of params are unwise, and why it is outdated; "" for nothing."""
    unwise = (unwise_text(simulation.graph.static(name), value) for name, value in params.items())
    return "; ".join(text for text in (*unwise, outdated(simulation)) if text)


def failure_of(simulation: Simulation) -> BaseException | None:
    """What has ended its background run, if no caller has waited for that run yet."""
    background = simulation._background
    return None if background is None else background.failure


def asked_choices(simulation: Simulation) -> Choices:
    """The choices that the simulation was made or planned by, before its size decided what they leave open."""
    return simulation._state.asked


def is_closed(simulation: Simulation) -> bool:
    """Whether its memory was freed."""
    return simulation._state.closed


def time_launches(simulation: Simulation, wanted: bool) -> None:
    """Time the launches of this and later programs of the simulation where that is not done always, as on a GPU."""
    simulation._owner.do(lambda: simulation._state.time_launches(wanted))
