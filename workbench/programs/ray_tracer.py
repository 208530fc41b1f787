"""Ray tracer: spheres and planes that mirror each other and throw shadows (Whitted 1980; McDonell 2015, §6.13).

A ray leaves the eye through each pixel. What it meets first is a fold over all spheres, in order, and one over all
planes; each light counts where nothing stands between; then the mirrored ray goes on in the same way. Objects and
lights are arrays, so a scene of any size, from anywhere and at any number of pixels, is one program: a
while_loop over rays, all of which meet their next surface in a turn. No array has an axis of pixels and one of objects.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from workbench.array_function import collective
from workbench.language import fold, generate, while_loop

Array = Any
"""An array of the call, or a traced one inside of the function."""
Vector = tuple[Any, Any, Any]

NEAR = 1e-4
"""A ray meets nothing nearer than this, so that a surface is not hidden by itself. In units of the scene."""
DARK = 0.4
"""What every other square of a plane has of the plane's colour."""
_RAYS = 1 << 17
"""Followed at a time, so that near caches keep what turns store, some 300 bytes a ray."""
_MOST = 1000
"""Turns, which is more than a picture shows."""


class Spheres(NamedTuple):
    """Spheres, an array of length n for each: centre, radius, colour and the part of light that is mirrored, 0 to 1."""

    x: Array
    y: Array
    z: Array
    radius: Array
    red: Array
    green: Array
    blue: Array
    shine: Array


class Planes(NamedTuple):
    """Planes, an array of length n for each: a point, the unit normal (a, b, c), colour and shine as of spheres.

    square: the edge of squares along x and z that are bright and dark in turn, as on a board; inf for none.
    """

    x: Array
    y: Array
    z: Array
    a: Array
    b: Array
    c: Array
    red: Array
    green: Array
    blue: Array
    shine: Array
    square: Array


class Lights(NamedTuple):
    """Lights that are points, an array of length n for each: where, and how bright one is at a distance of 1."""

    x: Array
    y: Array
    z: Array
    red: Array
    green: Array
    blue: Array


class Scene(NamedTuple):
    """All that is to be seen, and what lights it."""

    spheres: Spheres
    planes: Planes
    lights: Lights


class _Surface(NamedTuple):
    """What a ray meets: where, the unit normal against the ray, the colour, and the part that is mirrored."""

    point: Vector
    normal: Vector
    colour: Vector
    shine: Array


def board(dtype: npt.DTypeLike = np.float64) -> Scene:
    """A scene: five spheres on a board in front of a wall, and two lamps."""

    def of(*values: float) -> npt.NDArray[Any]:
        return np.array(values, np.float64).astype(dtype)

    spheres = Spheres(
        x=of(-1.3, 0.2, 1.5, 0.1, -0.5), y=of(1, 0.7, 0.5, 0.3, 0.25), z=of(1.5, 0.4, 1.2, -0.8, -0.9),
        radius=of(1, 0.7, 0.5, 0.3, 0.25), red=of(0.9, 0.9, 0.4, 0.9, 0.5), green=of(0.3, 0.8, 0.9, 0.9, 0.9),
        blue=of(0.3, 0.3, 0.5, 0.95, 0.5), shine=of(0.4, 0.3, 0.2, 0.7, 0.1),
    )  # fmt: skip
    planes = Planes(
        x=of(0, 0), y=of(0, 0), z=of(0, 6), a=of(0, 0), b=of(1, 0), c=of(0, -1), red=of(0.9, 0.5),
        green=of(0.9, 0.6), blue=of(0.9, 0.8), shine=of(0.2, 0.1), square=of(0.7, np.inf),
    )  # fmt: skip
    lights = Lights(
        x=of(-4, 3), y=of(5, 4), z=of(-3, -2), red=of(22, 8), green=of(20, 9), blue=of(18, 12)
    )  # fmt: skip
    return Scene(spheres, planes, lights)


def picture(
    scene: Scene, eye: Array, towards: Array, width: float = 1.0, ambient: float = 0.3,
    shape: tuple[int, int] = (300, 400), limit: int = 4, **how: Any,  # noqa: ANN401  # of a call
) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:  # fmt: skip
    """Red, green and blue of a picture, each of `shape`, from 0 to 1, rows from the top.

    eye, towards: three numbers each, where the picture is seen from and what is in its middle, not straight above.
    width: of the picture at a distance of 1. ambient: light that is everywhere. limit: how many surfaces a ray meets,
    at most 1000. how: backend=, threads=. Computed in the type of the x of the spheres, which other arrays should have
    too. Nothing that is given compiles anything again but that type. A large picture is made some rows at a time,
    but for results that stay on a device (device=True).
    """
    scene, across, up, *further = arguments(scene, eye, towards, width, ambient, shape, limit)
    at_a_time = len(up) if how.get("device") else max(1, _RAYS // max(1, len(across)))
    if at_a_time >= len(up):
        return traced_rays(scene, across, up, *further, **how)  # type: ignore[no-any-return]  # what the function returns
    made: Any = tuple(np.empty(shape, up.dtype) for _ in range(3))
    for first in range(0, len(up), at_a_time):
        rows = slice(first, first + at_a_time)
        for colour, part in zip(made, traced_rays(scene, across, up[rows], *further, **how), strict=True):
            colour[rows] = part
    return made  # type: ignore[no-any-return]  # as above


def arguments(
    scene: Scene, eye: Array, towards: Array, width: float, ambient: float, shape: tuple[int, int], limit: int
) -> tuple[Any, ...]:
    """The arguments of `traced_rays` for a picture. A scene without spheres or planes gets one that no ray meets."""
    rows, columns = shape
    type_ = np.asarray(scene.spheres.x).dtype
    step = width / columns
    across = ((np.arange(columns) + 0.5 - columns / 2) * step).astype(type_)
    up = ((rows / 2 - 0.5 - np.arange(rows)) * step).astype(type_)
    none = np.zeros(1, type_)
    spheres = scene.spheres if len(scene.spheres.x) else Spheres(*[none] * len(scene.spheres))
    planes = scene.planes if len(scene.planes.x) else Planes(*[none] * len(scene.planes))
    seen = Scene(spheres, planes, scene.lights)
    return seen, across, up, *map(float, eye), *map(float, towards), ambient, limit


@collective
def traced_rays(  # noqa: PLR0913  # numbers in a tuple would be known while it is traced
    scene: Scene, across: Array, up: Array, eye_x: float, eye_y: float, eye_z: float,
    to_x: float, to_y: float, to_z: float, ambient: float = 0.3, limit: int = 4,
) -> Vector:  # fmt: skip
    """The function behind `picture`: red, green and blue of each row and column.

    across, up: where columns and rows lie at a distance of 1, to the right and upwards. eye and to are points. There is
    a sphere and a plane at least.
    """
    eye, towards = (eye_x, eye_y, eye_z), (to_x, to_y, to_z)
    ahead = _unit(_minus(towards, eye))
    right = _unit((ahead[2], 0.0, -ahead[0]))  # the horizon is level
    above = _cross(ahead, right)
    parts = zip(ahead, right, above, strict=True)
    way = _unit(tuple(p + across[None, :] * q + up[:, None] * r for p, q, r in parts))
    dark = 0 * way[0]
    start = tuple(dark + place for place in eye)

    def goes_on(turn: Any, goes: Any, *carried: Any) -> Any:  # noqa: ANN401  # traced
        return (turn < limit) & np.any(goes)

    def meet(turn: Any, goes: Any, *carried: Any) -> Any:  # noqa: ANN401  # traced
        start, way, *light = (carried[first : first + 3] for first in range(0, 15, 3))
        is_hit, surface = _met(scene, start, way)
        direct = _direct(scene, surface)
        goes = goes & is_hit
        light = _seen_through(light, surface, [part + ambient for part in direct], goes)
        into = 2 * _dot(way, surface.normal)
        mirrored = tuple(w - into * n for w, n in zip(way, surface.normal, strict=True))
        return (turn + 1, goes, *surface.point, *mirrored, *light[0], *light[1], *light[2])

    # A ray that ends sees nothing: all the light of what lies beyond it is 0.
    begin = 0, dark == 0, *start, *way, *(dark + 1,) * 3, *(dark,) * 3, *(dark + 1,) * 3
    made = while_loop(goes_on, meet, begin, at_most=_MOST)
    most, own = made[8:11], made[11:14]
    red, green, blue = (np.minimum(m, o) for m, o in zip(most, own, strict=True))
    return red, green, blue


def _seen_through(light: Any, surface: _Surface, direct: Any, goes: Any) -> list[tuple[Any, ...]]:  # noqa: ANN401  # traced
    """What is seen as a function of the light from farther on, after one more surface: min(most, own + part * beyond).

    Each surface gives back min(1, colour * ((1 - shine) * direct + shine * beyond)). Put into the function of those
    before, with own and part above 0, that is such a function again; so rays are followed forwards, without recursion.
    """
    most, own, part = light
    lit = [c * (1 - surface.shine) * d for c, d in zip(surface.colour, direct, strict=True)]
    given = [c * surface.shine for c in surface.colour]
    return [
        tuple(np.where(goes, np.minimum(m, o + p), m) for m, o, p in zip(most, own, part, strict=True)),
        tuple(np.where(goes, o + p * d, o) for o, p, d in zip(own, part, lit, strict=True)),
        tuple(np.where(goes, p * g, p) for p, g in zip(part, given, strict=True)),
    ]


def _met(scene: Scene, start: Any, way: Any) -> tuple[Any, _Surface]:  # noqa: ANN401  # traced
    """Whether each ray meets a surface, and the one that it meets first."""
    near_sphere, x, y, z, radius, *of_sphere = _nearest(_to_spheres(scene.spheres, start, way), scene.spheres)
    near_plane, a, b, c, *of_plane, square = _nearest(_to_planes(scene.planes, start, way), scene.planes[3:])
    is_sphere, distance = near_sphere < near_plane, np.minimum(near_sphere, near_plane)
    is_hit = distance < np.inf
    reached = np.where(is_hit, distance, 0)
    point = tuple(s + reached * w for s, w in zip(start, way, strict=True))
    outward = tuple((p - m) / radius for p, m in zip(point, (x, y, z), strict=True))
    side = np.where(_dot(way, (a, b, c)) < 0, 1, -1)
    normal = tuple(np.where(is_sphere, o, side * n) for o, n in zip(outward, (a, b, c), strict=True))
    fields = (np.floor(point[0] / square) + np.floor(point[2] / square)) * 0.5
    shade = np.where(fields == np.floor(fields), 1, DARK)
    plane = [*(shade * part for part in of_plane[:3]), of_plane[3]]
    *colour, shine = (np.where(is_sphere, s, p) for s, p in zip(of_sphere, plane, strict=True))
    return is_hit, _Surface(point, normal, tuple(colour), shine)


def _nearest(distance: Array, objects: tuple[Array, ...]) -> tuple[Array, ...]:
    """The least distance of each ray, inf if it meets none, and the parts of the first object that has it."""

    def nearer(p: Any, q: Any) -> Any:  # noqa: ANN401  # records
        return tuple(np.where(q[0] < p[0], theirs, mine) for mine, theirs in zip(p, q, strict=True))

    each = distance, _last(generate(distance.shape[2], lambda i: i), 2)
    least, number = fold(nearer, each, axis=2, identity=(np.inf, 0))
    return least, *(part[number] for part in objects)


def _direct(scene: Scene, surface: _Surface) -> Vector:
    """The light of all lamps at a surface, without what stands in the shadow of an object."""
    start = tuple(p[:, :, None] for p in surface.point)
    apart = _minus(tuple(_last(place, 2) for place in scene.lights[:3]), start)
    squared = _dot(apart, apart)
    far = np.sqrt(squared)
    way = tuple(part / far for part in apart)
    is_dark = np.any(_to_spheres(scene.spheres, start, way) < far[..., None], axis=3) | np.any(
        _to_planes(scene.planes, start, way) < far[..., None], axis=3
    )
    facing = _dot(way, tuple(n[:, :, None] for n in surface.normal))
    strength = np.where(is_dark, 0.0, np.maximum(facing, 0) / squared)
    red, green, blue = (np.sum(strength * _last(part, 2), axis=2) for part in scene.lights[3:])
    return red, green, blue


def _to_spheres(spheres: Spheres, start: Any, way: Any) -> Array:  # noqa: ANN401  # traced
    """How far each sphere is along each ray, on a last axis; inf where the ray passes, or begins inside."""
    start, way = ([part[..., None] for part in vector] for vector in (start, way))
    rank = len(way[0].shape) - 1
    apart = [_last(m, rank) - s for m, s in zip(spheres[:3], start, strict=True)]
    along = _dot(apart, way)
    beside = _minus(apart, [along * w for w in way])
    deep = _last(spheres.radius * spheres.radius, rank) - _dot(beside, beside)
    distance = along - np.sqrt(np.maximum(deep, 0))
    return np.where((deep > 0) & (distance > NEAR), distance, np.inf)


def _to_planes(planes: Planes, start: Any, way: Any) -> Array:  # noqa: ANN401  # traced
    """How far each plane is along each ray, on a last axis; inf where it lies behind or beside the ray."""
    start, way = ([part[..., None] for part in vector] for vector in (start, way))
    rank = len(way[0].shape) - 1
    apart = [_last(m, rank) - s for m, s in zip(planes[:3], start, strict=True)]
    normal = [_last(n, rank) for n in planes[3:6]]
    distance = _dot(apart, normal) / _dot(way, normal)
    return np.where(distance > NEAR, distance, np.inf)


def _last(values: Array, rank: int) -> Array:
    """An array of one axis as the last one behind `rank` others."""
    return values[(*(None,) * rank, slice(None))]


def _dot(p: Any, q: Any) -> Any:  # noqa: ANN401  # traced
    return p[0] * q[0] + p[1] * q[1] + p[2] * q[2]


def _cross(p: Any, q: Any) -> Vector:  # noqa: ANN401  # traced
    return p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]


def _minus(p: Any, q: Any) -> Any:  # noqa: ANN401  # traced
    return tuple(a - b for a, b in zip(p, q, strict=True))


def _unit(p: Any) -> Any:  # noqa: ANN401  # traced
    length = np.sqrt(_dot(p, p))
    return tuple(part / length for part in p)
