"""Convergence: the order of accuracy of a whole program, measured against an exact solution on growing grids."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from workbench.backends.base import Array
from workbench.errors import FieldError, RunError
from workbench.graph import Graph
from workbench.planning.choices import Choices
from workbench.run.creation import create_simulation
from workbench.run.initial_values import read_shape, split_values
from workbench.run.simulation import Simulation
from workbench.run.until import TIME_NAMES, time_name
from workbench.run.values import fit, groups

NORMS = ("l1", "l2", "max")
TOLERANCE = 0.1  # by which a measured order may stay below the declared one
Exact = Callable[[tuple[int, ...], float], object]
Steps = int | Callable[[int], int]


@dataclass(frozen=True, slots=True)
class FieldConvergence:
    """One field: its error on each grid, and the order between each grid and the next; nan where both are 0."""

    name: str
    errors: tuple[float, ...]
    orders: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Convergence:
    """The result of `converge`. `norm`: of the errors; `declared`: the expected order, if one was given."""

    machine: str
    norm: str
    sizes: tuple[int, ...]
    fields: tuple[FieldConvergence, ...]
    declared: float | None = None

    @property
    def order(self) -> float:
        """The lowest order of any field between the two finest grids; nan if all fields are exact on both."""
        return min((f.orders[-1] for f in self.fields if not math.isnan(f.orders[-1])), default=math.nan)

    @property
    def passed(self) -> bool:
        """Whether the declared order is reached (within 0.1); without one, whether the errors do not grow."""
        return math.isnan(self.order) or self.order >= (0 if self.declared is None else self.declared) - TOLERANCE

    def __str__(self) -> str:
        rows = [self._header(), *self._rows()]
        widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
        return "\n".join([self._summary(), *lines])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        """The table and a plot of errors over sizes, both logarithmic, for a notebook; needs no script."""
        header, rows = self._header(), self._rows()
        table = "".join(
            "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row) + "</tr>"
            for tag, row in [("th", header), *(("td", row) for row in rows)]
        )
        return f"<div>{html.escape(self._summary())}</div><table>{table}</table>{self._plot()}"

    def _header(self) -> tuple[str, ...]:
        return ("size", *(cell for field in self.fields for cell in (f"{field.name}: {self.norm} error", "order")))

    def _rows(self) -> list[tuple[str, ...]]:
        rows = []
        for k, size in enumerate(self.sizes):
            cells = [str(size)]
            for field in self.fields:
                order = field.orders[k - 1] if k else math.nan
                cells += [f"{field.errors[k]:.3e}", "-" if math.isnan(order) else f"{order:.2f}"]
            rows.append(tuple(cells))
        return rows

    def _summary(self) -> str:
        text = f"{self.machine}: measured order {self.order:.2f}"
        if self.declared is None:
            return text
        return f"{text}, declared {self.declared:g}: {'reached' if self.passed else 'NOT REACHED'}"

    def _plot(self) -> str:
        """A line for each field: log error upwards over log size to the right; a dashed one has the declared order."""
        width, height, edge = 320, 200, 12
        lines = [(field.name, [(math.log(n), math.log(e)) for n, e in zip(self.sizes, field.errors, strict=True) if e])
                 for field in self.fields]  # fmt: skip
        lines = [(name, points) for name, points in lines if len(points) > 1 and all(map(_is_finite, points))]
        if not lines:
            return ""
        if self.declared is not None:
            first, last = lines[0][1][0], lines[0][1][-1]
            lines.append(("", [first, (last[0], first[1] - self.declared * (last[0] - first[0]))]))
        xs, ys = ([point[k] for _, points in lines for point in points] for k in (0, 1))
        low, wide = (min(xs), min(ys)), (max(xs) - min(xs) or 1.0, max(ys) - min(ys) or 1.0)
        drawn = ""
        for name, points in lines:
            places = [
                f"{edge + (x - low[0]) / wide[0] * (width - 2 * edge):.1f},"
                f"{height - edge - (y - low[1]) / wide[1] * (height - 2 * edge):.1f}"
                for x, y in points
            ]
            style = "" if name else ' stroke-dasharray="4 4"'
            title = html.escape(name or f"order {self.declared:g}")
            drawn += f'<polyline points="{" ".join(places)}" fill="none" stroke="currentColor"{style}>'
            drawn += f"<title>{title}</title></polyline>"
        return f'<svg width="{width}" height="{height}" role="img" aria-label="error over size">{drawn}</svg>'


def _is_finite(point: tuple[float, float]) -> bool:
    return math.isfinite(point[0]) and math.isfinite(point[1])


@dataclass(frozen=True, slots=True)
class Procedure:
    """How to measure: how far each run goes, to a time or a number of steps, on which grids, and by which norm."""

    until: float | None = None
    steps: Steps | None = None
    shape: Callable[[int], object] | None = None
    norm: str = "l1"
    declared: float | None = None
    backend: str = "auto"


def converge(
    graph: Graph,
    choices: Choices,
    exact: Exact,
    sizes: Sequence[int],
    procedure: Procedure,
    values: Mapping[str, object],
) -> Convergence:
    """Run from exact(extents, 0) on every size and compare with exact(extents, time); see `Machine.converge`."""
    if not callable(exact):
        raise RunError(
            f"the exact solution is {exact!r}, which is no function",
            advice="Pass a function (extents, time) -> dict of fields.",
        )
    norm, shape = procedure.norm, procedure.shape
    if norm not in NORMS:
        raise RunError(f"norm={norm!r} is unknown", advice=f"Use one of {', '.join(NORMS)}.")
    grids = _check_sizes(sizes)
    errors: dict[str, list[float]] = {}
    for size in grids:
        extents = read_shape(graph, (size,) * graph.dim if shape is None else shape(size))
        start = {**_answer(graph, exact, extents, 0.0), **values}
        with create_simulation(graph, choices, start, extents, backend=procedure.backend) as simulation:
            begin = _clock(simulation)
            _go(simulation, procedure, size)
            reached = _clock(simulation) - begin
            for name, expected in _answer(graph, exact, extents, reached).items():
                errors.setdefault(name, []).append(_error(simulation, name, expected, norm))
    fields = tuple(FieldConvergence(name, tuple(found), _orders(grids, found)) for name, found in errors.items())
    return Convergence(graph.name, norm, grids, fields, procedure.declared)


def _check_sizes(sizes: Sequence[int]) -> tuple[int, ...]:
    grids = tuple(sizes)
    whole = all(isinstance(n, int | np.integer) and not isinstance(n, bool) and n > 0 for n in grids)
    if not whole or len(grids) < 2 or list(grids) != sorted(set(grids)):
        raise RunError(
            f"sizes={sizes!r} are not two or more growing numbers of cells", advice="Pass sizes=(32, 64, 128)."
        )
    return tuple(int(n) for n in grids)


def _answer(graph: Graph, exact: Exact, extents: tuple[int, ...], time: float) -> dict[str, object]:
    """What the exact solution says: by name, or an array if the machine has one field or vector."""
    given = exact(graph.space.shape_of(extents), time)
    names = list(dict.fromkeys(static.group or static.name for static in graph.fields))
    if not isinstance(given, Mapping):
        if len(names) != 1:
            raise FieldError(
                f"the exact solution of {graph.name} names no field, and there are {', '.join(names)}",
                advice='Return a dict: {"u": array, "v": array}.',
            )
        given = {names[0]: given}
    unknown = [name for name in given if name not in groups(graph) and name not in {s.name for s in graph.fields}]
    if unknown or not given:
        raise FieldError(
            f"the exact solution gives {', '.join(map(repr, unknown)) or 'nothing'}, which is no field of {graph.name}",
            advice=f"Use names of {', '.join(names)}.",
        )
    return dict(given)


def _clock(simulation: Simulation) -> float:
    """The machine's time, or the number of steps where it has none."""
    name = time_name(simulation.graph)
    return float(simulation[name]) if name else float(simulation.steps)


def _go(simulation: Simulation, procedure: Procedure, size: int) -> None:
    steps, until = procedure.steps, procedure.until
    if until is not None and steps is not None:
        raise RunError("until= and steps= name two ends", advice="Pass one of them.")
    if until is not None:
        simulation.run(until=until, time=time_name(simulation.graph) or TIME_NAMES[0])
        return
    steps = size if steps is None else steps
    simulation.run(steps(size) if callable(steps) else steps)


def _error(simulation: Simulation, name: str, expected: object, norm: str) -> float:
    """The norm of found - exact; the mean over all cells and components, so that grids can be compared."""
    differences: list[Array] = []
    for static, part in split_values(simulation.graph, {name: expected}).items():
        found = np.asarray(simulation[static], np.float64)
        exact = fit(static, np.asarray(part), simulation.graph.static(static).type).astype(np.float64)
        differences.append(np.abs(found - exact).ravel())
    distance = np.concatenate(differences)
    if norm == "max":
        return float(np.max(distance))
    return float(np.mean(distance)) if norm == "l1" else float(np.sqrt(np.mean(distance**2)))


def _orders(sizes: tuple[int, ...], errors: Sequence[float]) -> tuple[float, ...]:
    grids = tuple(zip(sizes, errors, strict=True))
    return tuple(_order(*coarse, *fine) for coarse, fine in pairwise(grids))


def _order(few: int, coarse: float, many: int, fine: float) -> float:
    """nan where both errors are 0; a finer grid that is worse than exact, or not finite, has order -inf."""
    if coarse == fine == 0:
        return math.nan
    if not math.isfinite(coarse + fine) or coarse == 0:
        return -math.inf
    return math.inf if fine == 0 else math.log(coarse / fine) / math.log(many / few)
