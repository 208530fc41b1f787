"""Crowd: a vector of particles as a picture, how many of them lie in each small square of its first two components."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from workbench.graph import Graph, Space
from workbench.run.probe import component_names
from workbench.run.snapshots import Snapshot
from workbench.run.values import groups
from workbench.views.field.summary import AxisLabel

SIDE = 160  # squares along each axis: of 10,000 particles most that lie apart are seen apart
_INSIDE, _MARGIN = 0.95, 1.25  # the picture is 1.25 times as wide as what holds 95 % of the particles
Numbers = npt.NDArray[np.float64]


def is_crowd(graph: Graph, name: str) -> bool:
    """Whether the name is that of a vector of particles, declared or computed."""
    members = groups(graph).get(name)
    names = tuple(member.name for member in members) if members else component_names(graph, name)[0]
    return len(names) > 1 and space_of(graph, names[0]).named


def space_of(graph: Graph, name: str) -> Space:
    """The space of a field or of a named value; that of all axes where nothing carries the name."""
    spaces = [static.space for static in graph.declared if name in (static.name, static.group)]
    for kernel in sorted(graph.kernels, key=lambda kernel: kernel.name != "step"):  # as a probe looks for it
        index = kernel.find(name)
        space = None if index is None else kernel.nodes[index].space
        spaces += [] if space is None else [space]
    return spaces[0] if spaces and not spaces[0].is_global else graph.space


class Crowd:
    """Counts of particles in squares that stay where they are: the view is as wide as its first state asks for.

    A particle outside of the view is not counted. One whose place is no number makes the first square NaN, so that a
    view says when that happened.
    """

    def __init__(self, first: Snapshot, unit: str) -> None:
        """`first` has values of shape (components, particles); unit: theirs."""
        places = first.values[:2].astype(float)
        finite = places[:, np.isfinite(places).all(axis=0)]
        self._centre = np.median(finite, axis=1) if finite.size else np.zeros(2)
        apart = np.abs(finite - self._centre[:, None])
        widest = float(np.quantile(apart, _INSIDE, axis=1).max()) if finite.size else 0.0
        self._half = _MARGIN * widest or 1.0
        self._name, self._unit = first.name, unit

    @property
    def axes(self) -> tuple[AxisLabel, ...]:
        """The picture's axes, with the coordinates of the middles of the first and the last square."""
        middle = self._half * (1 - 1 / SIDE)
        return tuple(
            AxisLabel(f"{self._name}{k}", self._unit, SIDE, centre - middle, centre + middle)
            for k, centre in enumerate(map(float, self._centre))
        )

    def counted(self, snapshot: Snapshot) -> Snapshot:
        """The snapshot with counts of shape (SIDE, SIDE), the first component first."""
        places = snapshot.values[:2].astype(float)
        with np.errstate(all="ignore"):
            squares = np.floor((places - self._centre[:, None] + self._half) * (SIDE / (2 * self._half)))
            inside = ((squares >= 0) & (squares < SIDE)).all(axis=0)
        column, row = squares[:, inside].astype(np.int64)
        counts: Numbers = np.bincount(column * SIDE + row, minlength=SIDE * SIDE).astype(float).reshape(SIDE, SIDE)
        if not np.isfinite(places).all():
            counts[0, 0] = np.nan
        return replace(snapshot, values=counts)
