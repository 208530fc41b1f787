"""Riemann solvers: the flux through a face between two states (Toro, Riemann Solvers and Numerical Methods, ch. 10).

A Riemann solver is a function (left state, right state, axis of the face's normal) -> flux of mass, momentum, energy.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from workbench.language import components
from workbench.solvers.hydro.state import Conserved, GasState, Quantity

RiemannSolver = Callable[[GasState, GasState, int], Conserved]


def hllc(left: GasState, right: GasState, axis: int) -> Conserved:
    """HLLC as in the paper (Toro §10.4): three waves, the middle one a contact.

    With q_K = rho_K |S_K - u_K|, the mass that the outer wave of side K sweeps per time, the contact moves at
    S* = (p_L - p_R + q_L u_L + q_R u_R) / (q_L + q_R). The sign tells on which side of it the face lies; only that
    side's states are computed, S* and S_K relative to its gas, which leaves nothing to cancel where the flow is fast.
    """
    u, v = left.velocity[axis], right.velocity[axis]
    swept_left, swept_right = _swept_mass(left, right, v - u)
    drop = left.pressure - right.pressure
    on_left = drop + (swept_left * u + swept_right * v) > 0

    side: Callable[..., Quantity] = partial(np.where, on_left)
    density, pressure = side(left.density, right.density), side(left.pressure, right.pressure)
    velocity = components([side(a, b) for a, b in zip(left.velocity, right.velocity, strict=True)])
    gas, normal = GasState(left.gamma, density, velocity, pressure), velocity[axis]
    swept = side(-swept_left, swept_right)  # rho_K (S_K - u_K)
    outer = swept * side(left.volume, right.volume)  # S_K - u_K
    middle = (drop + side(swept_right, -swept_left) * (v - u)) / (swept_left + swept_right)  # S* - u_K
    inverse = 1.0 / (outer - middle)
    contact, star_pressure = normal + middle, pressure + swept * middle
    star_energy = inverse * (outer * gas.energy + (star_pressure * contact - pressure * normal))
    face: Callable[..., Quantity] = partial(np.where, side(-(normal + outer), normal + outer) > 0)  # inside the wave?
    density, speed = face(swept * inverse, density), face(contact, normal)
    pressure, energy = face(star_pressure, pressure), face(star_energy, gas.energy)
    # No flux is made from another one: they share a loop where they are stored.
    momentum = [density * part * speed for part in velocity]
    momentum[axis] = density * (speed * speed) + pressure
    return Conserved(density * speed, components(momentum), speed * (energy + pressure))


def hlle(left: GasState, right: GasState, axis: int) -> Conserved:
    """HLLE (Einfeldt 1988): two waves, the outermost speeds of both states; keeps density positive, smears contacts."""
    u, v = left.velocity[axis], right.velocity[axis]
    low = np.minimum(np.minimum(u - left.sound_speed, v - right.sound_speed), 0.0)
    high = np.maximum(np.maximum(u + left.sound_speed, v + right.sound_speed), 0.0)
    width, product = high - low, low * high
    return left.flux(axis).map(
        lambda f, g, a, b: (high * f - low * g + product * (b - a)) / width,
        right.flux(axis),
        left.conserved,
        right.conserved,
    )


def rusanov(left: GasState, right: GasState, axis: int) -> Conserved:
    """Rusanov's local Lax-Friedrichs flux (1961): one speed for both sides; the most diffusive and the simplest."""
    speed = np.maximum(np.abs(left.velocity[axis]) + left.sound_speed, np.abs(right.velocity[axis]) + right.sound_speed)
    return left.flux(axis).map(
        lambda f, g, a, b: 0.5 * (f + g - speed * (b - a)), right.flux(axis), left.conserved, right.conserved
    )


def _swept_mass(left: GasState, right: GasState, jump: Quantity) -> tuple[Quantity, Quantity]:
    """rho_K |S_K - u_K| of the two outer waves, from the pressure estimate; jump = u_R - u_L.

    p* = max(0, (p_L + p_R) / 2 - jump / 2 * mean rho * mean c); a shock (p* > p_K) is faster than sound by
    sqrt(1 + (gamma + 1) / (2 gamma) (p* / p_K - 1)). With c_K inside the root no pressure is divided by.
    """
    impedance = (left.density + right.density) * (left.sound_speed + right.sound_speed)
    middle = np.maximum(0.5 * (left.pressure + right.pressure) - 0.125 * jump * impedance, 0.0)
    factor = (left.gamma + 1) / (2 * left.gamma)

    def swept(side: GasState) -> Quantity:
        shocked = side.pressure + factor * np.maximum(middle - side.pressure, 0.0)
        return np.sqrt(side.gamma * side.density * shocked)

    return swept(left), swept(right)
