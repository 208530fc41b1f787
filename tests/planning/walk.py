"""What a loop reads, found by walking the formulas of its values."""

from workbench.graph import Broadcast, Load, Reduce, Shift


def reads_of(kernel, step, subkernel):
    """(node, whether beyond the cell itself) that a loop reads, and the numbers it uses, walking its formulas."""
    homes = {h.node for h in subkernel.reads}
    reads, numbers = set(), set()

    def visit(index, cell, by_formula):
        node = kernel.nodes[index]
        if index in homes and (not by_formula or isinstance(node.instruction, Load)):
            reads.add((index, cell))
        elif isinstance(node.instruction, Shift):
            visit(node.operands[0], tuple(c - o for c, o in zip(cell, node.instruction.offset, strict=True)), False)
        elif isinstance(node.instruction, Broadcast):
            numbers.update(reductions(kernel, node.operands[0]))
        else:
            for operand in node.operands:
                visit(operand, cell, False)

    origin = (0,) * len(subkernel.margins)
    for home in subkernel.outputs:
        visit(home.node, origin, True)
    for reduction in subkernel.reductions:
        visit(kernel.nodes[reduction].operands[0], origin, False)
    return reads, numbers


def reductions(kernel, index):
    """Reduce nodes below a number, none below another one."""
    node = kernel.nodes[index]
    if isinstance(node.instruction, Reduce):
        return {index}
    return set().union(*(reductions(kernel, o) for o in node.operands))
