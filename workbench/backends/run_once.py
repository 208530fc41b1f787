"""One run of a kernel as the reference makes it, after the loops over whole arrays before it."""

from __future__ import annotations

from workbench.backends.checks import too_long
from workbench.backends.interpreter import KernelInterpreter, State
from workbench.graph import Graph
from workbench.graph.operators import Array


def run_once(graph: Graph, kernel: str, extents: tuple[int, ...], state: State) -> dict[str, Array]:
    """What a kernel stores, after the loops before it have run. RunError if one goes on too long."""
    known = dict(state)

    def step(name: str) -> dict[str, Array]:
        return KernelInterpreter(graph, graph.kernel(name), extents).step(known)

    def after_loops(name: str) -> dict[str, Array]:
        for loop in graph.loops_before(name):
            known.update(step(loop.begin))
            turns = 0
            while known[loop.going] and (turns < loop.at_most or not loop.at_most_ok):
                if turns == loop.at_most:
                    raise too_long(graph, loop)
                known.update(after_loops(loop.turn))
                turns += 1
        return step(name)

    return after_loops(kernel)
