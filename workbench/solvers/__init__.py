"""Solvers: programs in the language of a cell that are ready to run, each a module with `machine(...)`.

`hydro` (ideal gas), `advection`, `burgers`, `gray_scott`, `heat`, `wave` in any dimension; `maxwell` in up to three;
`shallow_water` in one or two; `life` in two. `gas_states` and `exact_riemann` have exact solutions for the ideal gas,
`exact_dam_break` for shallow water; `gas_flows` has initial states of well-known flows. Each is imported on first use:
`workbench.solvers.heat.machine(dim=3)`. A boundary is a rule as in a cell, one for all sides or a dict: heat.machine(1,
boundary={"x-": fixed(1.0), "x+": "outflow"}).
"""

from importlib import import_module
from types import ModuleType

NAMES = (
    "advection",
    "burgers",
    "exact_dam_break",
    "exact_riemann",
    "gas_flows",
    "gas_states",
    "gray_scott",
    "heat",
    "hydro",
    "life",
    "maxwell",
    "shallow_water",
    "wave",
)

__all__ = ["NAMES"]


def __getattr__(name: str) -> ModuleType:
    """Import the solver `name` on first use; AttributeError that lists the solvers for any other name."""
    if name not in NAMES:
        raise AttributeError(f"workbench.solvers has no {name!r}; it has {', '.join(NAMES)}")
    return import_module(f"workbench.solvers.{name}")


def __dir__() -> list[str]:
    """The solvers and what else is there, for completion."""
    return sorted({*globals(), *NAMES})
