"""Unknown names: the message for a missing `workbench.NAME`: which object has it, and what to write instead."""

import difflib

import workbench
from workbench.errors import MissingAttributeError
from workbench.frontend.words import find_word
from workbench.machine import Machine
from workbench.programs import NAMES as PROGRAMS
from workbench.run.simulation import Simulation
from workbench.solvers import NAMES as SOLVERS


def unknown_name(name: str) -> MissingAttributeError:
    """The error for a name that the package does not have."""
    return MissingAttributeError(f"workbench has no attribute {name!r}", advice=_advice(name))


def _advice(name: str) -> str:
    if find_word(name) is not None:
        return f"Write {name} in a cell that begins with %%stencil NAME; a script imports it from workbench.language."
    if hasattr(Machine, name):
        return f"Write a machine in front of it: wave = workbench.trace(text), then wave.{name}."
    if hasattr(Simulation, name):
        return f"Write a simulation in front of it: sim = wave.simulate(...), then sim.{name}."
    for room, names in (("solvers", SOLVERS), ("programs", PROGRAMS)):
        if name in names:
            return f"Write from workbench.{room} import {name}."
    close = difflib.get_close_matches(name, dir(workbench), n=1)
    meant = f"Did you mean workbench.{close[0]}? " if close else ""
    return f"{meant}dir(workbench) lists what there is."
