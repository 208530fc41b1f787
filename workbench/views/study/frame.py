"""Frame: the axes of a study's pictures: a grid of scores upwards over whole numbers from left to right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from workbench.views.drawing.numbers import short, ticks
from workbench.views.drawing.shapes import Label, Line, Point, Shape, text_width

INK, SOFT, GRID = "#1c2430", "#5b6675", "#e3e8ee"
BEST, FAILED = "#f0a830", "#c0392b"
_LEFT, _RIGHT, _TOP, _BOTTOM = 72, 16, 40, 46
_LEGEND = 20  # more above the scores where there is a legend


@dataclass(frozen=True, slots=True)
class Frame:
    """A picture of so many pixels that shows numbers `first` to `last` and scores from `low` to `high`.

    colours: what they mean, by name, for a legend.
    """

    width: int
    height: int
    first: int
    last: int
    high: float
    low: float = 0.0
    colours: Mapping[str, str] = field(default_factory=dict)

    @property
    def top(self) -> float:
        """The pixel of the highest score."""
        return _TOP + (_LEGEND if self.colours else 0)

    @property
    def bottom(self) -> float:
        """The pixel of the lowest score."""
        return self.height - _BOTTOM

    def across(self, number: float) -> float:
        """The pixel of a number."""
        share = (number - self.first + 0.5) / (self.last - self.first + 1)
        return _LEFT + share * (self.width - _LEFT - _RIGHT)

    def up(self, score: float) -> float:
        """The pixel of a score."""
        return self.bottom - (score - self.low) / (self.high - self.low) * (self.bottom - self.top)

    def at(self, number: float, score: float) -> Point:
        """The pixel of both."""
        return (self.across(number), self.up(score))

    def shapes(self, title: str, below: str, beside: str) -> list[Shape]:
        """Title, grid, numbers and the names of both axes."""
        shapes: list[Shape] = [Label((_LEFT, 16), title, INK, 15)]
        for value in ticks(self.low, self.high, 6):
            if self.low <= value <= self.high:
                shapes.append(Line(((_LEFT, self.up(value)), (self.width - _RIGHT, self.up(value))), GRID))
                shapes.append(Label((_LEFT - 6, self.up(value)), short(value), SOFT, 12, "right"))
        for value in ticks(self.first, max(self.last, self.first + 1), 10, nearest=1.0):
            if self.first <= value <= self.last:
                shapes.append(Label((self.across(value), self.bottom + 22), short(value), SOFT, 12, "centre"))
        shapes.append(Label((_LEFT + (self.width - _LEFT - _RIGHT) / 2, self.height - 8), below, SOFT, 12, "centre"))
        shapes.append(Label((16, (self.top + self.bottom) / 2), beside, SOFT, 12, "centre", upwards=True))
        return [*shapes, *self._legend()]

    def _legend(self) -> list[Shape]:
        """The names of the colours in a row below the title."""
        shapes: list[Shape] = []
        x = float(_LEFT)
        for name, colour in self.colours.items():
            shapes += [Line(((x, _TOP), (x + 9, _TOP)), colour, 5.0), Label((x + 14, _TOP), name, SOFT, 12)]
            x += text_width(name, 12) + 32
        return shapes
