"""LULESH in NumPy, with lists of nodes as a mesh without structure has, and formulas of their own.

Volumes and their derivatives come from Gauss's quadrature, areas from cross products, rates from inverse Jacobians.
"""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

_CORNERS = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)])
_SIGNS = 2.0 * _CORNERS - 1
_FACES = [(0, 1, 2, 3), (0, 4, 5, 1), (1, 5, 6, 2), (2, 6, 7, 3), (3, 7, 4, 0), (4, 7, 6, 5)]
_MODES = np.array([_SIGNS[:, 1] * _SIGNS[:, 2], _SIGNS[:, 0] * _SIGNS[:, 2], _SIGNS[:, 0] * _SIGNS[:, 1],
                   _SIGNS.prod(axis=1)])  # fmt: skip
_POINTS = np.array(list(product((-1, 1), repeat=3))) / np.sqrt(3)


class LuleshState(NamedTuple):
    """Places and speeds of nodes, (nodes, 3); of elements energy, pressure, viscosity, volume, sound; how it went."""

    place: Array
    speed: Array
    energy: Array
    pressure: Array
    viscosity: Array
    volume: Array
    sound: Array
    cycles: int
    time: float


def run(n: int, most: int = 10**7, stop: float = 1e-2) -> LuleshState:
    """The blast in n³ elements after `most` cycles or at the time `stop`. Elements and nodes go along x first."""
    number = np.arange(n + 1)
    z, y, x = np.meshgrid(number, number, number, indexing="ij")
    place = 1.125 * np.stack([x, y, z], axis=-1).reshape(-1, 3) / n
    index = np.arange((n + 1) ** 3).reshape((n + 1,) * 3)
    nodes = np.stack([index[c : c + n, b : b + n, a : a + n].ravel() for a, b, c in _CORNERS], axis=1)
    whole, _ = _volume(place[nodes])
    mass = np.bincount(nodes.ravel(), np.repeat(whole / 8, 8))
    elements = len(nodes)
    energy = np.zeros(elements)
    energy[0] = 3.948746e7 * (n / 45) ** 3
    speed, pressure, viscosity, sound = np.zeros_like(place), *(np.zeros(elements) for _ in range(3))
    volume, time, cycles = np.ones(elements), 0.0, 0
    step, courant, hydro = 0.5 * whole[0] ** (1 / 3) / np.sqrt(2 * energy[0]), 1e20, 1e20
    walls = place == 0
    while time < stop and cycles < most:
        if cycles:
            bound = min(courant / 2 if courant < 1e20 else 1e20, 1e20)
            bound = hydro * 2 / 3 if hydro < bound else bound
            if bound >= step:
                bound = step if bound / step < 1.1 else min(bound, 1.2 * step)
            step = min(bound, 1e-2)
        left = stop - time
        if step < left < 4 * step / 3:
            left = 2 * step / 3
        step = min(step, left)

        force = np.zeros_like(place)
        np.add.at(force, nodes, _forces(place[nodes], speed[nodes], whole, volume, pressure + viscosity, sound))
        rate = np.where(walls, 0.0, force / mass[:, None])
        speed = speed + rate * step
        speed[np.abs(speed) < 1e-7] = 0.0
        place = place + speed * step

        corners, moving = place[nodes], speed[nodes]
        now, _ = _volume(corners)
        grown = now / whole
        middle = corners - 0.5 * step * moving
        jacobian, gradient = (np.einsum("eca,cb->eab", part, _SIGNS) / 8 for part in (middle, moving))
        stretch = np.einsum("eab,eba->e", gradient, np.linalg.inv(jacobian))
        linear, quadratic = _viscosity(corners, moving, now, grown, stretch, n)
        change = grown - volume
        energy, pressure, viscosity, sound = _state(energy, pressure, viscosity, grown, change, linear, quadratic)
        volume = np.where(np.abs(grown - 1) < 1e-10, 1.0, grown)
        length = 4 * now / np.sqrt(np.max([_area(corners[:, face]) for face in _FACES], axis=0))
        moves = stretch != 0
        wave = np.sqrt(sound**2 + np.where(stretch < 0, 256 * length**2 * stretch**2, 0.0))[moves]
        courant = np.min(length[moves] / wave, initial=1e20)
        hydro = np.min(0.1 / (np.abs(stretch[moves]) + 1e-20), initial=1e20)
        time, cycles = time + step, cycles + 1
    return LuleshState(place, speed, energy, pressure, viscosity, volume, sound, cycles, time)


def _volume(corners: Array) -> tuple[Array, Array]:
    """Volumes, (elements,), and their derivatives by the corners, (elements, 8, 3): exact for trilinear elements."""
    volume, change = np.zeros(len(corners)), np.zeros_like(corners)
    for point in _POINTS:
        factors = (1 + _SIGNS * point) / 2
        shape = np.stack([_SIGNS[:, k] / 2 * np.delete(factors, k, axis=1).prod(axis=1) for k in range(3)], axis=1)
        jacobian = np.einsum("eca,cb->eab", corners, shape)
        p, q, r = (jacobian[:, :, k] for k in range(3))
        cofactors = np.stack([np.cross(q, r), np.cross(r, p), np.cross(p, q)], axis=2)
        volume += np.einsum("ea,ea->e", p, cofactors[:, :, 0])
        change += np.einsum("eab,cb->eca", cofactors, shape)
    return volume, change


def _area(face: Array) -> Array:
    """The squared cross product of the sum and the difference of a face's diagonals, (elements, 4, 3)."""
    first, second = face[:, 2] - face[:, 0], face[:, 3] - face[:, 1]
    squared: Array = np.sum(np.cross(first - second, first + second) ** 2, axis=1)
    return squared


def _forces(corners: Array, moving: Array, whole: Array, volume: Array, stress: Array, sound: Array) -> Array:
    """Forces at the corners, (elements, 8, 3)."""
    force = np.zeros_like(corners)
    for face in _FACES:
        first, second = corners[:, face[2]] - corners[:, face[0]], corners[:, face[3]] - corners[:, face[1]]
        force[:, face] += (stress[:, None] * np.cross(second, first) / 8)[:, None, :]
    now = whole * volume
    change = _volume(corners)[1]
    tilt = np.einsum("mc,eca->ema", _MODES, corners)
    shapes = _MODES.T - np.einsum("eca,ema->ecm", change, tilt) / now[:, None, None]
    amounts = np.einsum("ecm,eca->ema", shapes, moving)
    stiff = -0.03 * sound * whole / np.cbrt(now)
    force += stiff[:, None, None] * np.einsum("ecm,ema->eca", shapes, amounts)
    return force


def _viscosity(corners: Array, moving: Array, now: Array, grown: Array, stretch: Array, n: int) -> tuple[Array, Array]:
    """The linear and the quadratic part of the artificial viscosity."""
    edges = np.einsum("eca,ck->eka", corners, _SIGNS) / 4
    jumps = np.einsum("eca,ck->eka", moving, _SIGNS) / 4
    linear, quadratic = np.zeros(len(now)), np.zeros(len(now))
    for k in range(3):
        normal = np.cross(edges[:, (k + 1) % 3], edges[:, (k + 2) % 3])
        width = now / np.sqrt(np.sum(normal**2, axis=1) + 1e-36)
        own = np.sum(normal * jumps[:, k], axis=1) / (now + 1e-36)
        grid = np.moveaxis(own.reshape((n,) * 3), 2 - k, 0)
        behind = np.concatenate([grid[:1], grid[:-1]])
        ahead = np.concatenate([grid[1:], np.zeros_like(grid[:1])])
        behind, ahead = (np.moveaxis(each, 0, 2 - k).ravel() / (own + 1e-36) for each in (behind, ahead))
        smooth = np.clip(np.min([(behind + ahead) / 2, 2 * behind, 2 * ahead], axis=0), 0, 1)
        drop = np.minimum(own * width, 0)
        linear += drop * (1 - smooth)
        quadratic += drop**2 * (1 - smooth**2)
    shrinks = (stretch <= 0) / grown
    return -0.5 * shrinks * linear, 2 / 3 * shrinks * quadratic


def _state(
    energy: Array, pressure: Array, viscosity: Array, grown: Array, change: Array, linear: Array, quadratic: Array
) -> tuple[Array, Array, Array, Array]:
    """Energy, pressure, viscosity and speed of sound."""

    def speed(energy: Array, pressure: Array, volume: Array) -> Array:
        squared = 2 / 3 * energy + 2 / 3 * volume * pressure
        return np.where(squared <= 0.1111111e-36, 0.3333333e-18, np.sqrt(np.abs(squared)))

    def pressed(energy: Array, volume: Array) -> Array:
        found = 2 / 3 * energy / volume
        return np.where(found < 1e-7, 0.0, found)

    def shock(speed: Array) -> Array:
        return np.where(change > 0, 0.0, speed * linear + quadratic)

    half, before = grown - change / 2, pressure + viscosity
    made = energy - change / 2 * before
    between = pressed(made, half)
    viscous = shock(speed(made, between, half))
    made = made + change / 2 * (3 * before - 4 * (between + viscous))
    made[np.abs(made) < 1e-7] = 0.0
    later = pressed(made, grown)
    late = later + shock(speed(made, later, grown))
    made = made - (7 * before - 8 * (between + viscous) + late) * change / 6
    made[np.abs(made) < 1e-7] = 0.0
    later = pressed(made, grown)
    sound = speed(made, later, grown)
    last = shock(sound)
    return made, later, np.where(np.abs(last) < 1e-7, 0.0, last), sound
