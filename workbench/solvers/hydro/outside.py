"""Outside: the gas beyond the sides of the domain, as boundary rules of the conserved variables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from workbench.language import analytic, cell_centre, components, mirror, periodic, reflect
from workbench.solvers.gas_input import gas_outside
from workbench.solvers.hydro.state import Conserved, GasState, Quantity

Outside = Callable[..., tuple[Any, Any, Any]]  # (x, y, ..., time) -> (density, (velocity, ...), pressure)
Boundary = Any  # a rule of the language, an Outside, or a mapping of sides to these
Surroundings = tuple[list[Quantity], Quantity, Quantity]  # dx, time, gamma


def rule_of(boundary: Boundary, part: Callable[[Conserved], Quantity], around: Surroundings) -> object:
    """The rule, as a field takes it, of the conserved variable that `part` picks."""
    if isinstance(boundary, Mapping):
        return {side: _one(given, part, around) for side, given in boundary.items()}
    return _one(boundary, part, around)


def has_outside(boundary: Boundary) -> bool:
    """Whether some side is given as an Outside, by which gas enters that the domain need not hold yet."""
    sides = boundary.values() if isinstance(boundary, Mapping) else (boundary,)
    return any(_is_gas(given) for given in sides)


def _is_gas(given: Any) -> bool:  # noqa: ANN401  # a rule or an Outside
    """Whether it is an Outside, and no rule, some of which are functions too."""
    return callable(given) and given not in (periodic, reflect, mirror)


def _one(given: Any, part: Callable[[Conserved], Quantity], around: Surroundings) -> object:  # noqa: ANN401
    if not _is_gas(given):
        return given
    dx, time, gamma = around

    def value(*_index: Quantity) -> Quantity:  # the cell's own, as cell_centre takes them
        place = [cell_centre(axis, width) for axis, width in enumerate(dx)]
        density, velocity, pressure = gas_outside(given, place, time)
        return part(GasState(gamma, density, components(velocity), pressure).conserved)

    value.__name__ = getattr(given, "__name__", type(given).__name__)  # what a card shows
    return analytic(value)
