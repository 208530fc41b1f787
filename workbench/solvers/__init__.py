"""Solvers: programs in the language of a cell that are ready to run, each a module with `machine(...)`.

`hydro` (ideal gas), `advection`, `burgers`, `heat`, `wave` in any dimension; `life` in two. `gas_states` and
`exact_riemann` give exact solutions of the gas. Each is imported on first use: `workbench.solvers.heat.machine(dim=3)`.
"""

from importlib import import_module
from types import ModuleType

NAMES = ("advection", "burgers", "exact_riemann", "gas_states", "heat", "hydro", "life", "wave")

__all__ = ["NAMES"]


def __getattr__(name: str) -> ModuleType:
    """Import the solver `name` on first use; AttributeError that lists the solvers for any other name."""
    if name not in NAMES:
        raise AttributeError(f"workbench.solvers has no {name!r}; it has {', '.join(NAMES)}")
    return import_module(f"workbench.solvers.{name}")


def __dir__() -> list[str]:
    """The solvers and what else is there, for completion."""
    return sorted({*globals(), *NAMES})
