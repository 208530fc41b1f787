"""Catalogue: the machines of several solvers at once, for those who look at all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from inspect import signature
from typing import Any

from workbench.errors import StencilError
from workbench.machine import Machine
from workbench.solvers import NAMES
from workbench.solvers.settings import ANY_DIMENSIONS

ALL = ("all",)


def machines_of(names: Sequence[str], dims: Sequence[int], dtypes: Sequence[str]) -> Iterator[Machine]:
    """Solvers by name, in each number of dimensions and type; ("all",): all solvers, in those that each of them has.

    Raises StencilError for a name that is no solver's, and for a number that a solver of `names` lacks.
    """
    known = {name: module.machine for name, module in _modules() if hasattr(module, "machine")}
    unknown = [name for name in names if name not in known]
    if unknown and tuple(names) != ALL:
        raise StencilError(f"there is no solver {unknown[0]!r}", advice=f"Use all, or some of {', '.join(known)}.")
    for made in [known[name] for name in names] if not unknown else known.values():
        if "dim" not in signature(made).parameters:  # life has one form only
            yield made()
            continue
        for dim in dims:
            if unknown and dim in ANY_DIMENSIONS and not _has(made, dim):
                continue
            for dtype in dtypes:
                yield made(dim, dtype=dtype)


def _has(made: Callable[..., Machine], dim: int) -> bool:
    try:
        made(dim)
    except StencilError:
        return False
    return True


def _modules() -> Iterator[tuple[str, Any]]:
    return ((name, import_module(f"workbench.solvers.{name}")) for name in NAMES)
