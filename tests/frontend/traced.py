"""What a test looks at in the graph of a cell."""

from workbench.frontend.cell import trace_cell
from workbench.graph import Arith


def kernel_of(text, **options):
    return trace_cell(text, **options).graph.kernels[0]


def stored(text, name="u", **options):
    """The node that `name` takes."""
    kernel = kernel_of(text, **options)
    return kernel.nodes[dict(kernel.stores())[name]], kernel


def operators(kernel):
    return [n.instruction.operator for n in kernel.nodes if isinstance(n.instruction, Arith)]
