"""Plasma: electrons that move in the field of their own charge, on a periodic line (Birdsall and Langdon 1985).

Particle in cell as one machine: electrons leave their charge in the two nearest cells (`scatter`), a running sum of the
charge is the field (`scan`), the field is read where the electrons are (`gather`), and a leapfrog moves them. Ions are
a background at rest. Units: plasma frequency 1, mean density 1.
"""

from __future__ import annotations

from math import asin, cos, pi, sin, sqrt

from workbench.machine import Machine, trace

CELL = """
E = field("E", boundary="periodic")
charge = field("charge")
x, v = particles("x v")
dt, length = param("dt", 0.05, above=0), param("length", 1.0, above=0)
energy = scalar("energy")

cells, count = size(0), size("particles")
dx = length / cells
place = x / dx - 0.5
cell = astype(floor(place), "i64")
part = place - floor(place)
electrons = scatter(add, 0 * charge, cell % cells, 1 - part)
electrons = scatter(add, electrons, (cell + 1) % cells, part)
charge1 = manifest(1 - electrons * (cells / count))

rises = scan(add, charge1) * dx
faces = rises - reduce_sum(rises) / cells
field1 = manifest(0.5 * (faces + extend(faces, "periodic")[-1]))


def at(k):
    return gather(extend(field1, "periodic"), k)


v1 = v - dt * ((1 - part) * at(cell) + part * at(cell + 1))
moved = x + dt * v1
x.next, v.next = moved - length * floor(moved / length), v1
E.next, charge.next = field1, charge1
energy.next = 0.5 * reduce_sum(v * v1) * length / count + 0.5 * reduce_sum(field1**2) * dx
"""


def machine() -> Machine:
    """Electrons x in [0, length), v half a step earlier; fields E and charge, made by the first step; dt, length."""
    return trace(CELL, name="plasma")


def frequency(cells: int, dt: float, waves: int = 1) -> float:
    """The frequency at which a small wave of so many lengths in the line swings on the grid, where 1 is the plasma's.

    The charge of an electron is spread over two cells (twice, as the force is read so too), the field is a mean of two
    faces, and the leapfrog is ahead in time.
    """
    angle = pi * waves / cells
    return 2 / dt * asin(dt / 2 * sqrt((sin(angle) / angle) ** 4 * angle * cos(angle) / sin(angle)))
