"""A program with every kind of instruction, and its values on a few cells."""

import math
from typing import get_args

import numpy as np

from workbench.backends.interpreter import Evaluation
from workbench.graph import Graph, KernelBuilder, Outflow, Static, grid_space
from workbench.graph.instructions import Imm, Instruction, Node, Parameter, Region
from workbench.graph.spaces import GLOBAL
from workbench.graph.types import BOOL, F64, I64

KINDS = get_args(Instruction)
PLANE = grid_space(2)
LINE = PLANE.without((1,))
STATICS = (
    Static("u", "field", F64, PLANE),
    Static("total", "scalar", F64, GLOBAL, 0.0),
    Static("c", "param", F64, GLOBAL, 2.0),
)
EXTENTS = (4, 3)


def segments(b):
    """Along y: of the sums over y one cell each, and the first one what is left of x."""
    columns = PLANE.without((0,))
    one = b.imm(1, I64, columns)
    first = b.arith("equal", b.index(0, columns), b.imm(0, I64, columns))
    rest = b.broadcast(b.arith("subtract", b.size(0), b.size(1)), columns)
    lengths = b.arith("add", one, b.arith("select", first, rest, b.imm(0, I64, columns)))
    starts = b.scan("sum", lengths, 0, exclusive=True)
    return b.segments("sum", b.fold("sum", b.load("u"), (1,)), starts, lengths)


def scattered(b):
    """The sums over y, each sent from its cell of x to the one that mirrors it; the first one is not sent."""
    last = b.broadcast(b.arith("subtract", b.size(0), b.imm(1, I64)), LINE)
    there = b.arith("subtract", last, b.index(0, LINE))
    sent = b.arith("greater", b.index(0, LINE), b.imm(0, I64, LINE))
    return b.scatter("sum", b.imm(0.5, F64, LINE), b.fold("sum", b.load("u"), (1,)), [there], sent)


def halved():
    """The body of a loop that halves its value."""
    b = KernelBuilder(GLOBAL, [Static("x", "param", F64, GLOBAL)])
    half = b.arith("multiply", b.load("x"), b.imm(0.5, F64))
    return Region((Parameter("x", F64),), (*b.finish("").nodes, Node(Imm(True), (), BOOL, GLOBAL)), None, (3, half))


HALVED = halved()


def program():
    """A program with every kind of instruction; a new one is added here."""
    b = KernelBuilder(PLANE, STATICS)
    u = b.extend(b.load("u"), [(Outflow(), Outflow())] * 2)
    columns = [b.fold("sum", b.arith("multiply", b.load("u"), b.imm(k + 1.0, F64, PLANE)), (0,)) for k in range(4)]
    joined = b.join(0, columns, PLANE)
    cut = b.replicate(segments(b), PLANE)
    sums = b.fold("sum", b.load("u"), (1,))
    places = b.cast(b.rank(b.cast(sums, I64), 3), F64)
    rows = b.replicate(b.arith("add", b.arith("add", sums, scattered(b)), places), PLANE)
    moved = b.arith("add", b.shift(u, (2, 0)), b.arith("add", rows, b.cast(b.index(0), F64)))
    scaled = b.arith("multiply", moved, b.broadcast(b.arith("multiply", b.load("c"), b.cast(b.size(0), F64))))
    again = b.extend(scaled, [(Outflow(), Outflow())] * 2)
    back = b.arith("subtract", b.broadcast(b.arith("subtract", b.size(1), b.imm(1, I64))), b.index(1))
    mirrored = b.gather(b.load("u"), (b.index(0), back))
    mirrored = b.arith("add", b.arith("add", mirrored, joined), cut)
    mirrored = b.arith("add", mirrored, b.scan("sum", b.load("u"), 1))
    mirrored = b.loop(HALVED, 0, (b.imm(3, I64, PLANE), mirrored))
    b.store("u", b.arith("add", b.arith("add", b.shift(again, (-1, 0)), b.imm(0.5, F64, PLANE)), mirrored))
    b.store("total", b.reduce("sum", scaled))
    return Graph("every", PLANE, STATICS, (b.finish("step"),))


GRAPH = program()
NODES = GRAPH.kernels[0].nodes
OF_KIND = {type(node.instruction): number for number, node in enumerate(NODES)}


def evaluation(changed=None):
    u = np.linspace(1.0, 2.0, math.prod(EXTENTS)).reshape(EXTENTS)
    if changed is not None:
        u[changed] += 1.0
    state = {"u": u, "total": np.asarray(0.0), "c": np.asarray(2.0)}
    return Evaluation(GRAPH.kernels[0], EXTENTS, state)
