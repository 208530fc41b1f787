"""State: density, velocity and pressure of an ideal gas, or density, momentum and energy; the same for any d.

Everything here works on traced values and on plain arrays alike: the functions that generate the solver also prepare
and read its arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from workbench.language import components, dot, named
from workbench.solvers.gas_input import plain_gas

Quantity = Any  # a traced value, an array with a value per cell, or a number
Vector = Any  # a tensor of rank 1 of quantities


class Conserved(NamedTuple):
    """U = (rho, m, E): mass, momentum and energy per volume; or one flux of each."""

    density: Quantity
    momentum: Vector
    energy: Quantity

    def map(self, function: Callable[..., Any], *others: Conserved) -> Conserved:
        """function(component of this, of the others ...) of density, momentum and energy."""
        return Conserved(*map(function, self, *others))

    def named(self, first: str) -> Conserved:
        """The same values, called `first` with density, momentum0, ... and energy behind it."""
        return Conserved(*(named(part, f"{first}{name}") for name, part in zip(self._fields, self, strict=True)))


class GasState:
    """A state of the gas, given by its primitive or its conserved variables; the others are derived on demand.

    p = (gamma - 1) (E - rho v² / 2). From conserved variables, density and pressure below `floors` are replaced by
    these, and a cell whose density is below counts as next to empty: its gas is at rest at the least pressure, because
    what is left of momentum over next to no mass would be a speed that brings all steps to a stand. The conserved
    variables themselves are kept, so that nothing is added to what is conserved.
    """

    def __init__(self, gamma: Quantity, density: Quantity, velocity: Vector, pressure: Quantity) -> None:
        self.gamma, self.density, self.velocity, self.pressure = gamma, density, velocity, pressure

    @classmethod
    def of(cls, conserved: Conserved, gamma: Quantity, floors: tuple[Quantity, Quantity] | None = None) -> GasState:
        """The state of conserved variables; floors = (least density, least pressure)."""
        density, momentum, energy = conserved
        if floors is None:
            velocity = momentum * (1.0 / density)
            return cls(gamma, density, velocity, (gamma - 1) * (energy - 0.5 * dot(momentum, velocity)))
        empty = density < floors[0]  # not where density is not a number: that must be seen
        density = np.maximum(density, floors[0])
        volume = np.where(empty, 0.0, 1.0 / density)
        velocity, half = momentum * volume, momentum * (0.5 * volume)  # so that either is stored without the other
        pressure = np.maximum((gamma - 1) * (energy - dot(momentum, half)), floors[1])
        return cls(gamma, density, velocity, np.where(empty, floors[1], pressure))

    @cached_property
    def volume(self) -> Quantity:
        """1 / rho, the volume of a unit of mass: one division where several would divide by rho."""
        return 1.0 / self.density

    @cached_property
    def momentum(self) -> Vector:
        """m = rho v."""
        return self.density * self.velocity

    @cached_property
    def energy(self) -> Quantity:
        """E = p / (gamma - 1) + rho v² / 2."""
        return self.pressure * (1.0 / (self.gamma - 1)) + 0.5 * self.density * dot(self.velocity, self.velocity)

    @cached_property
    def sound_speed(self) -> Quantity:
        """c = sqrt(gamma p / rho)."""
        return np.sqrt(self.gamma * self.pressure * self.volume)

    @property
    def conserved(self) -> Conserved:
        """(rho, m, E)."""
        return Conserved(self.density, self.momentum, self.energy)

    def map(self, function: Callable[[Quantity], Quantity]) -> GasState:
        """The state whose primitive variables are function(variable)."""
        return GasState(self.gamma, function(self.density), self.velocity.map(function), function(self.pressure))

    def flux(self, axis: int) -> Conserved:
        """F_a = (m_a, v_a m_b + p delta_ab, v_a (E + p)) along `axis` = a."""
        normal = self.velocity[axis]
        momentum = [normal * part for part in self.momentum]
        momentum[axis] = momentum[axis] + self.pressure
        return Conserved(self.momentum[axis], components(momentum), normal * (self.energy + self.pressure))


def conserved(density: Quantity, velocity: Any, pressure: Quantity, gamma: float = 1.4) -> dict[str, Any]:  # noqa: ANN401  # arrays or numbers
    """Arrays for `simulate`: density, momentum0, ..., energy and gamma.

    Density, pressure and each component of `velocity` (a tuple, one per axis; the component itself in one dimension;
    or an array whose first axis counts them) are arrays of one shape or numbers. Raises FieldError for density or
    pressure that is not positive or not finite, ShapeError for shapes that do not fit together.
    """
    first, middle, last = plain_gas(density, velocity, pressure, gamma)
    state = GasState(gamma, first, components(middle), last)
    momentum = {f"momentum{a}": part for a, part in enumerate(state.momentum)}
    return {"density": np.array(first), **momentum, "energy": state.energy, "gamma": gamma}


def primitive(density: Quantity, momentum: Any, energy: Quantity, gamma: float = 1.4) -> dict[str, Any]:  # noqa: ANN401  # arrays or numbers
    """The way back, for what a simulation holds: {"density", "velocity", "pressure"}, all plain arrays.

    `momentum` is a tuple of components or an array whose first axis counts them, as sim["momentum"] gives it; so is
    "velocity". Nothing is checked or limited.
    """
    state = GasState.of(Conserved(np.asarray(density), components(momentum, 1), np.asarray(energy)), gamma)
    return {"density": state.density, "velocity": np.asarray(state.velocity), "pressure": state.pressure}
