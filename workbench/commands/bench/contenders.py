"""Contenders: what a problem is run by: schedules and backends of ours, and other systems where they are installed."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib import metadata, util
from typing import Literal

from workbench.backends.registry import get_backend
from workbench.errors import RunError
from workbench.planning.choices import ScheduleName


@dataclass(frozen=True, slots=True)
class Ours:
    """A backend and a schedule of the workbench."""

    backend: str
    schedule: ScheduleName


@dataclass(frozen=True, slots=True)
class Theirs:
    """A library; `module` is what is imported. form: how its steps are written."""

    distribution: str
    module: str
    form: Literal["numpy", "jax", "torch", "kernels"]


@dataclass(frozen=True, slots=True)
class Contender:
    """One row of CONTENDERS. usual: whether it runs where no names are given."""

    name: str
    label: str
    runs: Ours | Theirs
    usual: bool = True


@dataclass(frozen=True, slots=True)
class Absent:
    """A contender that does not run, why, and what to do about it. late: the time budget cut it."""

    name: str
    label: str
    reason: str
    advice: str = ""
    late: bool = False


CONTENDERS: tuple[Contender, ...] = (
    Contender("stepwise", "workbench, stepwise", Ours("openmp", "stepwise")),
    Contender("diamond", "workbench, diamond", Ours("openmp", "diamond")),
    Contender("auto", "workbench, auto", Ours("openmp", "auto")),
    Contender("cuda", "workbench, GPU", Ours("cuda", "stepwise")),
    Contender("diamondtorre", "workbench, GPU, diamondtorre", Ours("cuda", "diamondtorre")),
    Contender("reference", "workbench, interpreter", Ours("reference", "stepwise"), usual=False),
    Contender("numpy", "NumPy", Theirs("numpy", "numpy", "numpy")),
    Contender("numba", "Numba", Theirs("numba", "numba", "kernels")),
    Contender("jax", "JAX", Theirs("jax", "jax", "jax")),
    Contender("halide", "Halide", Theirs("halide", "halide", "kernels")),
    Contender("torch", "torch.compile", Theirs("torch", "torch", "torch")),
)
MORE_TIME = "Use a larger --budget, a smaller --shape, or fewer contenders by --only."
OURS = "workbench"  # in `--only`, short for all usual contenders of ours


def contender_named(name: str) -> Contender:
    """The row called `name`; KeyError if there is none."""
    return {row.name: row for row in CONTENDERS}[name]


def chosen(only: tuple[str, ...]) -> tuple[Contender, ...]:
    """The rows that `--only` names, in the order of the table; the usual ones if it names none. RunError lists them."""
    known = {row.name for row in CONTENDERS} | {OURS}
    for name in only:
        if name not in known:
            raise RunError(
                f"there is no contender {name!r}", advice=f"Name some of {', '.join((OURS, *sorted(known - {OURS})))}."
            )

    def wanted(row: Contender) -> bool:
        if not only:
            return row.usual
        return row.name in only or (OURS in only and row.usual and isinstance(row.runs, Ours))

    return tuple(row for row in CONTENDERS if wanted(row))


def absence(row: Contender) -> Absent | None:
    """Why a contender cannot run here; None if it can. Imports nothing of other systems."""
    match row.runs:
        case Ours(backend):
            state = get_backend(backend).availability()
            return None if state.available else Absent(row.name, row.label, state.reason, state.advice)
        case Theirs(distribution, module):
            if util.find_spec(module) is not None:
                return None
            return Absent(row.name, row.label, "not installed", f"{sys.executable} -m pip install {distribution}")


def version(row: Contender) -> str:
    """The version of what runs; "" where it is unknown."""
    match row.runs:
        case Ours():
            from workbench._version import __version__

            return __version__
        case Theirs(distribution):
            try:
                return metadata.version(distribution)
            except metadata.PackageNotFoundError:
                return ""
