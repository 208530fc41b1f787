"""The registry of backends: one row each, imported when first asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module

from workbench.backends.base import Backend
from workbench.errors import BackendError


@dataclass(frozen=True, slots=True)
class Row:
    """One backend: the name users type, where its class is, and one line about it."""

    name: str
    module: str
    class_name: str
    about: str


BACKENDS: tuple[Row, ...] = (
    Row("reference", "workbench.backends.reference", "ReferenceBackend", "NumPy interpreter, defines the meaning"),
    Row("openmp", "workbench.backends.openmp", "OpenmpBackend", "C++17 on all CPU threads"),
)


def backend_names() -> tuple[str, ...]:
    """All names, whether or not they can run here."""
    return tuple(row.name for row in BACKENDS)


@cache
def get_backend(name: str) -> Backend:
    """The backend called `name`, one object a process; BackendError lists the names if there is none."""
    for row in BACKENDS:
        if row.name == name:
            backend: Backend = getattr(import_module(row.module), row.class_name)()
            return backend
    raise BackendError(f"there is no backend {name!r}", advice=f"Use one of: {', '.join(backend_names())}.")
