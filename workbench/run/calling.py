"""Calling: a machine that runs once, from arrays to results; its memory is kept for the next call of equal extents."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.backends.base import Array, Number
from workbench.backends.registry import row_of
from workbench.backends.run_once import run_once
from workbench.backends.teams import check_threads
from workbench.errors import RunError, TurnsError
from workbench.forking import forkable_lock
from workbench.graph import Graph, Space
from workbench.graph.arithmetic import stored
from workbench.graph.spaces import NamedExtent
from workbench.pipeline import compile_graph
from workbench.planning.choices import Choices
from workbench.planning.cost import default_extents
from workbench.run.arrays import to_host
from workbench.run.given import Given as Given
from workbench.run.given import Interface, input_names, stacked_vectors
from workbench.run.known_calls import read_again, read_first
from workbench.run.one_call import MAIN, OneCall, open_call
from workbench.run.room import register

_KEPT = 4

_instances: OrderedDict[tuple[object, ...], tuple[Graph, Choices, OneCall]] = OrderedDict()
_lock = forkable_lock()


class _Waiting:
    """The memory that waits for the next calls."""

    def give_up(self) -> None:
        """Free it."""
        with _lock:
            dropped = [kept[2] for kept in _instances.values()]
            _instances.clear()
        for each in dropped:
            each.close()


_WAITING = _Waiting()
register(_WAITING)


def is_called(graph: Graph) -> bool:
    """Whether the machine runs once at each call, and not in steps."""
    return any(kernel.name == MAIN for kernel in graph.kernels)


@dataclass(frozen=True, slots=True)
class Terms:
    """What views call the things that a loop counts, one of them, and the march over all of them.

    whole: figures are of a whole march, because its loops count different things, cells and particles.
    """

    cells: str = "cells"
    cell: str = "a cell"
    march: str = "step"
    whole: bool = False

    @property
    def one_march(self) -> str:
        """One march, with its article: "a step", "an iteration"."""
        return f"{'an' if self.march[0] in 'aeio' else 'a'} {self.march}"

    @property
    def place(self) -> str:
        """One place of an array, which is stored to by one thread: a "cell" of a grid, else an "element"."""
        return "cell" if self.cells == "cells" else "element"

    @property
    def each(self) -> str:
        """One of them in one march: "a cell and step"; there is one call only."""
        if self.whole:
            return f"a {self.march}"
        return self.cell if self.march == "call" else f"{self.cell} and {self.march}"

    @property
    def rate(self) -> str:
        """What a bound counts by the second: "cells", or steps of all that a program has."""
        return f"{self.march}s" if self.whole else self.cells


def terms_of(graph: Graph) -> Terms:
    """Cells and steps; of a called machine the pairs of targets and sources, or elements along its axes, and calls.

    Where no value of a called machine has all axes, as in a product with a sparse matrix, figures are of whole calls.
    Of particles pairs and steps where they see each other or another population, else particles and steps.
    """
    if not is_called(graph):
        if not graph.space.named:
            return Terms()
        if graph.space.has_grid:
            return Terms(graph.space.elements, "an element", whole=True)
        return Terms("pairs", "a pair") if graph.dim > 1 else Terms(graph.space.elements, "an element")
    extents = [axis.extent.name for axis in graph.space.axes if isinstance(axis.extent, NamedExtent)]
    pairs = extents == ["targets", "sources"]
    if pairs:
        return Terms("pairs", "a pair", "call")
    spaces = [node.space for kernel in graph.kernels for node in kernel.nodes if node.space is not None]
    apart = all(len(space.axes) < graph.dim for space in spaces)
    return Terms("elements", "an element", "call", whole=apart)


def figure_extents(graph: Graph) -> tuple[int, ...]:
    """Extents of figures where none are given: about a million cells; a million along each axis of figures of calls."""
    if is_called(graph) and terms_of(graph).whole:
        return default_extents(1) * graph.dim
    return graph.space.agreeing(default_extents(graph.dim))


def kind_of(graph: Graph) -> str:
    """In short what a machine is: "2-D", or what its loops count, and whether it is called."""
    terms = terms_of(graph)
    if is_called(graph):
        return f"{terms.cells}, called"
    if terms.whole:
        populations = Space(tuple(axis for axis in graph.space.axes if axis.kind == "array")).elements
        return f"{sum(axis.kind == 'grid' for axis in graph.space.axes)}-D grid and {populations}"
    return terms.cells if graph.space.named else f"{graph.dim}-D"


def check_steps(graph: Graph, by_place: Sequence[object] = ()) -> None:
    """Raise RunError for a machine that has no steps, and for initial values that were given without their names."""
    if is_called(graph):
        raise RunError(f"{graph.name} has no steps: it runs once", advice=f"Call it: {_call_text(graph)}.")
    if by_place:
        by_names = ", ".join(dict.fromkeys(f"{static.group or static.name}=..." for static in graph.fields))
        named = "**values" if isinstance(by_place[0], Mapping) else by_names
        raise RunError(
            f"{graph.name} takes its initial values by their names", advice=f"Write {graph.name}.simulate({named})."
        )


def _call_text(graph: Graph) -> str:
    return f"{graph.name}({', '.join(f'{name}=' for name in input_names(graph))})"


def call(
    graph: Graph,
    choices: Choices,
    given: Given,
    backend: str = "auto",
    threads: int = 0,
    on_device: bool = False,
) -> dict[str, Any]:
    """Return the results by name, arrays of their storage types. Raises FieldError, ShapeError, RunError.

    A number stands for an array that is everywhere the same. Results that are one number are 0-d.
    on_device: as in `OneCall.result`. What is reduced over no cell at all is the reduction's identity (for sums -0.0,
    to which any number may be added).
    """
    read = read_again(graph, choices, given)
    if read is None:
        _check_called(graph, given)
    check_threads(threads)
    if not isinstance(backend, str):
        row_of(backend)  # which says what there is
    form, arrays, numbers = read or read_first(graph, choices, given)
    interface, extents, steps = form.interface, form.extents, form.steps
    if 0 in extents:
        return stacked_vectors(interface, _interpreted(interface, extents, arrays, numbers))
    key = (id(graph), id(choices), backend, threads, extents, *steps.items())
    with _lock:
        kept = _instances.pop(key, None)
    instance = (
        open_call(compile_graph(graph, choices, backend, steps), extents, threads, interface.returned)
        if kept is None
        else kept[2]
    )
    try:
        for each in interface.inputs:
            instance.give(each.static, arrays[each.static.name])
        for name, static in interface.params.items():
            instance.set(name, numbers.get(name, static.default or 0))
        _march(interface, instance, extents, arrays, numbers)
        results = {static.name: instance.result(static, on_device=on_device) for static in interface.returned}
    except BaseException:
        instance.close()
        raise
    _keep(key, graph, choices, instance)
    return stacked_vectors(interface, results)


def _check_called(graph: Graph, given: Given) -> None:
    """Raise RunError for a machine that runs in steps, and for arrays that were given without their names."""
    if not is_called(graph):
        raise RunError(
            f"{graph.name} runs in steps and has no results to return",
            advice=f"Use sim = {graph.name}.simulate(...), then sim.run(n).",
        )
    if given.by_place:
        raise RunError(f"{graph.name} takes its arrays by their names", advice=f"Write {_call_text(graph)}.")


def _keep(key: tuple[object, ...], graph: Graph, choices: Choices, instance: OneCall) -> None:
    """Graph and choices are kept with it, so that their identities stay theirs."""
    dropped: list[OneCall] = []
    with _lock:
        other = _instances.pop(key, None)  # of a call at the same time
        if other is not None:
            dropped.append(other[2])
        _instances[key] = (graph, choices, instance)
        while len(_instances) > _KEPT:
            dropped.append(_instances.popitem(last=False)[1][2])
    for each in dropped:
        each.close()


def _march(
    interface: Interface,
    instance: OneCall,
    extents: tuple[int, ...],
    arrays: Mapping[str, Any],
    numbers: Mapping[str, Number],
) -> None:
    """Run the program once. What is wrong with an index, the interpreter says with the value and the cell."""
    try:
        instance.run()
    except TurnsError:
        raise
    except RunError:
        _interpreted(interface, extents, arrays, numbers)
        raise


def _interpreted(
    interface: Interface, extents: tuple[int, ...], arrays: Mapping[str, Any], numbers: Mapping[str, Number]
) -> dict[str, Array]:
    """The meaning of the program: also where some axis has no cell, for which nothing is compiled."""
    graph = interface.graph
    params = {s.name: stored(numbers.get(s.name, s.default or 0), s.type) for s in graph.params}
    on_host = {name: to_host(name, values) for name, values in arrays.items()}
    with np.errstate(all="ignore"):
        return run_once(graph, MAIN, extents, {**params, **on_host})
