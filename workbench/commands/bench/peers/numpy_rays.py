"""The ray tracer in NumPy, one operation at a time: an object after the other, and mirrored rays by recursion."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.programs.ray_tracer import DARK, NEAR, Scene

Array = npt.NDArray[Any]


def picture(
    scene: Scene,
    eye: tuple[float, ...],
    towards: tuple[float, ...],
    width: float,
    ambient: float,
    shape: tuple[int, int],
    limit: int,
) -> tuple[Array, Array, Array]:
    """Red, green and blue, as the program of the same name makes them. In f64."""
    rows, columns = shape
    start, aim = np.asarray(eye, float), np.asarray(towards, float)
    ahead = _unit(aim - start)
    right = _unit(np.array([ahead[2], 0.0, -ahead[0]]))
    row, column = np.mgrid[:rows, :columns]
    x, y = (column + 0.5 - columns / 2) * width / columns, (rows / 2 - 0.5 - row) * width / columns
    way = _unit(ahead + x[..., None] * right + y[..., None] * np.cross(ahead, right))
    red, green, blue = np.moveaxis(_light(scene, ambient, start + 0 * way, way, limit), -1, 0)
    return red, green, blue


def _light(scene: Scene, ambient: float, start: Array, way: Array, limit: int) -> Array:
    """The colours seen along rays, arrays with a last axis of three."""
    spheres, planes, lights = scene
    if limit == 0:
        return np.zeros_like(way)
    best, normal = np.full(way.shape[:-1], np.inf), np.zeros_like(way)
    colour, shine = np.zeros_like(way), np.zeros(way.shape[:-1])
    for x, y, z, radius, *paint in zip(*spheres, strict=True):
        distance = _to_sphere(start, way, np.array([x, y, z]), radius)
        nearer = distance < best
        best[nearer] = distance[nearer]
        point = start[nearer] + distance[nearer][:, None] * way[nearer]
        normal[nearer], colour[nearer], shine[nearer] = (point - [x, y, z]) / radius, paint[:3], paint[3]
    for x, y, z, a, b, c, *paint, square in zip(*planes, strict=True):
        distance = _to_plane(start, way, np.array([x, y, z]), np.array([a, b, c]))
        nearer = (distance <= best) & (distance < np.inf)
        best[nearer] = distance[nearer]
        point = start[nearer] + distance[nearer][:, None] * way[nearer]
        side = np.where(way[nearer] @ [a, b, c] < 0, 1.0, -1.0)
        is_bright = (np.floor(point[:, 0] / square) + np.floor(point[:, 2] / square)) % 2 == 0
        normal[nearer], shine[nearer] = side[:, None] * np.array([a, b, c]), paint[3]
        colour[nearer] = np.where(is_bright, 1.0, DARK)[:, None] * np.array(paint[:3])
    is_hit = np.isfinite(best)
    point = start + np.where(is_hit, best, 0.0)[..., None] * way
    lit = np.full_like(way, ambient)
    for x, y, z, *lamp in zip(*lights, strict=True):
        apart = np.array([x, y, z]) - point
        far = np.sqrt((apart * apart).sum(axis=-1))
        there = apart / far[..., None]
        is_dark = np.zeros(far.shape, bool)
        for a, b, c, radius in zip(*spheres[:4], strict=True):
            is_dark |= _to_sphere(point, there, np.array([a, b, c]), radius) < far
        for plane in zip(*planes[:6], strict=True):
            is_dark |= _to_plane(point, there, np.array(plane[:3]), np.array(plane[3:])) < far
        strength = np.where(is_dark, 0.0, np.maximum((there * normal).sum(axis=-1), 0) / far**2)
        lit += strength[..., None] * np.array(lamp)
    mirrored = way - 2 * (way * normal).sum(axis=-1)[..., None] * normal
    beyond = _light(scene, ambient, point, mirrored, limit - 1) if is_hit.any() else 0.0
    given = shine[..., None] * beyond + (1 - shine[..., None]) * lit
    return np.where(is_hit[..., None], np.minimum(colour * given, 1.0), 0.0)


def _to_sphere(start: Array, way: Array, centre: Array, radius: float) -> Array:
    apart = centre - start
    along = (apart * way).sum(axis=-1)
    deep = radius**2 - ((apart - along[..., None] * way) ** 2).sum(axis=-1)
    distance = along - np.sqrt(np.maximum(deep, 0.0))
    return np.where((deep > 0) & (distance > NEAR), distance, np.inf)


def _to_plane(start: Array, way: Array, point: Array, normal: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = (point - start) @ normal / (way @ normal)
    return np.where(distance > NEAR, distance, np.inf)


def _unit(vector: Array) -> Array:
    length: Array = np.sqrt((vector * vector).sum(axis=-1, keepdims=True))
    return vector / length
