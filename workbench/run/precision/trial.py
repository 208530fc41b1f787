"""Trial: one start of a program, run by the reference's interpreter in any types, and what its values then are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from workbench.backends.base import Array, Number
from workbench.backends.interpreter import Evaluation, KernelInterpreter
from workbench.errors import FieldError, ShapeError
from workbench.graph import Graph, Kernel, Node, Span, Store
from workbench.graph.arithmetic import apply, constant, stored
from workbench.run.calling import is_called
from workbench.run.given import Given, read_call
from workbench.run.initial_values import INIT, extents_of, read_initial_values, whole
from workbench.run.one_call import MAIN
from workbench.run.state import STEP

_MARK = -1  # the end of a column, which no place in a cell has


@dataclass(frozen=True, slots=True)
class RunStart:
    """What a run begins with, in the types that the cell declares: fields (0-d for one number), numbers, extents."""

    extents: tuple[int, ...]
    fields: Mapping[str, Array]
    numbers: Mapping[str, Number]
    kernel: str


def read_start(graph: Graph, values: Mapping[str, object], shape: object) -> RunStart:
    """Check what a user gives a simulation, or a call; raises as these do."""
    if is_called(graph):
        if shape is not None:
            raise ShapeError(
                f"shape={shape!r}, but {graph.name} is called with arrays, which have shapes of their own",
                advice="Leave out shape=.",
            )
        single = {name: value for name, value in values.items() if name not in ("targets", "sources")}
        arrays, numbers, extents = read_call(graph, Given(single, _set(values, "targets"), _set(values, "sources")))
        return RunStart(extents, arrays, numbers, MAIN)
    initial = read_initial_values(graph, values, shape)
    return RunStart(initial.extents, initial.fields, initial.numbers, STEP)


def _set(values: Mapping[str, object], side: str) -> Mapping[str, object] | None:
    given = values.get(side)
    if given is not None and not isinstance(given, Mapping):
        raise FieldError(f"{side}= was given {given!r}", advice=f'Pass a mapping: {side}={{"x": array}}.')
    return given


@dataclass(frozen=True, slots=True)
class ObservedStep:
    """One step while it is taken: the kernel's values, and the state before and after it."""

    kernel: Kernel
    evaluation: Evaluation
    before: Mapping[str, Array]
    after: Mapping[str, Array]

    def value(self, index: int) -> Array | None:
        """A node's value, on the domain; None if it would need cells outside that no rule gives."""
        node = self.kernel.nodes[index]
        try:
            return self.evaluation.on_domain(index) if node.is_local else self.evaluation.number(index)
        except FieldError:
            return None


def looks(graph: Graph, start: RunStart, steps: int) -> Iterator[ObservedStep]:
    """Take the steps one by one. The graph has the types in which it is computed; the start is cast to them."""
    kernel, state = graph.kernel(start.kernel), _opened(graph, start)
    for _ in range(steps):
        evaluation = Evaluation(kernel, start.extents, state)
        after = dict(state)
        for name, value in kernel.stores():
            node = kernel.nodes[value]
            after[name] = np.array(evaluation.on_domain(value) if node.is_local else evaluation.number(value))
        yield ObservedStep(kernel, evaluation, state, after)
        state = after


def results(graph: Graph, start: RunStart, steps: int) -> dict[str, Array]:
    """The state after all steps."""
    kernel, state = graph.kernel(start.kernel), _opened(graph, start)
    interpreter = KernelInterpreter(graph, kernel, start.extents)
    for _ in range(steps):
        state = state | interpreter.step(state)
    return state


def _opened(graph: Graph, start: RunStart) -> dict[str, Array]:
    """As a simulation opens: defaults and numbers, `init`, then what was given."""
    state: dict[str, Array] = {}
    for static in graph.declared:
        if static.role == "field":
            extents = extents_of(graph, static.name, start.extents)
            state[static.name] = np.full(extents, constant(0.0 if static.type.is_float else 0, static.type))
        else:
            number = start.numbers.get(static.name, static.default or 0)
            state[static.name] = np.asarray(stored(number, static.type))
    if any(kernel.name == INIT for kernel in graph.kernels):
        numbers = {s.name: state[s.name] for s in graph.declared if s.name in start.numbers}
        made = KernelInterpreter(graph, graph.kernel(INIT), start.extents).step(state)
        state |= made | numbers
    for name, array in start.fields.items():
        values = whole(array, extents_of(graph, name, start.extents))
        type_ = graph.static(name).type
        state[name] = values if values.dtype == type_.numpy else np.asarray(apply("cast", (values,), type_))
    return state


def marked(graph: Graph, kernel: str) -> Graph:
    """The graph with a mark at each value of one kernel, by which it is found again after it was retyped."""
    return replace(graph, kernels=tuple(_marked(k) if k.name == kernel else k for k in graph.kernels))


def _marked(kernel: Kernel) -> Kernel:
    nodes = tuple(
        node
        if isinstance(node.instruction, Store)
        else replace(node, spans=(*node.spans, Span(0, column=index, end_column=_MARK)))
        for index, node in enumerate(kernel.nodes)
    )
    return replace(kernel, nodes=nodes)


def places_of(kernel: Kernel) -> dict[int, int]:
    """Where the marked values are now: number before -> number after."""
    return {mark: index for index, node in enumerate(kernel.nodes) for mark in _marks(node)}


def _marks(node: Node) -> list[int]:
    return [span.column for span in node.spans if span.end_column == _MARK]
