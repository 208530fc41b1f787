"""Axis table: which axes of a function's arrays are one, found while the function is traced again and again.

Axes of arguments meet by position, as in NumPy. Which of them are one is known only when the whole body has run, but
every value needs it from the first line on: where two meet, the table joins them and the body runs once more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from workbench.frontend.trace import TraceAgainError
from workbench.graph import Axis
from workbench.graph.spaces import NamedExtent

_LETTERS = "ijklmnpqrstuvwabcdefgh"


class AxesMetError(TraceAgainError):
    """Two axes are one from now on."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a length comes from: the axis of that number of an argument, or a number of the program."""

    argument: str
    number: int

    def __str__(self) -> str:
        return f"{self.argument} along axis {self.number}" if self.argument else "a generated array"


Cut = tuple[int | None, int | None, int]
"""A slice: start, stop and step as Python has them."""


@dataclass(frozen=True, slots=True)
class CutOrigin:
    """The length of a slice of an axis."""

    of: AnyOrigin
    cut: Cut

    def __str__(self) -> str:
        return f"{self.of}, sliced by [{shown_cut(self.cut)}],"


AnyOrigin = Origin | CutOrigin


def shown_cut(cut: Cut) -> str:
    """A slice as it is written."""
    start, stop, step = ("" if number is None else str(number) for number in cut)
    return f"{start}:{stop}" if step == "1" else f"{start}:{stop}:{step}"


@dataclass(frozen=True, slots=True)
class Meeting:
    """Where two lengths were found to be one: the place in the function, for errors of a call."""

    line: int
    text: str


@dataclass(slots=True)
class AxisTable:
    """Lengths, by number in order of appearance, and which of them are one. It outlives the attempts of a trace.

    An axis stands for one length; an array may have several of one length, which are told apart as copies: i, i2, i3.
    """

    origins: list[AnyOrigin] = field(default_factory=list)
    joined: dict[int, int] = field(default_factory=dict)
    meetings: dict[int, Meeting] = field(default_factory=dict)  # by the length that gave way
    _numbers: dict[Axis, tuple[int, int]] = field(default_factory=dict)

    def length(self, origin: AnyOrigin) -> int:
        """The number of the length that comes from there, the one that it was joined to."""
        if origin not in self.origins:
            self.origins.append(origin)
        return self.root(self.origins.index(origin))

    def axes(self, lengths: Sequence[int]) -> tuple[Axis, ...]:
        """An axis for each length, copies in ascending order."""
        return tuple(self.axis(length, lengths[:place].count(length)) for place, length in enumerate(lengths))

    def axis(self, length: int, copy: int = 0) -> Axis:
        """The copy of that number of a length's axis."""
        turn, letter = divmod(length, len(_LETTERS))
        name = _LETTERS[letter] * (turn + 1)
        made = Axis(f"{name}{copy + 1}" if copy else name, NamedExtent(name), "array")
        self._numbers[made] = (length, copy)
        return made

    def place(self, axis: Axis) -> tuple[int, int]:
        """(length, copy), by which axes of the program are sorted."""
        return self._numbers[axis]

    def same_length(self, a: Axis, b: Axis) -> bool:
        """Whether two axes are copies of one."""
        return self.place(a)[0] == self.place(b)[0]

    def join(self, a: Axis, b: Axis, meeting: Meeting) -> AxesMetError:
        """Let two lengths be one; raise the result, so that the body runs again."""
        first, second = sorted((self.place(a)[0], self.place(b)[0]))
        self.joined[second] = first
        self.meetings[second] = meeting
        return AxesMetError(f"{a.name} and {b.name}")

    def root(self, number: int) -> int:
        """The length to which this one was joined, itself if to none."""
        while number in self.joined:
            number = self.joined[number]
        return number
