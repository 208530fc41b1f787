"""Two small graphs, by hand: Table 3 of Paraiso's paper, and a wave with its energy."""

from workbench.graph import GLOBAL, Graph, KernelBuilder, Periodic, Static, grid_space
from workbench.graph.types import F64

LINE = grid_space(1)
PERIODIC = ((Periodic(), Periodic()),)


def hello():
    """Paraiso's Table 3: x = density, y = x*x, z = y+y."""
    statics = (Static("density", "field", F64, LINE),)
    b = KernelBuilder(LINE, statics)
    x = b.load("density")
    y = b.arith("multiply", x, x)
    b.annotate(y, name="y")
    b.store("density", b.arith("add", y, y))
    return Graph("Hello", LINE, statics, (b.finish("step"),))


def wave():
    """Two fields; f1 is needed at the neighbours to make g1; the energy is a diagnostic."""
    params = (Static(n, "param", F64, GLOBAL, 1.0) for n in ("dt", "k"))
    fields = (Static(n, "field", F64, LINE) for n in "fg")
    statics = (*fields, Static("energy", "scalar", F64, GLOBAL, 0.0), *params)
    b = KernelBuilder(LINE, statics)
    f, g = (b.extend(b.load(n), PERIODIC) for n in "fg")
    f1 = b.arith("add", f, b.arith("multiply", b.broadcast(b.load("dt")), g))
    right, left = b.shift(f1, (-1,)), b.shift(f1, (1,))
    curve = b.arith("subtract", b.arith("add", right, left), b.arith("add", f1, f1))
    g1 = b.arith("add", g, b.arith("multiply", b.broadcast(b.load("k")), curve))
    slope = b.arith("subtract", right, left)
    energy = b.reduce("sum", b.arith("add", b.arith("multiply", slope, slope), b.arith("multiply", g1, g)))
    for name, value in (("f", f1), ("g", g1), ("energy", energy)):
        b.store(name, value)
    return Graph("wave", LINE, statics, (b.finish("step"),))


def named_wave():
    """The wave with names at f1, g1 and the energy."""
    graph = wave()
    kernel = graph.kernels[0]
    stores = dict(kernel.stores())
    b = KernelBuilder(graph.space, graph.statics)
    from workbench.graph.rewrite import copy

    new = []
    for node in kernel.nodes:
        new.append(copy(b, node, tuple(new[o] for o in node.operands)))
    for name, static in (("f1", "f"), ("g1", "g"), ("E", "energy")):
        b.annotate(new[stores[static]], name=name)
    return Graph("wave", graph.space, graph.statics, (b.finish("step"),))
