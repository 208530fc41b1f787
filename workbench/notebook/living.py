"""What is alive in this process, as `%stencil` prints it: machines, simulations, their memory, the build cache."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import fill

from workbench.amounts import COLUMNS, bytes_text, counted, seconds_text
from workbench.backends.cache_folder import default_cache
from workbench.machine import Machine
from workbench.notebook.card import shape_text
from workbench.pipeline import counters
from workbench.run import alive
from workbench.run.simulation import Simulation
from workbench.views.registry.snapshot import detail_lines, summarise_living


def living_text(names: Mapping[str, object]) -> str:
    """Lines for people. `names` is the notebook's namespace, from which machines and simulations get their names."""
    machines = {name: value for name, value in names.items() if isinstance(value, Machine) and not _hidden(name)}
    lines = ["machines"]
    for name, machine in machines.items():
        loops = sum(len(kernel.observed.subkernels) for kernel in machine.plan().kernels)
        fields = ", ".join(static.name for static in machine.graph.fields)
        lines.append(f"  {name:<12} {machine.graph.dim}-D, fields {fields}; {counted(loops, 'sub-kernel')}")
    if not machines:
        lines.append("  none: define one with %%stencil NAME")
    simulations = [value for value in alive.simulations() if isinstance(value, Simulation)]
    rows = [row for row in (_simulation_row(simulation, names) for simulation in simulations) if row is not None]
    lines += ["simulations", *(line for text, _ in rows for line in text)]
    if not rows:
        lines.append("  none: make one with NAME.simulate(...)")
    total = sum(memory for _, memory in rows)
    done = counters()
    lines += [
        f"memory       {bytes_text(total)} in simulations",
        f"compiled     {counted(done.compiled, 'time')} in this process ({seconds_text(done.seconds)}), "
        f"found in the cache {counted(done.cache_hits, 'time')}",
        f"cache        {default_cache().info()}",
    ]
    return "\n".join(_folded(line) for line in lines)


def _folded(line: str) -> str:
    """The line in as many as it takes, further ones below the first one's text."""
    return fill(line, COLUMNS, subsequent_indent=" " * 17, break_on_hyphens=False, break_long_words=False)


def _simulation_row(simulation: Simulation, names: Mapping[str, object]) -> tuple[tuple[str, ...], int] | None:
    """Its lines and its bytes; None for one that was closed, maybe just now by another thread."""
    living = summarise_living(simulation)
    if living is None:
        return None
    text = (
        f"  {name_of(simulation, names):<12} of {simulation.graph.name}, {shape_text(living.extents)} cells on "
        f"{living.backend}, {counted(living.steps, 'step')}, {living.state}, {bytes_text(living.memory)}"
    )
    return (text, *(f"{'':15}{line}" for line in detail_lines(living))), living.memory


def name_of(simulation: Simulation, names: Mapping[str, object]) -> str:
    """What the notebook calls it."""
    found = [name for name, value in names.items() if value is simulation]
    shown = [name for name in found if not _hidden(name)]
    numbered = [f"Out[{name[1:]}]" for name in found if name[1:].isdigit()]  # the notebook keeps what a cell returned
    return [*shown, *numbered, "(no name)"][0]


def _hidden(name: str) -> bool:
    """IPython's own names: _, _3, __."""
    return name.startswith("_")
