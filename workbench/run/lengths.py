"""Lengths: where the arguments of a function's programs stand among those of a call, and the extents of their axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.errors import ShapeError
from workbench.frontend.axis_table import (
    AnyOrigin,
    CutOrigin,
    Meeting,
    OnlyElement,
    Origin,
    ProductOrigin,
    extent_of,
)
from workbench.frontend.collective import Length, TracedFunction

Path = tuple[int, ...]


def paths_of(function: TracedFunction, names: Sequence[str]) -> dict[str, Path]:
    """Where the values of a program's leaves stand among arguments of these names."""
    return {leaf: (names.index(path[0]), *path[1:]) for leaf, path in function.leaves.items()}


def shapes_of(
    function: TracedFunction, paths: Mapping[str, Path], arguments: Sequence[object]
) -> dict[str, tuple[int, ...]]:
    """The shapes of those of a program's leaves that are there; of a number of selected elements the number itself."""
    values = {leaf: value_at(arguments, path) for leaf, path in paths.items() if path[0] < len(arguments)}
    return {leaf: (int(v),) if leaf in function.counted else np.shape(v) for leaf, v in values.items()}


def value_at(arguments: Sequence[object], path: Path) -> Any:  # noqa: ANN401  # an array, or a number
    """The value at a place among arguments, some of which are tuples."""
    found: Any = arguments
    for step in path:
        found = found[step]
    return found


def extents_of(lengths: Sequence[Length], shapes: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    """The extent of each axis of the program. ShapeError where arrays that meet have other lengths.

    shapes: of the arrays that were given, by the names of their leaves.
    """
    extents = []
    for length in lengths:
        extent = extent_of(length.origin, shapes)
        for other, meeting in length.equal:
            found = extent_of(other, shapes)
            if found != extent:
                raise _unequal((length.origin, extent), (other, found), meeting, shapes)
        extents.append(extent)
    return tuple(extents)


def check_only(only: Sequence[OnlyElement], shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Raise ShapeError where a slice of one element has none, but what it met has some."""
    for each in only:
        if extent_of(each.cut, shapes) == 0 != extent_of(each.other, shapes):
            raise _unequal((each.cut, 0), (Origin("", 1), 1), each.meeting, shapes)


def _unequal(
    first: tuple[AnyOrigin, int],
    second: tuple[AnyOrigin, int],
    meeting: Meeting,
    shapes: Mapping[str, tuple[int, ...]],
) -> ShapeError:
    """The error for lengths that differ, also where an element beyond an end is wanted."""
    place = f"line {meeting.line}, {meeting.text}"
    if isinstance(first[0], ProductOrigin):
        return ShapeError(
            f"an array of shape {_shape(first[0], shapes)} has {first[1]} elements, but "
            f"{_shape(second[0], shapes)} needs {second[1]}",
            advice=f"Give a shape of as many elements in {place}.",
        )
    for (cut, extent), (other, _) in ((first, second), (second, first)):
        if isinstance(cut, CutOrigin) and other == Origin("", 1) and extent == 0 and isinstance(cut.cut[0], int | None):
            return ShapeError(
                f"{cut.of} has {extent_of(cut.of, shapes)} elements, none at {cut.cut[0] or 0}",
                advice=f"It is read in {place}.",
            )
    for (one, _), (other, extent) in ((first, second), (second, first)):
        if one == Origin("", 1):
            return ShapeError(
                f"{other} has {extent} elements, where one is needed",
                advice=f"Look at {place}. An axis that None makes, as in x[None], meets any length.",
            )
    advice = f"They are combined in {place}: give arrays of one length."
    for one, extent in (first, second):
        if extent == 1 and isinstance(one, Origin):
            part = f"{one.argument}[{':, ' * one.number}:1]"
            advice = f"They are combined in {place}: write {part}, which has one element and meets any length."
    return ShapeError(
        f"{second[0]} has {second[1]} element{'s' * (second[1] != 1)}, {first[0]} has {first[1]}", advice=advice
    )


def _shape(origin: AnyOrigin, shapes: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    assert isinstance(origin, ProductOrigin)
    return tuple(extent_of(each, shapes) for each in origin.of)
