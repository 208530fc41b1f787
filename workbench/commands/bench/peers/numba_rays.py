"""The ray tracer for Numba: rows of pixels in parallel, each ray in a loop over its surfaces, as one writes it by hand.

Without fastmath: distances that are infinite mean that nothing is met.
"""

from __future__ import annotations

from math import floor, inf, isfinite, sqrt

import numba
import numpy as np

from workbench.programs.ray_tracer import DARK, NEAR


def picture(scene, eye, towards, width, ambient, shape, limit):
    """Red, green and blue, as the program of the same name makes them."""
    spheres, planes, lights = (np.stack([np.asarray(part, np.float64) for part in group]) for group in scene)
    ahead = np.subtract(towards, eye)
    ahead /= np.sqrt(ahead @ ahead)
    right = np.array([ahead[2], 0.0, -ahead[0]])
    right /= np.sqrt(right @ right)
    view = np.stack([np.asarray(eye, np.float64), ahead, right, np.cross(ahead, right)])
    found = _traced(spheres, planes, lights, view, width, ambient, *shape, limit)
    return found[0], found[1], found[2]


@numba.njit(inline="always")
def _to_sphere(start, way, x, y, z, radius):
    a, b, c = x - start[0], y - start[1], z - start[2]
    along = a * way[0] + b * way[1] + c * way[2]
    a, b, c = a - along * way[0], b - along * way[1], c - along * way[2]
    deep = radius * radius - (a * a + b * b + c * c)
    if deep <= 0:
        return inf
    distance = along - sqrt(deep)
    return distance if distance > NEAR else inf


@numba.njit(inline="always")
def _to_plane(start, way, plane):
    across = way[0] * plane[3] + way[1] * plane[4] + way[2] * plane[5]
    if across == 0:
        return inf
    apart = (plane[0] - start[0]) * plane[3] + (plane[1] - start[1]) * plane[4] + (plane[2] - start[2]) * plane[5]
    distance = apart / across
    return distance if distance > NEAR else inf


@numba.njit
def _is_dark(spheres, planes, point, way, far):
    for k in range(spheres.shape[1]):
        if _to_sphere(point, way, spheres[0, k], spheres[1, k], spheres[2, k], spheres[3, k]) < far:
            return True
    for k in range(planes.shape[1]):  # noqa: SIM110  # Numba takes no generator here
        if _to_plane(point, way, planes[:, k]) < far:
            return True
    return False


@numba.njit
def _met(spheres, planes, start, way):
    """The distance to what a ray meets first, its normal, its colour and its shine."""
    best, normal, colour, shine = inf, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0
    for k in range(spheres.shape[1]):
        s = spheres[:, k]
        distance = _to_sphere(start, way, s[0], s[1], s[2], s[3])
        if distance < best:
            best = distance
            normal = (
                (start[0] + distance * way[0] - s[0]) / s[3],
                (start[1] + distance * way[1] - s[1]) / s[3],
                (start[2] + distance * way[2] - s[2]) / s[3],
            )
            colour, shine = (s[4], s[5], s[6]), s[7]
    is_sphere = best
    for k in range(planes.shape[1]):
        p = planes[:, k]
        distance = _to_plane(start, way, p)
        if distance < best or (distance == is_sphere and distance < inf):
            best, is_sphere = distance, inf
            side = 1.0 if way[0] * p[3] + way[1] * p[4] + way[2] * p[5] < 0 else -1.0
            normal = (side * p[3], side * p[4], side * p[5])
            fields = floor((start[0] + distance * way[0]) / p[10]) + floor((start[2] + distance * way[2]) / p[10])
            shade = 1.0 if fields % 2 == 0 else DARK
            colour, shine = (shade * p[6], shade * p[7], shade * p[8]), p[9]
    return best, normal, colour, shine


@numba.njit(parallel=True)
def _traced(spheres, planes, lights, view, width, ambient, rows, columns, limit):
    found = np.zeros((3, rows, columns))
    for row in numba.prange(rows):
        lit, given = np.empty((limit, 3)), np.empty((limit, 3))
        for column in range(columns):
            across, up = (column + 0.5 - columns / 2) * width / columns, (rows / 2 - 0.5 - row) * width / columns
            a = view[1, 0] + across * view[2, 0] + up * view[3, 0]
            b = view[1, 1] + across * view[2, 1] + up * view[3, 1]
            c = view[1, 2] + across * view[2, 2] + up * view[3, 2]
            size = sqrt(a * a + b * b + c * c)
            start, way, turns = (view[0, 0], view[0, 1], view[0, 2]), (a / size, b / size, c / size), 0
            while turns < limit:
                best, normal, colour, shine = _met(spheres, planes, start, way)
                if not isfinite(best):
                    break
                start = (start[0] + best * way[0], start[1] + best * way[1], start[2] + best * way[2])
                red = green = blue = ambient
                for k in range(lights.shape[1]):
                    a, b, c = lights[0, k] - start[0], lights[1, k] - start[1], lights[2, k] - start[2]
                    squared = a * a + b * b + c * c
                    far = sqrt(squared)
                    a, b, c = a / far, b / far, c / far
                    facing = a * normal[0] + b * normal[1] + c * normal[2]
                    if facing > 0 and not _is_dark(spheres, planes, start, (a, b, c), far):
                        red += facing / squared * lights[3, k]
                        green += facing / squared * lights[4, k]
                        blue += facing / squared * lights[5, k]
                for k, light in enumerate((red, green, blue)):
                    lit[turns, k], given[turns, k] = colour[k] * (1 - shine) * light, colour[k] * shine
                into = 2 * (way[0] * normal[0] + way[1] * normal[1] + way[2] * normal[2])
                way = (way[0] - into * normal[0], way[1] - into * normal[1], way[2] - into * normal[2])
                turns += 1
            for k in range(3):
                light = 0.0
                for turn in range(turns - 1, -1, -1):
                    light = min(lit[turn, k] + given[turn, k] * light, 1.0)
                found[k, row, column] = light
    return found
