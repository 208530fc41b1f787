"""Stencil workbench: write a stencil in a notebook cell, compile it for every backend, run and study it.

Importing the package is cheap: a public name is imported from its module on first use, so a script that only traces a
stencil does not load IPython, plotting or GPU libraries.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from workbench._version import __version__

if TYPE_CHECKING:  # the same names once more for type checkers and editors; a test keeps both lists equal
    from workbench.array_function import collective as collective
    from workbench.errors import StencilError as StencilError
    from workbench.foreign_function import foreign as foreign
    from workbench.graph.from_text import graph_from_text as graph_from_text
    from workbench.interactions import interaction as interaction
    from workbench.machine import Machine as Machine
    from workbench.machine import stencil as stencil
    from workbench.machine import trace as trace
    from workbench.notebook.extension import load_ipython_extension as load_ipython_extension
    from workbench.notebook.extension import unload_ipython_extension as unload_ipython_extension
    from workbench.pipeline import counters as counters
    from workbench.run.simulation import Simulation as Simulation
    from workbench.tuning.study import Study as Study
    from workbench.views.registry.snapshot import registry as registry

# Public name -> the module that defines it. One row each; a name is listed once its module exists.
_EXPORTS: dict[str, str] = {
    "Machine": "workbench.machine",
    "Simulation": "workbench.run.simulation",
    "StencilError": "workbench.errors",
    "Study": "workbench.tuning.study",
    "collective": "workbench.array_function",
    "counters": "workbench.pipeline",
    "foreign": "workbench.foreign_function",
    "graph_from_text": "workbench.graph.from_text",
    "interaction": "workbench.interactions",
    "load_ipython_extension": "workbench.notebook.extension",
    "registry": "workbench.views.registry.snapshot",
    "stencil": "workbench.machine",
    "trace": "workbench.machine",
    "unload_ipython_extension": "workbench.notebook.extension",
}

# What draws itself in a notebook and may be used before there is a machine, which brings what draws with it.
_DRAWN = frozenset({"Study", "graph_from_text"})

# Sub-packages that are reached as attributes, `workbench.solvers.heat`, without an import of their own.
_ROOMS = frozenset({"programs", "solvers"})

__all__ = ["__version__", *sorted(_EXPORTS)]


def __getattr__(name: str) -> object:
    """Import the public `name` on first use and keep it; AttributeError for any other name."""
    if name in _ROOMS:
        return import_module(f"workbench.{name}")
    if name not in _EXPORTS:
        raise _unknown(name)
    if name in _DRAWN:
        import_module("workbench.views.hooks").install()
    value: object = getattr(import_module(_EXPORTS[name]), name)
    globals()[name] = value
    return value


def _unknown(name: str) -> AttributeError:
    """The error for an unknown name; one with advice loads half of the package, so not for what imports ask for."""
    if name.startswith("_") or find_spec(f"workbench.{name}") is not None:
        return AttributeError(f"module 'workbench' has no attribute {name!r}")
    found: AttributeError = import_module("workbench.unknown_names").unknown_name(name)
    return found


def __dir__() -> list[str]:
    """All public names, imported already or not, for completion."""
    return sorted({*globals(), *_EXPORTS, *_ROOMS})
