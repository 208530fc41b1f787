"""A dozen small programs, each made so that one thing that code generation can get wrong shows in a result."""

from tests.kit.random_kernels import larger
from workbench.graph import (
    GLOBAL,
    Fixed,
    Graph,
    KernelBuilder,
    Mirror,
    Neumann,
    Outflow,
    Periodic,
    Prescribed,
    Reflect,
    Static,
    Wall,
    grid_space,
)
from workbench.graph.types import BOOL, F32, F64, I32, I64, U8
from workbench.planning import Choices, PlanChoices, plan_graph

SIZES = {1: ((37,), (2,), (1030,)), 2: ((5, 18), (1, 3), (3, 2)), 3: ((3, 2, 5),)}


def small_programs():
    """[(graph, plan)]: every program under the presets that give it different plans."""
    found = []
    for graph in (upwind(), exchange(), integers(), averages(), corners(), chain(), widths(), shapes(), folded()):
        plans = [
            plan_graph(graph, Choices(plan=PlanChoices().changed(preset=p))) for p in ("as_delayed", "as_manifest")
        ]
        found += [(graph, plan) for plan in ([plans[0]] if plans[0].kernels == plans[1].kernels else plans)]
    return found


def program(name, dim, statics, *kernels):
    """`statics`: (name, role, type); `kernels`: (name, function that fills a builder)."""
    space = grid_space(dim)
    declared = tuple(
        Static(n, role, t, space if role == "field" else GLOBAL, None if role == "field" else t.numpy.type(2).item())
        for n, role, t in statics
    )
    made = []
    for kernel, build in kernels:
        builder = KernelBuilder(space, declared)
        build(builder, space)
        made.append(builder.finish(kernel))
    return Graph(name, space, declared, tuple(made))


def both(rule):
    return (rule, rule)


def upwind():
    """Reads that differ from axis to axis and side to side, a param, an index: shifts, subtraction, division."""

    def build(b, space):
        u = b.extend(b.load("u"), (both(Periodic()), both(Outflow())))
        c = b.broadcast(b.load("c"))
        dx = b.arith("subtract", u, b.shift(u, (1, 0)))
        dy = b.arith("subtract", b.shift(u, (0, -2)), u)
        x = b.cast(b.index(0), F64)
        change = b.arith("add", b.arith("multiply", c, dx), b.arith("divide", dy, b.arith("add", x, c)))
        b.annotate(change, name="change")
        b.store("u", b.arith("subtract", u, b.arith("multiply", change, b.imm(0.125, F64, space))))

    return program("upwind", 2, [("u", "field", F64), ("c", "param", F64)], ("step", build))


def exchange():
    """Three fields and two scalars take each other's values; one result goes where another operand lies."""

    def build(b, space):
        u, v = b.load("u"), b.load("v")
        b.store("u", b.arith("multiply", u, b.imm(0.5, F64, space)))
        b.store("v", b.arith("subtract", u, v))
        b.store("w", v)
        s, t = b.load("s"), b.load("t")
        b.store("s", t)
        b.store("t", b.arith("add", s, b.imm(1.0, F64)))

    fields = [(n, "field", F64) for n in "uvw"]
    return program("exchange", 1, [*fields, ("s", "scalar", F64), ("t", "scalar", F64)], ("step", build))


def integers():
    """Floors, remainders, wraps and counts of bits at their edges."""

    def build(b, space):
        i, n = b.load("i"), b.load("n")
        x = b.cast(b.index(0), I32)
        half = b.arith("floor_divide", i, b.imm(-3, I32, space))
        rest = b.arith("remainder", i, b.arith("subtract", x, b.imm(2, I32, space)))
        b.store("i", b.arith("add", b.arith("multiply", half, b.imm(1 << 30, I32, space)), rest))
        wrapped = b.arith("subtract", b.arith("shift_right", n, b.imm(1, U8, space)), b.imm(200, U8, space))
        b.store("n", b.arith("bitwise_xor", b.arith("multiply", wrapped, b.imm(3, U8, space)), b.cast(x, U8)))
        b.store("k", b.reduce("sum", b.cast(n, I64)))
        b.store("any", b.reduce("any", b.arith("equal", n, b.imm(7, U8, space))))

    statics = [("i", "field", I32), ("n", "field", U8), ("k", "scalar", I64), ("any", "scalar", BOOL)]
    return program("integers", 1, statics, ("step", build))


def averages():
    """Reductions that Locals need, reductions that nobody needs, in two axes with ghost cells about."""

    def build(b, space):
        u = b.load("u")
        square = b.arith("multiply", u, u)
        b.annotate(square, name="square")
        e = b.extend(square, (both(Outflow()), both(Outflow())))
        mean = b.broadcast(b.reduce("sum", square))
        spread = b.arith("add", b.shift(e, (1, 1)), b.shift(e, (-1, -2)))
        b.store("u", b.arith("divide", b.arith("add", u, spread), b.arith("add", mean, b.imm(1.0, F64, space))))
        for name in ("product", "min", "max"):
            b.store(name, b.reduce(name, b.arith("add", spread, b.imm(0.25, F64, space))))
        b.store("far", b.reduce(larger(F64), spread))

    scalars = [(n, "scalar", F64) for n in ("product", "min", "max", "far")]
    return program("averages", 2, [("u", "field", F64), *scalars], ("step", build))


def corners():
    """All rules, different on every side, met in corners and beyond domains shorter than the reach."""

    def build(b, space):
        x, y = (b.cast(b.index(k), F64) for k in (0, 1))
        wave = b.arith("add", b.arith("multiply", x, b.imm(10.0, F64, space)), y)
        total = b.load("u")
        pairs = (
            ((Fixed(1), Reflect(-1)), (Prescribed(1), Mirror())),
            ((Neumann(1), Wall(-1)), both(Periodic())),
            ((Wall(1), Outflow()), (Mirror(-1), Neumann(1))),
        )
        for sides in pairs:
            e = b.extend(b.load("u"), sides, (wave,))
            for number, offset in enumerate(((3, 0), (-3, 1), (0, 2), (0, -3), (2, 2), (-1, -1), (1, -4))):
                weight = b.imm(1.0 / (3 + number), F64, space)
                total = b.arith("add", total, b.arith("multiply", b.shift(e, offset), weight))
        b.store("u", b.arith("multiply", total, b.imm(0.125, F64, space)))

    return program("corners", 2, [("u", "field", F64)], ("step", build))


def chain():
    """A stencil of a stencil of a stencil, so that values are needed ever farther outside; a second kernel."""

    def build(b, space):
        value = b.extend(b.load("u"), (both(Periodic()),))
        for number in range(3):
            value = b.arith("subtract", b.shift(value, (1,)), b.arith("multiply", b.shift(value, (-2,)), value))
            b.annotate(value, name=f"stage{number}")
        b.store("u", b.arith("divide", value, b.arith("add", b.arith("absolute", value), b.imm(1.0, F64, space))))
        b.store("old", b.load("u"))

    def back(b, space):
        b.store("u", b.arith("maximum", b.load("old"), b.load("u")))

    return program("chain", 1, [("u", "field", F64), ("old", "field", F64)], ("step", build), ("back", back))


def widths():
    """Single and double precision, integers and conditions together: casts, comparisons, select, NaN."""

    def build(b, space):
        a, x = b.load("a"), b.load("x")
        root = b.arith("sqrt", a)  # NaN where a is negative
        small = b.arith("minimum", root, b.imm(0.5, F32, space))
        large = b.arith("maximum", b.imm(0.25, F32, space), root)
        n = b.cast(b.arith("multiply", x, b.imm(1e10, F64, space)), I32)
        is_odd = b.arith("not_equal", b.arith("bitwise_and", n, b.imm(1, I32, space)), b.imm(0, I32, space))
        b.store("a", b.arith("select", is_odd, small, large))
        third = b.arith("divide", b.cast(a, F64), b.imm(3.0, F64, space))
        b.store("x", b.arith("add", third, b.cast(n, F64)))

    return program("widths", 1, [("a", "field", F32), ("x", "field", F64)], ("step", build))


def shapes():
    """Three axes, indices and sizes of each."""

    def build(b, space):
        value = b.load("u")
        for axis in range(3):
            i = b.arith("multiply", b.index(axis), b.broadcast(b.size((axis + 1) % 3)))
            value = b.arith("add", b.arith("multiply", value, b.imm(0.5, F64, space)), b.cast(i, F64))
        e = b.extend(b.load("u"), (both(Reflect()), both(Periodic()), both(Outflow())))
        z = b.cast(b.index(2), F64)
        value = b.arith("add", value, b.shift(b.arith("multiply", z, z), (0, 0, 1)))
        b.store("u", b.arith("subtract", value, b.shift(e, (1, -1, 2))))

    return program("shapes", 3, [("u", "field", F64)], ("step", build))


def folded():
    """Constants meet before and behind a field; a negative zero must stay one."""

    def build(b, space):
        zero = b.arith("subtract", b.imm(1.0, F64, space), b.imm(1.0, F64, space))
        negative = b.arith("multiply", b.load("u"), b.imm(-0.0, F64, space))
        b.store("u", b.arith("add", b.arith("multiply", negative, zero), b.imm(-0.0, F64, space)))
        b.store("v", b.arith("add", b.load("v"), zero))

    return program("folded", 1, [("u", "field", F64), ("v", "field", F64)], ("step", build))
