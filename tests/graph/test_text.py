"""The text form: stable, and read back to an equal graph."""

import math

import pytest

from tests.graph.gathered import gather
from workbench.errors import GraphError
from workbench.graph import (
    Axis,
    Graph,
    Imm,
    KernelBuilder,
    Mirror,
    Outflow,
    Periodic,
    Reflect,
    Space,
    Static,
    Undefined,
    Wall,
    grid_space,
)
from workbench.graph.parse import parse
from workbench.graph.spaces import AffineExtent, ConstantExtent, MinimumExtent, NamedExtent
from workbench.graph.text import KEYWORDS
from workbench.graph.types import BOOL, F64, I64, U8
from workbench.graph.verify import verify


def test_text_gives_an_equal_graph_and_the_same_text():
    graph = gather()
    text = str(graph)
    assert parse(text) == graph
    assert str(parse(text)) == text


def test_a_parameter_that_is_an_array_says_its_axes():
    text = """graph g
axis x grid n0
static u field : f64 local
region @0 (a : f64, u : f64 axes 1, axes : i64) results (4, 3)
  %0 = load a : f64 global
  %1 = load u : f64 global
  %2 = load axes : i64 global
  %3 = gather %1 %2 : f64 global  # b at 3:4-9
  %4 = imm true : bool global
kernel step
  %0 = load u : f64 local
  %1 = imm 0 : i64 local
  %2 = loop @0 0 %1 %0 %0 %1 : f64 local
  %3 = store u %2
"""
    graph = parse(text)
    assert str(graph) == text
    assert parse(str(graph)) == graph
    assert graph.kernels[0].nodes[2].instruction.body.parameters[1].axes == 1
    verify(graph)


def test_a_node_is_a_line_with_type_space_names_places_and_hints():
    lines = str(gather()).splitlines()
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
    assert parse(str(graph)) == graph


def test_every_extent_comes_back():
    n = NamedExtent("n")
    extents = [n, ConstantExtent(5), AffineExtent(n, 2, -1), MinimumExtent(AffineExtent(n, 1, 1), ConstantExtent(3))]
    extents.append(NamedExtent("minimum"))
    axes = [Axis(f"a{i}", e, "grid" if i % 2 else "array") for i, e in enumerate(extents)]
    space = Space(tuple(axes))
    other = Space((Axis("b b", n),))
    graph = Graph("g", space, (Static("u", "field", F64, other),), ())
    assert parse(str(graph)) == graph


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
    back = parse(str(graph)).kernels[0].nodes[0].instruction
    assert back == Imm(value)
    assert repr(back.value) == repr(value)


def test_keywords_are_never_bare():
    space = grid_space(1)
    for word in KEYWORDS:
        graph = Graph(word, space, (Static(word, "field", F64, space, group=word),), ())
        assert parse(str(graph)) == graph


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
