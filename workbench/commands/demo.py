"""`workbench demo`: the quickstart without a notebook, on real input, with its figures and a report."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from workbench.amounts import counted, scaled, seconds_text
from workbench.backends.base import Array
from workbench.backends.cache_folder import default_cache
from workbench.backends.host import ensure_figures, note_rate, reached_text
from workbench.backends.registry import BACKENDS, get_backend, row_of
from workbench.commands.report import Figure, ReportTable, Section, report_page, report_path
from workbench.machine import Machine, trace
from workbench.pipeline import Compiled, compile_graph, counters
from workbench.planning.cost import step_cost
from workbench.planning.schedules.table import schedule_named
from workbench.views.drawing.line_plot import Curve, line_plot

_STEP = """\
# du/dt = v,  dv/dt = c² u''  on a periodic line
u, v   = fields("u v", boundary="periodic")
energy = scalar("energy")
c      = param("c", 3.43, above=0)
dx = 2 * pi / size(0)
dt = dx / c

u1 = u + dt * v
v1 = v + dt * c**2 / dx**2 * (u1[+1] - 2 * u1 + u1[-1])
u.next, v.next = u1, v1
"""
# The quickstart's cell: its energy is constant at any stable dt. That of the paper's worked example (Paraiso §2.3,
# Table 2, energy by Eq. 8), averaged in time and over two cells, is constant at dt = dx / c only.
WAVE = f"""\
{_STEP}\
energy.next = reduce_sum(0.5 * (v**2 + c**2 * (u1[+1] - u1) * (u[+1] - u) / dx**2) * dx)
"""
PAPER_WAVE = f"""\
{_STEP}\
energy.next = reduce_sum(0.5 * (c**2 * ((u1[+1] - u1[-1]) / (2 * dx))**2 + ((v + v1) / 2)**2) * dx)
"""

_SPEED_SECONDS = 1.0
_PICTURE_CELLS = 512

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Effort:
    """How much the demo computes: steps of a run, sizes of the energy check, cells of the speed test."""

    steps: int
    sizes: tuple[int, ...]
    large: int


_FULL = Effort(1000, (8, 37, 256, 3072), 1 << 20)
_SIMULATED = Effort(100, (8, 37, 256, 3072), 1 << 14)  # thread by thread


@dataclass(frozen=True, slots=True)
class EnergyCheck:
    """How far the paper's energy strayed in a run on `cells` cells: (highest - lowest) / mean."""

    cells: int
    fluctuation: float


@dataclass(frozen=True, slots=True)
class Pictures:
    """u on the line at a few step numbers, and the energy after each step, from one run."""

    position: Array
    snapshots: tuple[tuple[int, Array], ...]
    energy: Array


def run_demo(say: Say, *, backend: str = "auto", report: Path | None = None) -> Path:
    """Run everything, say each figure when it is known, write the report and return its path."""
    say("the wave equation du/dt = v, dv/dt = c² u'' on a periodic line, energy conserved by the scheme")
    start = time.perf_counter()
    wave = trace(WAVE, 1, name="wave")
    compiled = compile_graph(wave.graph, wave.choices, backend)
    ready = time.perf_counter() - start
    effort = _SIMULATED if row_of(compiled.selection.name).is_simulator else _FULL
    rows = [
        ("backend", f"{compiled.selection.name} ({compiled.selection.reason})"),
        ("from cell to kernel", _build(compiled, ready)),
    ]
    rows.append(("plan", _plan(compiled)))
    for row in rows:
        _tell(say, row)
    checks = []
    paper = trace(PAPER_WAVE, 1, name="paper_wave")
    for cells in effort.sizes:
        checks.append(EnergyCheck(cells, energy_fluctuation(paper, backend, cells, effort.steps)))
        said = f"energy fluctuates by {checks[-1].fluctuation:.1e} in {effort.steps} steps"
        _tell(say, (f"paper's test, N={cells}", said))
    rows += _speed(compiled, wave, backend, effort.large)
    for row in rows[3:]:
        _tell(say, row)
    done = counters()
    ran = f"ran {counted(done.compiled, 'time')}, {seconds_text(done.seconds)}"
    rows.append(("compiler", f"{ran}; {done.cache_hits} found in the cache"))
    rows.append(("build cache", str(default_cache().info())))
    for row in rows[-2:]:
        _tell(say, row)
    missing = _missing()
    for text in missing:
        _tell(say, ("not used", text))
    path = report_path(report, "demo.html")
    page = _page(tuple(rows), tuple(checks), missing, _pictures(wave, backend, effort.steps))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page, encoding="utf-8")
    _tell(say, ("report", str(path)))
    return path


def energy_fluctuation(wave: Machine, backend: str, cells: int, steps: int) -> float:
    """(highest - lowest) / mean of the energy after each step."""
    u, v = _start(cells)
    with wave.simulate(u=u, v=v, backend=backend) as sim:
        record = sim.record("energy", every=1)
        sim.run(steps)
        energy = record.values
    return float((energy.max() - energy.min()) / abs(energy.mean()))


def _start(cells: int) -> tuple[Array, Array]:
    """A start with two wavelengths: u = sin x, v = cos 3x on [0, 2 pi)."""
    x = np.linspace(0, 2 * np.pi, cells, endpoint=False)
    return np.sin(x), np.cos(3 * x)


def _speed(compiled: Compiled, wave: Machine, backend: str, cells: int) -> list[tuple[str, str]]:
    """Million cells a second over about a second of whole steps, the energy not looked at meanwhile; and its share.

    What the host moves is measured before, where it was not; a speed above that raises it. Steps in tiles have no
    share: they move fewer bytes than the plan counts for single steps.
    """
    on_host = row_of(compiled.selection.name).runs_on == "threads"
    if on_host:
        ensure_figures()
    u, v = _start(cells)
    with wave.simulate(u=u, v=v, backend=backend) as sim:
        sim.run(1)
        steps, seconds = 1, 0.0
        while seconds < _SPEED_SECONDS:
            steps *= 4 if seconds < _SPEED_SECONDS / 8 else 2
            start = time.perf_counter()
            sim.run(steps)
            seconds = time.perf_counter() - start
        tiled = schedule_named(sim.choices.plan.tiling.schedule).is_blocked
    work = f"{steps} steps of {cells:,} cells in {seconds_text(seconds)}"
    speed = f"{scaled(cells * steps / seconds, 'cells/s')} ({work})"
    rows = [("speed", speed)]
    if tiled:
        rows.append(("schedule", "in tiles: several steps while cells are in the cache"))
    elif on_host:
        moved = round(cells * step_cost(compiled.plan.main.plain).bytes_moved)
        rate = moved * steps / seconds
        rows.append(("bandwidth", reached_text(rate, note_rate(moved, rate).bandwidth_of(moved))))
    return rows


def _pictures(wave: Machine, backend: str, steps: int) -> Pictures:
    cells = _PICTURE_CELLS
    x = np.linspace(0, 2 * np.pi, cells, endpoint=False)
    pulse = np.exp(-20 * (x - np.pi) ** 2)
    with wave.simulate(u=pulse, v=0.0, backend=backend) as sim:
        record = sim.record("energy", every=1)
        snapshots = [(0, np.asarray(sim["u"]))]
        for _ in range(3):
            sim.run(min(cells // 8, steps // 4))
            snapshots.append((sim.steps, np.asarray(sim["u"])))
        sim.run(steps - sim.steps)
        return Pictures(x, tuple(snapshots), record.values)


def _page(
    rows: tuple[tuple[str, str], ...], checks: tuple[EnergyCheck, ...], missing: tuple[str, ...], pictures: Pictures
) -> str:
    first = float(pictures.energy[0])
    strayed = [float(value) / first - 1 for value in pictures.energy]
    waves = line_plot(
        [Curve(f"step {n}", pictures.position.tolist(), u.tolist()) for n, u in pictures.snapshots], "x (m)", "u (m)"
    )
    drift = line_plot([Curve("energy", range(1, len(strayed) + 1), strayed)], "step", "energy / first energy - 1")
    sections = [
        Section("The cell", ("The wave equation as it is typed into a notebook.",), code=WAVE),
        Section(
            "What it became", tables=(ReportTable(("", ""), rows),), paragraphs=tuple(f"Not used: {m}" for m in missing)
        ),
        Section(
            "A pulse runs both ways",
            figures=(Figure(waves, "The displacement u along the line; a pulse at rest parts into two."),),
        ),
        Section(
            "Energy",
            (
                "The scheme conserves the energy in the cell exactly, at any stable dt, so what is left is rounding.",
                "The table is the experiment of the Paraiso paper: its energy (Eq. 8) in place of the last line of the "
                f"cell, on its sizes (Table 2), at dt = dx / c: {PAPER_WAVE.splitlines()[-1]}",
            ),
            tables=(
                ReportTable(
                    ("cells", f"(highest - lowest) / mean over {len(strayed)} steps"),
                    tuple((str(c.cells), f"{c.fluctuation:.2e}") for c in checks),
                ),
            ),
            figures=(
                Figure(
                    drift,
                    f"Relative change of the energy of the pulse in {len(strayed)} steps of {_PICTURE_CELLS} cells.",
                ),
            ),
        ),
    ]
    return report_page("Stencil workbench: demo", time.strftime("written on %Y-%m-%d at %H:%M"), sections)


def _build(compiled: Compiled, ready: float) -> str:
    program = compiled.program
    how = "kernel from the cache" if program.from_cache else f"compiler {seconds_text(program.compile_seconds)}"
    return f"{seconds_text(ready)} ({how})"


def _plan(compiled: Compiled) -> str:
    step = compiled.plan.kernel("step").observed
    names = ", ".join(subkernel.name for subkernel in step.subkernels)
    halo = ", ".join(f"{below} below and {above} above" for below, above in compiled.plan.halo)
    return f"{len(step.subkernels)} sub-kernels ({names}), halo {halo}"


def _missing() -> tuple[str, ...]:
    """Backends that cannot run here, and what to do about it."""
    states = ((row.name, get_backend(row.name).availability()) for row in BACKENDS)
    return tuple(f"{name}: {state.reason}. {state.advice}".strip() for name, state in states if not state.available)


def _tell(say: Say, row: tuple[str, str]) -> None:
    say(f"  {row[0]:<21}{row[1]}")
