"""One small graph with everything that a graph can hold."""

import math

from workbench.graph import (
    GLOBAL,
    Arith,
    Coordinate,
    Fixed,
    Graph,
    Hint,
    KernelBuilder,
    Load,
    LoadIndex,
    Neumann,
    Node,
    Parameter,
    Prescribed,
    Region,
    Span,
    Static,
    Wall,
    grid_space,
)
from workbench.graph.limits import Limits
from workbench.graph.types import BOOL, F32, F64, I64


def gather():
    """A small program with a region, coordinates, hints and odd names."""
    space = grid_space(2)
    statics = (
        Static("u", "field", F64, space, boundary='reflect(sign=-1), "x"', face_axes=(0, 1), span=Span(2, 3, 9)),
        Static("line", "field", F64, space, group="at", component=(1,)),
        Static("e", "scalar", F64, GLOBAL, -0.0, unit="J/m³"),
        Static("c", "param", F32, GLOBAL, math.inf),
        Static("flag", "param", BOOL, GLOBAL, True),
        Static("n", "param", I64, GLOBAL, -7, limits=Limits(None, -8, 5)),
        Static("r", "param", F64, GLOBAL, 0.5, limits=Limits(above=0.0, warn_above=math.inf)),
    )
    b = KernelBuilder(space, statics)
    u = b.extend(
        b.load("u"),
        [(Neumann(1), Fixed(1)), (Wall(-1), Prescribed(2))],
        [b.imm(0.1, F64, space), b.broadcast(b.imm(5e-324, F64))],
    )
    total = Region(
        (Parameter("a", F64), Parameter("b", F64)),
        (
            Node(Load("a"), (), F64, GLOBAL),
            Node(Load("b"), (), F64, GLOBAL),
            Node(Arith("maximum"), (0, 1), F64, GLOBAL, ("larger",), (Span(9, 1, 2),)),
        ),
        -math.inf,
    )
    shifted = b.shift(u, (-1, 2))
    b.annotate(shifted, name="left", span=Span(4, 1, 3), hint=Hint("manifest", True, True, 4))
    b.annotate(shifted, name="at", span=Span(5))
    b.annotate(shifted, name='odd "name"\n')
    b.annotate(u, hint=Hint(sync_before=True, line=2))
    b.store("u", b.arith("add", shifted, b.imm(math.nan, F64, space)))
    b.store("line", b.cast(b.index(1), F64))
    b.store("e", b.arith("add", b.reduce(total, shifted), b.cast(b.size(0), F64)))
    position = Coordinate(1, "radius", "m", (Node(LoadIndex(1), (), I64, space), Node(Arith("cast"), (0,), F64, space)))
    return Graph("gather", space, statics, (b.finish("step"), b.finish("init")), (position,))
