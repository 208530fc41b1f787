"""Invariance: what must hold to the last bit or to round-off, whatever the backend and the plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.backends.base import Array
from workbench.backends.registry import REFERENCE, row_of
from workbench.experiments.exam.accuracy import Setting, measure_series
from workbench.experiments.exam.random_genomes import random_genome
from workbench.machine import Machine
from workbench.run.progress import silent
from workbench.run.simulation import Simulation
from workbench.solvers import hydro

_CELLS = {1: 48, 2: 14, 3: 7}
_STEPS = 6
_ROUND_OFF = {"f64": 1e-13, "f32": 3e-5}  # of a total, over some steps


@dataclass(frozen=True, slots=True)
class Check:
    """One claim and whether it holds; `detail` is the figure that decided."""

    name: str
    passed: bool
    detail: str

    def __str__(self) -> str:
        return f"{self.name:<56}{'holds' if self.passed else 'FAILED'}  {self.detail}"


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs the simulations of the checks: on one backend, in one float type."""

    backend: str
    dtype: str

    def run(self, machine: Machine, start: dict[str, Any], dim: int, steps: int, **params: float) -> Simulation:
        """`steps` steps from `start` on cells of the size that the smooth flow has."""
        widths: dict[str, Any] = {f"dx{axis}": 1 / _CELLS[dim] for axis in range(dim)}
        return machine.simulate(**start, **{**widths, **params}, backend=self.backend).run(steps, progress=silent)


def smooth_flow(dim: int) -> dict[str, Any]:
    """A smooth periodic state that varies along every axis, with velocities along all of them."""
    cells = _CELLS[dim]
    places = np.meshgrid(*[2 * np.pi * (np.arange(cells) + 0.5) / cells] * dim, indexing="ij")
    total = sum(places)
    velocity = tuple(0.3 * np.cos(place + axis) for axis, place in enumerate(places))
    return hydro.conserved(2 + 0.5 * np.sin(total), velocity, 1 + 0.2 * np.cos(total + 1))


def tube(dim: int, axis: int, cells: int, across: float = 0.0) -> dict[str, Any]:
    """Two diaphragms of Sod's along one axis of a box of `cells` cells each way; `across` is the other velocity."""
    shape = [1] * dim
    shape[axis] = cells
    middle = np.reshape(np.abs((np.arange(cells) + 0.5) / cells - 0.5) < 0.25, shape) & np.ones((cells,) * dim, bool)
    velocity = tuple(np.where(middle, 0.1, -0.1) if a == axis else across for a in range(dim))
    return hydro.conserved(np.where(middle, 1.0, 0.125), velocity, np.where(middle, 1.0, 0.1))


def check_conservation(runner: Runner, dim: int) -> Check:
    """Mass, momentum and energy between periodic sides, after 20 steps, relative to the total mass or energy."""
    start = smooth_flow(dim)
    simulation = runner.run(hydro.machine(dim, dtype=runner.dtype), start, dim, 20)
    names = ("density", *(f"momentum{a}" for a in range(dim)), "energy")
    before = {name: np.sum(_stored(start[name], runner)) for name in names}
    changes = [
        abs(float(np.sum(simulation[name], dtype=np.float64)) - before[name])
        / before["energy" if name == "energy" else "density"]
        for name in names
    ]
    worst = max(changes)
    moved = float(np.abs(simulation.density - start["density"]).max())
    passed = worst <= _ROUND_OFF[runner.dtype] and moved > 1e-3
    return Check(f"{dim}-D: mass, momentum, energy are conserved", passed, f"largest change {worst:.1e}")


def check_symmetry(runner: Runner, dim: int) -> Check:
    """A flow along the last axis is the transpose of the same flow along the first one, to the bit."""
    cells, last = 10, dim - 1
    machine = hydro.machine(dim, dtype=runner.dtype)
    one, other = (runner.run(machine, tube(dim, axis, cells, 0.3), dim, _STEPS) for axis in (0, last))
    names = [("density", "density"), ("energy", "energy"), ("momentum0", f"momentum{last}")]
    different = sum(_different(one[a], np.swapaxes(other[b], 0, last)) for a, b in names)
    return Check(f"{dim}-D: coaxial flow is its own transpose", different == 0, f"{different} different values")


def check_dimensions(runner: Runner, dim: int) -> Check:
    """One-dimensional data give the bits of the one-dimensional solver along every axis."""
    cells = 10
    line = runner.run(hydro.machine(1, dtype=runner.dtype), tube(1, 0, cells), 1, _STEPS, cfl=0.3, dx0=0.1)
    different = 0
    for axis in range(dim):
        widths = {f"dx{a}": 0.1 for a in range(dim)}
        machine = hydro.machine(dim, dtype=runner.dtype)
        box = runner.run(machine, tube(dim, axis, cells), dim, _STEPS, cfl=0.3, **widths)
        for name, twin in (("density", "density"), ("energy", "energy"), (f"momentum{axis}", "momentum0")):
            wanted = np.moveaxis(np.broadcast_to(line[twin], box.shape), -1, axis)
            different += _different(box[name], wanted)
    return Check(f"{dim}-D = 1-D on one-dimensional data", different == 0, f"{different} different values")


def check_reference(runner: Runner, dim: int) -> Check:
    """The backend gives the reference's bits for a smooth flow and for shocks."""
    machine, different = hydro.machine(dim, dtype=runner.dtype), 0
    for start in (smooth_flow(dim), tube(dim, dim - 1, _CELLS[dim], 0.2)):
        runs = (p.run(machine, start, dim, _STEPS) for p in (runner, Runner(REFERENCE, runner.dtype)))
        different += _different_states(*runs)
    return Check(f"{dim}-D: {runner.backend} = reference", different == 0, f"{different} different values")


def check_genome(runner: Runner, dim: int, seed: int) -> Check:
    """A random genome gives the reference's bits, and Sod's tube the errors of the default plan, to the last digit."""
    machine = hydro.machine(dim, dtype=runner.dtype)
    genome = random_genome(machine, seed)
    planned = machine.with_genome(genome)
    start = smooth_flow(dim)
    different = _different_states(
        runner.run(planned, start, dim, _STEPS), Runner(REFERENCE, runner.dtype).run(machine, start, dim, _STEPS)
    )
    setting = Setting("sod", "coaxial", dim, "minmod", runner.backend, runner.dtype)
    default, other = (measure_series(setting, _grids(runner), change) for change in (None, _by_genome(seed)))
    same = default.errors == other.errors
    loops = len(planned.plan().subkernels)
    detail = f"{loops} sub-kernels, {different} different values, errors {'equal' if same else 'differ'}"
    return Check(f"{dim}-D: random genome {seed}", different == 0 and same and genome != machine.genome, detail)


def checks_of(runner: Runner, dims: Sequence[int], genomes: int) -> list[tuple[Any, ...]]:
    """All checks as (function, arguments ...), cheap ones first; genomes take turns through the dimensions.

    On the reference there are no genomes to check: it follows no plan.
    """
    jobs: list[tuple[Any, ...]] = [(check_conservation, runner, dim) for dim in dims]
    jobs += [(check_symmetry, runner, dim) for dim in dims if dim > 1]
    jobs += [(check_dimensions, runner, dim) for dim in dims if dim > 1]
    if runner.backend == REFERENCE:
        return jobs
    jobs += [(check_reference, runner, dim) for dim in dims]
    return jobs + [(check_genome, runner, dims[seed % len(dims)], seed) for seed in range(genomes)]


def _by_genome(seed: int) -> Any:  # noqa: ANN401  # a function of machines
    return lambda machine: machine.with_genome(random_genome(machine, seed))


def _grids(runner: Runner) -> tuple[int, ...]:
    return (8, 16) if row_of(runner.backend).is_simulator else (16, 32)


def _stored(values: Array, runner: Runner) -> Array:
    """The values as the machine stores them, in double precision."""
    return values.astype({"f64": np.float64, "f32": np.float32}[runner.dtype]).astype(np.float64)


def _different_states(one: Simulation, other: Simulation) -> int:
    return sum(_different(value, other[name]) for name, value in one.to_dict().items())


def _different(one: object, other: object) -> int:
    """How many values differ in their bits."""
    first, second = (np.ascontiguousarray(a).reshape(-1) for a in (one, other))
    bits = (a.view(np.uint8).reshape(len(a), -1) for a in (first, second))
    return int(np.count_nonzero(np.not_equal(*bits).any(axis=1)))
