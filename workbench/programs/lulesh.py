"""LULESH: Sedov's blast on hexahedra that move with the gas (Hornung, Keasler, Gokhale 2011, LLNL-TR-490254).

Positions and velocities belong to the nodes of the mesh, energy, pressure, viscosity and volume to its elements. A
cycle is a turn of one while_loop over whole arrays: forces at the corners of each element, motion of the nodes, then
the new volumes and rates of the elements, their viscosity, their state, and the next time step from a minimum over all.
Arrays have the axes z, y, x. The mesh is a box of cubes to begin with, of n elements along each axis. Arrays of
elements have the shape of nodes, n + 1, with one layer at the end of each axis that holds no element and is left out.
The gas is one region, as with `lulesh2.0 -r 1`; constants are those of LLNL's code, units those of its problem.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from workbench.array_function import collective
from workbench.errors import RunError
from workbench.language import constant, generate, while_loop, windows
from workbench.programs.hexahedra import (
    CORNERS,
    edge_velocities,
    face_normals,
    hourglass_forces,
    length_of,
    stretch_rates,
    volume_derivatives,
    volume_of,
)

Array = Any
"""An array of the call, or a traced one inside of the function."""

EDGE = 1.125
"""Of the box."""
ENERGY = 3.948746e7
"""In the first of 45³ elements; of n³ it is (n / 45)³ of this."""
STOP = 1e-2
"""When the run ends."""
_MOST = 10**7
_LEAST_STEP, _MOST_STEP, _LONGEST = 1.1, 1.2, 1e-2
_NEVER = 1e20
_HOURGLASS = 3.0
_SMALL_SPEED, _SMALL_ENERGY, _SMALL_STRAIN = 1e-7, 1e-7, 1e-10
_LEAST_ENERGY = -1e15
_TINY = 1e-36
_LINEAR, _QUADRATIC, _COURANT, _STRAIN = 0.5, 2 / 3, 2.0, 0.1


class LuleshArrays(NamedTuple):
    """Arrays of (n + 1)³ f64: of nodes the positions and velocities, of elements what `lulesh` says of them.

    energy, pressure and viscosity are per volume at the beginning, volume is relative to it; sound: its speed.
    """

    x: Array
    y: Array
    z: Array
    u: Array
    v: Array
    w: Array
    energy: Array
    pressure: Array
    viscosity: Array
    volume: Array
    sound: Array


class Blast(NamedTuple):
    """A run: the gas, the cycles so far, the time, the last time step, and the least relative volume of the last cycle.

    courant, hydro: bounds of the next time step, by the speed of sound and by the rate at which volumes change.
    """

    gas: LuleshArrays
    cycles: int
    time: float
    step: float
    courant: float
    hydro: float
    least: float


def blast(n: int) -> Blast:
    """The beginning: a box of n³ cubes at rest, all energy in the element at the origin."""
    x, y, z = _box(n)
    still = np.zeros((n + 1,) * 3)
    energy = still.copy()
    energy[0, 0, 0] = ENERGY * (n / 45) ** 3
    volume = volume_of(*([part[place] for place in CORNERS] for part in (x, y, z)))  # of the element at the origin
    step = 0.5 * np.cbrt(volume) / np.sqrt(2 * energy[0, 0, 0])
    gas = LuleshArrays(x, y, z, *(still,) * 3, energy, still, still, np.ones_like(still), still)
    return Blast(gas, 0, 0.0, float(step), _NEVER, _NEVER, 1.0)


def _box(n: int) -> tuple[npt.NDArray[Any], ...]:
    """Positions x, y and z of the nodes at the beginning."""
    place, made = EDGE * np.arange(n + 1) / n, tuple(np.empty((n + 1,) * 3) for _ in range(3))
    for axis, part in enumerate(made):
        part[...] = place.reshape(-1, *(1,) * axis)
    return made


def run(start: Blast, cycles: int = _MOST, stop: float = STOP, **how: Any) -> Blast:  # noqa: ANN401  # of a call
    """The blast after so many cycles more, or at the time `stop`. how: backend=, threads=.

    RunError if an element turns inside out.
    """
    box = _box(start.gas.x.shape[0] - 1)
    numbers = start.cycles, start.time, start.step, start.courant, start.hydro, start.least
    *gas, count, time, step, courant, hydro, least = advanced(
        start.gas, box, *numbers, start.cycles + cycles, stop, **how
    )
    made = Blast(LuleshArrays(*gas), int(count), float(time), float(step), float(courant), float(hydro), float(least))
    if made.least <= 0:
        raise RunError(
            f"an element has the volume {made.least:.3g} after {made.cycles} cycles", advice="Use more elements."
        )
    return made


def asymmetry(energy: npt.NDArray[Any]) -> tuple[float, float, float]:
    """How far energies of the first plane differ from those with x and y exchanged: the most, the sum, relatively."""
    n = energy.shape[0] - 1
    plane = energy[0, :n, :n]
    row, column = np.triu_indices(n, 1)
    apart, other = np.abs(plane[row, column] - plane[column, row]), plane[column, row]
    relative = apart / np.where(other == 0, 1.0, other)  # where the blast has not arrived, both are 0
    return float(apart.max()), float(apart.sum()), float(relative.max())


@collective
def volumes(x: Array, y: Array, z: Array) -> Array:
    """The volume of each element; 1 in the last layers, where there is none."""
    return np.where(_is_element(x), volume_of(_corners(x), _corners(y), _corners(z)), 1.0)


@collective
def masses(x: Array, y: Array, z: Array) -> Array:
    """What each node moves: an eighth of the elements around it. Their density is 1."""
    eighth = np.where(_is_element(x), volume_of(_corners(x), _corners(y), _corners(z)) / 8, 0.0)
    return _at_nodes([eighth] * 8)


@collective
def advanced(  # noqa: PLR0913  # what a blast has, as numbers
    gas: LuleshArrays, box: tuple[Array, Array, Array], cycles: int, time: float, step: float, courant: float,
    hydro: float, least: float, limit: int, stop: float,
) -> Any:  # noqa: ANN401  # arrays and numbers  # fmt: skip
    """The function behind `run`: the arrays of the gas and the numbers of a blast at `stop`, or after `limit` cycles.

    box: positions at the beginning. Volumes and masses of then are computed once, before the cycles.
    """
    _meet(*gas, *box)
    whole, mass = volumes(*box), masses(*box)

    def goes_on(*carried: Any) -> Any:  # noqa: ANN401  # traced
        count, now, *_, least = carried[len(LuleshArrays._fields) :]
        return (count < limit) & (now < stop) & (least > 0)

    def cycle(*carried: Any) -> Any:  # noqa: ANN401  # traced
        gas = LuleshArrays(*carried[: len(LuleshArrays._fields)])
        count, now, step, courant, hydro, _ = carried[len(LuleshArrays._fields) :]
        step = _next_step(count, now, step, courant, hydro, stop)
        gas = _moved(gas, whole, mass, step)
        gas, courant, hydro, least = _changed(gas, whole, step)
        return (*gas, count + 1, now + step, step, courant, hydro, least)

    return while_loop(goes_on, cycle, (*gas, cycles, time, step, courant, hydro, least), at_most=_MOST)


def _next_step(count: Any, now: Any, step: Any, courant: Any, hydro: Any, stop: Any) -> Any:  # noqa: ANN401  # traced
    """The time step: neither much longer than the last one nor just not long enough to end at `stop`."""
    bound = np.where(courant < _NEVER, courant / 2, _NEVER)
    bound = np.where(hydro < bound, hydro * 2 / 3, bound)
    ratio = bound / step
    held = np.where(ratio < _LEAST_STEP, step, np.where(ratio > _MOST_STEP, step * _MOST_STEP, bound))
    chosen = np.minimum(np.where(ratio >= 1, held, bound), _LONGEST)
    chosen = np.where(count == 0, step, chosen)
    left = stop - now
    left = np.where((left > chosen) & (left < 4 * chosen / 3), 2 * chosen / 3, left)
    return np.where(left < chosen, left, chosen)


def _moved(gas: LuleshArrays, whole: Array, mass: Array, step: Any) -> LuleshArrays:  # noqa: ANN401  # traced
    """Nodes after a time step under the forces of pressure and viscosity, and those against hourglass modes."""
    place, speed = [_corners(part) for part in gas[:3]], [_corners(part) for part in gas[3:6]]
    now = whole * gas.volume
    stiff = -_HOURGLASS * 0.01 * gas.sound * whole / _cube_root(now)
    pushed = face_normals(*place)
    twisted = hourglass_forces(place, speed, volume_derivatives(*place), now, stiff)
    is_element, stress = _is_element(gas.x), gas.pressure + gas.viscosity
    made = []
    for axis, (part, normals, forces) in enumerate(zip(gas[3:6], pushed, twisted, strict=True)):
        inside = [np.where(is_element, stress * a + b, 0.0) for a, b in zip(normals, forces, strict=True)]
        rate = np.where(_index(gas.x, 2 - axis) == 0, 0.0, _at_nodes(inside) / mass)  # the walls of symmetry
        faster = part + rate * step
        made.append(np.where(np.abs(faster) < _SMALL_SPEED, 0.0, faster))
    places = [part + speed * step for part, speed in zip(gas[:3], made, strict=True)]
    return gas._replace(**dict(zip("xyzuvw", (*places, *made), strict=True)))


def _changed(gas: LuleshArrays, whole: Array, step: Any) -> tuple[LuleshArrays, Any, Any, Any]:  # noqa: ANN401  # traced
    """The elements after nodes have moved; bounds of the next time step, and the least relative volume."""
    is_element = _is_element(gas.x)
    place, speed = [_corners(part) for part in gas[:3]], [_corners(part) for part in gas[3:6]]
    now = volume_of(*place)
    volume = np.where(is_element, now / whole, 1.0)
    halfway = [[p - 0.5 * step * s for p, s in zip(*both, strict=True)] for both in zip(place, speed, strict=True)]
    rate = np.where(is_element, stretch_rates(halfway, speed), 0.0)
    length = np.where(is_element, length_of(place, now), 1.0)
    linear, quadratic = _viscosity(place, speed, is_element, whole, volume, rate)
    energy, pressure, viscosity, sound = _state(gas, volume, linear, quadratic)
    fast = sound * sound + np.where(rate < 0, 64 * _COURANT**2 * length * length * rate * rate, 0.0)
    changes = rate != 0
    courant = np.min(np.where(changes, length / np.sqrt(np.where(changes, fast, 1.0)), _NEVER))
    hydro = np.min(np.where(changes, _STRAIN / (np.abs(rate) + 1e-20), _NEVER))
    kept = np.where(np.abs(volume - 1) < _SMALL_STRAIN, 1.0, volume)
    made = gas._replace(energy=energy, pressure=pressure, viscosity=viscosity, volume=kept, sound=sound)
    return made, courant, hydro, np.min(volume)


def _viscosity(place: Any, speed: Any, is_element: Any, whole: Any, volume: Any, rate: Any) -> tuple[Any, Any]:  # noqa: ANN401  # traced
    """Artificial viscosity as a linear and a quadratic part of the jump in velocity, limited where it is smooth."""
    linear, quadratic = 0.0, 0.0
    for axis, (jump, width) in enumerate(edge_velocities(place, speed, whole * volume, _TINY)):
        own = np.where(is_element, jump, 0.0)  # beyond the free end there is none
        behind, ahead = _beside(own, 2 - axis, -1), _beside(own, 2 - axis, 1)
        norm = 1 / (own + _TINY)
        behind, ahead = behind * norm, ahead * norm
        smooth = np.minimum(np.minimum(0.5 * (behind + ahead), 2 * behind), 2 * ahead)
        smooth = np.minimum(np.maximum(smooth, 0.0), 1.0)
        drop = np.minimum(own * width, 0.0)
        linear = linear + drop * (1 - smooth)
        quadratic = quadratic + drop * drop * (1 - smooth * smooth)
    density = 1 / volume
    grows = rate > 0
    return np.where(grows, 0.0, -_LINEAR * density * linear), np.where(grows, 0.0, _QUADRATIC * density * quadratic)


def _state(gas: LuleshArrays, volume: Any, linear: Any, quadratic: Any) -> tuple[Any, Any, Any, Any]:  # noqa: ANN401  # traced
    """Energy, pressure, viscosity and speed of sound of a gas of gamma 5/3, by two half steps and a correction."""
    change = volume - gas.volume
    dense, half = 1 / volume - 1, 1 / (volume - 0.5 * change) - 1
    middle = 1 / (1 + half)
    grows, before = change > 0, gas.pressure + gas.viscosity

    def shock(energy: Any, pressure: Any, stiff: Any, size: Any) -> tuple[Any, Any]:  # noqa: ANN401  # traced
        squared = 2 / 3 * energy + size * size * stiff * pressure
        sound = np.where(squared <= 1.111111e-37, 3.333333e-19, np.sqrt(np.maximum(squared, 0.0)))
        return sound, np.where(grows, 0.0, sound * linear + quadratic)

    def pressed(energy: Any, dense: Any) -> tuple[Any, Any]:  # noqa: ANN401  # traced
        stiff = 2 / 3 * (dense + 1)
        pressure = stiff * energy
        return stiff, np.maximum(np.where(np.abs(pressure) < _SMALL_ENERGY, 0.0, pressure), 0.0)

    def bounded(energy: Any) -> Any:  # noqa: ANN401  # traced
        return np.maximum(np.where(np.abs(energy) < _SMALL_ENERGY, 0.0, energy), _LEAST_ENERGY)

    energy = np.maximum(gas.energy - 0.5 * change * before, _LEAST_ENERGY)
    stiff, there = pressed(energy, half)
    _, viscous = shock(energy, there, stiff, middle)
    energy = bounded(energy + 0.5 * change * (3 * before - 4 * (there + viscous)))
    stiff, pressure = pressed(energy, dense)
    _, again = shock(energy, pressure, stiff, volume)
    energy = bounded(energy - (7 * before - 8 * (there + viscous) + (pressure + again)) * change / 6)
    stiff, pressure = pressed(energy, dense)
    sound, last = shock(energy, pressure, stiff, volume)
    viscosity = np.where(np.abs(last) < _SMALL_ENERGY, 0.0, last)
    return energy, pressure, viscosity, sound


def _corners(nodes: Array) -> list[Array]:
    """The values at the eight corners of each element."""
    return [windows(lambda near, place=place: near[place], nodes, "outflow") for place in CORNERS]


def _at_nodes(corners: list[Array]) -> Array:
    """For each node the sum of what the corners of the elements around it have."""
    total: Any = 0.0
    for part, place in zip(corners, CORNERS, strict=True):
        total = total + windows(lambda near, p=place: near[tuple(-d for d in p)], part, constant(0.0))
    return total


def _beside(elements: Array, axis: int, step: int) -> Array:
    """The next element along an axis; at a wall of symmetry the element itself."""
    place = tuple(step * (k == axis) for k in range(3))
    return windows(lambda near: near[place], elements, "outflow")


def _meet(first: Array, *others: Array) -> list[Array]:
    """Let arrays have one shape: found here, it need not be found inside of the cycle, which is traced once then."""
    return [first + other for other in others]


def _index(nodes: Array, axis: int) -> Array:
    return generate(nodes.shape, lambda *place: place[axis])


def _is_element(nodes: Array) -> Array:
    """Whether there is an element: none in the last layer of each axis."""
    inside = [_index(nodes, axis) < nodes.shape[axis] - 1 for axis in range(3)]
    return inside[0] & inside[1] & inside[2]


def _cube_root(value: Array) -> Array:
    """By operations that have equal bits on every backend, which `np.cbrt` has not: a power of two, then Newton."""
    root = np.exp2(np.log2(value) / 3)
    return root - (root * root * root - value) / (3 * (root * root))
