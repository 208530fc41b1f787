"""The text form: stable, and read back to an equal graph."""

import math

import pytest

from workbench.errors import GraphError
from workbench.graph import (
    GLOBAL,
    Arith,
    Axis,
    Coordinate,
    Fixed,
    Graph,
    Hint,
    Imm,
    KernelBuilder,
    Load,
    LoadIndex,
    Mirror,
    Neumann,
    Node,
    Outflow,
    Parameter,
    Periodic,
    Reflect,
    Region,
    Space,
    Span,
    Static,
    Undefined,
    Value,
    Wall,
    grid_space,
)
from workbench.graph.limits import Limits
from workbench.graph.parse import parse
from workbench.graph.spaces import AffineExtent, ConstantExtent, MinimumExtent, NamedExtent
from workbench.graph.text import KEYWORDS, to_text
from workbench.graph.types import BOOL, F32, F64, I64, U8


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
        [(Neumann(1), Fixed(1)), (Wall(-1), Value(2))],
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


def test_text_gives_an_equal_graph_and_the_same_text():
    graph = gather()
    text = to_text(graph)
    assert parse(text) == graph
    assert to_text(parse(text)) == text


def test_a_node_is_a_line_with_type_space_names_places_and_hints():
    lines = to_text(gather()).splitlines()
    assert "axis x grid n0" in lines
    assert "static line" not in "\n".join(lines)  # a keyword as a name is quoted
    assert "  %0 = load u : f64 local" in lines
    assert any("extend (neumann(1), fixed(1)) (wall(-1), value(2)) %0 " in line for line in lines)
    shift = next(line for line in lines if " shift " in line)
    assert shift.endswith(
        r': f64 local  # left "at" "odd \"name\"\n" at 4:1-3 5:0-0 hint manifest sync_before sync_after line 4'
    )
    assert "region @0 (a : f64, b : f64) identity -inf" in lines
    assert 'coordinate 1 radius unit "m"' in lines


@pytest.mark.parametrize("rule", [Undefined(), Periodic(), Periodic(-1), Outflow(), Reflect(-1), Mirror(), Wall(1)])
def test_every_rule_comes_back(rule):
    space = grid_space(1)
    statics = (Static("u", "field", U8, space),)
    b = KernelBuilder(space, statics)
    b.store("u", b.extend(b.load("u"), [(rule, rule)]))
    graph = Graph("g", space, statics, (b.finish("k"),))
    assert parse(to_text(graph)) == graph


def test_every_extent_comes_back():
    n = NamedExtent("n")
    extents = [n, ConstantExtent(5), AffineExtent(n, 2, -1), MinimumExtent(AffineExtent(n, 1, 1), ConstantExtent(3))]
    extents.append(NamedExtent("minimum"))
    axes = [Axis(f"a{i}", e, "grid" if i % 2 else "array") for i, e in enumerate(extents)]
    space = Space(tuple(axes))
    other = Space((Axis("b b", n),))
    graph = Graph("g", space, (Static("u", "field", F64, other),), ())
    assert parse(to_text(graph)) == graph


@pytest.mark.parametrize(
    "value", [0.0, -0.0, math.nan, math.inf, -math.inf, 5e-324, 1e22, 0.1, 1.7976931348623157e308, 0, -1, True, False]
)
def test_constants_come_back_to_the_bit(value):
    type_ = {bool: BOOL, int: I64, float: F64}[type(value)]
    space = grid_space(1)
    statics = (Static("u", "field", type_, space),)
    b = KernelBuilder(space, statics)
    b.store("u", b.imm(value, type_, space))
    graph = Graph("g", space, statics, (b.finish("k"),))
    back = parse(to_text(graph)).kernels[0].nodes[0].instruction
    assert back == Imm(value)
    assert repr(back.value) == repr(value)


def test_keywords_are_never_bare():
    space = grid_space(1)
    for word in KEYWORDS:
        graph = Graph(word, space, (Static(word, "field", F64, space, group=word),), ())
        assert parse(to_text(graph)) == graph


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("", None, "empty"),
        ("grph g", 1, "graph expected"),
        ("graph g\naxis x line n", 2, "grid or array"),
        ("graph g\nstatic u f64 local", 2, "field, scalar or param"),
        ("graph g\nkernel k\n  %0 = lod u : f64 global", 3, "unknown instruction lod"),
        ("graph g\nkernel k\n  %1 = load u : f64 global", 3, "%0 expected, found %1"),
        ("graph g\nkernel k\n  %0 = load u : f65 global", 3, "storage type"),
        ("graph g\nkernel k\n  %0 = extend (cyclic, outflow) %0", 3, "unknown boundary rule cyclic"),
        ("graph g\nkernel k\n  %0 = reduce @3 over (0) %0", 3, "no region @3"),
        ("graph g\nkernel k\n  %0 = imm 1x : f64 global", 3, "a number expected, found 1x"),
        ("graph g\nkernel k\n  %0 = shift (1, y) %0", 3, "an integer expected, found y"),
        ("graph g\nkernel k\n  %0 = load u : f64 global extra", 3, "the end of the line expected"),
        ("graph g\nkernel k\naxis x grid n", 3, "another order"),
        ("graph g\nkernel k\n  %0 = load at : f64 global", 3, "a name expected"),
    ],
)
def test_wrong_text_is_refused_with_its_line(text, line, what):
    with pytest.raises(GraphError) as caught:
        parse(text)
    assert caught.value.line == line
    assert what in caught.value.what
