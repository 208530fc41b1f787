"""Shrinking keeps the failure and removes what has nothing to do with it."""

from tests.kit.random_programs import random_program
from tests.kit.shrink import shrink
from workbench.graph import Arith, Reduce
from workbench.graph.verify import verify


def has(kind):
    return lambda graph: any(isinstance(n.instruction, kind) for k in graph.kernels for n in k.nodes)


def test_what_is_left_is_what_the_failure_needs():
    shrunk = 0
    for seed in range(60):
        graph = random_program(seed, cells=10)[0]
        if has(Reduce)(graph):
            small = shrink(graph, has(Reduce), attempts=1000)
            verify(small)
            assert has(Reduce)(small)
            assert len(small.kernels) == 1
            kernel = small.kernels[0]
            casts = sum(isinstance(n.instruction, Arith) for n in kernel.nodes)  # on the way to the one store's type
            assert len(kernel.nodes) - casts <= 4  # a value, its reduction, perhaps a broadcast, one store
            assert casts <= 4
            assert len(small.statics) <= 2
            shrunk += 1
    assert shrunk >= 10
