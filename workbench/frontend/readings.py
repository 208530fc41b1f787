"""Readings: how a function of arrays reads its arguments, and an index outside in the words of the function."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from workbench.errors import OutsideError
from workbench.frontend.axis_table import AnyOrigin, LeastOrigin, View, shown_cut
from workbench.graph import Axis

Order = tuple[Axis | None, ...]
"""The axes of a value by position, None for one of a single element that is the same everywhere."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One way in which an argument is read: the static, and for each of its axes the argument's position.

    cuts: for each position of the argument what is taken of it, one after the other. shape: the lengths to which it is
    reshaped before, none if it is not. shown: what the function has in the place of the argument, if no argument of it.
    """

    static: str
    argument: str
    positions: tuple[int, ...]  # fewer than the argument has where an element is taken, whose axis is gone
    cuts: tuple[tuple[View, ...], ...]
    shape: tuple[AnyOrigin, ...] = ()
    shown: str = ""

    def text(self) -> str:
        """What is read as the function has it, x[1:, 3], or in words where it is longer."""
        argument = self.shown or self.argument
        if self.shape:
            return f"the reshaped {argument}"
        if not any(self.cuts):
            return argument
        if any(len(chain) > 1 or any(isinstance(view, LeastOrigin) for view in chain) for chain in self.cuts):
            return f"a part of {argument}"
        parts = [":" if not chain else self._part(place, chain[0]) for place, chain in enumerate(self.cuts)]
        while parts[-1] == ":":
            parts.pop()
        return f"{argument}[{', '.join(parts)}]"

    def _part(self, place: int, view: View) -> str:
        assert not isinstance(view, LeastOrigin)
        return shown_cut(view) if place in self.positions else str(view[0] or 0)


@dataclass(frozen=True, slots=True)
class Access:
    """What a line reads at computed places, or sends to: the axes of the array, and of the cells that do so."""

    line: int
    array: Order
    cells: Order


def told(error: OutsideError, readings: Iterable[Reading], accesses: Sequence[Access]) -> OutsideError:
    """The error in the words of a function of arrays, whose axes are numbers: along axis 1, for element (2, 0).

    accesses: of all lines; what they do not tell, because lines were made along other axes, is left out.
    """
    outside = error.outside
    reading = next((each for each in readings if each.static == outside.static), None)
    cells = dict(outside.at)
    found = [
        each
        for each in accesses
        if each.line == error.line and _names(each.array) == set(outside.own) and _names(each.cells) <= set(cells)
    ]
    axis, place = "axis 0" if len(outside.own) == 1 else "one of its axes", ""
    if reading is not None:
        number = reading.positions[outside.own.index(outside.axis)]
        axis = f"axis {number}"
    elif (numbers := {_number(each.array, outside.axis) for each in found}) and len(numbers) == 1:
        axis = f"axis {numbers.pop()}"
    elements = {tuple(0 if a is None else cells[a.name] for a in each.cells) for each in found}
    if len(elements) == 1:
        element = elements.pop()
        place = f"element {element[0] if len(element) == 1 else element}" if element else ""
    elif len(cells) == 1:
        place = f"element {next(iter(cells.values()))}"
    what = outside.text(array="" if reading is None else reading.text(), axis=axis, place=place)
    return OutsideError(outside, line=error.line, what=what)


def _names(order: Order) -> set[str]:
    return {axis.name for axis in order if axis is not None}


def _number(order: Order, name: str) -> int:
    return next(place for place, axis in enumerate(order) if axis is not None and axis.name == name)
