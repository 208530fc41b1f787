"""Creation: from a graph and a user's values to a simulation that is ready to run, or that continues from a file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Protocol

from workbench.backends.base import Instance
from workbench.backends.registry import select_backend
from workbench.backends.teams import check_threads
from workbench.graph import Graph
from workbench.graph.arithmetic import python_number
from workbench.pipeline import Compiled, compile_graph, plan_for
from workbench.planning.choices import Choices, Meaning
from workbench.planning.extents import check_extents
from workbench.planning.retype import retype
from workbench.run.checkpoint import load_checkpoint
from workbench.run.initial_values import read_initial_values, set_initial_values
from workbench.run.memory import check_memory
from workbench.run.probe import write
from workbench.run.schedules import resolved, sized
from workbench.run.simulation import Simulation
from workbench.run.state import State
from workbench.run.storage import Memory, check_types, empty_array, in_files, instantiate_in_files, read_memory


class Chooser(Protocol):
    """Chooses once the size is known; what may change results is known before."""

    @property
    def meaning(self) -> Meaning:
        """Of whatever it chooses."""

    def __call__(self, graph: Graph, backend: str, extents: tuple[int, ...], threads: int) -> tuple[Choices, str]:
        """The choices, and where they come from, as a part of a sentence."""


def create_simulation(
    graph: Graph,
    choices: Choices | Chooser,
    values: Mapping[str, object],
    shape: object = None,
    *,
    backend: str = "auto",
    threads: int = 0,
    automatic: bool = True,
    memory: Memory = None,
) -> Simulation:
    """Check the values, compile, allocate, run `init`, write the values, in this order: cheap refusals come first.

    automatic: where the choices leave the schedule open, the size decides whether several steps run together in tiles,
    now and after each `replan`. memory: bytes, or a text, that arrays may take; larger ones lie in files.
    """
    most, typed = read_memory(memory), retype(graph, choices.meaning)
    check_types(typed, values, most)
    initial = read_initial_values(typed, values, shape)
    check_threads(threads)
    origin, name = "", select_backend(backend).name
    if not isinstance(choices, Choices):
        choices, origin = choices(graph, name, initial.extents, threads)
    asked = choices
    streamed = in_files(graph, choices, name, initial.extents, most)
    found = resolved(graph, choices, name, initial.extents, threads) if automatic and not streamed else (choices, "")
    choices, schedule = streamed or found
    choices = sized(choices, initial.extents)
    compiled = compile_graph(graph, choices, backend)
    instance = allocate(compiled, initial.extents, threads, most if streamed else 0)
    try:
        set_initial_values(compiled.graph, initial, instance)
    except BaseException:
        instance.close()
        raise
    state = State(compiled, instance, threads=threads)
    state.asked, state.chosen = asked, (choices, origin)
    state.schedule, state.automatic = schedule, automatic
    return Simulation(state)


def restore_simulation(
    graph: Graph,
    choices: Choices,
    path: str | os.PathLike[str],
    *,
    backend: str = "auto",
    threads: int = 0,
    memory: Memory = None,
) -> Simulation:
    """Continue on any backend from the very bits in a file that `Simulation.save` wrote. RunError if it does not fit.

    `init` does not run: everything is in the file. memory: as of `create_simulation`.
    """
    check_threads(threads)
    name = select_backend(backend).name
    most = read_memory(memory)
    checkpoint = load_checkpoint(path, plan_for(graph, choices, name).graph, empty_array(most))
    asked = choices
    streamed = in_files(graph, choices, name, checkpoint.extents, most)
    choices, schedule = streamed or resolved(graph, choices, name, checkpoint.extents, threads)
    choices = sized(choices, checkpoint.extents)
    compiled = compile_graph(graph, choices, backend)
    instance = allocate(compiled, checkpoint.extents, threads, most if streamed else 0)
    for static in compiled.graph.declared:
        value = checkpoint.values[static.name]
        write(instance, static, value if static.role == "field" else python_number(value, static.type))
    state = State(compiled, instance, checkpoint.steps, threads)
    state.observed_step = checkpoint.observed_step
    state.asked, state.chosen = asked, (choices, "")
    state.schedule, state.automatic = schedule, True
    return Simulation(state)


def allocate(compiled: Compiled, extents: tuple[int, ...], threads: int, memory: int = 0) -> Instance:
    """An instance of these extents. Raises ShapeError if memory is too small, or if a reflection finds no cell.

    memory: bytes of arrays that may be in memory, which lie in files then; 0 for arrays in memory.
    """
    check_extents(compiled.plan, extents)
    if memory:
        return instantiate_in_files(compiled, extents, threads, memory)
    check_memory(compiled.plan, extents, compiled.selection.name, compiled.program.free_memory())
    return compiled.program.instantiate(extents, threads)
