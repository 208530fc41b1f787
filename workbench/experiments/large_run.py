"""Large run: whether a run of millions of cells takes the memory that its plan predicts, and how fast it is.

To be measured in a process that has done nothing else: `workbench large-run`.
"""

from __future__ import annotations

import ctypes
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from workbench.amounts import bytes_text, counted, scaled, seconds_text
from workbench.errors import StencilError
from workbench.pipeline import memory_of
from workbench.run.progress import silent
from workbench.solvers import hydro

TOLERANCE = 0.1  # of the predicted bytes


@dataclass(frozen=True, slots=True)
class LargeRun:
    """What a run took: bytes of arrays as the plan predicts them, and growth of the process's resident memory."""

    dim: int
    cells: int
    backend: str
    dtype: str
    steps: int
    seconds: float
    predicted_bytes: int
    grown_bytes: int
    finite: bool

    @property
    def ratio(self) -> float:
        """Grown over predicted."""
        return self.grown_bytes / self.predicted_bytes

    @property
    def passed(self) -> bool:
        """Whether memory grew as predicted within a tenth, and all values are finite."""
        return self.finite and abs(self.ratio - 1) <= TOLERANCE

    def __str__(self) -> str:
        count = self.cells**self.dim
        return (
            f"hydro {self.dim}-D, {self.cells}^{self.dim} = {count:,} cells, {self.dtype}, {self.backend}: "
            f"{counted(self.steps, 'step')} in {seconds_text(self.seconds)}, "
            f"{scaled(count * self.steps / self.seconds, 'cells/s')}; "
            f"memory grew by {bytes_text(self.grown_bytes)}, predicted {bytes_text(self.predicted_bytes)} "
            f"({100 * (self.ratio - 1):+.1f} %){'' if self.passed else '  FAILED'}"
        )


def measure_large_run(
    dim: int = 3, cells: int = 128, *, steps: int = 5, backend: str = "auto", dtype: str = "f64"
) -> LargeRun:
    """Run a smooth flow on cells**dim cells. Raises StencilError where the system does not tell resident memory."""
    machine = hydro.machine(dim, dtype=dtype)
    with machine.simulate(**hydro.conserved(1.0, (0.1,) * dim, 1.0), shape=(8,) * dim, backend=backend) as small:
        small.run(2, progress=silent)  # compiler, libraries and threads are there before the first measurement
        name, plan = small.backend, small.compiled.plan
    place = np.meshgrid(*[(np.arange(cells) + 0.5) / cells] * dim, indexing="ij", sparse=True)
    density: Any = 2 + np.sin(2 * np.pi * sum(place))
    start = {k: np.array(v) for k, v in hydro.conserved(density, (0.1,) * dim, 1.0).items()}
    widths: dict[str, Any] = {f"dx{axis}": 1 / cells for axis in range(dim)}
    before = resident_bytes()
    with machine.simulate(**{**start, **widths, "gamma": 1.4}, backend=backend) as simulation:
        begin = time.perf_counter()
        simulation.run(steps, progress=silent)
        seconds = time.perf_counter() - begin
        grown = resident_bytes() - before
        finite = bool(np.isfinite(simulation.energy).all())
    predicted = memory_of(plan, (cells,) * dim, name)
    return LargeRun(dim, cells, name, dtype, steps, seconds, predicted, grown, finite)


def resident_bytes() -> int:
    """Resident memory of this process, from /proc, without what the C library keeps of freed memory where it says."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # of glibc
    if trim is not None:
        trim(0)
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    except OSError as error:
        raise StencilError(
            f"resident memory is unknown: {error}", advice="Measure on Linux, where /proc tells it."
        ) from error
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
