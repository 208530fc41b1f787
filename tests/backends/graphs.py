"""Graphs that every backend computes: neighbours beside all boundary rules, reductions."""

import itertools

from workbench.graph import KernelBuilder, Static
from workbench.graph.graph import Graph
from workbench.graph.side_rules import (
    Fixed,
    Mirror,
    Neumann,
    Outflow,
    Periodic,
    Prescribed,
    Reflect,
    Wall,
)
from workbench.graph.spaces import GLOBAL, grid_space
from workbench.graph.types import F64

RULES = {
    "periodic": Periodic(),
    "outflow": Outflow(),
    "reflect": Reflect(),
    "reflect-": Reflect(-1),
    "mirror": Mirror(),
    "mirror-": Mirror(-1),
    "wall": Wall(),
    "wall-": Wall(-1),
    "value": Prescribed(1),
    "fixed": Fixed(1),
    "neumann": Neumann(1),
}


def field_graph(dim, sides, type_, reach, name="u"):
    """u.next = a weighted sum of all cells within `reach` along each axis and along the diagonals."""
    space = grid_space(dim)
    statics = (Static(name, "field", type_, space), Static("p", "param", type_, GLOBAL, 3))
    b = KernelBuilder(space, statics)
    u = b.load(name)
    p = b.broadcast(b.load("p"))
    value = p
    for axis in range(dim):  # a value that depends on all indices and on a param
        value = b.arith("add", b.arith("multiply", value, b.imm(3, type_, space)), b.cast(b.index(axis), type_))
    u = b.extend(u, sides, (value,))
    total = u
    weight = 2
    offsets = {o for o in itertools.product((-reach, -1, 0, 1, reach), repeat=dim) if any(o)}
    for offset in sorted(offsets):
        weight = weight % 5 + 1
        total = b.arith("add", total, b.arith("multiply", b.shift(u, offset), b.imm(weight, type_, space)))
    if type_.is_float:
        total = b.arith("multiply", total, b.imm(2.0**-7, type_, space))
    b.store(name, total)
    return Graph("stencil", space, statics, (b.finish("step"),))


def side_pairs():
    """Every rule on either side, with another one opposite; periodic on both."""
    names = [n for n in RULES if n != "periodic"]
    return [("periodic", "periodic"), *zip(names, names[1:] + names[:1], strict=True), ("mirror", "mirror-")]


def reducing_graph(dim, names=("sum", "product", "min", "max")):
    space = grid_space(dim)
    statics = (
        Static("u", "field", F64, space),
        *(Static(f"s_{n}", "scalar", F64, GLOBAL, 0.0) for n in names),
        Static("t", "scalar", F64, GLOBAL, 0.0),
    )
    b = KernelBuilder(space, statics)
    u = b.load("u")
    b.store("u", b.arith("add", u, b.imm(0.125, F64, space)))
    for n in names:
        b.store(f"s_{n}", b.reduce(n, u))
    b.store("t", b.arith("add", b.load("t"), b.imm(0.25, F64)))
    return Graph("sums", space, statics, (b.finish("step"),))
