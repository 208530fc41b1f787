"""Verification: every available backend against the reference, in units in the last place.

Exact operators must give equal bits. Where an operator has a bound in ulp (semantics §3), a value that is its result or
a copy of it is judged by that bound. Nothing is promised for what is computed from such a value: it is shown, and not
judged.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from workbench.backends.base import Array, Number
from workbench.backends.registry import REFERENCE, availability_table
from workbench.graph import Graph, StorageType
from workbench.graph.arithmetic import apply, stored
from workbench.graph.deviation import Bound, bounds_after, bounds_after_any, is_exact
from workbench.graph.types import F64
from workbench.planning.choices import Choices
from workbench.run.arrays import to_host
from workbench.run.creation import create_simulation
from workbench.run.initial_values import INIT, lengths_of, read_shape, split_values
from workbench.run.simulation import Simulation
from workbench.run.state import STEP

_EXTENTS = {1: (37,), 2: (13, 17), 3: (7, 6, 9)}  # no two alike and no multiples of a vector or a tile
_LARGEST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Deviation:
    """One backend, one field or scalar: the largest distance to the reference after one step and after all of them.

    Units in the last place for floats, plain differences for integers, differing cells for booleans; NaN equals NaN,
    and zeros of different sign are one apart. `bound_one` and `bound_all` are what is allowed: 0 for equal bits, None
    where nothing is promised.
    """

    backend: str
    name: str
    after_one: int
    after_all: int
    bound_one: Bound = 0
    bound_all: Bound = 0

    @property
    def is_allowed(self) -> bool:
        """Whether each distance that has a bound is within it."""
        pairs = ((self.after_one, self.bound_one), (self.after_all, self.bound_all))
        return all(bound is None or found <= bound for found, bound in pairs)


@dataclass(frozen=True, slots=True, repr=False)
class Verification:
    """The result of `verify`. `exact`: the program has only operators with equal bits on every backend.

    `absent` lists the backends that could not run here, and why.
    """

    machine: str
    extents: tuple[int, ...]
    steps: int
    exact: bool
    deviations: tuple[Deviation, ...]
    absent: tuple[tuple[str, str], ...]

    @property
    def equal(self) -> bool:
        """Whether every backend gave the reference's bits."""
        return all(d.after_one == d.after_all == 0 for d in self.deviations)

    @property
    def passed(self) -> bool:
        """Whether no value breaks its bound, which is 0 wherever only exact operators made it.

        Values without a bound are not judged; the table shows their deviations.
        """
        return all(d.is_allowed for d in self.deviations)

    @property
    def backends(self) -> tuple[str, ...]:
        """The backends that were compared."""
        return tuple(dict.fromkeys(d.backend for d in self.deviations))

    def __str__(self) -> str:
        header = ("backend", "value", "ulp after 1 step", f"ulp after {self.steps} steps")
        rows = [header, *self._rows()]
        widths = [max(len(row[k]) for row in rows) for k in range(len(header))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join([self._summary(), *lines, *(f"not here: {name}: {why}" for name, why in self.absent)])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        """The same table for a notebook."""
        header = f"<tr><th>backend<th>value<th>ulp after 1 step<th>ulp after {self.steps} steps</tr>"
        body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}" for cell in row) + "</tr>" for row in self._rows())
        notes = "".join(f"<div>not here: {html.escape(name)}: {html.escape(why)}</div>" for name, why in self.absent)
        return f"<div>{html.escape(self._summary())}</div><table>{header}{body}</table>{notes}"

    def _rows(self) -> list[tuple[str, str, str, str]]:
        return [
            (d.backend, d.name, _judged(d.after_one, d.bound_one), _judged(d.after_all, d.bound_all))
            for d in self.deviations
        ]

    def _summary(self) -> str:
        if not self.deviations:
            verdict = "no backend but the reference is available here"
        elif self.equal:
            verdict = "equal bits on every backend"
        elif self.exact and not self.passed:
            verdict = "FAILED: bits differ although every operator is exact"
        elif not self.passed:
            broken = dict.fromkeys(d.name for d in self.deviations if not d.is_allowed)
            verdict = f"FAILED: beyond the bounds of the operators: {', '.join(broken)}"
        else:
            free = dict.fromkeys(d.name for d in self.deviations if None in (d.bound_one, d.bound_all))
            verdict = "within the bounds of functions like sin"
            verdict += f"; not judged, because computed from their results: {', '.join(free)}" if free else ""
        return f"{self.machine}, {' x '.join(map(str, self.extents))} cells: {verdict}"


def verify(
    graph: Graph, choices: Choices, values: Mapping[str, object], shape: object = None, steps: int = 10
) -> Verification:
    """Run the same start on every available backend. Fields that are not given get fixed random values."""
    given = split_values(graph, values)
    frame = {static.name for static in graph.fields if static.space == graph.space}
    held = (to_host(name, value) for name, value in given.items() if name in frame)
    arrays = [array.shape for array in held if array.ndim == graph.dim]
    extents = arrays[0] if arrays and shape is None else _extents(graph, given)
    extents = extents if shape is None else read_shape(graph, shape)
    fields = zip(graph.fields, random_fields(graph, extents), strict=True)
    given |= {static.name: values for static, values in fields if static.name not in given}
    reference = create_simulation(graph, choices, given, extents, backend=REFERENCE)
    program = reference.compiled.plan.graph
    bounds = _bounds(program, given)
    expected = _two_looks(reference, steps)
    deviations, absent = [], []
    for name, state in availability_table():
        if not state.available:
            absent.append((name, state.reason))
        elif name != REFERENCE:
            looks = _two_looks(create_simulation(graph, choices, given, extents, backend=name), steps)
            for static in program.declared:
                if static.role != "param":
                    one, last = (
                        distance(look[static.name], right[static.name], static.type)
                        for look, right in zip(looks, expected, strict=True)
                    )
                    deviations.append(Deviation(name, static.name, one, last, *bounds[static.name]))
    return Verification(
        graph.name, graph.space.shape_of(extents), steps, is_exact(program), tuple(deviations), tuple(absent)
    )


def _extents(graph: Graph, given: Mapping[str, object]) -> tuple[int, ...]:
    """Of arrays of particles that are given their lengths, else some."""
    some = _EXTENTS.get(graph.dim, (3,) * graph.dim)
    names = [static.name for static in graph.fields if static.name in given] if graph.space.named else []
    lengths = lengths_of(graph, {name: to_host(name, given[name]) for name in names})
    known = {axis: length for axis, (_, length) in lengths.items()}
    return graph.space.agreeing(
        tuple(known.get(axis.name, length) for axis, length in zip(graph.space.axes, some, strict=True))
    )


def distance(found: Array | Number, expected: Array | Number, type_: StorageType) -> int:
    """The largest distance in units in the last place; a NaN against a number counts as the largest integer.

    Of a dd that of either part, in units of the part's own.
    """
    if type_.is_record:
        a, b = stored(found, type_), stored(expected, type_)
        return max(distance(a[part], b[part], F64) for part in type_.parts)
    a, b = np.asarray(found, type_.numpy), np.asarray(expected, type_.numpy)
    if not type_.is_float:
        return int(np.sum(a != b)) if type_.kind == "bool" else _largest_difference(a, b)
    both = np.isnan(a) & np.isnan(b)
    if np.any(np.isnan(a) != np.isnan(b)):
        return _LARGEST
    return _largest_difference(_ordered(np.where(both, 0, a)), _ordered(np.where(both, 0, b)))


def _ordered(values: Array) -> Array:
    """Integers that count floats in their order, -0.0 and 0.0 next to each other."""
    values = np.ascontiguousarray(values)
    bits = values.view(np.dtype(f"i{values.dtype.itemsize}"))
    return np.where(bits < 0, ~(bits & np.iinfo(bits.dtype).max), bits)


def _largest_difference(a: Array, b: Array) -> int:
    different = a != b
    pairs = zip(a[different].tolist(), b[different].tolist(), strict=True)  # Python integers do not overflow
    return max((abs(x - y) for x, y in pairs), default=0)


def _judged(found: int, bound: Bound) -> str:
    """A distance with what is allowed, where that is not 0."""
    return str(found) if bound == 0 else f"{found} (no bound)" if bound is None else f"{found} (bound {bound})"


def _bounds(graph: Graph, given: Mapping[str, object]) -> dict[str, tuple[Bound, Bound]]:
    """What is allowed after one step and after any number of them. What is given overwrites what `init` made."""
    start: dict[str, Bound] = {static.name: 0 for static in graph.declared}
    of_loops: Bound = 0 if is_exact(graph) else None  # turns are as many as a condition says
    start |= {static.name: of_loops for static in graph.statics if static.inner}
    kernels = {kernel.name: kernel for kernel in graph.kernels}
    if INIT in kernels:
        start = {n: 0 if n in given else bound for n, bound in bounds_after(kernels[INIT], start).items()}
    one, last = bounds_after(kernels[STEP], start), bounds_after_any(kernels[STEP], start)
    return {name: (one[name], last[name]) for name in start}


def _two_looks(simulation: Simulation, steps: int) -> tuple[dict[str, Array | Number], dict[str, Array | Number]]:
    with simulation:
        first = simulation.step().to_dict()
        return first, simulation.run(max(steps - 1, 0)).to_dict()


def random_fields(graph: Graph, extents: tuple[int, ...]) -> list[Array]:
    """An array a field, of fixed seed: floats from 0.5 to 1.5 (safe to divide by), small integers, booleans."""
    rng = np.random.default_rng(20110315)
    values = []
    for static in graph.fields:
        shape = static.space.extents_in(graph.space, extents)
        if static.type.is_float:
            values.append(apply("cast", (0.5 + rng.random(shape),), static.type))
        else:
            values.append(rng.integers(0, 2, shape).astype(static.type.numpy))
    return values
