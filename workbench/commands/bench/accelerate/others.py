"""Others: which systems are here that the programs are compared with, and calls of their modules in peers/."""

from __future__ import annotations

from functools import partial
from importlib import import_module, util
from typing import Any

from workbench.commands.bench.accelerate.row import Call

LIBRARIES = ("NumPy", "SciPy", "Numba", "JAX")


def has(library: str) -> bool:
    """Whether a library is installed; imports nothing."""
    return util.find_spec(library.lower()) is not None


def peer(library: str, function: str, *given: Any, of: str = "programs") -> dict[str, Call]:  # noqa: ANN401  # what the function takes
    """The call by a function of a library's module in peers/; nothing where it is not installed."""
    if not has(library):
        return {}
    module = import_module(f"workbench.commands.bench.peers.{library.lower()}_{of}")
    return {library: partial(getattr(module, function), *given)}


def jax(function: str, *given: Any, **static: Any) -> dict[str, Call]:  # noqa: ANN401  # what the function takes
    """The call by a function of peers/jax_programs that XLA compiles, on arrays that it has; nothing without JAX.

    static: what it takes by keyword, which is known while it is compiled.
    """
    if not has("JAX"):
        return {}
    module = import_module("workbench.commands.bench.peers.jax_programs")
    return {"JAX": module.compiled(getattr(module, function), given, static)}
