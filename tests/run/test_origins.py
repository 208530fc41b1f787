"""Tracing a bad value back through scans, segments and reads at computed places to the cell that made it."""

import numpy as np
import pytest

from workbench.graph import GLOBAL, Arith, Graph, KernelBuilder, Parameter, Region, Static, grid_space
from workbench.graph.types import BOOL, F64, I64
from workbench.run.origins import trace_back

SPACE = grid_space(1)
STATICS = (Static("u", "field", F64, SPACE),)


def scanned(b, cells, **way):
    return b.scan("sum", cells, 0, **way)


def gathered(b, cells):
    last = b.broadcast(b.arith("subtract", b.size(0), b.imm(1, I64)))
    return b.gather(cells, (b.arith("subtract", last, b.index(0)),))


def walked(b, cells):
    """One turn, which reads the element that mirrors the cell."""
    inside = KernelBuilder(GLOBAL, [Static("a", "param", F64, GLOBAL), Static("k", "param", I64, GLOBAL)])
    found = inside.element(inside.load("a"), [inside.load("k")])
    goes = inside.imm(True, BOOL)
    parameters = (Parameter("s", F64), Parameter("k", I64), Parameter("a", F64, 1))
    body = Region(parameters, inside.finish("").nodes, None, (goes, found))
    last = b.broadcast(b.arith("subtract", b.size(0), b.imm(1, I64)))
    mirrored = b.arith("subtract", last, b.index(0))
    return b.loop(body, 0, (b.imm(1, I64, SPACE), b.imm(0.0, F64, SPACE), mirrored, cells))


def of_segments(b, cells):
    """Two cells each but the last, which has none."""
    index, size = b.index(0), b.broadcast(b.size(0))
    twice = b.arith("multiply", index, b.imm(2, I64, SPACE))
    start, rest = b.arith("minimum", twice, size), b.arith("subtract", size, b.arith("minimum", twice, size))
    return b.segments("sum", cells, start, b.arith("minimum", rest, b.imm(2, I64, SPACE)))


@pytest.mark.parametrize(
    ("make", "bad", "cell"),
    [
        (scanned, 2, 4),
        (lambda b, c: scanned(b, c, reverse=True), 2, 1),
        (gathered, 1, 3),
        (walked, 1, 3),
        (of_segments, 3, 1),
    ],
)
def test_the_cell_is_found_that_made_it(make, bad, cell):
    b = KernelBuilder(SPACE, STATICS)
    b.store("u", make(b, b.arith("divide", b.imm(1.0, F64, SPACE), b.load("u"))))
    graph = Graph("bad", SPACE, STATICS, (b.finish("step"),))
    u = np.arange(1.0, 6.0)
    u[bad] = 0.0
    with np.errstate(all="ignore"):
        origin = trace_back(graph, (5,), {"u": u}, "u", (cell,))
    assert origin is not None
    assert isinstance(graph.kernels[0].nodes[origin.node].instruction, Arith)
    assert origin.cell == (bad,)
    assert origin.operands == (1.0, 0.0)
