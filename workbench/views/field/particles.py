"""Particles: where they lie in a picture, which of its pixels they take, and which of them is nearest to a pixel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

SIDE = 512  # pixels of the picture along each axis
MOST = 100_000  # particles that are drawn; a frame stays below 0.5 MB
BACKGROUND = 1  # the level of pixels without a particle; a particle of that level takes the one below
BACKGROUND_COLOUR = b"\x00\x00\x00"  # black is farther from both ends of all palettes than white is
_PLACES = 65536  # a place is a whole number of this share of the picture's side
_INSIDE, _MARGIN = 0.95, 1.25  # the picture is 1.25 times as wide as what holds 95 % of the particles
_COVERED = 0.25  # of the picture, at most, by discs that do not overlap
_LARGEST_RADIUS = 4  # pixels
_NEAR = 12  # pixels; what is farther from a pixel is not meant

Codes = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Window:
    """The square that a picture of particles shows: two components of a vector between centre - half and centre + half.

    It stays where it is, so that what moves is the particles. name, unit: of the vector.
    """

    name: str
    unit: str
    centre: tuple[float, float]
    half: float


@dataclass(frozen=True, slots=True, eq=False)
class Particles:
    """Of n particles, places (2, n) to the right and up from the lower left corner, in 65,536ths of the side, u16.

    levels: (n,) as `quantise` makes them, BACKGROUND for those that lie outside or whose place is no number. outside:
    how many these are. name: of the vector.
    """

    name: str
    places: npt.NDArray[np.uint16]
    levels: Codes
    outside: int

    @property
    def radius(self) -> int:
        """Of the disc of each particle, in pixels: the more there are, the smaller; 0 is one pixel."""
        room = _COVERED * SIDE * SIDE / max(1, self.levels.size)
        return max((r for r in range(_LARGEST_RADIUS + 1) if len(disc(r)) <= room), default=0)

    def pixels(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Columns and rows (0 on top) of the middles of all discs."""
        across, up = self.places.astype(np.int64) * SIDE // _PLACES
        return across, SIDE - 1 - up

    def nearest(self, column: int, row: int) -> int | None:
        """The particle whose middle is nearest to a pixel, of equally near ones the one on top; None: all are far."""
        across, down = self.pixels()
        far = (across - column) ** 2 + (down - row) ** 2
        far[self.levels == BACKGROUND] = 2 * SIDE * SIDE
        if not far.size or far.min() > _NEAR**2:
            return None
        return int(far.size - 1 - np.argmin(far[::-1]))


def disc(radius: int) -> list[tuple[int, int]]:
    """Pixels (row, column) of a disc about its middle, row by row."""
    around = range(-radius, radius + 1)
    return [(row, column) for row in around for column in around if row * row + column * column <= radius * radius]


def raster(particles: Particles) -> Codes:
    """Codes of the picture, (SIDE, SIDE) with row 0 on top: a disc for each particle, a later one above earlier ones.

    labextension/src/field/drawing.ts draws the same pixels.
    """
    shown = np.flatnonzero(particles.levels != BACKGROUND)
    across, down = particles.pixels()
    margin = particles.radius
    codes = np.full((SIDE + 2 * margin, SIDE + 2 * margin), BACKGROUND, np.uint8)
    rows, columns = np.array(disc(margin)).T
    # Of an element that is assigned several times NumPy keeps the last value; all pixels of a disc follow each other.
    places = down[shown, None] + margin + rows, across[shown, None] + margin + columns
    codes[places] = np.broadcast_to(particles.levels[shown, None], places[0].shape)
    return codes[margin : margin + SIDE, margin : margin + SIDE]


def window_of(name: str, unit: str, values: npt.NDArray[np.generic]) -> Window:
    """A window on the first two components of `values`, shape (components, n), that shows almost all of them."""
    places = values[:2].astype(np.float64)
    finite = places[:, np.isfinite(places).all(axis=0)]
    centre = np.median(finite, axis=1) if finite.size else np.zeros(2)
    apart = np.abs(finite - centre[:, None])
    widest = float(np.quantile(apart, _INSIDE, axis=1).max()) if finite.size else 0.0
    return Window(name, unit, (float(centre[0]), float(centre[1])), _MARGIN * widest or 1.0)


def placed(window: Window, values: npt.NDArray[np.generic], levels: Codes) -> Particles:
    """Particles at the first two components of `values`, shape (components, n), with these levels, shape (n,)."""
    with np.errstate(all="ignore"):
        low = np.array(window.centre)[:, None] - window.half
        shares = (values[:2].astype(np.float64) - low) * (_PLACES / (2 * window.half))
        inside = ((shares >= 0) & (shares < _PLACES)).all(axis=0)
    levels = np.where(levels == BACKGROUND, BACKGROUND - 1, levels).astype(np.uint8)
    levels[~inside] = BACKGROUND
    places = np.where(inside, shares, 0).astype(np.uint16)
    return Particles(window.name, places, levels, int(inside.size - np.count_nonzero(inside)))
