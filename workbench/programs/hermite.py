"""Hermite: stars that attract each other, stepped by the fourth-order scheme of Makino and Aarseth (1992).

Three precisions: all f64, all dd, or mixed: state in dd, and what happens between two stars in f64. A difference of two
near numbers of type dd is taken apart, (hi - hi') + (lo - lo'), so that it has the digits of a f64 at the cost of three
operations. The mixed scheme keeps the energy as all dd does, at a fraction of its time.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from typing import Literal

import numpy as np
import numpy.typing as npt

from workbench.machine import Machine, trace

Precision = Literal["f64", "dd", "mixed"]
_APART = {
    "f64": "return manifest(x.source) - x",
    "dd": "return manifest(x.source) - x",
    "mixed": """high = astype(x, "f64")
    low = astype(x - high, "f64")
    return (manifest(high.source) - high) + (manifest(low.source) - low)""",
}
_CELL = """
x, v, a, j = particles("x v a j", dim=3, dtype="STATE")
m, = particles("m", dtype="STATE")
dt, e2 = param("dt", 0.01, above=0, dtype="STATE"), param("e2", 0.01, at_least=0, dtype="STATE")


def apart(x):
    APART


def forces(x, v):
    d, w = apart(x), apart(v)
    r2 = dot(d, d) + astype(e2, "PAIR")
    inverse = 1 / r2
    weight = astype(m, "PAIR").source * inverse * sqrt(inverse)
    jerk = weight * (w - 3 * dot(d, w) * inverse * d)
    return reduce_sum(astype(weight * d, "STATE"), over="source"), reduce_sum(jerk, over="source")


xp = manifest(x + dt * (v + dt / 2 * (a + dt / 3 * j)))
vp = manifest(v + dt * (a + dt / 2 * j))
a1, j1 = forces(xp, vp)
v1 = v + dt / 2 * (a + a1) + dt**2 / 12 * (j - j1)
x.next = x + dt / 2 * (v + v1) + dt**2 / 12 * (a - a1)
v.next, a.next, j.next = v1, a1, j1


@kernel
def prepare():
    a.next, j.next = forces(x, v)
"""
_POTENTIAL = """
xi, yi, zi = targets("x y z", dtype="dd")
xj, yj, zj, mj = sources("x y z m", dtype="dd")
potential, = totals("potential", dtype="dd")
e2 = param("e2", 0.01, dtype="dd")
r2 = (xj - xi) ** 2 + (yj - yi) ** 2 + (zj - zi) ** 2 + e2
potential += where(index(0) != index(1), mj / sqrt(r2), 0)
"""


def machine(precision: Precision = "mixed") -> Machine:
    """Particles x, v, a, j of shape (3, n) and m of shape (n,); dt is the step, e2 the square of the softening length.

    `sim.call("prepare")` finds the first accelerations and jerks, so a and j may be given as 0.
    """
    state, pair = {"f64": ("f64", "f64"), "dd": ("dd", "dd"), "mixed": ("dd", "f64")}[precision]
    text = _CELL.replace("APART", _APART[precision]).replace("STATE", state).replace("PAIR", pair)
    return trace(text, name=f"hermite_{precision}")


def energy(x: npt.NDArray[np.void], v: npt.NDArray[np.void], m: npt.NDArray[np.void], e2: float = 0.01) -> Decimal:
    """Kinetic and potential energy, to about 30 digits: pairs in dd, their sum over the stars in decimal numbers.

    x, v: (3, n), m: (n,), each of f64 or of dd.
    """
    place = dict(zip("xyz", x, strict=True))
    found = trace(_POTENTIAL, name="potential")(targets=place, sources={**place, "m": m}, e2=e2)["potential"]
    with localcontext() as context:
        context.prec = 40
        speeds = [[each**2 for each in _decimals(component)] for component in v]
        masses, potentials = _decimals(m), _decimals(found)
        parts = zip(masses, potentials, *speeds, strict=True)
        return sum((mass * (sum(squares, Decimal(0)) - phi) / 2 for mass, phi, *squares in parts), Decimal(0))


def _decimals(values: npt.NDArray[np.void]) -> list[Decimal]:
    """The numbers exactly: each f64 is a decimal number, and a dd is hi + lo."""
    if values.dtype.names is None:
        return [Decimal(float(value)) for value in values]
    return [Decimal(float(hi)) + Decimal(float(lo)) for hi, lo in zip(values["hi"], values["lo"], strict=True)]
