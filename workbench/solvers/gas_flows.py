"""Gas flows: initial states of the hydrodynamics solver that are worth a picture, each with its sides and its end.

    from workbench.solvers import gas_flows
    sim = gas_flows.kelvin_helmholtz().simulate(256)
    sim.run(until=2.0, time="time")

Every function returns a `GasFlow`; `reconstruction=`, `riemann=`, `dtype=` and whatever else `hydro.machine` takes go
through `machine` and `simulate`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import cos, pi, radians, sin, sqrt
from typing import Any

import numpy as np

from workbench.errors import StencilError
from workbench.machine import Machine, Simulation
from workbench.solvers import hydro
from workbench.solvers.hydro.outside import Boundary

Quantity = Any  # a traced value, an array or a number
Primitive = tuple[Quantity, tuple[Quantity, ...], Quantity]


@dataclass(frozen=True, slots=True)
class GasFlow:
    """A box of `lengths`, what fills it at time 0, what is outside, and when one usually looks at it.

    `start` is a function (x, y, ...) -> (density, (velocity, ...), pressure) of the cells' centres.
    """

    name: str
    lengths: tuple[float, ...]
    start: Callable[..., Primitive]
    boundary: Boundary
    gamma: float
    end: float

    def shape(self, cells: int) -> tuple[int, ...]:
        """Cells along each axis for `cells` to a unit of length. Raises StencilError for fractions and below 4."""
        if isinstance(cells, bool) or not isinstance(cells, int | np.integer):
            raise StencilError(f"cells={cells!r} is no whole number of cells", advice="Pass cells=128 or the like.")
        extents = tuple(round(length * cells) for length in self.lengths)
        if min(extents) < 4:
            raise StencilError(f"{cells} cells a unit make a box of {extents}", advice="Pass more cells.")
        return extents

    def centres(self, cells: int) -> list[Any]:
        """Coordinates of the cells' centres, an array of the box's shape for each axis."""
        axes = [(np.arange(extent) + 0.5) / cells for extent in self.shape(cells)]
        return list(np.meshgrid(*axes, indexing="ij"))

    def machine(self, **options: Any) -> Machine:  # noqa: ANN401  # as hydro.machine
        """The solver for this box; `options` are those of `hydro.machine`."""
        return hydro.machine(len(self.lengths), boundary=self.boundary, **options)

    def simulate(self, cells: int, *, backend: str = "auto", **options: Any) -> Simulation:  # noqa: ANN401  # as hydro.machine
        """The flow at time 0 on a grid of `cells` cells to a unit of length."""
        start = hydro.conserved(*self.start(*self.centres(cells)), gamma=self.gamma)
        widths: dict[str, Any] = {f"dx{axis}": 1 / cells for axis in range(len(self.lengths))}
        return self.machine(**options).simulate(**start, **widths, backend=backend)


def jet() -> GasFlow:
    """The jet of Paraiso's repository: gas of density gamma² enters at x = 0 with velocity 6, ten times lighter.

    Everywhere pressure 0.6; the gas inside carries a ripple of 1e-3 sin 6 pi x. The nozzle is 0.47 < y < 0.53.
    """
    gamma = 5 / 3

    def start(x: Quantity, y: Quantity) -> Primitive:
        del y
        ripple = 1 + 1e-3 * np.sin(6 * pi * x)
        return 10 * gamma**2 * ripple, (0.0, 0.0), 0.6 * ripple

    def outside(x: Quantity, y: Quantity, time: Quantity) -> Primitive:
        del time
        nozzle = (x < 0) & (y > 0.47) & (y < 0.53)
        return gamma**2 * np.where(nozzle, 1.0, 10.0), (np.where(nozzle, 6.0, 0.0), 0.0), 0.6

    return GasFlow("jet", (1.0, 1.0), start, outside, gamma, 0.5)


def kelvin_helmholtz() -> GasFlow:
    """Two streams that shear, with smooth borders, so that pictures converge (McNally, Lyra and Passy 2012, §2.1)."""
    width = 0.025

    def profile(y: Quantity, low: float, high: float) -> Quantity:
        """`low` outside, `high` inside 1/4 < y < 3/4, exponential ramps between."""
        middle = 0.5 * (low - high)
        below, above = np.exp(-np.abs(y - 0.25) / width), np.exp(-np.abs(y - 0.75) / width)
        ramp = middle * (below + above)
        return np.where((y > 0.25) & (y < 0.75), high + ramp, low - ramp)

    def start(x: Quantity, y: Quantity) -> Primitive:
        velocity = (profile(y, 0.5, -0.5), 0.01 * np.sin(4 * pi * x))
        return profile(y, 1.0, 2.0), velocity, 2.5

    return GasFlow("kelvin_helmholtz", (1.0, 1.0), start, "periodic", 5 / 3, 2.0)


SEDOV_CONSTANT = {1: 1.077094, 2: 0.984041, 3: 0.851072}
"""alpha in r = (E t² / (alpha rho))^(1 / (dim + 2)) for gamma 1.4, by dimension (Kamm and Timmes 2007)."""


def sedov(dim: int = 2, radius: float | None = None) -> GasFlow:
    """A blast of energy 1 at the middle of cold gas of density 1 (Sedov 1959).

    radius: of the ball that the energy starts from; the shock forgets it as it grows, in one dimension slowest.
    """
    if dim not in SEDOV_CONSTANT:
        raise StencilError(f"dim={dim!r} has no blast wave", advice="Use dim=1, 2 or 3.")
    ball = radius if radius is not None else {1: 0.005, 2: 0.035, 3: 0.035}[dim]

    def start(*places: Quantity) -> Primitive:
        inside = sum((x - 0.5) ** 2 for x in places) <= ball**2
        volume = float(np.mean(inside))  # of a box of volume 1
        if volume == 0:
            raise StencilError(f"no cell lies within {ball} of the middle", advice="Pass more cells or a radius.")
        return 1.0, (0.0,) * dim, np.where(inside, 0.4 / volume, 1e-6)

    return GasFlow("sedov", (1.0,) * dim, start, "outflow", 1.4, {1: 0.15, 2: 0.1, 3: 0.05}[dim])


def sedov_radius(time: float, dim: int = 2) -> float:
    """Where the shock of `sedov` is: (E t² / (alpha rho))^(1 / (dim + 2)); alpha as in Kamm and Timmes (2007)."""
    return float((time**2 / SEDOV_CONSTANT[dim]) ** (1 / (dim + 2)))


def double_mach_reflection() -> GasFlow:
    """A shock of Mach 10 meets a wall at 60 degrees (Woodward and Colella 1984, §IVc), in a box of 3 by 1.

    x = 0 is their x = 1/6, where the wall begins: the flow before it is supersonic and stays as it was.
    """
    speed = 8.25
    behind = (8.0, (speed * cos(radians(30)), -speed * sin(radians(30))), 116.5)

    def outside(x: Quantity, y: Quantity, time: Quantity) -> Primitive:
        shocked = x < (y + 20.0 * time) / sqrt(3.0)
        velocity = tuple(np.where(shocked, v, 0.0) for v in behind[1])
        return np.where(shocked, behind[0], 1.4), velocity, np.where(shocked, behind[2], 1.0)

    def start(x: Quantity, y: Quantity) -> Primitive:
        return outside(x, y, 0.0)

    sides = {"x-": outside, "x+": "outflow", "y-": "reflect", "y+": outside}
    return GasFlow("double_mach_reflection", (3.0, 1.0), start, sides, 1.4, 0.2)
