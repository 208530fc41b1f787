"""Finiteness: the first value of a run that is infinite or not a number, and the node and cell that made it.

A run that watches keeps a copy of the state at each slice border. When a field is no longer finite at the next border,
the slice is repeated from the copy, by halves, to the step that made it, and that is traced backwards by the reference:
from the bad cell to the operand that is bad, until all operands are good.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from workbench.backends.base import Array, MarchRequest, Number
from workbench.backends.interpreter import Evaluation, source_cell
from workbench.errors import NonFiniteError
from workbench.graph import (
    Arith,
    Extend,
    Fold,
    Gather,
    Graph,
    Imm,
    Kernel,
    Load,
    Node,
    Reduce,
    Replicate,
    Shift,
    SideRule,
    Value,
)
from workbench.graph.arithmetic import stored
from workbench.graph.instructions import ValueRule, traits_of
from workbench.run.probe import write
from workbench.run.state import STEP, State
from workbench.run.values import unwise_text

Cell = tuple[int, ...]
Bad = tuple[str, Cell, float]
"""A field, a cell of it, and what that holds."""


class NonFiniteWarning(UserWarning):
    """A scalar ceased to be a number during a run, and with it most likely the fields that it depends on."""


def lost_scalars(state: State) -> frozenset[str]:
    """Names of the scalars that are not numbers."""
    found = ((s.name, state.instance.read_global(s.name)) for s in state.graph.scalars)
    return frozenset(name for name, value in found if value != value)


def warn_of_lost_scalars(state: State, before: frozenset[str], step: int) -> None:
    """Warn of scalars that are not numbers, unless they were none `before`, at an earlier step."""
    lost = sorted(lost_scalars(state) - before)
    if lost:
        warnings.warn(
            f"{state.graph.name}: {', '.join(lost)} became nan between step {step} and step {state.steps}; "
            "begin again and pass finite=True to run, which stops where that happens and says why",
            NonFiniteWarning,
            stacklevel=4,
        )


class Finiteness:
    """Watches the fields of one run. Costs a copy of all fields and a look at each of them every slice."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._kept = kept_state(state)

    def keep(self) -> None:
        """Copy the state; raises NonFiniteError if a field is bad already."""
        state = self._state
        self._kept = kept_state(state)
        bad = find_bad(state.graph, self._kept.values)
        if bad is not None:
            name, cell, value = bad
            raise NonFiniteError(
                f"{name} is {value} in cell {cell} at step {state.steps}, before the run begins",
                advice="Correct the initial state.",
                field=name,
                cell=cell,
                step=state.steps,
            )

    def check(self) -> None:
        """Raise NonFiniteError if a field is bad now; the state is then that of the last good step."""
        if find_bad_now(self._state) is not None:
            error = last_good_step(self._state, self._kept)
            assert error is not None, "a step that is repeated gives other bits"
            self._state.forget_records()
            raise error


@dataclass(slots=True)
class Kept:
    """Fields and scalars of one whole step."""

    step: int
    observed_step: int
    values: dict[str, Array | Number]


def kept_state(state: State) -> Kept:
    """A copy of the present state."""
    values = {s.name: state.instance_value(s) for s in state.graph.statics if s.role != "param"}
    return Kept(state.steps, state.observed_step, values)


def put_back(state: State, kept: Kept) -> None:
    """Make that the present state; records stay."""
    for static in state.graph.statics:
        if static.role != "param":
            write(state.instance, static, kept.values[static.name])
    state.steps, state.observed_step = kept.step, kept.observed_step


@dataclass(slots=True)
class Turns:
    """The params of a run, whenever they were set: (steps done by then, param -> value), in order.

    `before` holds them as they were at the copy with which a repetition begins.
    """

    before: dict[str, Number]
    later: list[tuple[int, dict[str, Number]]]

    def at(self, step: int) -> dict[str, Number]:
        """With which the step after so many was done."""
        return next((values for since, values in reversed(self.later) if since <= step), self.before)

    def after(self, step: int) -> int | None:
        """How many steps were done when they were set next."""
        return next((since for since, _ in self.later if since > step), None)


def params_of(state: State) -> dict[str, Number]:
    """All params as they are now."""
    return {static.name: state.instance.read_global(static.name) for static in state.graph.params}


def last_good_step(
    state: State, kept: Kept, fields: frozenset[str] | None = None, turns: Turns | None = None
) -> NonFiniteError | None:
    """Go from the present state, in which one of `fields` (None: any) is bad, to the last step at which none was.

    `kept` is an earlier state in which all were good, `turns` how params were set since (None: not at all); they are as
    they were before the call afterwards. Returns what the next step makes bad; None, and then the state is any, if the
    steps of now do not make it, because something else has changed the state since.
    """
    now = params_of(state)
    try:
        return _last_good_step(state, kept, fields, turns or Turns(now, []))
    finally:
        _set_params(state, now)


def _last_good_step(state: State, kept: Kept, fields: frozenset[str] | None, turns: Turns) -> NonFiniteError | None:
    end, good, observed = state.steps, kept.step, kept.observed_step
    values = dict(kept.values)
    put_back(state, kept)
    while end - good > 1:
        middle = (good + end) // 2
        _repeat(state, middle - good, good, turns)
        if find_bad_now(state, fields) is None:
            good = observed = middle  # _repeat observes its last step
            for static in state.graph.statics:
                if static.name in values:
                    values[static.name] = state.instance_value(static)  # one by one, to hold no third copy
        else:
            end = middle
            put_back(state, Kept(good, observed, values))
    _repeat(state, 1, good, turns)
    bad = find_bad_now(state, fields)
    put_back(state, Kept(good, observed, values))
    return None if bad is None else locate(state, *bad)


def _repeat(state: State, steps: int, done: int, turns: Turns) -> None:
    """Do steps again, uncounted, with the params of then."""
    end = done + steps
    while done < end:
        _set_params(state, turns.at(done))
        until = min(end, turns.after(done) or end)
        state.instance.march(MarchRequest(STEP, until - done, first_step=done))
        done = until


def _set_params(state: State, params: Mapping[str, Number]) -> None:
    for name, value in params.items():
        state.instance.write_global(name, value)


def find_bad_now(state: State, fields: frozenset[str] | None = None) -> Bad | None:
    """As find_bad, in the present state."""
    for static in state.graph.fields:
        if (fields is None or static.name in fields) and static.type.is_float:
            found = find_bad(state.graph, {static.name: state.instance_value(static)})
            if found is not None:
                return found
    return None


def find_bad(graph: Graph, values: Mapping[str, Array | Number]) -> Bad | None:
    """The first field of `values`, in order of declaration, with a bad cell, the first such cell, and what it holds."""
    for static in graph.fields:
        array = np.asarray(values[static.name]) if static.name in values else None
        if array is not None and static.type.is_record:  # lo is finite where hi is
            array = array[static.type.parts[0]]
        cell = None if array is None or not static.type.is_float else first_bad(array)
        if array is not None and cell is not None:
            return static.name, cell, float(array[cell])
    return None


def first_bad(values: Array) -> Cell | None:
    """The first cell, in order of memory, that is infinite or not a number."""
    good = np.isfinite(values["hi"] if values.dtype.names else values)
    return None if good.all() else tuple(int(i) for i in np.unravel_index(int(np.argmin(good)), values.shape))


def locate(state: State, field: str, cell: Cell, value: float) -> NonFiniteError:
    """The error for a field that the next step of `state` makes bad."""
    graph, step = state.graph, state.steps + 1
    kernel = graph.kernel(STEP)
    what = f"{field} becomes {value} in cell {cell} at step {step} of {graph.name}"
    values = {s.name: stored(state.instance_value(s), s.type) for s in graph.statics}
    with np.errstate(all="ignore"):
        origin = trace_back(graph, state.extents, values, field, cell)
    advice = unwise(state) + f"Look at the state before: sim[{field!r}] at step {state.steps}; "
    advice += "take shorter steps or limit the value."
    if origin is None:
        what += "; the reference backend computes a finite value there"
        return NonFiniteError(what, advice=advice, field=field, cell=cell, step=step)
    spans = kernel.nodes[origin.node].spans
    return NonFiniteError(
        f"{what}: {_described(kernel, origin)}",
        advice=advice,
        field=field,
        cell=cell,
        step=step,
        node=origin.node,
        line=spans[0].line if spans else None,
    ).belonging(graph.origin)


def unwise(state: State) -> str:
    """A sentence for each param that is larger than what the cell warns of: the likely cause."""
    found = (unwise_text(s, state.instance.read_global(s.name)) for s in state.graph.params)
    return "".join(f"{text}. " for text in found if text)


@dataclass(frozen=True, slots=True)
class Origin:
    """The node that first gives a bad value, in which cell (empty: one number for all), from which operands.

    `named` is the value with a name nearest to it on the way to the field.
    """

    node: int
    cell: Cell
    value: float
    operands: tuple[float, ...]
    named: str


def trace_back(graph: Graph, extents: Cell, values: dict[str, Array], field: str, cell: Cell) -> Origin | None:
    """Follow bad operands from a field's next value to the node that made the first; None if it is good."""
    kernel = graph.kernel(STEP)
    at = _Place(kernel.nodes, Evaluation(kernel, extents, values))
    index, place, named = dict(kernel.stores())[field], cell, ""
    value = at.value(index, place)
    if np.isfinite(value):
        return None
    while True:
        named = next(iter(kernel.nodes[index].names), named)
        further = at.bad_operand(index, place, value)
        if further is None:
            operands = at.operands(index, place)
            return Origin(index, place, value, tuple(at.value(i, p) for i, p in operands), named)
        index, place = further
        value = at.value(index, place)


def _first(values: Array) -> float:
    first = values.reshape(-1)[:1]
    return float((first["hi"] if first.dtype.names else first)[0])


class _Place:
    """Values of single nodes in single cells, by the reference's interpreter."""

    def __init__(self, nodes: tuple[Node, ...], evaluation: Evaluation) -> None:
        self.nodes, self.evaluation = nodes, evaluation

    def value(self, index: int, cell: Cell) -> float:
        """The node's value in a cell, or as a Global."""
        if self.nodes[index].is_global:
            return _first(self.evaluation.number(index))
        return _first(self.evaluation.local(index, tuple((i, i + 1) for i in cell)))

    def bad_operand(self, index: int, cell: Cell, value: float) -> tuple[int, Cell] | None:
        """The operand (and its cell) to which a bad value goes back; an infinite one that gives nan is where it ends.

        What is infinite by intention, such as a param, gives no nan in a minimum or a comparison.
        """
        found = [(i, p) for i, p in self.operands(index, cell) if not np.isfinite(self.value(i, p))]
        alike = [(i, p) for i, p in found if np.isnan(self.value(i, p)) == np.isnan(value)]
        computed = [(i, p) for i, p in found if not isinstance(self.nodes[i].instruction, Load | Imm)]
        return next(iter(alike or computed), None)

    def operands(self, index: int, cell: Cell) -> list[tuple[int, Cell]]:
        """The operands that decide the value, each with the cell in which it is read."""
        node = self.nodes[index]
        match node.instruction:
            case Arith("select"):
                condition, yes, no = node.operands
                return [(yes if self.value(condition, cell) else no, cell)]
            case Shift(offset):
                return [(node.operands[0], tuple(i - o for i, o in zip(cell, offset, strict=True)))]
            case Reduce():
                values = self.evaluation.on_domain(node.operands[0])
                bad = first_bad(values)
                return [(node.operands[0], bad or (0,) * values.ndim)]
            case Fold(_, axes):
                return [(node.operands[0], self._folded(node.operands[0], axes, cell))]
            case Gather():
                return [(node.operands[0], tuple(int(self.value(i, cell)) for i in node.operands[1:]))]
            case Replicate(space):
                inner = self.nodes[node.operands[0]].space
                positions = (None if inner is None else inner.positions_in(space)) or ()
                return [(node.operands[0], tuple(cell[p] for p in positions))]
            case Extend(sides):
                return self._extended(index, sides, cell)
            case _:
                where = () if traits_of(node.instruction).reads == "none" else cell  # operands that are numbers, if any
                return [(i, where) for i in node.operands]

    def _folded(self, operand: int, axes: tuple[int, ...], cell: Cell) -> Cell:
        """The cell of a fold's operand that is not finite, of those that the fold looks at; else the first of them."""
        kept = iter(cell)
        extents = self.evaluation.extents_of(operand)
        places = [(0, n) if k in axes else (place := next(kept), place + 1) for k, n in enumerate(extents)]
        values = self.evaluation.local(operand, tuple(places))
        bad = first_bad(values)
        return tuple(low + i for (low, _), i in zip(places, bad or (0,) * values.ndim, strict=True))

    def _extended(self, index: int, sides: tuple[tuple[SideRule, SideRule], ...], cell: Cell) -> list[tuple[int, Cell]]:
        """What a ghost cell is made of: boundary values, and the cell of the domain that it mirrors."""
        node, extents = self.nodes[index], self.evaluation.extents_of(index)
        found: list[tuple[int, Cell]] = []
        while True:
            outside = [
                (axis, sides[axis][0 if i < 0 else 1])
                for axis, (i, n) in enumerate(zip(cell, extents, strict=True))
                if not 0 <= i < n
            ]
            if not outside:
                return [*found, (node.operands[0], cell)]
            axis, rule = next(((a, r) for a, r in outside if isinstance(r, ValueRule)), outside[0])
            if isinstance(rule, ValueRule):
                found.append((node.operands[rule.operand], cell))
            if isinstance(rule, Value):
                return found
            cell = (*cell[:axis], source_cell(rule, cell[axis], extents[axis]), *cell[axis + 1 :])


def _described(kernel: Kernel, origin: Origin) -> str:
    """What the node does, on what, and where."""
    node = kernel.nodes[origin.node]
    match node.instruction:
        case Arith(operator):
            doing = operator
        case Load(name):
            doing = f"{name}, which is {origin.value:g}"
        case Imm(value):
            doing = f"the number {value}"
        case Reduce(operator) | Fold(operator):
            doing = f"reduce_{operator}" if isinstance(operator, str) else "a reduction"
        case _:
            doing = type(node.instruction).__name__.lower()
    text = f"first made by {doing}"
    if origin.operands:
        text += f" of {', '.join(f'{v:g}' for v in origin.operands)}"
    if origin.named:
        text += f" in {origin.named}" if origin.named in node.names else f" on the way to {origin.named}"
    return f"{text}, in cell {origin.cell}" if origin.cell else text
