"""Snapshot: state and speed of the machines, simulations, sub-kernels and caches of this process."""

from __future__ import annotations

import html
import time
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod

from workbench.amounts import bytes_text, scaled, seconds_text, share_text, span_text
from workbench.backends.base import Program
from workbench.backends.build_cache import CacheInfo, Counters
from workbench.backends.cache_folder import default_cache
from workbench.backends.host import measured_figures
from workbench.backends.registry import row_of
from workbench.errors import RunError
from workbench.pipeline import counters
from workbench.planning.axes import loop_extents
from workbench.planning.cost import HostFigures
from workbench.planning.kernel_plan import Step, Subkernel
from workbench.run import alive
from workbench.run.hooks import read_state
from workbench.run.simulation import Simulation
from workbench.run.state import State
from workbench.run.timing import StepTime, time_of
from workbench.views.inspection.inspection import Inspected


@dataclass(frozen=True, slots=True)
class LivingMachine:
    """A machine that is referenced. number: its own in this process."""

    name: str
    dim: int
    fields: tuple[str, ...]
    nodes: int
    choices: str
    number: int = 0


@dataclass(frozen=True, slots=True)
class LivingSubkernel:
    """One loop of a simulation's program.

    calls: how often it ran in this program. seconds: of one call, by the clock, None until it was timed. moved: bytes
    that one call must move at least. ceiling: of these bytes, what the host was measured to move in a second. 0:
    unknown, as for a GPU, or where it was not measured.
    compiler: what it says, "" if unknown.
    """

    kernel: str
    name: str
    calls: int
    seconds: float | None
    moved: int
    ceiling: float
    compiler: str

    @property
    def bandwidth(self) -> float | None:
        """Bytes a second that it reached."""
        return self.moved / self.seconds if self.seconds else None


@dataclass(frozen=True, slots=True)
class LivingSimulation:
    """A simulation that was not closed. step_seconds: on average, None before the first step.

    number: its own in this process. build: where its program came from.

    age: seconds since its binary was made, None where there is none.
    """

    machine: str
    backend: str
    extents: tuple[int, ...]
    steps: int
    state: str
    memory: int
    step_seconds: float | None
    build: str
    age: float | None
    subkernels: tuple[LivingSubkernel, ...]
    number: int = 0


@dataclass(frozen=True, slots=True)
class Living:
    """Everything, oldest first. Nothing in it keeps anything alive; dataclasses.asdict makes plain values of it."""

    machines: tuple[LivingMachine, ...]
    simulations: tuple[LivingSimulation, ...]
    built: Counters
    cache: CacheInfo

    @property
    def memory(self) -> int:
        """Bytes in simulations."""
        return sum(simulation.memory for simulation in self.simulations)

    def __str__(self) -> str:
        lines = ["machines", *(f"  {machine_text(machine)}" for machine in self.machines)]
        lines += ["simulations"]
        for simulation in self.simulations:
            lines += [f"  {simulation_text(simulation)}", *(f"    {line}" for line in detail_lines(simulation))]
        return "\n".join([*lines, f"memory: {bytes_text(self.memory)} in simulations", f"cache: {self.cache}"])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        """A table of sub-kernels, for notebooks."""
        head = ("simulation", "state", "sub-kernel", "number of calls", "time of a call", "bandwidth", "compiler")
        rows = [
            (simulation.machine, simulation.state, *_cells(subkernel))
            for simulation in self.simulations
            for subkernel in simulation.subkernels
        ]
        titles = "".join(f'<th scope="col">{title}</th>' for title in head)
        body = "".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
        about = f"{len(self.machines)} machines, {len(self.simulations)} simulations, {bytes_text(self.memory)}"
        return f"<table><caption>{about}</caption><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>"


def registry() -> Living:
    """A snapshot of this process: machines, simulations, their sub-kernels, memory and caches.

    Each simulation is read between two steps. Nothing is compiled, and no object is kept alive.
    """
    return Living(living_machines(), living_simulations(), counters(), default_cache().info())


def living_machines() -> tuple[LivingMachine, ...]:
    """Machines that are referenced, oldest first."""
    machines = [(number, machine) for number, machine in alive.numbered_machines() if hasattr(machine, "graph")]
    return tuple(replace(_machine(machine), number=number) for number, machine in machines)


def living_simulations() -> tuple[LivingSimulation, ...]:
    """Simulations that were not closed, oldest first; waits for a step of each that runs."""
    figures = measured_figures()
    simulations = [(number, each) for number, each in alive.numbered_simulations() if isinstance(each, Simulation)]
    found = ((number, summarise_living(simulation, figures)) for number, simulation in simulations)
    return tuple(replace(each, number=number) for number, each in found if each is not None)


def summarise_living(simulation: Simulation, figures: HostFigures | None = None) -> LivingSimulation | None:
    """How a simulation does, of one whole step; None for one that was closed."""
    ceilings = figures or measured_figures()
    try:
        return read_state(simulation, lambda state: _simulation(simulation, state, ceilings))
    except RunError:  # closed, maybe just now by another thread
        return None


def machine_text(machine: LivingMachine) -> str:
    """One line."""
    return (
        f"{machine.name}: {machine.dim}-D, fields {', '.join(machine.fields)}; {machine.nodes} nodes{machine.choices}"
    )


def simulation_text(simulation: LivingSimulation) -> str:
    """One line."""
    cells = " × ".join(f"{n:,}" for n in simulation.extents)
    return (
        f"{simulation.machine}, {cells} cells on {simulation.backend}, step {simulation.steps}, {simulation.state}, "
        f"{bytes_text(simulation.memory)}"
    )


def detail_lines(simulation: LivingSimulation) -> tuple[str, ...]:
    """What is known of its program and its sub-kernels, a line each."""
    seconds, age = simulation.step_seconds, simulation.age
    step = "no step yet" if seconds is None else f"{seconds_text(seconds)} a step"
    made = "" if age is None else f", binary made {span_text(age)} ago"
    return (f"{step}; {simulation.build}{made}", *(_subkernel_text(subkernel) for subkernel in simulation.subkernels))


def _subkernel_text(subkernel: LivingSubkernel) -> str:
    _, calls, call, bandwidth, compiler = _cells(subkernel)
    parts = [f"{subkernel.name}: {calls} calls", call, bandwidth, compiler]
    return ", ".join(part for part in parts if part)


def _cells(subkernel: LivingSubkernel) -> tuple[str, str, str, str, str]:
    """Name, calls, seconds a call, bandwidth and the compiler's word."""
    seconds, bandwidth = subkernel.seconds, subkernel.bandwidth
    call = "not timed" if seconds is None else f"{seconds_text(seconds)} each"
    reached = "" if bandwidth is None else f"{scaled(bandwidth, 'B/s')}{_share(bandwidth, subkernel.ceiling)}"
    return subkernel.name, f"{subkernel.calls:,}", call, reached, subkernel.compiler


def _share(bandwidth: float, ceiling: float) -> str:
    """What the bandwidth is beside that which was measured, in brackets; a higher one is the measured one itself."""
    if not ceiling:
        return ""
    return f" ({share_text(min(1.0, bandwidth / ceiling))} of the measured bandwidth)"


def _machine(machine: object) -> LivingMachine:
    program: Inspected = machine  # type: ignore[assignment]  # the room above defines it, this one reads it
    graph, plan = program.graph, program.choices.plan.values
    chosen = len(plan.manifest | plan.delayed)
    nodes = sum(len(kernel.nodes) for kernel in graph.kernels)
    fields = tuple(static.name for static in graph.fields)
    return LivingMachine(graph.name, graph.dim, fields, nodes, f", {chosen} chosen" if chosen else "")


def _simulation(simulation: Simulation, state: State, figures: HostFigures | None) -> LivingSimulation:
    """In the thread that owns the state."""
    program = state.compiled.program
    time_now = time_of(state)
    built = getattr(program, "built", None)
    age = None if built is None else max(0.0, time.time() - built.path.stat().st_mtime) if built.path.exists() else None
    kind = "running" if simulation.running else "idle"
    return LivingSimulation(
        simulation.graph.name,
        simulation.backend,
        simulation.shape,
        simulation.steps,
        "paused" if simulation.paused else kind,
        simulation.memory_bytes,
        None if time_now is None else time_now.seconds,
        _build_text(simulation.backend, program.from_cache, program.compile_seconds),
        age,
        _subkernels(simulation, state, time_now, figures),
    )


def _build_text(backend: str, from_cache: bool, seconds: float) -> str:
    if row_of(backend).runs_on == "nothing":
        return "interpreted"
    return "found in the cache" if from_cache else f"compiled in {seconds_text(seconds)}"


def _subkernels(
    simulation: Simulation, state: State, time_now: StepTime | None, figures: HostFigures | None
) -> tuple[LivingSubkernel, ...]:
    runs_on = row_of(simulation.backend).runs_on
    plan, said = state.compiled.plan, compiler_words(state.compiled.program)
    timed = {(t.kernel, t.observed, t.launch, t.member): t for t in (time_now.launches if time_now else ())}
    found = []
    for kernel in plan.kernels:
        calls = state.kernel_steps.get(kernel.kernel.name, 0)
        if not calls or runs_on == "nothing":
            continue
        observed = _mostly_observed(kernel.kernel.name, timed)
        step = kernel.observed if observed else kernel.plain
        for number, member in _members(step):
            subkernel = step.subkernels[member]
            known = timed.get((kernel.kernel.name, observed, number, member))
            moved = moved_bytes(subkernel, simulation.extents)
            found.append(
                LivingSubkernel(
                    kernel.kernel.name,
                    subkernel.name,
                    calls,
                    known.seconds if known else None,
                    moved,
                    figures.bandwidth_of(moved) if figures is not None and runs_on == "threads" else 0.0,
                    said.get((kernel.kernel.name, subkernel.name), ""),
                )
            )
    return tuple(found)


def moved_bytes(subkernel: Subkernel, extents: tuple[int, ...]) -> int:
    """Bytes that one call moves at least, over the domain and its margins."""
    return round(prod(loop_extents(subkernel, extents)) * subkernel.cost.bytes_moved)


def _members(step: Step) -> list[tuple[int, int]]:
    return [(n, m) for n, launch in enumerate(step.launches) if launch.kind == "subkernel" for m in launch.members]


def _mostly_observed(kernel: str, timed: Mapping[tuple[str, bool, int, int], object]) -> bool:
    """Whether only observed steps of a kernel were timed, as where every step is recorded."""
    variants = {observed for name, observed, _, _ in timed if name == kernel}
    return variants == {True}


_words: weakref.WeakKeyDictionary[object, Mapping[tuple[str, str], str]] = weakref.WeakKeyDictionary()


def compiler_words(program: Program) -> Mapping[tuple[str, str], str]:
    """(kernel, sub-kernel) -> what the compiler said when it made this program; asked once a program."""
    if program not in _words:
        _words[program] = program.compiler_words()
    return _words[program]
