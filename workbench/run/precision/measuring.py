"""Measuring: one program in its own types, in dd and in many digits, value by value and step by step."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

import numpy as np

from workbench.amounts import counted
from workbench.backends.base import Array
from workbench.errors import RunError
from workbench.graph import (
    Arith,
    Extend,
    Fold,
    Graph,
    Imm,
    Kernel,
    Load,
    Loop,
    Reduce,
    Scan,
    Scatter,
    SegmentedReduce,
    Store,
)
from workbench.graph.instructions import (
    Broadcast,
    Gather,
    Join,
    LoadIndex,
    LoadSize,
    Rank,
    Replicate,
    Shift,
    static_of,
    traits_of,
)
from workbench.graph.many_digits import digits_type
from workbench.graph.types import DD, StorageType
from workbench.planning.choices import Choices
from workbench.planning.precision import without_dd
from workbench.planning.retype import Precision, retype, retype_as
from workbench.run.calling import is_called, terms_of
from workbench.run.precision.errors import Error, error_of, magnitude, number_text
from workbench.run.precision.narrowing import narrow
from workbench.run.precision.report import Loss, PrecisionReport, ValueRow
from workbench.run.precision.trial import ObservedStep, RunStart, looks, marked, places_of, read_start, results

_MANY, _MORE = digits_type(80), digits_type(120)
_AGREE = 1e-30  # both must agree so well, or nothing is certain
_MOST = 3_000_000  # numbers of many digits: about ten seconds
_WORTH = 10.0  # by which an error is amplified, to be listed
_ROUNDING = {"f32": 2.0**-24, "f64": 2.0**-53, "dd": 2.0**-106}
_EXACT_DIGITS = {"f32": 9, "f64": 17, "dd": 33}


@dataclass(slots=True)
class _Walk:
    """What is known of the values so far: errors of this step by value, and what was seen in all steps."""

    kernel: Kernel
    bound: float
    errors: dict[int, Error] = field(default_factory=dict)
    scales: dict[int, Decimal] = field(default_factory=dict)
    first: Loss | None = None
    losses: dict[int, Loss] = field(default_factory=dict)
    branches: dict[str, None] = field(default_factory=dict)

    def meet(self, index: int, loss: Loss, operands: float) -> None:
        """Take note of an operation whose operands have this largest error."""
        if loss.after > self.bound >= operands and self.first is None:
            self.first = loss
        known = self.losses.get(index)
        if loss.factor >= _WORTH and (known is None or loss.factor > known.factor):
            self.losses[index] = loss


def measure(
    graph: Graph,
    choices: Choices,
    values: Mapping[str, object],
    shape: object = None,
    steps: int = 1,
    bound: float = 1e-12,
) -> PrecisionReport:
    """Run the same start in the program's types, in dd and in 265 bits; see `Machine.precision_report`.

    values: as for a simulation or a call, with `targets` and `sources` among them where these are two sets.
    """
    _check(graph, steps, bound)
    start = read_start(graph, values, shape)
    _check_effort(graph, start, steps)
    whole = marked(graph, start.kernel)
    in_dd = retype_as(whole, Precision({}, DD))
    graphs = (
        retype(whole, choices.meaning),
        in_dd,
        retype_as(whole, Precision({}, _MANY)),
        retype_as(whole, Precision({}, _MORE)),
    )
    walk = _Walk(whole.kernel(start.kernel), bound)
    with np.errstate(all="ignore"):
        for step, four in enumerate(zip(*(looks(g, start, steps) for g in graphs), strict=True), 1):
            last = four
            _walk(walk, four[0], four[2], step)
        rows, agreement = _rows(walk, last)
        exact = {name: last[2].after[name] for name, _ in walk.kernel.stores() if graph.static(name).type.is_float}
        scales = {name: walk.scales[node] for name, node in walk.kernel.stores() if name in exact}

        def measured(other: Graph) -> float:
            found = results(other, start, steps)
            return max((error_of(found[n], exact[n], _MANY, scales[n]).relative for n in exact), default=0.0)

        narrowing = narrow(graph, bound, measured) if all(row.resolved for row in rows) else None
    losses = tuple(sorted(walk.losses.values(), key=lambda loss: -loss.factor))
    return PrecisionReport(
        graph.name,
        _ran(graph, start.extents, steps),
        steps,
        bound,
        _MANY.bits,
        agreement,
        rows,
        walk.first,
        losses,
        tuple(walk.branches),
        without_dd(in_dd),
        narrowing,
        tuple(exact),
    )


def _check(graph: Graph, steps: int, bound: float) -> None:
    if isinstance(steps, bool) or not isinstance(steps, int) or steps < 1:
        raise RunError(f"steps={steps!r} is no number of steps", advice="Pass a whole number from 1.")
    if graph.loops:
        raise RunError(
            f"{graph.name} has a while_loop, whose errors are not measured: its iterations depend on them",
            advice="Measure a cell that makes one iteration a step.",
            line=graph.loops[0].span.line or None,
        )
    if is_called(graph) and steps != 1:
        raise RunError(f"{graph.name} runs once at each call, not {steps} steps", advice="Leave steps= out.")
    if not isinstance(bound, int | float) or not 0 < bound < math.inf:
        raise RunError(f"bound={bound!r} is no relative error", advice="Pass a number above 0, such as 1e-12.")


def _check_effort(graph: Graph, start: RunStart, steps: int) -> None:
    nodes = graph.kernel(start.kernel).nodes
    spaces = [node.space for node in nodes if node.space is not None]
    numbers = steps * sum(math.prod(space.extents_in(graph.space, start.extents)) for space in spaces)
    if numbers > _MOST:
        raise RunError(
            f"a report of {_ran(graph, start.extents, steps)} takes {numbers:,} "
            f"numbers of {_MANY.bits} bits, above {_MOST:,}",
            advice="Pass a smaller shape, or fewer steps.",
        )


def _ran(graph: Graph, extents: tuple[int, ...], steps: int) -> str:
    """What a report ran over: "8 x 8 cells, 2 steps", or "30 x 30 pairs, 1 call"."""
    terms = terms_of(graph)
    over = f"{' x '.join(map(str, extents))} {terms.cells}" if math.prod(extents) > 1 else terms.cell
    return f"{over}, {counted(steps, terms.march)}"


def _walk(walk: _Walk, own: ObservedStep, exact: ObservedStep, step: int) -> None:
    """Compare every value of one step, operands first, and what is stored."""
    own_places, exact_places = places_of(own.kernel), places_of(exact.kernel)
    walk.errors, walk.scales = {}, {}
    for index, node in enumerate(walk.kernel.nodes):
        if isinstance(node.instruction, Store):
            _walk_store(walk, index, node.instruction.name, own, exact, step)
            continue
        if index not in own_places or index not in exact_places:
            continue
        found, wanted = own.value(own_places[index]), exact.value(exact_places[index])
        if found is None or wanted is None:
            continue
        if node.value_type.kind == "bool":
            _note_branch(walk, index, int(np.sum(found != wanted)), step)
        if not node.value_type.is_float:
            continue
        below = max((walk.scales.get(o, Decimal(0)) for o in node.operands), default=Decimal(0))
        walk.scales[index] = magnitude(wanted) or below
        error = walk.errors[index] = error_of(found, wanted, _MANY, walk.scales[index])
        before = max((walk.errors[o].relative for o in node.operands if o in walk.errors), default=0.0)
        type_ = own.kernel.nodes[own_places[index]].value_type
        walk.meet(index, _loss(walk.kernel, index, _operation(walk.kernel, index), type_, before, error, step), before)


def _walk_store(walk: _Walk, index: int, name: str, own: ObservedStep, exact: ObservedStep, step: int) -> None:
    """A Store may round."""
    operand = walk.kernel.nodes[index].operands[0]
    if operand not in walk.errors:
        return
    error = error_of(own.after[name], exact.after[name], _MANY, walk.scales[operand])
    before = walk.errors[operand].relative
    type_ = own.kernel.nodes[places_of(own.kernel)[operand]].value_type
    loss = Loss(
        "rounding to its type", name, _line(walk.kernel, operand), max(before, _unit(type_)), error.relative, step
    )
    walk.meet(index, loss, before)


def _loss(
    kernel: Kernel, index: int, operation: str, type_: StorageType, before: float, error: Error, step: int
) -> Loss:
    return Loss(operation, _name(kernel, index), _line(kernel, index), max(before, _unit(type_)), error.relative, step)


def _unit(type_: StorageType) -> float:
    """The error of one rounding."""
    return _ROUNDING[type_.name]


def _operation(kernel: Kernel, index: int) -> str:
    match kernel.nodes[index].instruction:
        case (
            Arith("cast")
            | Store()
            | Join()
            | Rank()
            | Broadcast()
            | Replicate()
            | Gather()
            | Shift()
            | LoadIndex()
            | LoadSize()
        ):
            return "rounding"
        case Arith(operator):
            return operator
        case Reduce(operator):
            return f"{operator if isinstance(operator, str) else 'reduction'} over all cells"
        case Fold(operator, _):
            return f"{operator if isinstance(operator, str) else 'fold'} over cells"
        case Scan(operator, _):
            return f"{operator if isinstance(operator, str) else 'scan'} up to each cell"
        case SegmentedReduce(operator):
            return f"{operator if isinstance(operator, str) else 'fold'} over segments"
        case Scatter(operator):
            return f"{operator if isinstance(operator, str) else 'fold'} at computed places"
        case Loop():
            return "a loop"
        case Load():
            return "rounding of what is given"
        case Imm():
            return "rounding of a constant"
        case Extend():
            return "boundary rule"


def _name(kernel: Kernel, index: int) -> str:
    """The value's name, or that of the first value that is made of it."""
    users = kernel.consumers()
    while True:
        node = kernel.nodes[index]
        if name := static_of(node.instruction):
            return name
        if node.names:
            return node.names[-1]
        index = users[index][0]


def _line(kernel: Kernel, index: int) -> int:
    return next((span.line for span in kernel.nodes[index].spans if span.line), 0)


def _note_branch(walk: _Walk, index: int, cells: int, step: int) -> None:
    if cells and len(walk.branches) < 5:
        line = _line(walk.kernel, index)
        where = f"line {line}: " if line else ""
        name = _name(walk.kernel, index)
        walk.branches[f"{where}a condition of {name} is another in {counted(cells, 'cell')}, step {step}"] = None


def _rows(walk: _Walk, last: tuple[ObservedStep, ...]) -> tuple[tuple[ValueRow, ...], float]:
    """Results, then named values, after the last step; and how far the exact results are from those of more digits."""
    kernel, agreement = walk.kernel, 0.0
    rows: list[ValueRow] = []
    places = [places_of(look.kernel) for look in last]
    for name, stored in kernel.stores():
        if stored in walk.errors:
            values = tuple(look.after[name] for look in last)
            row, agrees = _row(name, _line(kernel, stored), values, walk.scales[stored], last[0].after[name])
            agreement = max(agreement, agrees)
            rows.append(row)
    known = {row.name for row in rows}
    for index, node in enumerate(kernel.nodes):
        names = [name for name in node.names if name not in known]
        if index not in walk.errors or traits_of(node.instruction).is_leaf or not names:
            continue
        found = [look.value(place[index]) for look, place in zip(last, places, strict=True)]
        values = tuple(value for value in found if value is not None)
        for name in names:
            if kernel.find(name) == index and len(values) == len(last):
                rows.append(_row(name, _line(kernel, index), values, walk.scales[index], values[0])[0])
    return tuple(rows), agreement


def _row(name: str, line: int, values: tuple[Array, ...], scale: Decimal, own: Array) -> tuple[ValueRow, float]:
    found, in_dd, exact, more = values
    error = error_of(found, exact, _MANY, scale)
    agreement = error_of(exact, more, _MORE, scale).relative
    type_ = _TYPES[own.dtype]
    place = error.place
    row = ValueRow(
        name,
        line,
        type_,
        error.relative,
        error_of(in_dd, exact, _MANY, scale).relative,
        place,
        number_text(found[place], _EXACT_DIGITS[type_]),
        number_text(in_dd[place], _EXACT_DIGITS["dd"]),
        number_text(exact[place], _EXACT_DIGITS["dd"]),
        agreement <= _AGREE,
    )
    return row, agreement


_TYPES: Mapping[np.dtype[np.generic], str] = {
    np.dtype(np.float32): "f32",
    np.dtype(np.float64): "f64",
    DD.numpy: "dd",
}
