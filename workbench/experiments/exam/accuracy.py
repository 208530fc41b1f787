"""Accuracy: L1 errors of density against exact flows on growing grids, and the orders between them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from workbench.machine import Machine
from workbench.run.progress import silent
from workbench.solvers import hydro
from workbench.solvers.gas_states import coaxial, entropy_wave, oblique, sod, sound_wave
from workbench.solvers.hydro.reconstruction import Reconstruction

_FINE = 1024  # cells of the grid for which the orders of the exam are meant
_COARSE, _ALLOWANCE = 64, 0.3  # from here on so much less is asked for: limiters flatten a larger part of each wave
_SMALL = 1 << 15  # cells
_ERRORS = 4  # on a line, which a notebook of 760 pixels shows whole
_ACROSS = 4  # cells across a coaxial flow, on which nothing depends

# Schemes that need shorter steps than the solver's default (see their docstrings).
COURANT = {"ppm": 0.3}

Change = Callable[[Machine], Machine]
Measure = Callable[["Setting", Machine, int], float]


@dataclass(frozen=True, slots=True)
class ExactFlow:
    """A flow with an exact solution: `state` is a function (x, time), `end` when it is compared."""

    name: str
    state: Callable[..., Any]
    end: float


PROBLEMS = {
    problem.name: problem
    for problem in (
        ExactFlow("entropy", entropy_wave, 1.0),
        ExactFlow("sound", sound_wave, 1.0),
        ExactFlow("sod", sod, 0.125),
    )
}

SCHEMES: dict[str, Reconstruction] = {
    "minmod": hydro.minmod,
    "mc": hydro.mc,
    "ppm": hydro.ppm,
    "weno_z": hydro.weno_z,
}

# Orders of coaxial flow between 512 and 1024 cells in double precision.
_REQUIRED = {("entropy", "minmod"): 1.9, ("sound", "minmod"): 1.85}
_REQUIRED_OF_OTHERS = {"entropy": 1.95, "sound": 1.95, "sod": 0.8}


@dataclass(frozen=True, slots=True)
class Setting:
    """One column of the exam: which flow, placed how, in how many dimensions, by which scheme, where."""

    problem: str
    placement: str  # "coaxial" or "oblique" (turned by 60 degrees about the middle of the unit square)
    dim: int
    scheme: str
    backend: str = "auto"
    dtype: str = "f64"

    def __str__(self) -> str:
        return f"{self.dim}-D {self.placement} {self.problem}, {self.scheme}"


@dataclass(frozen=True, slots=True)
class Series:
    """L1 errors of density (means over cells) of one setting on growing grids of `cells` cells a unit of length."""

    setting: Setting
    cells: tuple[int, ...]
    errors: tuple[float, ...]

    @property
    def orders(self) -> tuple[float, ...]:
        """The order between each grid and the next."""
        grids = zip(self.cells, self.errors, strict=True)
        return tuple(math.log(e / f) / math.log(m / n) for (n, e), (m, f) in pairwise(grids))

    @property
    def fitted(self) -> float:
        """The order by least squares over all grids."""
        return float(-np.polyfit(np.log(self.cells), np.log(self.errors), 1)[0])

    @property
    def required(self) -> float | None:
        """The order asked for between the two finest grids; None where the figure is only stated.

        Stated are orders of oblique flows, on grids of less than 64 cells, and of smooth waves in single precision,
        whose errors meet round-off.
        """
        problem, single = self.setting.problem, self.setting.dtype != "f64"
        if self.setting.placement != "coaxial" or self.cells[-1] < _COARSE or (single and problem != "sod"):
            return None
        order = _REQUIRED.get((problem, self.setting.scheme), _REQUIRED_OF_OTHERS[problem])
        return order if self.cells[-1] >= _FINE else order - _ALLOWANCE

    @property
    def passed(self) -> bool:
        """Whether the required order is reached, and all errors are finite."""
        if not all(map(math.isfinite, self.errors)):
            return False
        return self.required is None or self.orders[-1] >= self.required

    def __str__(self) -> str:
        errors = [f"{n}: {error:.3e}" for n, error in zip(self.cells, self.errors, strict=True)]
        rows = ["    " + "  ".join(errors[at : at + _ERRORS]) for at in range(0, len(errors), _ERRORS)]
        asked = "stated" if self.required is None else f"asked {self.required:.2f}"
        verdict = "" if self.passed else "  FAILED"
        order = f"order {self.orders[-1]:5.2f} ({asked}), fitted {self.fitted:5.2f}{verdict}"
        return "\n".join([f"{self.setting!s:<32}{order}", *rows])


def measure_series(
    setting: Setting, resolutions: Sequence[int], change: Change | None = None, measure: Measure | None = None
) -> Series:
    """Errors on each grid; `change` makes another machine of the same program, for instance by a genome.

    measure: what gives one of them, default `measure_error`.
    """
    machine, measure = machine_of(setting, change), measure or measure_error
    errors = tuple(measure(setting, machine, cells) for cells in resolutions)
    return Series(setting, tuple(resolutions), errors)


def machine_of(setting: Setting, change: Change | None = None) -> Machine:
    """The solver with the exact flow outside; a coaxial flow is periodic across, where nothing depends on place."""
    flow = _flow(setting)
    sides = {axis: "periodic" for axis in "yz"[: setting.dim - 1]}
    boundary = flow if setting.placement == "oblique" else {"x": flow, **sides}
    machine = hydro.machine(
        setting.dim,
        boundary=boundary,
        reconstruction=SCHEMES[setting.scheme],
        dtype=setting.dtype,
        cfl=COURANT.get(setting.scheme),
    )
    return machine if change is None else change(machine)


def measure_error(setting: Setting, machine: Machine, cells: int, threads: int = 0) -> float:
    """The L1 error of density at the problem's end, in a unit square (coaxial: a strip of four cells across).

    threads: as `simulate` takes it, 0 for all; small grids take one.
    """
    flow, end = _flow(setting), PROBLEMS[setting.problem].end
    across = cells if setting.placement == "oblique" else _ACROSS
    axes = [(np.arange(cells if axis == 0 else across) + 0.5) / cells for axis in range(setting.dim)]
    places = np.meshgrid(*axes, indexing="ij")
    widths: dict[str, Any] = {f"dx{axis}": 1 / cells for axis in range(setting.dim)}
    start = hydro.conserved(*flow(*places, 0.0))
    if places[0].size < _SMALL:
        threads = 1  # more of them mostly wait for each other
    with machine.simulate(**start, **widths, backend=setting.backend, threads=threads) as simulation:
        simulation.run(until=end, time="time", progress=silent)
        return float(np.abs(simulation.density.astype(np.float64) - flow(*places, end)[0]).mean())


def _flow(setting: Setting) -> Callable[..., Any]:
    state = PROBLEMS[setting.problem].state
    return oblique(state) if setting.placement == "oblique" else coaxial(state, setting.dim)
