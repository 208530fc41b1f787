"""Axis table: which axes of a function's arrays are one, found while the function is traced again and again.

Axes of arguments meet by position, as in NumPy. Which of them are one is known only when the whole body has run, but
every value needs it from the first line on: where two meet, the table joins them, the attempt goes on to find others,
and the body runs once more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TypeAlias

from workbench.errors import ShapeError
from workbench.frontend.attempts import TraceAgainError
from workbench.graph import Axis
from workbench.graph.spaces import NamedExtent

_LETTERS = "ijklmnpqrstuvwabcdefgh"


class AxesMetError(TraceAgainError):
    """Axes that were two are one from now on."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a length comes from: the axis of that number of an argument, or a number of the program."""

    argument: str
    number: int

    def __str__(self) -> str:
        return f"{self.argument} along axis {self.number}" if self.argument else "a generated array"


Bound: TypeAlias = "int | AnyOrigin | None"
Cut = tuple[Bound, Bound, int]
"""A slice: start, stop and step as Python has them; a bound may be computed of lengths, which a call knows."""


@dataclass(frozen=True, slots=True)
class CutOrigin:
    """The length of a slice of an axis."""

    of: AnyOrigin
    cut: Cut

    def __str__(self) -> str:
        return f"{self.of}, sliced by [{shown_cut(self.cut)}],"


@dataclass(frozen=True, slots=True)
class LeastOrigin:
    """The smallest of several lengths."""

    of: tuple[AnyOrigin, ...]

    def __str__(self) -> str:
        return f"the shortest of {' and '.join(map(str, self.of))}"


@dataclass(frozen=True, slots=True)
class SumOrigin:
    """The length of arrays one after another."""

    of: tuple[AnyOrigin, ...]

    def __str__(self) -> str:
        return " with ".join(map(str, self.of))


@dataclass(frozen=True, slots=True)
class ProductOrigin:
    """The number of elements of an array of these lengths, which is no axis of the program."""

    of: tuple[AnyOrigin, ...]


@dataclass(frozen=True, slots=True)
class QuotientOrigin:
    """The length with which an array that has the lengths `rest` beside it has as many elements as one of `whole`."""

    whole: tuple[AnyOrigin, ...]
    rest: tuple[AnyOrigin, ...]

    def __str__(self) -> str:
        return "an axis of a reshaped array"


@dataclass(frozen=True, slots=True)
class SelectedOrigin:
    """How many elements a condition selects, which is known when the program has run that counts them."""

    name: str
    text: str = field(compare=False)
    line: int = field(compare=False)

    def __str__(self) -> str:
        return f"{self.text} in line {self.line}"


@dataclass(frozen=True, slots=True)
class ComputedOrigin:
    """A length that is computed of others by an operator of LENGTH_OPERATORS; line: where, for errors of a call."""

    operator: str
    of: tuple[AnyOrigin, ...]
    line: int | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return f"an array of length {self.formula()}"

    def formula(self, inside: bool = False) -> str:
        """It as it may be written; inside: as a part of another one."""
        first, second = (_written(each) for each in self.of)
        sign = _SIGNS.get(self.operator)
        if sign is None:
            return f"np.{self.operator}({first}, {second})"
        return f"({first} {sign} {second})" if inside else f"{first} {sign} {second}"


LENGTH_OPERATORS: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "floor_divide": lambda a, b: a // b if b else 0,
    "remainder": lambda a, b: a % b if b else 0,
    "minimum": min,
    "maximum": max,
}
"""By what lengths are computed of others, as programs compute whole numbers (semantics §2)."""
_SIGNS = {"add": "+", "subtract": "-", "multiply": "*", "floor_divide": "//", "remainder": "%"}


def _written(origin: AnyOrigin) -> str:
    match origin:
        case Origin(argument, number):
            return f"{argument}.shape[{number}]" if argument else str(number)
        case ComputedOrigin():
            return origin.formula(inside=True)
        case _:
            return f"({origin})"


AnyOrigin = (
    Origin | CutOrigin | LeastOrigin | SumOrigin | ProductOrigin | QuotientOrigin | ComputedOrigin | SelectedOrigin
)
Place = tuple[tuple[int, ...], ...]
"""By what axes are sorted."""
View = Cut | LeastOrigin
"""What is taken of an axis: a slice, or as many elements as there are in the shortest of several axes."""


def extent_of(origin: AnyOrigin, shapes: Mapping[str, tuple[int, ...]]) -> int:
    """The length, for arguments of these shapes. What cannot be left of a shape is 0.

    Raises ShapeError for a computed length below 0.
    """
    match origin:
        case Origin(argument, number):
            return shapes[argument][number] if argument else number
        case SelectedOrigin(name):
            return shapes[name][0]
        case CutOrigin(of, cut):
            return len(range(*slice_of(cut, shapes).indices(extent_of(of, shapes))))
        case LeastOrigin(of_all):
            return min(extent_of(each, shapes) for each in of_all)
        case SumOrigin(of_all):
            return sum(extent_of(each, shapes) for each in of_all)
        case ProductOrigin(of_all):
            return prod(extent_of(each, shapes) for each in of_all)
        case QuotientOrigin(whole, rest):
            return extent_of(ProductOrigin(whole), shapes) // max(extent_of(ProductOrigin(rest), shapes), 1)
        case ComputedOrigin(operator, of_all, line):
            found = LENGTH_OPERATORS[operator](*(extent_of(each, shapes) for each in of_all))
            if found < 0:
                raise ShapeError(
                    f"the length {origin.formula()} is {found}",
                    advice="Give arrays for which it is 0 or more, or write np.maximum(length, 0).",
                    line=line,
                )
            return found


def slice_of(cut: Cut, shapes: Mapping[str, tuple[int, ...]]) -> slice:
    """The slice, for arguments of these shapes."""
    start, stop = (each if isinstance(each, int | None) else _number(each, shapes) for each in cut[:2])
    return slice(start, stop, cut[2])


def _number(origin: AnyOrigin, shapes: Mapping[str, tuple[int, ...]]) -> int:
    """The number that a bound is, which may be below 0, and count from the end then."""
    if isinstance(origin, ComputedOrigin):
        return LENGTH_OPERATORS[origin.operator](*(_number(each, shapes) for each in origin.of))
    return extent_of(origin, shapes)


def trimmed(cut: View) -> tuple[int, int] | None:
    """How many elements a slice leaves out at the beginning and at the end; None for a slice of another kind."""
    if isinstance(cut, LeastOrigin):
        return None
    start, stop, step = cut
    if not (isinstance(start, int | None) and isinstance(stop, int | None)):
        return None
    if step != 1 or (start or 0) < 0 or (stop is not None and stop >= 0):
        return None
    return start or 0, -(stop or 0)


def followed(chain: tuple[View, ...], cut: View) -> tuple[View, ...]:
    """What is taken of an axis, and a slice of that; slices that leave out elements at the ends are one slice.

    Without it a formula of n slices of slices reads its argument in 2**n ways.
    """
    before, after = trimmed(chain[-1]) if chain else None, trimmed(cut)
    if before is None or after is None:
        return (*chain, cut)
    first, last = before[0] + after[0], before[1] + after[1]
    return (*chain[:-1], (first, -last or None, 1))


def _of_equal_length(origin: AnyOrigin) -> AnyOrigin:
    """One origin for those that have the same length whatever the arrays are, as x[1:] and x[:-1] have."""
    if not isinstance(origin, CutOrigin):
        return origin
    of, ends = _of_equal_length(origin.of), trimmed(origin.cut)
    if origin.cut == (None, None, -1) or ends == (0, 0):
        return of
    if ends is None:
        return CutOrigin(of, origin.cut)
    inner = trimmed(of.cut) if isinstance(of, CutOrigin) else None
    if isinstance(of, CutOrigin) and inner is not None:
        of, ends = of.of, (ends[0] + inner[0], ends[1] + inner[1])
    return CutOrigin(of, (sum(ends), None, 1))


def shown_cut(cut: Cut) -> str:
    """A slice as it is written."""
    start, stop = ("" if each is None else str(each) if isinstance(each, int) else _bound(each) for each in cut[:2])
    return f"{start}:{stop}" if cut[2] == 1 else f"{start}:{stop}:{cut[2]}"


def _bound(origin: AnyOrigin) -> str:
    return origin.formula() if isinstance(origin, ComputedOrigin) else _written(origin)


@dataclass(frozen=True, slots=True)
class Meeting:
    """Where two lengths were found to be one: the place in the function, for errors of a call."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class OnlyElement:
    """A slice of one element that met a longer axis: a call finds one element, or none, and none in the other."""

    cut: AnyOrigin
    other: AnyOrigin
    meeting: Meeting = field(compare=False)


@dataclass(slots=True)
class AxisTable:
    """Lengths, by number in order of appearance, and which of them are one. It outlives the attempts of a trace.

    An axis stands for one length; an array may have several of one length, which are told apart as copies: i, i2, i3.
    """

    origins: list[AnyOrigin] = field(default_factory=list)
    joined: dict[int, int] = field(default_factory=dict)
    meetings: dict[int, Meeting] = field(default_factory=dict)  # by the length that gave way
    behind: dict[int, int] = field(default_factory=dict)  # of a length the one before whose axes its own come
    after: dict[tuple[int, int], Axis] = field(default_factory=dict)  # of copies, the axis after which each comes
    only: dict[OnlyElement, None] = field(default_factory=dict)
    is_stale: bool = False
    """Whether lengths were joined that this attempt had taken for two: it goes on to find others, and counts for
    nothing."""
    _numbers: dict[Axis, tuple[int, int]] = field(default_factory=dict)
    _axes: dict[tuple[int, int], Axis] = field(default_factory=dict)
    _known: dict[AnyOrigin, int] = field(default_factory=dict)

    def length(self, origin: AnyOrigin) -> int:
        """The number of the length that comes from there, the one that it was joined to."""
        known = _of_equal_length(origin)
        if known not in self._known:
            self._known[known] = len(self.origins)
            self.origins.append(origin)
        return self.root(self._known[known])

    def is_one(self, axis: Axis) -> bool:
        """Whether an axis has one element for all arguments."""
        known = self._known.get(Origin("", 1))
        return known is not None and self.length_of(axis) == self.root(known)

    def is_one_at_most(self, axis: Axis) -> bool:
        """Whether an axis has one element for all arguments, or none: x[:1], x[-1:]."""
        origin = self.origin(axis)
        if self.is_one(axis) or not isinstance(origin, CutOrigin):
            return self.is_one(axis)
        start, stop, step = origin.cut
        first = start or 0
        return isinstance(first, int) and step == 1 and (stop == first + 1 if first != -1 else stop is None)

    def element(self, origin: AnyOrigin, meeting: Meeting) -> int:
        """The length one of a slice that takes one element, as a call checks."""
        is_new = _of_equal_length(origin) not in self._known  # if not, an axis may have this length
        one, length = self.length(Origin("", 1)), self.length(origin)
        if length != one:
            self._join(length, one, meeting)
            self.is_stale |= not is_new
        return one

    def axes(self, lengths: Sequence[int]) -> tuple[Axis, ...]:
        """An axis for each length, copies in ascending order."""
        return tuple(self.axis(length, lengths[:place].count(length)) for place, length in enumerate(lengths))

    def axis(self, length: int, copy: int = 0) -> Axis:
        """The copy of that number of a length's axis."""
        known = self._axes.get((length, copy))
        if known is not None:  # one object, as the axes of values are compared again and again
            return known
        turn, letter = divmod(length, len(_LETTERS))
        name = _LETTERS[letter] * (turn + 1)
        made = Axis(f"{name}{copy + 1}" if copy else name, NamedExtent(name), "array")
        self._axes[length, copy] = made
        self._numbers[made] = (length, copy)
        return made

    def place(self, axis: Axis) -> Place:
        """By what axes of the program are sorted: lengths in order of appearance, and copies of one together.

        A copy that comes after another axis comes right after it.
        """
        length, copy = number = self._numbers[axis]
        own = self._place_of(length), (copy,)
        return (*self.place(self.after[number]), *own) if number in self.after else own

    def _place_of(self, length: int) -> tuple[int, ...]:
        """A length's number; of one that comes before another, that one's with something smaller behind it.

        Of a slice it is that of what is sliced with its own behind it, so that a[1:] goes through memory as a does.
        """
        path: list[int] = [length, 1]
        seen = {length}
        while path[0] not in self.behind and isinstance(origin := self.origins[path[0]], CutOrigin):
            known = self._known.get(origin.of)
            if known is None or (sliced := self.root(known)) in seen:  # lengths that were found to be one
                break
            path[:0] = [sliced, 1]
            seen.add(sliced)
        while path[0] in self.behind and (other := self.root(self.behind[path[0]])) not in seen:
            path[:0] = [other, 0]
            seen.add(other)
        return tuple(path)

    def put_before(self, length: int, other: int) -> None:
        """Let axes of a length come before those of another one in the program, from the first line on."""
        if self._place_of(length) > self._place_of(other) and length not in self.behind:
            self.is_stale |= any(self.root(known) == length for known, _ in self._numbers.values())
            self.behind[length] = other

    def put_after(self, axis: Axis, other: Axis) -> None:
        """Let a copy of an axis come after another axis in the program, from the first line on; others stay."""
        number = self._numbers[axis]
        is_moved = self._numbers[other] in self.after  # and might come after this one
        if number[1] and not is_moved and self.place(axis) < self.place(other):
            self.after[number] = other
            self.is_stale = True

    def length_of(self, axis: Axis) -> int:
        """The number of an axis's length."""
        return self.root(self._numbers[axis][0])

    def same_length(self, a: Axis, b: Axis) -> bool:
        """Whether two axes are copies of one."""
        return self.length_of(a) == self.length_of(b)

    def origin(self, axis: Axis) -> AnyOrigin:
        """Where the length of an axis comes from."""
        return self.origins[self.length_of(axis)]

    def join(self, a: int, b: int, meeting: Meeting) -> None:
        """Let two lengths be one, by their numbers, from the first line on: the body runs once more."""
        self._join(a, b, meeting)
        self.is_stale = True

    def _join(self, a: int, b: int, meeting: Meeting) -> None:
        first, second = sorted((a, b))
        self.joined[second] = first
        self.meetings[second] = meeting

    def root(self, number: int) -> int:
        """The length to which this one was joined, itself if to none."""
        while number in self.joined:
            number = self.joined[number]
        return number
