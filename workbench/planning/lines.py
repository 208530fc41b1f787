"""Lines: where in the cell a value comes from."""

from __future__ import annotations

from workbench.graph import Kernel


def line_of(kernel: Kernel, index: int) -> int | None:
    """Return the first line of the cell that wrote a value, or an operand of it; None where none is known."""
    waiting = [index]
    for node in waiting:
        lines = [span.line for span in kernel.nodes[node].spans if span.line]
        if lines:
            return min(lines)
        waiting.extend(o for o in kernel.nodes[node].operands if o not in waiting)
    return None
