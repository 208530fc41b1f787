"""Reach against the enumeration of all paths, and reads outside that have no rule."""

import pytest

from tests.planning.random_graphs import random_graph
from workbench.errors import PlanError
from workbench.graph import (
    Extend,
    Graph,
    KernelBuilder,
    Outflow,
    Prescribed,
    Reduce,
    Shift,
    Span,
    Static,
    Store,
    Undefined,
    grid_space,
)
from workbench.graph.types import F64
from workbench.planning import plan_graph
from workbench.planning.reach import find_margins, recomputed_percent
from workbench.planning.variants import live_nodes

LINE = grid_space(1)
STATICS = (Static("u", "field", F64, LINE), Static("v", "field", F64, LINE))


def margins_by_paths(kernel, dim):
    """The largest margins that any path from a Store, Reduce or Extend asks for, by following every path."""
    nothing = ((0, 0),) * dim
    asked = [set() for _ in kernel.nodes]

    def follow(index, margins):
        node = kernel.nodes[index]
        if not node.is_local or margins in asked[index]:
            return
        asked[index].add(margins)
        match node.instruction:
            case Shift(offset):
                low = (max(m[0] + o, 0) for m, o in zip(margins, offset, strict=True))
                high = (max(m[1] - o, 0) for m, o in zip(margins, offset, strict=True))
                follow(node.operands[0], tuple(zip(low, high, strict=True)))
            case Extend():
                for operand in node.operands[1:]:
                    follow(operand, margins)
            case _:
                for operand in node.operands:
                    follow(operand, margins)

    for index in live_nodes(kernel):
        if isinstance(kernel.nodes[index].instruction, Store | Reduce | Extend):
            follow(kernel.nodes[index].operands[0], nothing)
    return tuple(
        tuple((max(m[k][0] for m in a), max(m[k][1] for m in a)) for k in range(dim)) if a else nothing for a in asked
    )


def test_margins_are_the_union_over_all_paths():
    reaching = 0
    for seed in range(80):
        graph = random_graph(seed)
        for kernel in graph.kernels:
            margins = find_margins(kernel, live_nodes(kernel))
            assert margins == margins_by_paths(kernel, graph.dim)
            reaching += sum(m != ((0, 0),) * graph.dim for m in margins)
    print(f"{reaching} values are needed outside the domain")
    assert reaching > 100


def shifted_twice():
    b = KernelBuilder(LINE, STATICS)
    u = b.extend(b.load("u"), ((Outflow(), Outflow()),))
    inner = b.arith("add", u, b.shift(u, (-2,)))
    b.store("u", b.arith("add", inner, b.shift(inner, (1,))))
    return Graph("g", LINE, STATICS, (b.finish("step"),)), u, inner


def test_reach_adds_up_along_a_chain():
    graph, u, inner = shifted_twice()
    margins = find_margins(graph.kernels[0], live_nodes(graph.kernels[0]))
    assert margins[inner] == ((1, 0),)
    assert margins[u] == ((1, 2),)


def program(build):
    b = KernelBuilder(LINE, STATICS)
    build(b)
    return Graph("g", LINE, STATICS, (b.finish("step"),))


@pytest.mark.parametrize(
    ("offset", "cells", "side"), [((-1,), "1 cell outside", "x+"), ((3,), "3 cells outside", "x-")]
)
def test_a_read_outside_without_a_rule_names_field_side_and_line(offset, cells, side):
    def build(b):
        read = b.shift(b.load("u"), offset)
        b.annotate(read, span=Span(7))
        b.store("v", read)

    with pytest.raises(PlanError) as error:
        plan_graph(program(build))
    first, *_, last = str(error.value).splitlines()
    assert first == f"line 7: u is read {cells} at side {side}, where it has no boundary rule"
    assert last.startswith("Give u a rule")


def test_one_open_side_may_be_left_undefined_if_nobody_reads_there():
    def build(offset):
        def inner(b):
            u = b.extend(b.load("u"), ((Undefined(), Outflow()),))
            b.store("v", b.shift(u, (offset,)))

        return inner

    assert plan_graph(program(build(-1))).halo == ((0, 1),)
    with pytest.raises(PlanError, match="side x-"):
        plan_graph(program(build(1)))


def test_recomputed_ghost_cells_in_percent():
    assert recomputed_percent((((1, 1),), ((0, 0),)), (10,)) == 10.0
    assert recomputed_percent((((1, 1), (0, 2)),), (4, 8)) == pytest.approx(100 * (6 * 10 - 32) / 32)
    assert recomputed_percent((), (4,)) == 0.0


def test_a_boundary_value_that_needs_an_array_is_refused():
    def build(b):
        ramp = b.extend(b.cast(b.index(0), F64), ((Outflow(), Outflow()),))
        u = b.extend(b.load("u"), ((Prescribed(1), Prescribed(1)),), (ramp,))
        b.annotate(u, span=Span(2))
        b.store("v", b.shift(u, (1,)))

    with pytest.raises(PlanError, match=r"^line 2: a boundary value of u depends on the array f64\(index\(0\)\)\n"):
        plan_graph(program(build))
