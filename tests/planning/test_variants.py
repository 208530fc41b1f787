"""Which scalars plain steps leave out: none that shows afterwards, and all that save a pass over the cells."""

import numpy as np

from tests.kit.bits import assert_same_bits
from tests.kit.random_programs import random_program
from workbench.backends.base import MarchRequest
from workbench.backends.reference import ReferenceInstance
from workbench.graph import Load, Reduce, Store
from workbench.graph.diagnostics import ancestors, diagnostic_stores
from workbench.planning.variants import live_nodes, plain_nodes


def programs():
    for seed in range(150):
        yield seed, *random_program(seed, cells=40)


def test_leaving_diagnostics_out_changes_nothing_that_is_seen_later():
    skipped = 0
    for seed, graph, extents, arrays, params in programs():
        found = []
        for every in (0, 1):
            instance = ReferenceInstance(graph, extents)
            for name, values in arrays.items():
                instance.write_field(name, values)
            for name, value in params.items():
                instance.write_global(name, value)
            with np.errstate(all="ignore"):
                for kernel in graph.kernels * 2:
                    instance.march(MarchRequest(kernel.name, 3, observe_every=every))
            found.append(instance)
        for static in graph.fields:
            assert_same_bits(*(i.read_field(static.name) for i in found), f"seed {seed}, {static.name}")
        for static in graph.scalars:
            values = (np.asarray(i.read_global(static.name), static.type.numpy) for i in found)
            assert_same_bits(*values, f"seed {seed}, {static.name}")
        skipped += sum(len(diagnostic_stores(graph, kernel)) for kernel in graph.kernels)
    print(f"{skipped} diagnostic scalars")
    assert skipped > 20


def names_read(graph):
    """Statics whose Load some Store of some kernel depends on."""
    found = set()
    for kernel in graph.kernels:
        for _, value in kernel.stores():
            below = (kernel.nodes[i].instruction for i in ancestors(kernel, value))
            found |= {instruction.name for instruction in below if isinstance(instruction, Load)}
    return found


def test_plain_nodes_are_what_the_other_stores_need():
    fewer = 0
    for _, graph, *_ in programs():
        read = names_read(graph)
        for kernel in graph.kernels:
            nodes = kernel.nodes
            wanted = set()
            for index, node in enumerate(nodes):
                if isinstance(node.instruction, Store):
                    below = ancestors(kernel, node.operands[0])
                    is_scalar = graph.static(node.instruction.name).role == "scalar"
                    reduces = any(isinstance(nodes[i].instruction, Reduce) for i in below)
                    if not (is_scalar and reduces and node.instruction.name not in read):
                        wanted |= {index, *below}
            assert plain_nodes(graph, kernel) == wanted
            fewer += wanted < live_nodes(kernel)
    assert fewer > 10
