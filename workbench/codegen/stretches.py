"""Stretches: a row in parts whose cells have their neighbours equally far away, so that one text serves all of them.

Each cell at an end of a row is a stretch, and so is its interior. How far away a neighbour is, and whether it is beyond
an end, is found at the first cell of a stretch by the formulas of the graph; its cells read it there without a look at
the ends of the array.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.codegen.expressions import emit_cell
from workbench.codegen.index_range import lies_inside
from workbench.codegen.interior import Interior, interior_of, needed_in
from workbench.codegen.loops import Stretches
from workbench.codegen.names import NameBook
from workbench.codegen.scope import Neighbours, Scope
from workbench.codegen.statement import Statement
from workbench.graph import Arith, Gather, Loop, Replicate
from workbench.graph.spaces import axis_name


def stretches_of(scope: Scope, roots: Sequence[int], names: NameBook) -> tuple[Neighbours, Stretches] | None:
    """What a loop that computes the roots knows in each stretch of a row; None where no cell reads neighbours so.

    names: of the loop; those of distances and conditions are taken from it. Cells that turn, or compute with structs,
    are written in other ways.
    """
    needed = needed_in(scope, roots)
    nodes = [scope.nodes[index] for index in needed]
    if any(isinstance(node.instruction, Loop) for node in nodes):
        return None
    if any(node.type is not None and (node.type.is_record or node.type.is_pair) for node in nodes):
        return None
    interior = interior_of(scope, needed)
    if interior is None:
        return None
    free = names.copy()
    cut = [index for index in interior.moves if _is_cut(scope, index)]
    known = Neighbours(
        {index: names.claim("to_neighbour") for index in cut},
        {index: names.claim("beyond_end") for index in interior.conditions},
        {index: (names.claim("is_inside"), names.claim("to_inside")) for index in _unsure(scope, needed, interior)},
    )
    variables = [*(("int64_t", name) for name in known.moves.values())]
    variables += [("bool", name) for name in known.conditions.values()]
    for is_inside, move in known.checked.values():
        variables += [("bool", is_inside), ("int64_t", move)]
    return known, Stretches(interior.below, interior.above, tuple(variables), _at_first(scope, known, free))


def _is_cut(scope: Scope, index: int) -> bool:
    """Whether an index is more than a sum."""
    instruction = scope.nodes[index].instruction
    return isinstance(instruction, Arith) and instruction.operator != "add"


def _unsure(scope: Scope, needed: Sequence[int], interior: Interior) -> Mapping[int, None]:
    """The indices by which neighbours in a row are read, and which are not known to lie inside."""
    found: dict[int, None] = {}
    for index in needed:
        gather = scope.nodes[index]
        if not isinstance(gather.instruction, Gather):
            continue
        read = scope.nodes[gather.operands[0]].space
        assert read is not None
        for axis, place in zip(read.axes, gather.operands[1:], strict=True):
            while isinstance(scope.nodes[place].instruction, Replicate):
                (place,) = scope.nodes[place].operands
            is_row = place in interior.moves and scope.has_row_of(axis.extent)
            if is_row and not lies_inside(scope, place, axis.extent):
                found[place] = None
    return found


def _at_first(scope: Scope, known: Neighbours, names: NameBook) -> tuple[Statement, ...]:
    """The lines that find what is known, at the cell `i`."""
    roots = tuple(dict.fromkeys((*known.moves, *known.conditions, *known.checked)))
    code = emit_cell(scope, roots, (), names)
    texts = {result.node: result.text for result in code.results}
    own, length = f"index_{axis_name(scope.inner)}", f"shape.extents[{scope.loop_axes.index(scope.inner)}]"
    lines = [*code.uniform, *code.row, *code.cell]
    lines += [Statement(f"{name} = {texts[index]} - {own};", (index,)) for index, name in known.moves.items()]
    lines += [Statement(f"{name} = {texts[index]};", (index,)) for index, name in known.conditions.items()]
    for index, (is_inside, move) in known.checked.items():
        lines.append(Statement(f"{is_inside} = uint64_t({texts[index]}) < uint64_t({length});", (index,)))
        lines.append(Statement(f"{move} = ({is_inside} ? {texts[index]} : 0) - {own};", (index,)))
    return tuple(lines)
