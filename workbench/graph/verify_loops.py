"""Checks of loops: those that each cell makes for itself, and those over whole arrays."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.errors import GraphError
from workbench.graph.graph import Graph
from workbench.graph.instructions import Loop, arrays_read, operands_in_cell
from workbench.graph.place import places
from workbench.graph.region import check_loop, loop_type
from workbench.graph.statics import While
from workbench.graph.types import BOOL


def loops_are_closed(graph: Graph) -> None:
    """A Loop has a body of scalar arithmetic, and operands of its parameters' types in one space, but for arrays."""
    for place in places(graph):
        node = place.node
        if not isinstance(node.instruction, Loop):
            continue
        operands = [place.operand(number) for number in range(len(node.operands))]
        trouble = check_loop(node.instruction, [operand.type for operand in operands])
        if trouble:
            place.fail(f"Loop: {trouble}", "Give operands of the body's types, and a body of scalar arithmetic.")
        in_cell = [place.nodes[number] for number in operands_in_cell(node)]
        if any(operand.space != node.space for operand in in_cell) or node.type != loop_type(node.instruction):
            place.fail("Loop mixes spaces, or has another type than its value", "Correct type and spaces.")
        arrays = [place.nodes[number] for number in arrays_read(node)]
        wanted = [parameter.axes for parameter in node.instruction.body.parameters if parameter.axes]
        if [0 if array.space is None else array.space.rank for array in arrays] != wanted:
            place.fail("Loop reads an array of other axes than its parameter", "Give an array of as many axes.")
        if arrays and not node.is_local:
            place.fail("Loop reads an array, but is a Global", "Let it turn in the cells of a space.")


def whiles_are_whole(graph: Graph) -> None:
    """The kernels of a While exist, store inner statics only, and both say whether there is a turn."""
    statics = {static.name: static for static in graph.statics}
    stores = {kernel.name: {name for name, _ in kernel.stores()} for kernel in graph.kernels}
    parts = [name for loop in graph.loops for name in (loop.begin, loop.turn)]
    outer = {loop.turn: loop.before for loop in graph.loops}
    for loop in graph.loops:
        for name in (loop.before, loop.begin, loop.turn):
            if name not in stores:
                raise _while_error(
                    loop, f"runs {name!r}, which is not a kernel of the graph", "Name a kernel of the graph."
                )
            if parts.count(name) > (name != loop.before or name in outer):
                raise _while_error(loop, f"runs {name}, which has another part already", "Use each kernel once.")
        if _is_inside_itself(loop, outer):
            raise _while_error(loop, "stands inside of itself", "Let it stand before a kernel that is no part of it.")
        going = statics.get(loop.going)
        if going is None or not going.inner or going.role != "scalar" or going.type != BOOL:
            raise _while_error(loop, f"asks {loop.going!r}, which is no inner bool scalar", "Declare it.")
        for name in (loop.begin, loop.turn):
            if loop.going not in stores[name] or not all(statics[each].inner for each in stores[name]):
                what = f"stores {', '.join(sorted(stores[name]))} in {name}"
                raise _while_error(loop, what, f"Store {loop.going} and inner statics only.")
        if loop.at_most < 1:
            raise _while_error(loop, f"makes at most {loop.at_most} turns", "Allow one at least.")
    for kernel in graph.kernels:
        inner = sorted(name for name in stores[kernel.name] if name in statics and statics[name].inner)
        if inner and kernel.name not in parts:
            raise GraphError(f"kernel {kernel.name} stores {inner[0]}, which is inner", advice="Leave it to a While.")


def _is_inside_itself(loop: While, outer: Mapping[str, str]) -> bool:
    """Whether the loops around it have no end. outer: the kernel before which each loop stands, by its `turn`."""
    seen, before = {loop.turn}, loop.before
    while before in outer and before not in seen:
        seen.add(before)
        before = outer[before]
    return before in seen


def _while_error(loop: While, what: str, advice: str) -> GraphError:
    return GraphError(f"the loop before {loop.before} {what}", advice=advice, line=loop.span.line or None)
