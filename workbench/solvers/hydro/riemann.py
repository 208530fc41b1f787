"""Riemann solvers: the flux through a face between two states (Toro, Riemann Solvers and Numerical Methods, ch. 10).

A Riemann solver is a function (left state, right state, axis of the face's normal) -> flux of mass, momentum, energy.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from workbench.language import components
from workbench.solvers.hydro.state import Conserved, Quantity, State

RiemannSolver = Callable[[State, State, int], Conserved]


def hllc(left: State, right: State, axis: int) -> Conserved:
    """HLLC as in the paper (Toro §10.4): three waves, the middle one a contact.

    The side of the contact on which the face lies is chosen first, and only the states of that side are computed:
    F = F_K + s (U*_K - U_K), s = min(S_L, 0) on the left, max(S_R, 0) on the right.
    """
    slow, fast = _wave_speeds(left, right, axis)  # S_K - u_K
    mass_slow, mass_fast = left.density * slow, right.density * fast
    contact = (right.pressure - left.pressure + mass_slow * left.velocity[axis] - mass_fast * right.velocity[axis]) / (
        mass_slow - mass_fast
    )
    on_left = contact > 0
    chosen = State(
        left.gamma,
        np.where(on_left, left.density, right.density),
        components([np.where(on_left, v, w) for v, w in zip(left.velocity, right.velocity, strict=True)]),
        np.where(on_left, left.pressure, right.pressure),
    )
    normal, relative = chosen.velocity[axis], np.where(on_left, slow, fast)
    outer = normal + relative
    speed = np.where(on_left, np.minimum(outer, 0.0), np.maximum(outer, 0.0))
    within = outer - contact
    inverse = 1.0 / (within * relative)
    compression = inverse * relative * relative  # (S_K - u_K) / (S_K - S*)
    velocity = [contact if a == axis else v for a, v in enumerate(chosen.velocity)]
    density = chosen.density * compression
    work = chosen.density * contact + chosen.pressure * within * inverse
    energy = compression * (chosen.energy + (contact - normal) * work)
    star = Conserved(density, density * components(velocity), energy)
    return chosen.flux(axis).map(lambda f, s, u: f + speed * (s - u), star, chosen.conserved)


def hlle(left: State, right: State, axis: int) -> Conserved:
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


def rusanov(left: State, right: State, axis: int) -> Conserved:
    """Rusanov's local Lax-Friedrichs flux: one speed for both sides; the most diffusive and the simplest."""
    speed = np.maximum(np.abs(left.velocity[axis]) + left.sound_speed, np.abs(right.velocity[axis]) + right.sound_speed)
    return left.flux(axis).map(
        lambda f, g, a, b: 0.5 * (f + g - speed * (b - a)), right.flux(axis), left.conserved, right.conserved
    )


def _wave_speeds(left: State, right: State, axis: int) -> tuple[Quantity, Quantity]:
    """Speeds of the two outer waves relative to the gas, S_L - u_L < 0 and S_R - u_R > 0, from the pressure estimate.

    p* = max(0, (p_L + p_R) / 2 - (u_R - u_L) / 2 * mean rho * mean c); a shock (p* > p_K) is faster than sound by
    q_K = sqrt(1 + (gamma + 1) / (2 gamma) (p* / p_K - 1)). With c_K inside the root no pressure is divided by.
    """
    mean_density = 0.5 * (left.density + right.density)
    mean_speed = 0.5 * (left.sound_speed + right.sound_speed)
    jump = 0.5 * (right.velocity[axis] - left.velocity[axis])
    middle = np.maximum(0.5 * (left.pressure + right.pressure) - jump * mean_density * mean_speed, 0.0)
    factor = (left.gamma + 1) / (2 * left.gamma)

    def speed(side: State) -> Quantity:
        shocked = side.pressure + factor * np.maximum(middle - side.pressure, 0.0)
        return np.sqrt(side.gamma * side.volume * shocked)

    return -speed(left), speed(right)
