"""SPH: a gas as particles (Gingold and Monaghan 1977), as reviewed by Monaghan (1992), sums over near particles alone.

Density, divergence and curl are sums over neighbours with the cubic spline of the mean of both smoothing lengths. In
the same step these are read as what neighbours have: in the force with artificial viscosity, limited where the gas
rather turns than is compressed (Balsara 1995), and in the rate of the internal energy. Each pair's force and work are
shared by both, so momentum is conserved to rounding and energy as well as the steps in time do it.
"""

from __future__ import annotations

from math import pi

import numpy as np
import numpy.typing as npt

from workbench.machine import Machine, trace

_NORMS = {1: "2 / 3", 2: f"10 / (7 * {pi})", 3: f"1 / {pi}"}
_CURLS = {
    1: "0 * rho",
    2: "abs(near(pull * (w[0] * d[1] - w[1] * d[0])))",
    3: """sqrt(near(pull * (w[1] * d[2] - w[2] * d[1]))**2
        + near(pull * (w[2] * d[0] - w[0] * d[2]))**2 + near(pull * (w[0] * d[1] - w[1] * d[0]))**2)""",
}
_CELL = """
x, v = particles("x v", dim=DIM)
m, h, u, rho, p, limit = particles("m h u rho p limit")
dt, gamma = param("dt", 1e-3, above=0), param("gamma", 1.4, above=1)
alpha, beta, per_length = param("alpha", 1.0), param("beta", 2.0), param("per_length", 1.2, above=0)

reach = 2 * reduce_max(h)
d, w = x.source - x, v.source - v
length = 0.5 * (h + h.source)
r2 = dot(d, d)
q = sqrt(r2) / length
slope = where(q < 1, 2.25 * q - 3, -0.75 * maximum(2 - q, 0)**2 / maximum(q, 1)) * (NORM / length**(DIM + 2))
pull = m.source * slope
meeting = dot(w, d)


def near(value):
    return reduce_sum(value, over="source", cutoff=reach, positions=x)


spline = (0.25 * maximum(2 - q, 0)**3 - maximum(1 - q, 0)**3) * (NORM / length**DIM)
density = manifest(near(m.source * spline))
pressure = (gamma - 1) * density * u
divergence = abs(near(pull * meeting))
curl = CURL
sound = sqrt(gamma * pressure / density)
turning = divergence / (divergence + curl + 1e-4 * density * sound / h)


@kernel
def prepare():
    rho.next, p.next, limit.next = density, pressure, turning


mu = minimum(length * meeting / (r2 + 0.01 * length**2), 0)
strength = beta * mu - alpha * 0.5 * (sound + sound.source)
viscosity = 0.5 * (turning + turning.source) * strength * mu / (0.5 * (density + density.source))
held = pressure / density**2
share = pull * (held + held.source + viscosity)
v1 = v + dt * near(share * d)
x.next, v.next = x + dt * v1, v1
u.next = u + dt * near(0.5 * share * meeting)
h.next = per_length * (m / density)**(1 / DIM)
rho.next, p.next, limit.next = density, pressure, turning
"""


def machine(dim: int = 1) -> Machine:
    """Particles x, v of shape (dim, n) and m, h, u of shape (n,): mass, smoothing length, internal energy by mass.

    dim is 1, 2 or 3. rho, p and limit are those that a step found where the particles stood before; they may be given
    as 0, and the kernel `prepare` finds them where the particles stand now. dt is the step, gamma the ratio of specific
    heats, alpha and beta are Monaghan's of the viscosity; h becomes per_length * (m / rho)**(1 / dim).
    """
    text = _CELL.replace("CURL", _CURLS[dim]).replace("NORM", f"({_NORMS[dim]})").replace("DIM", str(dim))
    return trace(text, name=f"sph{dim}")


def tube(spacing: float, half: float = 0.8) -> dict[str, npt.NDArray[np.float64]]:
    """Sod's tube (1978) from -half to half: density and pressure 1 on the left, 0.125 and 0.1 on the right, at rest.

    Particles have one mass; spacing is the distance of those on the left.
    """
    left = -spacing * (np.arange(round(half / spacing)) + 0.5)[::-1]
    right = 8 * spacing * (np.arange(round(half / spacing / 8)) + 0.5)
    x = np.concatenate([left, right])
    on_left = x < 0
    density, pressure = np.where(on_left, 1.0, 0.125), np.where(on_left, 1.0, 0.1)
    zero = np.zeros_like(x)
    mass = np.full_like(x, spacing)
    return {
        "x": x[None, :],
        "v": zero[None, :],
        "m": mass,
        "h": 1.2 * mass / density,
        "u": pressure / (0.4 * density),
        "rho": zero,
        "p": zero,
        "limit": zero,
    }
