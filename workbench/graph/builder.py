"""Builder: the only way to make a kernel; checks each node and shares equal ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache

from workbench.errors import GraphError
from workbench.graph.graph import Kernel
from workbench.graph.instructions import (
    Arith,
    Broadcast,
    Extend,
    Fold,
    Gather,
    Imm,
    Instruction,
    Join,
    Load,
    LoadIndex,
    LoadSize,
    Loop,
    Node,
    Rank,
    Reduce,
    Region,
    Replicate,
    Scan,
    Scatter,
    SegmentedReduce,
    Shift,
    Store,
    array_places,
)
from workbench.graph.marks import NO_HINT, Hint, Span, joined
from workbench.graph.operators import COMMUTATIVE, OPERATORS, PAIR_RULES, Operator, accepts, result_type
from workbench.graph.ranks import MOST_BITS
from workbench.graph.region import check_combiner, check_loop, loop_type
from workbench.graph.side_rules import SideRule
from workbench.graph.spaces import GLOBAL, Space
from workbench.graph.statics import Static
from workbench.graph.types import BOOL, I64, StorageType


class KernelBuilder:
    """Collects the nodes of one kernel over `space`. Every method returns the index of the value it made or found.

    Equal instructions on equal operands give one node (hash-consing); names and spans of later requests are added to
    it. Types and spaces are strict: promotion, casts and Broadcast are the front end's work. Raises GraphError.
    """

    def __init__(self, space: Space, statics: Sequence[Static]) -> None:
        self.space = space
        self._statics = {s.name: s for s in statics}
        self._nodes: list[Node] = []
        self._known: dict[tuple[Instruction, tuple[int, ...], StorageType | None, Space | None], int] = {}
        self._stored: set[str] = set()

    def __len__(self) -> int:
        return len(self._nodes)

    def node(self, index: int) -> Node:
        """The node as it stands now."""
        return self._nodes[index]

    def needed(self, roots: Iterable[int], read: Callable[[int], Iterable[int]] | None = None) -> list[int]:
        """The values that the roots are made of, and themselves, each one behind its operands.

        read: the operands of a value that count, by its number; all of them if not given.
        """
        found = set(roots)
        waiting = list(found)
        while waiting:
            index = waiting.pop()
            new = set(self._nodes[index].operands if read is None else read(index)) - found
            found |= new
            waiting += new
        return sorted(found)

    def declare(self, static: Static) -> None:
        """Make a further static known."""
        self._statics[static.name] = static

    def imm(self, value: bool | int | float, type_: StorageType, space: Space = GLOBAL) -> int:
        """A constant of this type; `value` must be one that the type holds exactly."""
        exact: bool | int | float = float(value) if not type_.is_native else type_.numpy.type(value).item()
        return self._add(Imm(exact), (), type_, space)

    def load(self, name: str, along: Sequence[str] = ()) -> int:
        """The static's value at the kernel's start; along other axes of the same extents, if these are named."""
        static = self._static(name)
        axes = tuple(axis for axis in self.space.axes if axis.name in along)
        seen = Space(axes) if along else static.space
        if along and (tuple(along) != tuple(a.name for a in axes) or not seen.fits(static.space)):
            raise GraphError(
                f"{name} along ({static.space.axis_names}) cannot be seen along ({', '.join(along)})",
                advice="Name as many other axes of the same extents, in the order of the graph's.",
            )
        return self._add(Load(name, tuple(along)), (), static.type, seen)

    def store(self, name: str, value: int) -> int:
        """Let the static take the value when the kernel ends; once per static, never for a param."""
        static = self._static(name)
        node = self._nodes[value]
        if static.role == "param":
            raise GraphError(f"{name} is a param: an input that no kernel stores", advice="Declare it as scalar().")
        if name in self._stored:
            raise GraphError(f"{name} is stored twice in one kernel", advice="Assign .next once per kernel.")
        if (node.type, node.space) != (static.type, static.space):
            raise GraphError(
                f"{name} is {static.type} of rank {static.space.rank}, the stored value is {node.type}",
                advice="Cast the value to the type of the static.",
            )
        self._stored.add(name)
        self._nodes.append(Node(Store(name), (value,), None, None))
        return len(self._nodes) - 1

    def reduce(self, operator: str | Region, value: int) -> int:
        """Reduce a Local over all its axes to a Global of the same type."""
        node = self._local(value, "Reduce")
        check_combiner(operator, node.value_type)
        return self._add(Reduce(operator, tuple(range(_space(node).rank))), (value,), node.type, GLOBAL)

    def fold(self, operator: str | Region, value: int, axes: Sequence[int]) -> int:
        """Reduce a Local over some of its axes to a Local of those left; over all of them it is `reduce`."""
        node = self._local(value, "Fold")
        space, over = _space(node), tuple(sorted(set(axes)))
        if not over or not set(over) <= set(range(space.rank)):
            raise GraphError(f"Fold over {tuple(axes)} of {space.rank} axes", advice="Name axes that the value has.")
        if len(over) == space.rank:
            return self.reduce(operator, value)
        check_combiner(operator, node.value_type)
        return self._add(Fold(operator, over), (value,), node.type, space.without(over))

    def scan(
        self, operator: str | Region, value: int, axis: int, *, reverse: bool = False, exclusive: bool = False
    ) -> int:
        """Combine a Local along one of its axes up to each cell; see Scan."""
        node = self._local(value, "Scan")
        _check_axis(axis, _space(node))
        check_combiner(operator, node.value_type)
        return self._add(Scan(operator, axis, reverse, exclusive), (value,), node.type, node.space)

    def segments(self, operator: str | Region, values: int, starts: int, lengths: int) -> int:
        """Combine each segment of a Local of one axis: i64 beginnings and lengths along another one; see the class."""
        node = self._local(values, "SegmentedReduce")
        places = [self._local(n, "SegmentedReduce") for n in (starts, lengths)]
        owned = _space(node).axes[:-1] in ((), _space(places[0]).axes)
        if not owned or any((n.type, n.space) != (I64, places[0].space) for n in places):
            raise GraphError(
                f"segments of {_space(node).rank} axes by {places[0].type} and {places[1].type}",
                advice="Give cells of one axis, behind that of the segments or not, and i64 beginnings and lengths.",
            )
        check_combiner(operator, node.value_type)
        return self._add(SegmentedReduce(operator), (values, starts, lengths), node.type, places[0].space)

    def rank(self, value: int, bits: int) -> int:
        """The places of integers of one axis in the order of their low bits; see Rank."""
        node = self._local(value, "Rank")
        if not node.value_type.is_integer or node.value_type == BOOL or _space(node).rank != 1:
            raise GraphError(
                f"Rank of {node.type} along {_space(node).rank} axes", advice="Give whole numbers along one axis."
            )
        if not 1 <= bits <= MOST_BITS:
            raise GraphError(f"Rank by {bits} bits", advice=f"Take 1 to {MOST_BITS}, and several passes for more.")
        return self._add(Rank(bits), (value,), I64, node.space)

    def join(self, axis: int, values: Sequence[int], space: Space) -> int:
        """Arrays one after another along one axis of `space`, whose extent is the sum of theirs; see Join."""
        return self._add(Join(axis), tuple(values), self._local(values[0], "Join").type, space)

    def scatter(
        self, operator: str | Region, defaults: int, values: int, indices: Sequence[int], mask: int | None = None
    ) -> int:
        """Send values to the cells of the defaults that the indices number, one for each axis; see the class."""
        node, sent = self._local(defaults, "Scatter"), self._local(values, "Scatter")
        found = [self._local(index, "Scatter") for index in indices]
        others = [] if mask is None else [self._local(mask, "Scatter")]
        if (
            len(found) != _space(node).rank
            or any(n.type != I64 for n in found)
            or any(n.type != BOOL for n in others)
            or any(n.space != sent.space for n in (*found, *others))
            or sent.type != node.type
        ):
            raise GraphError(
                f"Scatter of {sent.type} to {node.type} of {_space(node).rank} axes by {len(found)} indices",
                advice="Give values of the defaults' type, one i64 index for each axis and a bool mask, in one space.",
            )
        check_combiner(operator, node.value_type)
        operands = (defaults, values, *indices, *(() if mask is None else (mask,)))
        return self._add(Scatter(operator, mask is not None), operands, node.type, node.space)

    def broadcast(self, value: int, space: Space | None = None) -> int:
        """A Global in every cell of `space`, the kernel's own if not given. A constant becomes a Local constant."""
        node = self._nodes[value]
        target = self.space if space is None else space
        if not node.is_global:
            raise GraphError("Broadcast needs a Global", advice="Pass a Global value.")
        if isinstance(node.instruction, Imm):
            return self._add(node.instruction, (), node.type, target)
        return self._add(Broadcast(target), (value,), node.type, target)

    def replicate(self, value: int, space: Space) -> int:
        """A Local along further axes; what is the same in every cell is made anew, in its own space it stays itself."""
        node = self._local(value, "Replicate")
        if node.space == space:
            return value
        if _space(node).positions_in(space) is None:
            raise GraphError(
                f"Replicate of a value along {_space(node).axis_names} to {space.axis_names}",
                advice="Give the target all axes of the value, in their order.",
            )
        match node.instruction:
            case Imm():
                return self._add(node.instruction, (), node.type, space)
            case Broadcast():
                return self.broadcast(node.operands[0], space)
            case Replicate():
                return self.replicate(node.operands[0], space)
            case _:
                return self._add(Replicate(space), (value,), node.type, space)

    def gather(self, value: int, indices: Sequence[int]) -> int:
        """The cell of a Local that the indices number: one i64 Local for each of its axes, all of one space."""
        node = self._local(value, "Gather")
        found = [self._local(index, "Gather") for index in indices]
        rank, types = _space(node).rank, ", ".join(str(n.type) for n in found)
        if len(found) != rank or any(n.type != I64 or n.space != found[0].space for n in found):
            raise GraphError(
                f"Gather of {rank} axes by {len(found)} indices of {types}",
                advice="Give one i64 index for each axis, all in one space.",
            )
        return self._add(Gather(), (value, *indices), node.type, found[0].space)

    def shift(self, value: int, offset: Sequence[int]) -> int:
        """Move cells: result[i] = value[i - offset]. Shifts of shifts and zero shifts collapse."""
        node = self._local(value, "Shift")
        offset = tuple(int(o) for o in offset)
        if len(offset) != _space(node).rank:
            raise GraphError(
                f"Shift by {offset} in a space of rank {_space(node).rank}", advice="Give one offset per axis."
            )
        if not any(offset):
            return value
        if isinstance(node.instruction, Shift):
            inner = node.instruction.offset
            return self.shift(node.operands[0], [a + b for a, b in zip(inner, offset, strict=True)])
        return self._add(Shift(offset), (value,), node.type, node.space)

    def index(self, axis: int, space: Space | None = None) -> int:
        """The cell's index along `axis` of `space`, the kernel's own if not given; i64."""
        target = self.space if space is None else space
        _check_axis(axis, target)
        return self._add(LoadIndex(axis), (), I64, target)

    def size(self, axis: int) -> int:
        """The extent along `axis` of the kernel's space, an i64 Global."""
        _check_axis(axis, self.space)
        return self._add(LoadSize(axis), (), I64, GLOBAL)

    def arith(self, operator: str, *operands: int) -> int:
        """Apply an operator of the table to operands of one space and (but for select) one type."""
        row = OPERATORS.get(operator)
        if row is None or row.rule == "cast":
            raise GraphError(f"unknown operator {operator!r}", advice="Use a name from the operator table.")
        nodes = [self._nodes[i] for i in operands]
        if len(nodes) != row.arity:
            raise GraphError(f"{operator} takes {row.arity} operands, not {len(nodes)}", advice="Pass as many.")
        types = [n.type for n in nodes]
        if row.rule in PAIR_RULES:
            return self._paired(row, nodes, operands)
        if row.rule == "select":
            if types[0] != BOOL:
                raise GraphError(f"select needs a bool condition, not {types[0]}", advice="Compare first.")
            types = types[1:]
        if types[0] is None or types.count(types[0]) != len(types) or not accepts(row, types[0]):
            raise GraphError(
                f"{operator} does not take {', '.join(map(str, types))}", advice="Cast the operands to one legal type."
            )
        spaces = [n.space for n in nodes]
        if spaces.count(spaces[0]) != len(spaces):
            if any(n.is_global for n in nodes):
                raise GraphError(f"{operator} mixes a Global and a Local", advice="Broadcast the Global first.")
            raise GraphError(
                f"{operator} mixes Locals along {' and along '.join(_space(n).axis_names for n in nodes)}",
                advice="Replicate what has fewer axes first.",
            )
        result = BOOL if row.rule == "bool" else types[0]
        instruction = _arith(operator)
        if operator in COMMUTATIVE and not types[0].is_record:
            turned = self._known.get((instruction, operands[::-1], result, spaces[0]))
            if turned is not None:
                return turned
        return self._add(instruction, operands, result, spaces[0])

    def _paired(self, row: Operator, nodes: Sequence[Node], operands: Sequence[int]) -> int:
        """What makes a pair, or takes one apart; of a pair that is made here its operand."""
        result = result_type(row, [node.value_type for node in nodes], None)
        if result is None or len({node.space for node in nodes}) != 1:
            raise GraphError(
                f"{row.name} of {', '.join(str(node.type) for node in nodes)}",
                advice="Give a pair two values of one space, and take a pair apart.",
            )
        if row.rule != "pair" and nodes[0].instruction == Arith("pair"):
            return nodes[0].operands[row.rule == "second"]
        return self._add(Arith(row.name), tuple(operands), result, nodes[0].space)

    def cast(self, value: int, type_: StorageType) -> int:
        """Convert to `type_`; the same type gives the value itself."""
        node = self._nodes[value]
        if node.type == type_:
            return value
        return self._add(Arith("cast"), (value,), type_, node.space)

    def loop(self, body: Region, result: int, operands: Sequence[int]) -> int:
        """One value of a loop: the most turns, what each value begins with, what the body reads besides; see Loop."""
        loop, nodes = Loop(body, result), [self._nodes[o] for o in operands]
        trouble = check_loop(loop, [node.type for node in nodes])
        if trouble:
            raise GraphError(f"loop: {trouble}", advice="Give the body's types, and a body of scalar arithmetic.")
        arrays = array_places(loop)
        if len({node.space for number, node in enumerate(nodes) if number not in arrays}) != 1:
            raise GraphError("loop mixes values of several spaces", advice="Broadcast or replicate them first.")
        return self._add(loop, tuple(operands), loop_type(loop), nodes[0].space)

    def element(self, array: int, indices: Sequence[int]) -> int:
        """In the body of a loop: the element of a parameter that is an array; see Gather."""
        return self._add(Gather(), (array, *indices), self._nodes[array].type, GLOBAL)

    def extend(self, value: int, sides: Sequence[tuple[SideRule, SideRule]], operands: Sequence[int] = ()) -> int:
        """Give the value an outside; `operands` are what value rules name as operand 1, 2, ..."""
        node = self._local(value, "Extend")
        if len(sides) != _space(node).rank:
            raise GraphError(f"Extend has {len(sides)} axes of {_space(node).rank}", advice="Give a pair per axis.")
        for operand in operands:
            if (self._nodes[operand].type, self._nodes[operand].space) != (node.type, node.space):
                raise GraphError("a boundary value has another type or space than the field", advice="Cast it.")
        if isinstance(node.instruction, Extend):  # only the operand's domain counts, and that is the inner operand's
            value = node.operands[0]
        return self._add(Extend(tuple(sides)), (value, *operands), node.type, node.space)

    def annotate(
        self, index: int, *, name: str | None = None, span: Span | None = None, hint: Hint | None = None
    ) -> None:
        """Add a name, a place in the cell or a hint; contradictory allocations are the front end's error to report."""
        names, spans = () if name is None else (name,), () if span is None else (span,)
        self._mark(index, names, spans, hint or NO_HINT)

    def mark_as(self, index: int, node: Node) -> None:
        """Add the names and places of another node, whose value this one is; not its hint."""
        self._mark(index, node.names, node.spans, NO_HINT)

    def _mark(self, index: int, names: Sequence[str], spans: Sequence[Span], hint: Hint) -> None:
        node = self._nodes[index]
        names = joined(node.names, names)
        spans = joined(node.spans, spans)
        if names is node.names and spans is node.spans and hint is NO_HINT:
            return
        hint = node.hint if hint is NO_HINT else hint.over(node.hint)
        self._nodes[index] = Node(node.instruction, node.operands, node.type, node.space, names, spans, hint)

    def finish(self, name: str) -> Kernel:
        """The kernel with every node made so far (dead ones too; simplification drops them)."""
        return Kernel(name, tuple(self._nodes), self.space)

    def _add(
        self, instruction: Instruction, operands: tuple[int, ...], type_: StorageType | None, space: Space | None
    ) -> int:
        key = (instruction, operands, type_, space)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = len(self._nodes)
            self._nodes.append(Node(instruction, operands, type_, space))
        return found

    def _static(self, name: str) -> Static:
        if name not in self._statics:
            raise GraphError(f"no static is called {name!r}", advice="Declare it first.")
        return self._statics[name]

    def _local(self, value: int, what: str) -> Node:
        node = self._nodes[value]
        if not node.is_local:
            raise GraphError(f"{what} needs a Local value", advice="Pass a value that has one number per cell.")
        return node


_arith = cache(Arith)  # one of each operator: what is the same object is soon found equal


def _space(node: Node) -> Space:
    assert node.space is not None
    return node.space


def _check_axis(axis: int, space: Space) -> None:
    if not 0 <= axis < space.rank:
        raise GraphError(f"axis {axis} of a space of rank {space.rank}", advice="Use an axis from 0 to rank-1.")
