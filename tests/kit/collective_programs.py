"""Programs of scans, segments and reads at computed places, whose results show every change of order; by name."""

from tests.kit.spaced_programs import Program
from workbench.graph import GLOBAL, Parameter, Region
from workbench.graph.instructions import Arith, Load, Node
from workbench.graph.types import F64, I64


def mixing(type_=I64):
    """2 a - b: it shows the order of its operands and of its places."""
    nodes = (
        Node(Load("a"), (), type_, GLOBAL),
        Node(Load("b"), (), type_, GLOBAL),
        Node(Arith("add"), (0, 0), type_, GLOBAL),
        Node(Arith("subtract"), (2, 1), type_, GLOBAL),
    )
    return Region((Parameter("a", type_), Parameter("b", type_)), nodes, 0)


def scans(dim):
    """Along each axis in all four ways, of computed cells; one of them is scanned again."""
    p = Program(dim, I64)
    cells = p.plus(p.u, p.b.index(dim - 1))
    for axis in range(dim):
        for way in ({}, {"reverse": True}, {"exclusive": True}, {"reverse": True, "exclusive": True}):
            p.field(f"along_{axis}_{'_'.join(way) or 'plain'}", p.b.scan(mixing(), cells, axis, **way))
    p.b.store("u", p.b.scan("max", p.b.scan("min", cells, 0), dim - 1, reverse=True))
    return p.graph(f"scans of {dim} axes")


def ranked():
    """By few bits and by more."""
    p = Program(1, I64)
    p.field("few", p.b.rank(p.u, 2))
    p.field("many", p.b.rank(p.plus(p.u, p.u), 6))
    return p.graph("ranked")


def segments():
    """The last axis cut into as many segments as the first one has cells, the first of which are one longer."""
    p = Program(2, I64)
    rows, b = p.space.without((1,)), p.b
    parts, cells = b.size(0), b.size(1)
    longer = b.arith("less", b.index(0, rows), b.broadcast(b.arith("remainder", cells, parts), rows))
    least = b.broadcast(b.arith("floor_divide", cells, parts), rows)
    lengths = b.arith("add", least, b.cast(longer, I64))
    starts = b.scan("sum", lengths, 0, exclusive=True)
    line = p.b.fold("max", p.u, (0,))
    places = b.arith(
        "subtract", b.broadcast(cells, b.node(line).space), b.arith("add", b.index(0, b.node(line).space), one(p, line))
    )
    backwards = b.gather(line, (places,))
    p.field("mixed", b.segments(mixing(), b.arith("subtract", backwards, line), starts, lengths))
    p.field("sums", b.segments("sum", b.cast(line, F64), starts, lengths))
    scaled = b.arith("multiply", p.u, b.broadcast(b.size(1)))  # a size that the segments' own shape does not have
    p.field("scaled", b.replicate(b.segments("sum", scaled, starts, lengths), p.space))
    return p.graph("segments")


def one(p, value):
    return p.b.imm(1, I64, p.b.node(value).space)


def scatters(dim):
    """Computed cells sent to few places, to many, and to places of fewer axes; some are held back."""
    p = Program(dim, I64)
    b, line = p.b, p.space.without(tuple(range(1, dim)))
    cells = p.plus(p.u, b.index(dim - 1))
    three, one_ = b.imm(3, I64, p.space), b.imm(1, I64, p.space)

    def within(value, axis):
        return b.arith("remainder", value, b.broadcast(b.size(axis)))

    few = [within(b.arith("remainder", cells, three), k) for k in range(dim)]
    many = [within(p.plus(cells, b.index(k)), k) for k in range(dim)]
    some = b.arith("greater", b.arith("remainder", cells, three), one_)
    p.field("few", b.scatter(mixing(), cells, p.plus(cells, cells), few))
    p.field("many", b.scatter("max", b.index(0), cells, many, some))
    counts = b.scatter("sum", b.imm(0, I64, line), one_, [within(cells, 0)])
    p.field("counts", b.replicate(counts, p.space))
    floats = b.scatter("sum", b.imm(0.1, F64, line), b.cast(cells, F64), [within(cells, 0)], some)
    p.field("floats", b.replicate(floats, p.space))
    b.store("u", b.scatter(mixing(), p.u, b.gather(p.u, [within(b.index(k), k) for k in range(dim)]), many))
    return p.graph(f"scatters of {dim} axes")


def flipping(type_=I64):
    """a ^ b: of whole numbers alike in any order."""
    nodes = (
        Node(Load("a"), (), type_, GLOBAL),
        Node(Load("b"), (), type_, GLOBAL),
        Node(Arith("bitwise_xor"), (0, 1), type_, GLOBAL),
    )
    return Region((Parameter("a", type_), Parameter("b", type_)), nodes)


def counted():
    """Whole numbers of all cells sent to a line and to a plane of few places, where their order changes no bit."""
    p = Program(3, I64)
    b, line, plane = p.b, p.space.without((1, 2)), p.space.without((2,))
    cells = p.plus(p.u, b.index(2))
    table = [b.arith("remainder", p.plus(cells, b.index(k)), b.broadcast(b.size(k))) for k in (0, 1)]
    rows = b.arith("remainder", cells, b.broadcast(b.size(0)))
    some = b.arith("greater", cells, b.imm(20, I64, p.space))
    moved = b.gather(p.u, [*table, b.arith("remainder", cells, b.broadcast(b.size(2)))])
    for operator in ("sum", "product", "min", "max", flipping()):
        name = operator if isinstance(operator, str) else "flipped"
        p.field(f"{name}_of_lines", b.replicate(b.scatter(operator, b.index(0, line), cells, [rows]), p.space))
    p.field("some", b.replicate(b.scatter("sum", b.imm(7, I64, line), moved, [rows], some), p.space))
    p.field("table", b.replicate(b.scatter("max", b.index(1, plane), moved, table), p.space))
    wide = b.arith("multiply", cells, b.imm(0x123456789ABCDEF, I64, p.space))
    p.field("carried", b.replicate(b.scatter("sum", b.index(0, line), wide, [rows]), p.space))
    b.store("u", cells)
    return p.graph("counted")


def latest(type_=I64):
    """a, which comes last."""
    return Region((Parameter("a", type_), Parameter("b", type_)), (Node(Load("a"), (), type_, GLOBAL),))


def moved_apart():
    """Cells sent to places of which the graph says that they differ, and to some that may be alike; the last stay."""
    p = Program(1, I64)
    b, u = p.b, p.u
    three, one_ = b.imm(3, I64, p.space), b.imm(1, I64, p.space)
    some = b.arith("greater", b.arith("remainder", u, three), one_)
    others = b.arith("less_equal", b.arith("remainder", u, three), one_)
    places, count = b.rank(u, 3), b.scan("sum", b.cast(some, I64), 0, exclusive=True)
    p.field("ordered", b.scatter(latest(), b.index(0), u, [places]))
    p.field("some", b.scatter(latest(), b.index(0), u, [places], some))
    p.field("mixed", b.scatter(mixing(), b.index(0), u, [places], some))
    p.field("kept", b.scatter(latest(), b.index(0), u, [count], some))
    p.field("others", b.scatter(latest(), b.index(0), p.plus(u, b.index(0)), [count], others))
    b.store("u", b.scatter(latest(), u, b.index(0), [b.arith("remainder", u, b.broadcast(b.size(0)))]))
    return p.graph("moved apart")


def sent_beyond():
    """The last cell is sent to one that is not there."""
    p = Program(1, I64)
    p.b.store("u", p.b.scatter(latest(), p.b.index(0), p.u, [p.plus(p.b.index(0), one(p, p.u))]))
    return p.graph("sent beyond")


def mirrored():
    """u takes its own mirror image: the array that is read must not be the one that is written."""
    p = Program(2)
    b = p.b
    back = [
        b.arith("subtract", b.broadcast(b.size(k)), b.arith("add", b.index(k), b.imm(1, I64, p.space))) for k in (0, 1)
    ]
    p.field("doubled", b.gather(p.plus(p.u, p.u), (b.index(0), back[1])))
    b.store("u", b.gather(p.u, back))
    return p.graph("mirrored")


def beyond():
    """The last cell reads one that is not there."""
    p = Program(1)
    p.b.store("u", p.b.gather(p.u, (p.plus(p.b.index(0), one(p, p.u)),)))
    return p.graph("beyond")


def collective_programs():
    return (scans(1), scans(2), scans(3), segments(), mirrored(), scatters(1), scatters(2), scatters(3))
