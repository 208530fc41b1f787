"""Outdating: simulations and views go on with the program of before when a cell is changed, and say so."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.machine import Machine
from workbench.notebook.living import name_of
from workbench.pipeline import compile_graph
from workbench.run import alive
from workbench.run.hooks import outdate
from workbench.run.simulation import Simulation
from workbench.views.inspection.outdating import outdate_views


def outdate_program(before: Machine, after: Machine, name: str, names: Mapping[str, object]) -> tuple[str, ...]:
    """Tell simulations and views of the machine that `name` was before; a sentence for the card on simulations, if any.

    `names` is the notebook's namespace. Those of the program of now, which may have been told of another one, are up to
    date again.
    """
    old, new = _program(before), _program(after)
    outdate_views(old, new, name)
    told = []
    for simulation in alive.simulations():
        if not isinstance(simulation, Simulation):
            continue
        program = simulation.graph.fingerprint()
        if program == new:
            outdate(simulation, "")
        elif program == old:
            told.append(name_of(simulation, names))
            outdate(
                simulation,
                f"{name} was changed, and this simulation runs the program of before. "
                f"Make a new one: {name}.simulate(...).",
            )
    if not told:
        return ()
    return (f"of the program of before: {', '.join(told)}; make new ones by {name}.simulate(...)",)


def _program(machine: Machine) -> str:
    """As simulations have it."""
    return compile_graph(machine.graph, machine.choices, machine.backend).graph.fingerprint()
