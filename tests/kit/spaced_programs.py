"""Programs with values of several spaces: folds over some axes, and what is done with them; by name."""

from workbench.graph import (
    GLOBAL,
    Fixed,
    Graph,
    KernelBuilder,
    Neumann,
    Outflow,
    Parameter,
    Periodic,
    Prescribed,
    Reflect,
    Region,
    Static,
    grid_space,
)
from workbench.graph.instructions import Arith, Load, Node
from workbench.graph.types import BOOL, F32, F64, I32, I64


class Program:
    """A builder with a field u over all axes, and stores into fields of any space."""

    def __init__(self, dim, type_=F64):
        self.space = grid_space(dim)
        self.statics = [
            Static("u", "field", type_, self.space),
            Static("p", "param", type_, GLOBAL, type_.numpy.type(3).item()),
        ]
        self.b = KernelBuilder(self.space, self.statics)
        self.u = self.b.load("u")

    def field(self, name, value):
        """The value into a field of its own space."""
        node = self.b.node(value)
        static = Static(name, "field", node.type, node.space)
        self.declare(static)
        self.b.annotate(value, name=f"{name}_value")
        self.b.store(name, value)

    def scalar(self, name, value):
        type_ = self.b.node(value).type
        self.declare(Static(name, "scalar", type_, GLOBAL, type_.numpy.type(0).item()))
        self.b.store(name, value)

    def declare(self, static):
        self.statics.append(static)
        self.b.declare(static)

    def wide(self, value):
        """Along all axes."""
        return self.b.replicate(value, self.space)

    def minus(self, a, b):
        return self.b.arith("subtract", a, b)

    def plus(self, a, b):
        return self.b.arith("add", a, b)

    def graph(self, name):
        return Graph(name, self.space, tuple(self.statics), (self.b.finish("step"),))


def maxima(dim, axes, type_=F64, operator="max"):
    """The largest over some axes, stored as it is and taken from every cell."""
    p = Program(dim, type_)
    found = p.b.fold(operator, p.u, axes)
    p.field("found", found)
    p.b.store("u", p.minus(p.wide(found), p.u))
    return p.graph(f"{operator} over {axes} of {dim}")


def deviation(axis):
    """u - mean(u) in place, and the mean itself; the size is one of the other axis."""
    p = Program(2)
    kept = p.space.without((axis,))
    cells = p.b.broadcast(p.b.cast(p.b.size(axis), F64), kept)
    mean = p.b.arith("divide", p.b.fold("sum", p.u, (axis,)), cells)
    p.field("mean", mean)
    p.b.store("u", p.minus(p.u, p.wide(mean)))
    return p.graph(f"deviation from the mean along {axis}")


def folds_of_folds():
    """Over z, then over x, then over all; each is used again by all cells."""
    p = Program(3)
    depth = p.b.fold("sum", p.b.arith("multiply", p.u, p.u), (2,))
    widest = p.b.fold("max", depth, (0,))
    least = p.b.reduce("min", widest)
    total = p.b.reduce("sum", depth)
    p.field("depth", depth)
    p.field("widest", p.minus(widest, p.b.broadcast(least, p.b.node(widest).space)))
    p.scalar("least", least)
    p.scalar("total", total)
    new = p.plus(p.wide(depth), p.plus(p.wide(widest), p.b.broadcast(least)))
    p.b.store("u", p.minus(p.u, p.b.arith("multiply", new, p.b.imm(2.0**-12, F64, p.space))))
    return p.graph("folds of folds")


def shifted_folds(sides):
    """A fold read beside its cell: by its formula on the extended operand, and with an outside of its own."""
    p = Program(2)
    uses = Prescribed(1) in sides
    edge = (p.b.broadcast(p.b.load("p")),) if uses else ()
    whole = p.b.extend(p.u, (sides, (Outflow(), Reflect(-1))), edge)
    rows = p.b.fold("sum", whole, (1,))
    p.field("slope", p.minus(p.b.shift(rows, (-2,)), p.b.shift(rows, (1,))))
    inside = p.b.fold("max", p.u, (1,))
    value = p.b.cast(p.b.index(0, p.b.node(inside).space), F64)
    own = p.b.extend(inside, (sides,), (value,) if uses else ())
    p.field("bend", p.plus(p.b.shift(own, (3,)), p.b.shift(own, (-1,))))
    columns = p.b.extend(p.b.fold("min", p.u, (0,)), ((Outflow(), Reflect()),))
    beside = p.plus(p.b.shift(p.wide(own), (1, 5)), p.wide(p.b.shift(rows, (1,))))
    beside = p.plus(beside, p.b.shift(p.wide(columns), (3, -2)))
    p.b.store("u", p.plus(beside, p.b.shift(whole, (0, 1))))
    return p.graph("shifted folds")


def boundary_from_a_fold():
    """A boundary value, and a scalar, that a fold of a fold makes."""
    p = Program(2)
    rows = p.b.fold("sum", p.u, (1,))
    largest = p.b.reduce("max", rows)
    edge = p.b.broadcast(largest)
    u = p.b.extend(p.u, ((Prescribed(1), Fixed(1)), (Periodic(), Periodic())), (edge,))
    p.scalar("largest", p.b.arith("maximum", largest, p.b.load("p")))
    p.b.store("u", p.minus(p.b.shift(u, (1, 0)), p.b.shift(u, (-1, 2))))
    return p.graph("boundary from a fold")


def several_folds_in_one_loop(dim, axes):
    """A sum, a largest, a count and an operator of its own over the same axes of one value: one loop makes all."""
    p = Program(dim)
    v = p.b.arith("multiply", p.u, p.b.cast(p.b.index(dim - 1), F64))
    positive = p.b.cast(p.b.arith("greater", v, p.b.imm(0.0, F64, p.space)), I64)
    p.field("total", p.b.fold("sum", v, axes))
    p.field("largest", p.b.fold("max", v, axes))
    p.field("count", p.b.fold("sum", positive, axes))
    p.field("farthest", p.b.fold(_farther(), p.u, axes))
    p.field("some", p.b.fold("any", p.b.arith("less", p.u, v), axes))
    p.field("product", p.b.fold("product", p.b.cast(p.u, F32), axes))
    return p.graph(f"several folds over {axes} of {dim}")


def _farther():
    """Of two values the one that is farther from zero, the left one if both are as far: its order can be seen."""
    nodes = (
        Node(Load("a"), (), F64, GLOBAL),
        Node(Load("b"), (), F64, GLOBAL),
        Node(Arith("absolute"), (0,), F64, GLOBAL),
        Node(Arith("absolute"), (1,), F64, GLOBAL),
        Node(Arith("less"), (2, 3), BOOL, GLOBAL),
        Node(Arith("select"), (4, 1, 0), F64, GLOBAL),
    )
    return Region((Parameter("a", F64), Parameter("b", F64)), nodes, 0.0)


def from_outer_values():
    """Folds whose operand reads other folds: along the lanes, along the folded axis, and in a chain of loops."""
    p = Program(2)
    rows, columns = p.b.fold("sum", p.u, (1,)), p.b.fold("sum", p.u, (0,))
    apart = p.minus(p.minus(p.u, p.wide(rows)), p.wide(columns))
    p.field("rest", p.b.fold("max", apart, (1,)))
    p.field("others", p.b.fold("max", apart, (0,)))
    p.scalar("worst", p.b.reduce("max", apart))
    place = p.b.cast(p.b.arith("less", p.b.index(0), p.b.broadcast(p.b.size(1))), F64)
    p.b.store("u", p.b.arith("multiply", apart, place))
    return p.graph("from outer values")


def fields_of_few_axes():
    """A field that has one axis only, made anew from itself and a fold, with index and size in its own space."""
    p = Program(3)
    line = p.space.without((0, 2))
    p.declare(Static("line", "field", F64, line))
    old = p.b.load("line")
    small = p.b.arith("less", p.b.index(0, line), p.b.broadcast(p.b.size(2), line))
    sums = p.b.fold("sum", p.u, (0, 2))
    own = p.b.extend(old, ((Neumann(1), Outflow()),), (p.b.broadcast(p.b.load("p"), line),))
    new = p.plus(p.b.shift(own, (1,)), p.b.arith("select", small, sums, p.b.shift(own, (-1,))))
    p.b.store("line", new)
    p.b.store("u", p.plus(p.b.shift(p.wide(own), (0, 1, 0)), p.u))
    return p.graph("fields of few axes")


def chained():
    """Loops that may run together and read a fold on the way."""
    p = Program(2)
    rows = p.b.fold("sum", p.u, (1,))
    columns = p.b.fold("min", p.u, (0,))
    u = p.b.extend(p.u, ((Outflow(), Outflow()),) * 2)
    first = p.b.arith("multiply", p.minus(p.b.shift(u, (1, 0)), p.wide(rows)), p.wide(columns))
    again = p.b.arith("multiply", p.b.arith("multiply", first, first), p.b.arith("absolute", first))
    inside = p.b.extend(p.wide(rows), ((Outflow(), Outflow()),) * 2)
    p.b.store("u", p.minus(again, p.b.arith("multiply", again, p.b.shift(inside, (0, 1)))))
    return p.graph("chained")


def spaced_programs():
    """All of them."""
    made = [maxima(2, (0,)), maxima(2, (1,)), maxima(2, (1,), F32, "sum"), maxima(2, (0,), I32, "sum")]
    made += [maxima(3, axes) for axes in ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2))]
    made += [maxima(3, axes, operator="sum") for axes in ((1,), (0, 1), (0, 2), (1, 2))]
    made += [maxima(4, (0, 1, 3), operator="sum"), deviation(0), deviation(1), folds_of_folds()]
    made += [shifted_folds(sides) for sides in ((Periodic(), Periodic()), (Prescribed(1), Reflect()))]
    made += [boundary_from_a_fold(), several_folds_in_one_loop(2, (1,)), several_folds_in_one_loop(2, (0,))]
    made += [several_folds_in_one_loop(3, (0, 2)), from_outer_values(), fields_of_few_axes(), chained()]
    return made
