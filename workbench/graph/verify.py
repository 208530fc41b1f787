"""The verifier: named checks that together say what a well-formed graph is."""

from __future__ import annotations

from collections.abc import Callable

from workbench.errors import GraphError
from workbench.graph.graph import Graph
from workbench.graph.instructions import (
    Arith,
    Broadcast,
    Combining,
    Extend,
    Fold,
    Gather,
    Imm,
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
    traits_of,
)
from workbench.graph.operators import OPERATORS, REDUCTIONS, accepts, result_type
from workbench.graph.place import Place, places
from workbench.graph.region import check_region, represents
from workbench.graph.spaces import Space
from workbench.graph.types import BOOL, I64
from workbench.graph.verify_joins import joins_have_parts
from workbench.graph.verify_loops import loops_are_closed, whiles_are_whole
from workbench.graph.verify_outside import (
    loads_stay_inside,
    periodic_has_both_sides,
    rule_operands_are_free_of_fields,
    signs_fit_the_type,
)
from workbench.graph.verify_ranks import ranks_count_bits
from workbench.graph.verify_statics import (
    extents_are_closed,
    is_of,
    names_are_unique,
    statics_are_used_rightly,
    statics_fit_their_roles,
)


def verify(graph: Graph) -> None:
    """Raise GraphError at the first check that the graph does not pass."""
    for check in CHECKS:
        check(graph)


def kernels_are_of_the_graph(graph: Graph) -> None:
    """Keys spell the kernel's space "local", as the text form spells the graph's."""
    for kernel in graph.kernels:
        if kernel.space != graph.space:
            raise GraphError(
                f"kernel {kernel.name} has a space of rank {kernel.space.rank} that is not the graph's",
                advice="Give it the graph's space.",
            )


def operands_are_earlier(graph: Graph) -> None:
    """Operands are values that stand above; how many there are is right."""
    for place in places(graph):
        node = place.node
        for operand in node.operands:
            if not 0 <= operand < place.index:
                place.fail(f"operand %{operand} does not stand above", "Order the nodes by dependence.")
            if isinstance(place.nodes[operand].instruction, Store):
                place.fail(f"operand %{operand} is a Store, which has no value", "Take the stored value.")
        arity = traits_of(node.instruction).arity
        if isinstance(node.instruction, Arith):
            row = OPERATORS.get(node.instruction.operator)
            if row is None:
                place.fail(f"unknown operator {node.instruction.operator!r}", "Use a name from the operator table.")
            arity = row.arity
        if len(node.operands) < 1 if arity is None else len(node.operands) != arity:
            place.fail(f"{len(node.operands)} operands", "Give the instruction as many as it takes.")


def values_have_type_and_space(graph: Graph) -> None:
    """Only a Store has neither; a space has axes of the graph or none, and both are what the instruction gives."""
    for place in places(graph):
        node, traits = place.node, traits_of(place.node.instruction)
        if traits.result == "none":
            if node.type is not None or node.space is not None:
                place.fail("a Store with a type or space", "Leave both out.")
        elif node.type is None or node.space is None:
            place.fail("a value without type or space", "Give both.")
        elif not is_of(graph, node.space):
            place.fail(
                f"the axes ({node.space.axis_names}) of a graph with ({graph.space.axis_names})",
                "Use axes of the graph, in their order.",
            )
        elif traits.result != "either" and node.is_local != (traits.result == "local"):
            place.fail(f"{_kind(node)} is a {traits.result.capitalize()}", "Correct its space.")
        elif traits.type is not None and node.type != traits.type:
            place.fail(f"{_kind(node)} is {traits.type}, the node says {node.type}", "Correct its type.")


def _kind(node: Node) -> str:
    return type(node.instruction).__name__


def arithmetic_follows_the_table(graph: Graph) -> None:
    """Operand types, result type and space are those of the operator's row."""
    for place in places(graph):
        node = place.node
        if not isinstance(node.instruction, Arith):
            continue
        row = OPERATORS[node.instruction.operator]
        operands = [place.nodes[i] for i in node.operands]
        types = [n.value_type for n in operands]
        if any(n.space != node.space for n in operands):
            place.fail(f"{row.name} mixes spaces", "Broadcast a Global and replicate a Local of fewer axes first.")
        if row.rule == "select" and types[0] != BOOL:
            place.fail(f"select by {types[0]}", "Select by a bool.")
        result = result_type(row, types, node.type)
        if result is None:
            values = types[row.rule == "select" :]
            place.fail(f"{row.name} of {', '.join(map(str, values))}", "Cast the operands to one legal type.")
        if node.type != result:
            place.fail(f"{row.name} gives {result}, the node says {node.type}", "Correct the node's type.")


def movements_keep_type_and_space(graph: Graph) -> None:
    """Shift, Extend, Broadcast, Replicate and Gather: Local or Global as each needs, ranks right."""
    for place in places(graph):
        node, rank = place.node, _rank(place.node)
        match node.instruction:
            case Shift(offset):
                _same(place, place.operand(0), "Shift")
                if len(offset) != rank:
                    place.fail(f"Shift by {offset} in {rank} axes", "Give one offset per axis.")
            case Extend(sides):
                for number in range(len(node.operands)):
                    _same(place, place.operand(number), "Extend")
                if len(sides) != rank:
                    place.fail(f"Extend has {len(sides)} pairs of sides for {rank} axes", "Give a pair per axis.")
            case Broadcast(space) | Replicate(space):
                _repeats(place, space)
            case Gather():
                _gathers(place)
            case Imm() | Load() | LoadIndex() | LoadSize() | Store() | Arith() | Loop():
                pass  # these move nothing
            case Reduce() | Fold() | Scan() | SegmentedReduce() | Scatter() | Join() | Rank():
                pass  # other promises say what these do


def _repeats(place: Place, space: Space) -> None:
    """A Global to all cells of a space, or a Local to further axes."""
    node, source = place.node, place.operand(0)
    keeps_type = node.space == space and node.type == source.type
    if isinstance(node.instruction, Broadcast):
        if not source.is_global or not keeps_type:
            place.fail("Broadcast takes a Global to a space and keeps its type", "Correct it.")
        return
    inside = source.space is not None and source.is_local and source.space.positions_in(space) is not None
    if not inside or source.space == space or not keeps_type:
        place.fail("Replicate takes a Local to further axes and keeps its type", "Correct it.")


def _gathers(place: Place) -> None:
    """An index for each axis of what is gathered, in the cells of the result."""
    node, source = place.node, place.operand(0)
    indices = [place.operand(number) for number in range(1, len(node.operands))]
    if not source.is_local or node.type != source.type:
        place.fail("Gather takes a Local and keeps its type", "Correct operand or type.")
    if len(indices) != _rank(source) or any((n.type, n.space) != (I64, node.space) for n in indices):
        place.fail(
            f"{len(indices)} indices for {_rank(source)} axes", "Give each axis an i64 index in the result's cells."
        )


def _rank(node: Node) -> int:
    return 0 if node.space is None else node.space.rank


def _same(place: Place, operand: Node, what: str) -> None:
    node = place.node
    if not operand.is_local or (operand.type, operand.space) != (node.type, node.space):
        place.fail(f"{what} keeps a Local's type and space", "Give operands and result one type and space.")


def indices_name_axes(graph: Graph) -> None:
    """LoadIndex and LoadSize are of an axis that exists."""
    for place in places(graph):
        instruction = place.node.instruction
        rank = graph.dim if isinstance(instruction, LoadSize) else _rank(place.node)
        if isinstance(instruction, LoadIndex | LoadSize) and not 0 <= instruction.axis < rank:
            place.fail(f"{_kind(place.node)} of axis {instruction.axis} in {rank} axes", "Correct the axis.")


def constants_are_representable(graph: Graph) -> None:
    """An Imm holds a number of its type, exactly."""
    for place in places(graph):
        if isinstance(place.node.instruction, Imm):
            value = place.node.instruction.value
            if not represents(place.node.value_type, value):
                place.fail(f"{value!r} is not a number of type {place.node.type}", "Round the constant to its type.")


def kernels_store_something(graph: Graph) -> None:
    """A kernel that stores nothing does nothing, and so does a graph without one."""
    if not graph.kernels:
        raise GraphError(f"{graph.name} has no kernel", advice="Give it one that stores something.")
    for kernel in graph.kernels:
        if not kernel.stores():
            raise GraphError(f"kernel {kernel.name} stores nothing", advice="Assign .next to a field or scalar.")


def reductions_are_closed(graph: Graph) -> None:
    """What combines takes a Local along the right axes, by a known reduction or a binary operator as a region."""
    for place in places(graph):
        node, instruction = place.node, place.node.instruction
        if not isinstance(instruction, Combining):
            continue
        operand = place.operand(0)
        if not operand.is_local or node.type != operand.type or operand.space is None:
            place.fail(f"{_kind(node)} takes a Local and keeps its type", "Correct operand or type.")
        match instruction:
            case Reduce(_, axes) | Fold(_, axes):
                _reduces_axes(place, operand.space, axes)
            case Scan(_, axis):
                if not 0 <= axis < operand.space.rank or node.space != operand.space:
                    place.fail(f"Scan over axis {axis} of {operand.space.rank}", "Name an axis; keep all.")
            case SegmentedReduce():
                _segments(place)
            case Scatter():
                _scatters(place, instruction)
        _operates(place, instruction)


def _operates(place: Place, instruction: Combining) -> None:
    """The operator is a known reduction of the node's type, or a region on it."""
    node, operator = place.node, instruction.operator
    if isinstance(operator, Region):
        trouble = check_region(operator, node.value_type, combines=not isinstance(instruction, Scatter))
        if trouble:
            place.fail(f"region: {trouble}", "Give a scalar operator of two parameters and its identity.")
    elif operator not in REDUCTIONS:
        place.fail(f"unknown reduction {operator!r}", f"Use one of {', '.join(REDUCTIONS)}.")
    elif not accepts(OPERATORS[REDUCTIONS[operator].operator], node.value_type):
        place.fail(f"reduction {operator} of {node.type}", "Cast the value first.")


def _reduces_axes(place: Place, space: Space, axes: tuple[int, ...]) -> None:
    """Reduce over all axes of its operand, Fold over some, which its result lacks."""
    instruction, every = place.node.instruction, tuple(range(space.rank))
    if isinstance(instruction, Reduce) and axes != every:
        place.fail(f"Reduce over axes {axes} of {len(every)}", "Reduce over all axes, or fold over some.")
    some = tuple(sorted(set(axes) & set(every)))
    if isinstance(instruction, Fold) and (axes != some or axes in ((), every)):
        place.fail(f"Fold over axes {axes} of {len(every)}", "Name some of the operand's axes, ascending.")
    if isinstance(instruction, Fold) and place.node.space != space.without(axes):
        place.fail(f"Fold over axes {axes} gives another space", "Give it the axes that are left.")


def _segments(place: Place) -> None:
    """Cells of one axis, behind that of the segments or not; beginnings and lengths in the cells of the result."""
    node, cells = place.node, place.operand(0).space
    owned = cells is not None and node.space is not None and cells.axes[:-1] in ((), node.space.axes)
    if not owned or _rank(node) != 1:
        place.fail("segments of or in more than one axis", "Give cells of one axis, or that of the segments before it.")
    if any((place.operand(k).type, place.operand(k).space) != (I64, node.space) for k in (1, 2)):
        place.fail("beginnings or lengths that are no i64 in the result's cells", "Cast or replicate them.")


def _scatters(place: Place, instruction: Scatter) -> None:
    """Defaults in the cells of the result; values, indices for its axes and the mask in those of the senders."""
    node = place.node
    expected = 2 + _rank(node) + instruction.masked
    if place.operand(0).space != node.space or len(node.operands) != expected:
        place.fail(f"{len(node.operands)} operands for {_rank(node)} axes", f"Give {expected}, defaults first.")
    sent, types = place.operand(1), [node.type, *[I64] * _rank(node), *[BOOL] * instruction.masked]
    for number, type_ in enumerate(types, start=1):
        operand = place.operand(number)
        if not operand.is_local or (operand.type, operand.space) != (type_, sent.space):
            place.fail(f"operand {number} is no {type_} of the senders", "Cast or replicate it.")


def coordinates_are_local(graph: Graph) -> None:
    """A coordinate labels an axis by a Local made of indices, sizes and params."""
    roles = {s.name: s.role for s in graph.statics}
    for coordinate in graph.coordinates:
        used = {n.instruction.name for n in coordinate.nodes if isinstance(n.instruction, Load)}
        stores = any(isinstance(n.instruction, Store | Combining) for n in coordinate.nodes)
        local = bool(coordinate.nodes) and coordinate.nodes[-1].is_local
        if not 0 <= coordinate.axis < graph.dim or stores or not local or any(roles[n] != "param" for n in used):
            raise GraphError(
                f"coordinate {coordinate.name} of axis {coordinate.axis} is no function of indices, sizes and params",
                advice="Compute it from index, size and params.",
            )


CHECKS: tuple[Callable[[Graph], None], ...] = (
    extents_are_closed,
    names_are_unique,
    statics_fit_their_roles,
    kernels_are_of_the_graph,
    values_have_type_and_space,
    operands_are_earlier,
    arithmetic_follows_the_table,
    indices_name_axes,
    movements_keep_type_and_space,
    constants_are_representable,
    statics_are_used_rightly,
    kernels_store_something,
    reductions_are_closed,
    ranks_count_bits,
    joins_have_parts,
    loops_are_closed,
    whiles_are_whole,
    periodic_has_both_sides,
    signs_fit_the_type,
    rule_operands_are_free_of_fields,
    loads_stay_inside,
    coordinates_are_local,
)
"""In this order: a later check relies on the earlier ones."""
