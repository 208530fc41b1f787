"""Hint table: the paper's Table 5 again, what a line of annotation does to the hydrodynamics solver (Paraiso §4.2).

    from workbench.experiments.hint_table import measure_hints
    print(measure_hints(cells=256))

Four combinations of storing (M) or recomputing (D) the results of interpolation and of the Riemann solver, all with
the state between the two stages stored; the default of `hydro.machine`, which stores the primitive variables of that
state instead (P); and the plan that is as Delayed as possible. `workbench table5` is the same.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from textwrap import fill
from typing import Any

import numpy as np

from workbench.amounts import COLUMNS, counted, seconds_text
from workbench.backends.host import ensure_figures
from workbench.backends.registry import select_backend, with_text
from workbench.errors import StencilError
from workbench.machine import Machine
from workbench.planning.cost import HostFigures, step_cost
from workbench.planning.plan_figures import memory_bytes
from workbench.run.progress import silent
from workbench.run.simulation import Simulation
from workbench.solvers import gas_flows, hydro

HINTS: dict[str, tuple[str, ...]] = {
    "DD": ("stage",),
    "MD": ("interpolation", "stage"),
    "DM": ("riemann", "stage"),
    "MM": ("interpolation", "riemann", "stage"),
    "PDM": ("primitives", "riemann"),
    "all Delayed": (),
}
PRECISIONS = ("f32", "f64")
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class HintFigures:
    """One plan in one precision. Bytes, operations: per cell and step, from the plan; memory: bytes of arrays a cell.

    bound_by_bytes and bound_by_operations: Mcups above which this machine's memory or arithmetic cannot go.
    """

    hints: str
    precision: str
    subkernels: int
    arrays: int
    bytes_a_cell: float
    operations_a_cell: float
    memory_a_cell: float
    source_lines: int
    mcups: float
    bound_by_bytes: float
    bound_by_operations: float


@dataclass(frozen=True, slots=True)
class HintTable:
    """All plans of one solver on one grid, measured in turn."""

    dim: int
    cells: int
    backend: str
    rounds: int
    host: str
    rows: tuple[HintFigures, ...]

    def row(self, hints: str, precision: str) -> HintFigures:
        """The figures of one plan; KeyError if it is not there."""
        for row in self.rows:
            if (row.hints, row.precision) == (hints, precision):
                return row
        raise KeyError(hints, precision)

    def ratio(self, precision: str = "f64") -> float:
        """Speed of the best plan over that of the worst one."""
        speeds = [row.mcups for row in self.rows if row.precision == precision]
        return max(speeds) / min(speeds)

    def __str__(self) -> str:
        precisions = sorted({row.precision for row in self.rows})
        speeds = (f"Mcups {precision}" for precision in precisions)
        head = ("hints", "sub-kernels", "arrays", "bytes", "flops", "memory", "lines", *speeds)
        lines: list[tuple[str, ...]] = [head]
        for name in HINTS:
            rows = [self.row(name, precision) for precision in precisions]
            last = rows[-1]
            counts = (last.subkernels, last.arrays, last.bytes_a_cell, last.operations_a_cell, last.memory_a_cell)
            figures = (f"{count:.0f}" for count in (*counts, last.source_lines))
            lines.append((name, *figures, *(f"{row.mcups:.2f}" for row in rows)))
        widths = [max(len(line[k]) for line in lines) for k in range(len(head))]
        table = [
            "  ".join(
                cell.rjust(width) if k else cell.ljust(width)
                for k, (cell, width) in enumerate(zip(line, widths, strict=True))
            )
            for line in lines
        ]
        title = (
            f"hydro {self.dim}-D, {self.cells}^{self.dim} cells, {self.backend}, median of {self.rounds} rounds in "
            f"turn; {self.host}. Mcups: million cells a second. Bytes and flops of a cell and step, and bytes of "
            f"memory a cell, are those of {precisions[-1]}; lines: of generated source."
        )
        return "\n".join([fill(title, COLUMNS), *table, fill(self.explain(), COLUMNS)])

    def __repr__(self) -> str:
        return str(self)

    def explain(self, precision: str = "") -> str:
        """Why best and worst plan differ, from their own bytes and operations; in the last precision by default."""
        precision = precision or self.rows[-1].precision
        rows = sorted((row for row in self.rows if row.precision == precision), key=lambda row: row.mcups)
        worst, best = rows[0], rows[-1]
        work, moved = worst.operations_a_cell / best.operations_a_cell, worst.bytes_a_cell / best.bytes_a_cell
        binds = ["arithmetic" if row.bound_by_operations < row.bound_by_bytes else "memory" for row in (best, worst)]
        limit = f"{binds[0]} binds {best.hints}, {binds[1]} binds {worst.hints}"
        if binds[0] == binds[1]:
            limit = f"{binds[0]} binds both"
        return (
            f"{precision}: {best.hints} is {best.mcups / worst.mcups:.1f} times as fast as {worst.hints}. "
            f"For each cell {worst.hints} does {work:.2f} times the operations ({worst.operations_a_cell:.0f}, not "
            f"{best.operations_a_cell:.0f}) and moves {moved:.2f} times the bytes ({worst.bytes_a_cell:.0f}, not "
            f"{best.bytes_a_cell:.0f}). At best this machine's memory allows {best.hints} "
            f"{best.bound_by_bytes:.1f} and {worst.hints} {worst.bound_by_bytes:.1f} Mcups, its arithmetic "
            f"{best.bound_by_operations:.1f} and {worst.bound_by_operations:.1f}: {limit}."
        )

    def to_dict(self) -> dict[str, Any]:
        """All figures, for JSON."""
        ratios = {precision: self.ratio(precision) for precision in sorted({row.precision for row in self.rows})}
        return {**asdict(self), "best_over_worst": ratios, "explanation": self.explain()}


def measure_hints(
    cells: int = 1024,
    *,
    dim: int = 2,
    backend: str = "auto",
    rounds: int = 5,
    seconds: float = 0.5,
    precisions: Sequence[str] = PRECISIONS,
    say: Say = lambda _: None,
) -> HintTable:
    """Build the six plans in the given precisions, run them in turn, and take the median speed of each.

    cells: along each axis of a periodic box in which two streams shear. seconds: about how long one plan runs in one
    round. Ctrl-C after the first round ends the measurement: the table is of whole rounds. Raises StencilError for
    numbers that make no sense, ShapeError if the arrays do not fit into memory.
    """
    if dim not in (1, 2, 3) or cells < 8 or rounds < 1 or not 0 < seconds < math.inf:
        raise StencilError(
            f"dim={dim!r}, cells={cells!r}, rounds={rounds!r}, seconds={seconds!r} cannot be measured",
            advice="Use dim 1 to 3, 8 cells or more, one round or more and some time.",
        )
    selection = select_backend(backend)
    keys = [(name, precision) for name in HINTS for precision in precisions]
    machines = {
        (name, precision): hydro.machine(dim, dtype=precision, manifest=HINTS[name]) for name, precision in keys
    }
    say(f"{len(keys)} plans to compile; {keys[-1][0]}, the last and longest one, takes about as long as all others")
    runs, steps = {}, {}
    for key in keys:
        begin = time.perf_counter()
        runs[key] = _start(machines[key], dim, cells, selection.name)
        took = _seconds(runs[key], 1)  # the first step touches all pages
        steps[key] = max(1, round(seconds / max(_seconds(runs[key], 1), 1e-6)))
        ready = seconds_text(time.perf_counter() - begin - took)
        say(f"{key[0]}, {key[1]}: ready in {ready}, {counted(steps[key], 'step')} a round")
    speeds: dict[tuple[str, str], list[float]] = {key: [] for key in keys}
    for number in range(rounds):
        try:
            spent = [_seconds(runs[key], steps[key]) for key in keys]
        except KeyboardInterrupt:
            if number == 0:
                raise
            say(f"stopped: the table is of {number} of {rounds} rounds")
            break
        for key, each in zip(keys, spent, strict=True):
            speeds[key].append(cells**dim * steps[key] / each / 1e6)
        say(f"round {number + 1} of {rounds}: " + ", ".join(f"{v[-1]:.1f}" for v in speeds.values()) + " Mcups")
    host = ensure_figures()
    rows = []
    for key in keys:
        runs[key].close()
        rows.append(_figures(key, machines[key], (cells,) * dim, selection.name, median(speeds[key]), host))
    done = len(speeds[keys[0]])
    return HintTable(dim, cells, selection.name, done, f"figures of this machine: {host.label}", tuple(rows))


def _start(machine: Machine, dim: int, cells: int, backend: str) -> Simulation:
    """Two streams that shear along axis 0, wavy across; in one dimension a density wave."""
    flow = gas_flows.kelvin_helmholtz()
    axes = [(np.arange(cells) + 0.5) / cells] * dim
    places = np.meshgrid(*axes, indexing="ij", sparse=True)
    density, (along, across), pressure = flow.start(places[0], places[min(1, dim - 1)])
    velocity = (along, across, 0.0)[:dim]
    state = hydro.conserved(density + np.zeros((cells,) * dim), velocity, pressure, gamma=flow.gamma)
    widths: dict[str, Any] = {f"dx{axis}": 1 / cells for axis in range(dim)}
    return machine.simulate(**state, **widths, backend=backend)


def _seconds(simulation: Simulation, steps: int) -> float:
    begin = time.perf_counter()
    simulation.run(steps, progress=silent)
    return time.perf_counter() - begin


def _figures(
    key: tuple[str, str], machine: Machine, extents: tuple[int, ...], backend: str, mcups: float, host: HostFigures
) -> HintFigures:
    plan = machine.plan()
    cost = step_cost(plan.main.plain)
    cells = 1
    for extent in extents:
        cells *= extent
    return HintFigures(
        *key,
        subkernels=len(plan.subkernels),
        arrays=len(plan.slots),
        bytes_a_cell=cost.bytes_moved,
        operations_a_cell=cost.flops,
        memory_a_cell=memory_bytes(plan, extents) / cells,
        source_lines=len(str(machine.source(with_text(backend))).splitlines()),
        mcups=mcups,
        bound_by_bytes=host.bandwidth_of(round(cells * cost.bytes_moved)) / cost.bytes_moved / 1e6,
        bound_by_operations=host.flops / cost.flops / 1e6,
    )
