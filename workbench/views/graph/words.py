"""Graph words: what is said about one value, in the live view and for screen readers."""

from __future__ import annotations

from workbench.views.graph.summary import GraphNode


def storage_text(node: GraphNode) -> str:
    """Where it lives, and why nothing else is possible, or what the cell asks for."""
    if not node.storage:
        return "no value"
    if node.forced:
        return f"{node.storage}, and cannot be flipped: {node.forced}"
    told = "; ".join(text for text in (node.hinted, node.rolling) if text)
    return f"{node.storage}: {told}" if told else node.storage


def details_text(node: GraphNode, cell: str = "a cell") -> str:
    """`cell` is one of what loops count (Terms). Reads, how often it is computed, how far outside, which line."""
    parts = []
    if node.loads is not None:
        parts.append(f"{node.loads} load{'' if node.loads == 1 else 's'}")
    if node.subkernels:
        parts.append(f"computed {node.evaluations} × {cell}")
    if len(node.subkernels) > 1:
        parts.append(f"in {len(node.subkernels)} sub-kernels")
    if node.outside:
        parts.append(f"needed {node.outside} {cell.partition(' ')[2]}s outside the domain")
    if node.sync_before or node.sync_after:
        sides = [side for side, there in (("before", node.sync_before), ("after", node.sync_after)) if there]
        parts.append(f"barrier {' and '.join(sides)} it")
    if node.cell_lines:
        parts.append(f"cell line{'' if len(node.cell_lines) == 1 else 's'} {', '.join(map(str, node.cell_lines))}")
    return "; ".join(parts)
