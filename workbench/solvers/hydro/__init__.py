"""Hydro: the compressible Euler equations of an ideal gas in any dimension (Paraiso §4.1).

    from workbench.solvers import hydro
    solver = hydro.machine(dim=2)
    sim = solver.simulate(**hydro.conserved(density, (vx, vy), pressure), dx0=1 / 256, dx1=1 / 256)
    sim.run(until=1.0, time="time")

`machine` says which fields, scalars and params there are. A reconstruction and a Riemann solver are plain functions;
those here are examples of what one may write in a cell.
"""

from workbench.solvers.high_order import ppm, weno_z
from workbench.solvers.hydro.midpoint import machine
from workbench.solvers.hydro.reconstruction import constant, mc, minmod
from workbench.solvers.hydro.riemann import hllc, hlle, rusanov
from workbench.solvers.hydro.state import Conserved, GasState, conserved, primitive

__all__ = [
    "Conserved",
    "GasState",
    "conserved",
    "constant",
    "hllc",
    "hlle",
    "machine",
    "mc",
    "minmod",
    "ppm",
    "primitive",
    "rusanov",
    "weno_z",
]
