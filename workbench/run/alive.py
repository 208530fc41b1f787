"""What is alive in this process: machines and simulations, held weakly, for lists of them and a clean exit."""

from __future__ import annotations

import atexit
import itertools
import traceback
import weakref
from typing import Protocol

from workbench.forking import forkable_lock

EXIT_SECONDS = 5.0


class Stoppable(Protocol):
    """What can be asked to end before the interpreter does."""

    def stop(self, timeout: float | None = None) -> object:
        """End a background run, waiting at most `timeout` seconds."""


_numbers = itertools.count(1)
_lock = forkable_lock()  # a list of what is alive may be made in any thread
_machines: weakref.WeakValueDictionary[int, object] = weakref.WeakValueDictionary()
_simulations: weakref.WeakValueDictionary[int, Stoppable] = weakref.WeakValueDictionary()


def register_machine(machine: object) -> None:
    """Remember a machine for as long as it is referenced elsewhere."""
    with _lock:
        _machines[next(_numbers)] = machine


def register_simulation(simulation: Stoppable) -> None:
    """Remember a simulation for as long as it is referenced elsewhere."""
    with _lock:
        _simulations[next(_numbers)] = simulation


def machines() -> tuple[object, ...]:
    """Living machines, oldest first."""
    return tuple(machine for _, machine in numbered_machines())


def simulations() -> tuple[Stoppable, ...]:
    """Living simulations, oldest first."""
    return tuple(simulation for _, simulation in numbered_simulations())


def numbered_machines() -> tuple[tuple[int, object], ...]:
    """The same with numbers that no other machine or simulation of this process has or will have."""
    with _lock:
        return tuple(sorted(_machines.items(), key=lambda item: item[0]))


def numbered_simulations() -> tuple[tuple[int, Stoppable], ...]:
    """The same for simulations."""
    with _lock:
        return tuple(sorted(_simulations.items(), key=lambda item: item[0]))


@atexit.register
def _stop_all() -> None:
    # Compiled code must not run on while the interpreter takes down what it works on.
    for simulation in simulations():
        try:
            simulation.stop(timeout=EXIT_SECONDS)
        except BaseException as error:  # no caller waits for it: it is told here, and the others are stopped as well
            traceback.print_exception(error)
