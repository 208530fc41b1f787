"""Floyd-Warshall: lengths of the shortest paths between all nodes of a graph (McDonell 2015, §6.10)."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.array_function import collective
from workbench.language import while_loop

_MOST_NODES = 10**9


@collective
def through(lengths: Any, node: Any) -> Any:  # noqa: ANN401  # arrays while it is traced are no NumPy arrays
    """The shorter of each path and the one by way of a node: one loop over all pairs that makes no array.

    lengths: from node i to node j, an array of shape (n, n). node: its number, which differs from call to call and
    compiles nothing.
    """
    return np.minimum(lengths, lengths[:, node][:, None] + lengths[node, :][None, :])


@collective
def shortest_paths(lengths: Any) -> Any:  # noqa: ANN401  # arrays while it is traced are no NumPy arrays
    """The lengths of the shortest paths, an array of the shape (n, n) and the type of `lengths`.

    lengths: of the edge from node i to node j, 0 from a node to itself. Where there is none, inf of floats, of
    integers a number of which twice is still one of the type.
    """
    nodes = lengths.shape[0]
    found, _ = while_loop(
        lambda _, node: node < nodes,
        lambda found, node: (through(found, node), node + 1),
        (lengths, 0),
        at_most=_MOST_NODES,
    )
    return found
