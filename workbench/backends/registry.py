"""The registry of backends: one row each, imported when first asked for, and the choice that "auto" makes."""

from __future__ import annotations

import difflib
import threading
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Literal

from workbench.backends.base import Availability, Backend
from workbench.backends.cache_folder import default_cache
from workbench.codegen.template_store import keep_templates_in
from workbench.errors import BackendError
from workbench.forking import forkable_lock
from workbench.planning.choices import CompilerKind, TilingChoices
from workbench.planning.schedules.schedule import Schedule
from workbench.planning.schedules.table import SCHEDULES

RunsOn = Literal["threads", "blocks", "nothing"]


@dataclass(frozen=True, slots=True)
class BackendRow:
    """One backend: the name users type, where its class is, and one line about it.

    `auto` orders what "auto" tries, smallest first; None: never taken unasked. `renderer` is the function of codegen/
    that writes its text, as "module:function", because templates are imported when asked for; "" if it has no text.
    `runs_on` is what its loops are spread over, and so which choices count (`workbench.planning.tunables`); "nothing"
    for an interpreter, which follows the graph alone. `follows_chains`: whether it runs the loops of a chain together.
    `reads_strided`: whether loops read arrays of the caller by strides of their own. `device`: what it computes on; a
    machine has one place for measurements on each.
    `beginner`: "module:function" that begins to make what all its programs of so many axes share, by the kind of
    compiler.
    `is_simulator`: whether it simulates another device on this one, each thread a thousand times slower, so that
    studies, checks and the demo take few cells.
    """

    name: str
    module: str
    class_name: str
    about: str
    auto: int | None = None
    renderer: str = ""
    runs_on: RunsOn = "nothing"
    follows_chains: bool = False
    reads_strided: bool = False
    device: str = "cpu"
    beginner: str = ""
    is_simulator: bool = False

    @property
    def schedules(self) -> tuple[Schedule, ...]:
        """The schedules of several steps that it has: those of what its loops are spread over."""
        return tuple(each for each in SCHEDULES if each.is_blocked and each.runs_on == self.runs_on)

    def has_schedule(self, name: str) -> bool:
        """Whether plans by this schedule are for it; an interpreter, which follows no plan, takes any."""
        here = (each.name for each in SCHEDULES if each.runs_on in ("any", self.runs_on))
        return self.runs_on == "nothing" or name in (TilingChoices().schedule, *here)


_CPU_TEXT, _CUDA_TEXT = "workbench.codegen.cpp.render:render_openmp", "workbench.codegen.cuda.render:render_cuda"
BACKENDS: tuple[BackendRow, ...] = (
    BackendRow(
        "reference", "workbench.backends.reference", "ReferenceBackend", "NumPy interpreter, defines the meaning", 3
    ),
    BackendRow(
        "openmp",
        "workbench.backends.openmp",
        "OpenmpBackend",
        "C++17 on all CPU threads",
        2,
        _CPU_TEXT,
        runs_on="threads",
        follows_chains=True,
        reads_strided=True,
        beginner="workbench.backends.march_objects:begin_march_object",
    ),
    BackendRow(
        "cuda",
        "workbench.backends.cuda",
        "CudaBackend",
        "CUDA on an NVIDIA GPU through CuPy",
        1,
        _CUDA_TEXT,
        runs_on="blocks",
        device="cuda",
    ),
    BackendRow(
        "cuda-sim",
        "workbench.backends.cuda_sim",
        "CudaSimBackend",
        "generated CUDA on the CPU, every access checked",
        renderer=_CUDA_TEXT,
        runs_on="blocks",
        is_simulator=True,
    ),
)
keep_templates_in(default_cache)
_loading = forkable_lock()  # one object of a backend in a process
REFERENCE = "reference"  # which defines the results that all others must have
SHOWN = "openmp"  # whose plans and texts are shown where no backend is asked for, or it has none


@dataclass(frozen=True, slots=True)
class Selection:
    """The backend that a name stands for here, and why this one."""

    backend: Backend
    reason: str

    @property
    def name(self) -> str:
        """The backend's own name, never "auto"."""
        return self.backend.name


def backend_names() -> tuple[str, ...]:
    """All names, whether or not they can run here; "auto" is none of them."""
    return tuple(row.name for row in BACKENDS)


def names_with_text() -> tuple[str, ...]:
    """The names of those for which source is generated."""
    return tuple(row.name for row in BACKENDS if row.renderer)


def with_text(name: str) -> str:
    """The backend whose text is shown where `name` is asked for: itself, or `SHOWN` for one without a text."""
    return name if row_of(name).renderer else SHOWN


def get_backend(name: str) -> Backend:
    """The backend called `name`, one object a process; BackendError lists the names if there is none."""
    return _load(row_of(name))


def row_of(name: str) -> BackendRow:
    """The row of the backend called `name`: its traits, without loading it. BackendError lists the names."""
    for row in BACKENDS:
        if row.name == name:
            return row
    close = difflib.get_close_matches(str(name), ("auto", *backend_names()), n=1)
    guess = f"; did you mean {close[0]!r}?" if close else ""
    raise BackendError(
        f"there is no backend {name!r}{guess}", advice=f"Use one of: {', '.join(('auto', *backend_names()))}."
    )


def begin_objects(name: str, axes: int, kind: CompilerKind) -> None:
    """Begin to make what all programs of so many axes on this backend share, if there is such, and go on meanwhile."""
    module, _, function = row_of(name).beginner.partition(":")
    if module:
        getattr(import_module(module), function)(axes, kind)


def begin_looking(name: str) -> threading.Thread:
    """Begin to find out, in a thread that the caller joins, whether the compiler of a backend for CPU threads works.

    The first look on a machine takes as long as a short trace.
    """
    given = SHOWN if name == "auto" else name
    looking = threading.Thread(target=_look, args=(given,), name="looking for a compiler", daemon=True)
    looking.start()
    return looking


def _look(name: str) -> None:
    with suppress(BackendError):
        if row_of(name).runs_on == "threads":
            get_backend(name).availability()


def availability_table() -> tuple[tuple[str, Availability], ...]:
    """Name and availability of every backend, in the order of the rows."""
    return tuple((row.name, _load(row).availability()) for row in BACKENDS)


def select_backend(name: str = "auto") -> Selection:
    """The backend to use for `name`. Raises BackendError if it is unknown or cannot run here."""
    if name == "auto":
        return _select_automatically()
    chosen = get_backend(name)
    state = chosen.availability()
    if not state.available:
        raise BackendError(f"backend {name!r} cannot run here: {state.reason}", advice=state.advice)
    return Selection(chosen, "asked for")


def _select_automatically() -> Selection:
    """The first available one of those with a place in the order."""
    passed: list[str] = []
    for row in sorted((r for r in BACKENDS if r.auto is not None), key=lambda r: r.auto or 0):
        state = _load(row).availability()
        if state.available:
            return Selection(_load(row), "; ".join(passed) or "the fastest there is")
        passed.append(f"no {row.name}: {state.reason}")
    raise BackendError(f"no backend can run here: {'; '.join(passed)}", advice="Run `workbench doctor` to see why.")


def _load(row: BackendRow) -> Backend:
    with _loading:
        return _loaded(row)


@cache
def _loaded(row: BackendRow) -> Backend:
    backend: Backend = getattr(import_module(row.module), row.class_name)()
    return backend
