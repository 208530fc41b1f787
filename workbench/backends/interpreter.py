"""The meaning of a kernel, in NumPy: every Local value is a function on Z^d, evaluated on boxes of cells.

This is the definition that every backend is held to. It interprets the graph alone; no plan has any say in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import product
from math import prod
from operator import itemgetter

import numpy as np

from workbench.backends.boxes import Box, shape_of, varying_along, with_interval
from workbench.backends.gathering import combined, folded_parts, gathered, looped, rows_of
from workbench.backends.images import beyond, cut_at_borders, image, nearer, reflects, source_cell
from workbench.backends.made_of import Request, made_of, moved
from workbench.errors import FieldError, GraphError
from workbench.graph import (
    Arith,
    Broadcast,
    Extend,
    Fixed,
    Fold,
    Gather,
    Graph,
    Imm,
    Join,
    Kernel,
    Load,
    LoadIndex,
    LoadSize,
    Loop,
    Mirror,
    Neumann,
    Node,
    Outflow,
    Periodic,
    Prescribed,
    Rank,
    Reduce,
    Reflect,
    Region,
    Replicate,
    Scan,
    Scatter,
    SegmentedReduce,
    Shift,
    SideRule,
    StorageType,
    Store,
    Undefined,
    Wall,
)
from workbench.graph.arithmetic import apply, constant
from workbench.graph.instructions import array_places
from workbench.graph.operators import Array
from workbench.graph.reduction import fold_canonically, reduce_canonically
from workbench.graph.side_rules import VALUE_RULES

State = Mapping[str, Array]
"""Every static by name: fields as arrays of their space's extents, scalars and params 0-d; exact dtypes."""
_DEEP = 32
"""Values that wait for values that ... after which what is below is computed one by one: Python calls only so deep."""
_SLAB = 1 << 22
"""Cells of a fold's operand that are evaluated at a time: it may have many more than any array of the program."""


def interpret(graph: Graph, kernel: str, extents: tuple[int, ...], state: State, steps: int = 1) -> dict[str, Array]:
    """Return the state after `steps` steps, every store included; `state` is left alone. Fields are C-ordered."""
    interpreter = KernelInterpreter(graph, graph.kernel(kernel), extents)
    result = dict(state)
    for _ in range(steps):
        result.update(interpreter.step(result))
    return result


class KernelInterpreter:
    """One kernel on one domain. Remembers from its first step how often each array is asked for, to free it in time."""

    def __init__(self, graph: Graph, kernel: Kernel, extents: tuple[int, ...]) -> None:
        self.graph = graph
        self.kernel = kernel
        self.extents = extents
        self._requests: dict[frozenset[str], Counter[tuple[int, Box]]] = {}

    def step(self, state: State, without: frozenset[str] = frozenset()) -> dict[str, Array]:
        """Return what the kernel stores, as fresh arrays, but for the statics in `without`; writes nothing itself."""
        evaluation = Evaluation(self.kernel, self.extents, state, self._requests.get(without))
        stored: dict[str, Array] = {}
        for name, value in self.kernel.stores():
            if name not in without:
                is_local = self.kernel.nodes[value].is_local
                result = evaluation.on_domain(value) if is_local else evaluation.number(value)
                stored[name] = np.array(result, order="C")
        self._requests[without] = evaluation.requests
        return stored


class Evaluation:
    """Values of one kernel's nodes in one step: `local` on any box of the node's space, `number` for Globals.

    `expected` (from an earlier step of the same kernel) says how often each array will be asked for; it is forgotten
    after the last time. Without it everything is kept.
    """

    def __init__(
        self,
        kernel: Kernel,
        extents: tuple[int, ...],
        state: State,
        expected: Counter[tuple[int, Box]] | None = None,
    ) -> None:
        self.nodes = kernel.nodes
        self.extents = extents
        self.state = state
        self.requests: Counter[tuple[int, Box]] = Counter()
        self._expected = expected
        self._space = kernel.space
        self._locals: dict[tuple[int, Box], Array] = {}
        self._numbers: dict[int, Array] = {}
        self._loops: dict[tuple[Region, tuple[int, ...], Box | None], tuple[Array, ...]] = {}
        self._depth = 0  # of values that wait for those that they are made of

    def on_domain(self, index: int) -> Array:
        """The Local's values on the whole domain, an array that must not be written to."""
        return self.local(index, self._domain(index))

    def extents_of(self, index: int) -> tuple[int, ...]:
        """The extents along the axes of a Local."""
        space = self.nodes[index].space
        assert space is not None, f"node {index} has no value"
        return space.extents_in(self._space, self.extents)

    def number(self, index: int) -> Array:
        """The Global's value, 0-d."""
        if index not in self._numbers:
            self._begin(index, None)
            self._numbers[index] = self._number(self.nodes[index])
            self._depth -= 1
        return self._numbers[index]

    def local(self, index: int, box: Box) -> Array:
        """The Local's values in the box, an array of the box's shape that must not be written to."""
        key = (index, box)
        self.requests[key] += 1
        if key in self._locals:
            value = self._locals[key]
        else:
            self._begin(index, box)
            value = self._local(index, box)
            self._depth -= 1
        if self._expected is not None and self.requests[key] == self._expected[key]:
            self._locals.pop(key, None)
        else:
            self._locals[key] = value
        return value

    def _number(self, node: Node) -> Array:
        match node.instruction:
            case Imm(value):
                return constant(value, node.value_type)
            case Load(name):
                return self.state[name]
            case LoadSize(axis):
                return np.asarray(np.int64(self.extents[axis]))
            case Arith(operator):
                return apply(operator, [self.number(i) for i in node.operands], node.value_type)
            case Loop(body, result):
                return self._looped(body, node.operands, None)[result]
            case Reduce(operator):
                return reduce_canonically(operator, self.on_domain(node.operands[0]), node.value_type)
            case Store() | Broadcast() | Fold() | Replicate() | Shift() | LoadIndex() | Extend() | Gather():
                raise GraphError(f"{node.instruction} as a Global", advice="Verify the graph before running it.")
            case Scan() | SegmentedReduce() | Scatter() | Join() | Rank():
                raise GraphError(f"{node.instruction} as a Global", advice="Verify the graph before running it.")

    def _local(self, index: int, box: Box) -> Array:
        node = self.nodes[index]
        match node.instruction:
            case Imm() | Broadcast() | LoadIndex():
                return np.broadcast_to(self._spread(node, box), shape_of(box))
            case Replicate(space):
                inner = self.nodes[node.operands[0]].space
                positions = (None if inner is None else inner.positions_in(space)) or ()
                found = self.local(node.operands[0], tuple(box[p] for p in positions))
                spread = np.expand_dims(found, tuple(a for a in range(len(box)) if a not in positions))
                return np.broadcast_to(spread, shape_of(box))
            case Fold() | Scan() | SegmentedReduce() | Scatter() | Join() | Rank() | Gather():
                return self._of_others(index, box)
            case Load(name):
                return self.state[name][self._inside(index, name, box)]
            case Shift(offset):
                return self.local(node.operands[0], moved(box, offset))
            case Arith(operator):
                return apply(operator, [self.local(i, box) for i in node.operands], node.value_type)
            case Loop(body, result):
                return self._looped(body, node.operands, box)[result]
            case Extend():
                return self._extend(index, box)
            case Store() | Reduce() | LoadSize():
                raise GraphError(f"{node.instruction} as a Local", advice="Verify the graph before running it.")

    def _spread(self, node: Node, box: Box) -> Array:
        """What is one number, or differs along one axis only."""
        match node.instruction:
            case Imm(value):
                return constant(value, node.value_type)
            case LoadIndex(axis):
                return varying_along(np.arange(*box[axis], dtype=np.int64), axis, len(box))
            case _:
                return self.number(node.operands[0])

    def _begin(self, index: int, box: Box | None) -> None:
        """At some levels of recursion compute all that a value is made of, in node order: recursion stays low."""
        self._depth += 1
        if self._depth % _DEEP:
            return
        needed, waiting = set[Request](), [(index, box)]
        while waiting:
            at, around = waiting.pop()
            for operand, there in made_of(self.nodes[at], around, self._domain):
                is_known = operand in self._numbers if there is None else (operand, there) in self._locals
                if not is_known and (operand, there) not in needed:
                    needed.add((operand, there))
                    waiting.append((operand, there))
        for operand, there in sorted(needed, key=itemgetter(0)):
            if there is None:
                self.number(operand)
            else:
                self.local(operand, there)

    def _domain(self, index: int) -> Box:
        return tuple((0, n) for n in self.extents_of(index))

    def _looped(self, body: Region, operands: tuple[int, ...], box: Box | None) -> tuple[Array, ...]:
        """All values that a loop ends with, as Globals or in a box; they are asked for one after the other."""
        key = (body, operands, box)
        if key not in self._loops:
            arrays = array_places(Loop(body, 0))
            given = [
                self.on_domain(i) if k in arrays else self.number(i) if box is None else self.local(i, box)
                for k, i in enumerate(operands)
            ]
            self._loops[key] = looped(self.nodes, body, operands, given, box or ())
        return self._loops[key]

    def _of_others(self, index: int, box: Box) -> Array:
        """What is combined of many cells, or read at computed places."""
        node = self.nodes[index]
        if isinstance(node.instruction, Gather):
            places = [self.local(i, box) for i in node.operands[1:]]
            return gathered(self.nodes, index, box, self.on_domain(node.operands[0]), places)
        if isinstance(node.instruction, Fold):
            return self._fold(node, node.instruction.operator, node.instruction.axes, box)
        if isinstance(node.instruction, SegmentedReduce) and len(self.extents_of(node.operands[0])) > 1:
            return self._parts(index)[slice(*box[0])]
        operands = [self.on_domain(operand) for operand in node.operands]
        found = combined(self.nodes, index, operands, rows_of(self.nodes, index, operands, self.on_domain))
        return found[self._inside(index, type(node.instruction).__name__, box)]

    def _parts(self, index: int) -> Array:
        """The folds of parts of lines, on the whole domain."""
        values, *places = self.nodes[index].operands
        segments, count = self.extents_of(values)
        nothing = np.zeros(segments, np.int64)  # a line without cells has parts without cells, which no value tells
        starts, lengths = (self.on_domain(place) if count else nothing for place in places)
        return folded_parts(
            self.nodes, index, lambda low, high: self.local(values, ((low, high), (0, count))), starts, lengths, count
        )

    def _fold(self, node: Node, operator: str | Region, axes: tuple[int, ...], box: Box) -> Array:
        """In slabs along the first axis that is kept, which change no bit."""
        operand = node.operands[0]
        extents, kept = self.extents_of(operand), iter(box)
        whole = tuple((0, n) if axis in axes else next(kept) for axis, n in enumerate(extents))
        first = next(axis for axis in range(len(extents)) if axis not in axes)
        low, high = whole[first]
        thick = max(1, _SLAB * max(high - low, 1) // max(prod(shape_of(whole)), 1))
        slabs = [
            fold_canonically(
                operator,
                self.local(operand, with_interval(whole, first, (begin, min(begin + thick, high)))),
                axes,
                node.value_type,
            )
            for begin in range(low, max(high, low + 1), thick)  # one of no cells where there are none
        ]
        return slabs[0] if len(slabs) == 1 else np.concatenate(slabs, axis=0)

    def _inside(self, index: int, name: str, box: Box) -> tuple[slice, ...]:
        if any(low < 0 or high > n for (low, high), n in zip(box, self.extents_of(index), strict=True)):
            raise GraphError(f"{name} is read at {box}, outside its domain", advice="Put an Extend above the Load.")
        return tuple(slice(low, high) for low, high in box)

    def _extend(self, index: int, box: Box) -> Array:
        """Cut the box where the domain ends; each part then lies wholly inside or wholly outside along each axis."""
        node = self.nodes[index]
        assert isinstance(node.instruction, Extend)
        cuts = [cut_at_borders(box[a], n, node.instruction.sides[a][1]) for a, n in enumerate(self.extents_of(index))]
        if all(len(parts) == 1 for parts in cuts):
            return self._uniform(index, box, node.instruction.sides)
        result = np.empty(shape_of(box), node.value_type.numpy)
        for part in product(*cuts):
            where = tuple(slice(low - b[0], high - b[0]) for (low, high), b in zip(part, box, strict=True))
            result[where] = self.local(index, part)
        return result

    def _uniform(self, index: int, box: Box, sides: tuple[tuple[SideRule, SideRule], ...]) -> Array:
        """A box on one side of the domain's end along each axis, so that one rule decides: Extend's docstring.

        A reflected box mostly lies outside again, beyond the other side. It is followed to its end before anything is
        evaluated, so that no number of reflections is too many.
        """
        passed: list[tuple[Box, int, SideRule]] = []
        extents = self.extents_of(index)
        while True:
            outside = [(a, sides[a][0 if box[a][0] < 0 else 1]) for a, n in enumerate(extents) if beyond(box[a], n)]
            if not outside:
                values = self.on_domain(self.nodes[index].operands[0])[tuple(slice(*i) for i in box)]
                break
            axis, rule = next(((a, r) for a, r in outside if isinstance(r, VALUE_RULES)), outside[0])
            if not reflects(rule, box[axis], extents[axis]):
                values = self._outside(index, box, axis, rule)
                break
            box = with_interval(box, axis, nearer(sides[axis], box[axis], extents[axis]))
            passed.append((box, axis, rule))
            box = with_interval(box, axis, image(rule, box[axis], extents[axis]))
            if any(len(cut_at_borders(box[a], n, sides[a][1])) > 1 for a, n in enumerate(extents)):
                values = self.local(index, box)
                break
        for ghosts, axis, rule in reversed(passed):
            values = self._reflected(index, ghosts, rule, np.flip(values, axis))
        return values

    def _reflected(self, index: int, box: Box, rule: SideRule, images: Array) -> Array:
        """The values of ghost cells from those of their images."""
        node, type_ = self.nodes[index], self.nodes[index].value_type
        match rule:
            case Reflect(sign) | Mirror(sign) | Wall(sign):
                return _signed(images, sign, type_)
            case Fixed(operand):
                face = self.local(node.operands[operand], box)
                return apply("subtract", (apply("add", (face, face), type_), images), type_)
            case Undefined() | Periodic() | Outflow() | Prescribed() | Neumann():
                raise AssertionError(f"{rule} reflects nothing")

    def _outside(self, index: int, box: Box, axis: int, rule: SideRule) -> Array:
        node, type_, n = self.nodes[index], self.nodes[index].value_type, self.extents_of(index)[axis]
        low, high = box[axis]
        below = low < 0
        match rule:
            case Undefined():
                raise self._no_rule(node, axis, below)
            case Periodic(sign):
                taken = self._taken(index, box, axis, rule)
                rounds = np.arange(low, high) // n
                odd = np.expand_dims(rounds % 2 == 1, tuple(range(1, taken.ndim - axis)))
                return taken if sign == 1 else np.where(odd, _signed(taken, sign, type_), taken)
            case Outflow():
                return self._taken(index, box, axis, rule)
            case Wall(sign):  # the face on the wall, alone in its box
                return self._taken(index, box, axis, rule) if sign == 1 else np.zeros(shape_of(box), type_.numpy)
            case Mirror(sign):  # about the only cell
                return _signed(self._taken(index, box, axis, rule), sign, type_)
            case Reflect() | Fixed():
                raise AssertionError(f"{rule} reflects, see _uniform")
            case Prescribed(operand):
                return self.local(node.operands[operand], box)
            case Neumann(operand):
                last = 0 if below else n - 1
                distance = apply("cast", (np.arange(low, high, dtype=np.int64) - last,), type_)
                steps = np.broadcast_to(varying_along(distance, axis, len(box)), shape_of(box))
                rise = apply("multiply", (steps, self.local(node.operands[operand], box)), type_)
                return apply("add", (self._taken(index, box, axis, rule), rise), type_)

    def _taken(self, index: int, box: Box, axis: int, rule: SideRule) -> Array:
        """The values of the cells to which the rule maps those of the box along the axis."""
        low, high = box[axis]
        n = self.extents_of(index)[axis]
        cells = np.array([source_cell(rule, i, n) for i in range(low, high)])
        first = int(cells.min())
        found = self.local(index, with_interval(box, axis, (first, int(cells.max()) + 1)))
        return np.take(found, cells - first, axis=axis)

    def _no_rule(self, node: Node, axis: int, below: bool) -> FieldError:
        operand = self.nodes[node.operands[0]]
        loaded = operand.instruction.name if isinstance(operand.instruction, Load) else ""
        name = loaded or next(iter(node.names or operand.names), "a value")
        axes = () if node.space is None else node.space.axes
        side = f"{axes[axis].name}{'-' if below else '+'}"
        line = node.spans[0].line if node.spans else None
        what = f"{name} is read outside the domain at side {side}, where it has no boundary rule"
        return FieldError(what, advice=f"Give {name} a boundary rule at {side}.", line=line)


def _signed(values: Array, sign: int, type_: StorageType) -> Array:
    return values if sign == 1 else apply("negative", (values,), type_)
