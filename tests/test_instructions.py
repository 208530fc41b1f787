"""The union of instructions: each has a row of traits that is true, and everything that asks for kinds knows it."""

import math
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from tests.kit.wider import widened, wider
from workbench.backends.interpreter import Evaluation
from workbench.codegen.cpp.render import render_openmp
from workbench.codegen.cuda.render import render_cuda
from workbench.codegen.expressions import emit_globals
from workbench.codegen.names import RESERVED, NameBook
from workbench.codegen.scope import Scope
from workbench.codegen.spelling import CPP
from workbench.errors import GraphError
from workbench.graph import Graph, KernelBuilder, Outflow, Static, grid_space
from workbench.graph.instructions import (
    COLLECTIVES,
    PLAIN,
    TRAITS,
    Arith,
    Broadcast,
    Extend,
    Fold,
    Gather,
    Imm,
    Instruction,
    Join,
    Load,
    LoadIndex,
    Loop,
    Node,
    Parameter,
    Rank,
    Reduce,
    Region,
    Replicate,
    Scan,
    SegmentedReduce,
    Shift,
    Store,
    needs_array,
    traits_of,
)
from workbench.graph.naming import formula, value_names
from workbench.graph.operators import OPERATORS
from workbench.graph.parse import parse
from workbench.graph.rewrite import copy, rewrite
from workbench.graph.spaces import GLOBAL
from workbench.graph.types import BOOL, DD, F64, I64
from workbench.graph.verify import verify
from workbench.planning import Choices, PlanChoices, Storage, plan_graph
from workbench.planning.emission import operator_weight
from workbench.planning.estimate import Estimate
from workbench.planning.precision import without_dd
from workbench.planning.reach import find_margins
from workbench.planning.retype import Precision, retype_as
from workbench.planning.variants import live_nodes
from workbench.planning.verify import verify_plan
from workbench.planning.weights import weight_of_cell
from workbench.views.graph.symbols import numbers, symbol

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


def test_the_program_has_every_instruction_and_each_has_a_row():
    assert set(OF_KIND) == set(KINDS) == set(TRAITS)
    verify(GRAPH)


def test_words_of_the_text_form_are_told_apart():
    assert len({row.word for row in TRAITS.values()}) == len(TRAITS)
    assert all(TRAITS[kind].word == word for word, kind in PLAIN.items())


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_operands_and_result_are_as_the_row_says(kind):
    row = TRAITS[kind]
    for node in (node for node in NODES if type(node.instruction) is kind):
        assert row.arity in (None, len(node.operands))
        assert row.is_leaf == (not node.operands)
        result = "none" if node.space is None else "global" if node.is_global else "local"
        assert row.result == result or (row.result == "either" and result != "none")
        assert row.type in (None, node.type)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_further_field_with_a_default_changes_no_key(kind, monkeypatch):
    """Keys are stored in genomes and choices, which an instruction that learns something must not make unreadable."""
    new = wider(kind)
    monkeypatch.setitem(TRAITS, new, TRAITS[kind])
    found = widened(GRAPH, {kind: new})
    assert "further=False" in repr(found.kernels)
    assert found.kernels[0].keys() == GRAPH.kernels[0].keys()
    assert found.fingerprint() == GRAPH.fingerprint()


def evaluation(changed=None):
    u = np.linspace(1.0, 2.0, math.prod(EXTENTS)).reshape(EXTENTS)
    if changed is not None:
        u[changed] += 1.0
    state = {"u": u, "total": np.asarray(0.0), "c": np.asarray(2.0)}
    return Evaluation(GRAPH.kernels[0], EXTENTS, state)


def moved_by(kind, touched):
    """The cells of a collective of the program that these cells of its operands decide."""
    if kind is Scan:
        return {(i, k) for i, j in touched for k in range(j, EXTENTS[1])}
    if kind is Join:  # its operands are what the columns sum to, all of which one cell changes
        return {(i, j) for i in range(EXTENTS[0]) for (j,) in touched}
    if kind is SegmentedReduce:
        return {(max(i - 1, 0),) for (i,) in touched}  # the first one has two cells
    return {(EXTENTS[0] - 1 - i,) for (i,) in touched if i}


@pytest.mark.parametrize("kind", [k for k in KINDS if TRAITS[k].result != "none"], ids=lambda kind: kind.__name__)
def test_cells_that_decide_a_result_are_those_of_the_row(kind):
    """Changes one cell of u at a time; what changes in the operand and in the result tells what the kind reads."""
    row = TRAITS[kind]
    index = OF_KIND[kind]
    rank = NODES[index].space.rank

    def values(found, node):
        return found.on_domain(node) if NODES[node].is_local else found.number(node)

    def changed(before, after, node):
        return set(map(tuple, np.argwhere(values(before, node) != values(after, node))))

    before, moves = evaluation(), set()
    for cell in np.ndindex(*EXTENTS):
        after = evaluation(cell)
        local = [o for o in NODES[index].operands if NODES[o].is_local]
        touched = set().union(*(changed(before, after, o) for o in local))
        result = changed(before, after, index)
        if not touched:
            assert kind is Load or NODES[index].operands or not result
        elif kind is Gather:
            assert result == {(i, EXTENTS[1] - 1 - j) for i, j in touched}
            moves.add("anywhere")
        elif kind in COLLECTIVES:
            if kind is Rank:
                assert sorted(values(after, index)) == list(range(EXTENTS[0]))
            else:
                assert result == moved_by(kind, touched)
            moves.add("all")
        elif rank == NODES[local[0]].space.rank:
            moves.add("cell" if result == touched else "neighbour")
        elif rank < NODES[local[0]].space.rank:
            assert result == {place[:rank] for place in touched}  # axes are folded from the last
            moves.add("all")
        else:
            assert result == {(*place, i) for place in touched for i in range(EXTENTS[-1])}
            moves.add("projection")
    if kind is Extend:  # on the domain it is its operand; its ghost cells read others
        assert moves == {"cell"}
        ghost = ((-1, 0), (0, 1))
        assert evaluation((0, 0)).local(index, ghost) != before.local(index, ghost)
    else:
        assert moves == (set() if row.reads == "none" else {row.reads})


@pytest.mark.parametrize("kind", [k for k in KINDS if TRAITS[k].uniform], ids=lambda kind: kind.__name__)
def test_uniform_kinds_are_one_number(kind):
    found = evaluation()
    local = [i for i, n in enumerate(NODES) if type(n.instruction) is kind and n.is_local]
    assert local
    assert all(len(np.unique(found.on_domain(i))) == 1 for i in local)


def test_kinds_are_the_same_in_all_cells_where_their_operands_are():
    found = {kind for kind in KINDS if TRAITS[kind].is_same_where_operands_are}
    assert {Arith, Loop, Imm, Broadcast, Shift, Replicate} <= found
    assert found.isdisjoint({Load, LoadIndex, Gather, Extend, Store, Reduce, Fold, *COLLECTIVES})


def test_kinds_that_look_at_the_domain_only_ask_for_no_margins():
    plan = plan_graph(GRAPH, Choices(plan=PlanChoices().changed(preset="as_manifest")))
    kernel = plan.main
    reached = {kind for kind in KINDS if TRAITS[kind].on_domain}
    for node in kernel.kernel.nodes:
        if type(node.instruction) in reached:
            users = [n for n in kernel.kernel.nodes if node.operands[0] in n.operands]
            if all(type(n.instruction) in reached for n in users):
                assert not any(map(any, kernel.margins[node.operands[0]]))
    stored = {kernel.storage[n.operands[0]] for n in kernel.kernel.nodes if needs_array(n.instruction)}
    assert stored <= {Storage.EXISTING, Storage.MANIFEST, Storage.GLOBAL}


@pytest.mark.parametrize("preset", ["as_delayed", "as_manifest", "cost"])
def test_every_match_knows_every_instruction(preset):
    """Text, copies, names, drawings, plans and generated text; mypy proves the rest."""
    assert parse(str(GRAPH)) == GRAPH
    assert rewrite(GRAPH, copy).kernels[0].keys() == GRAPH.kernels[0].keys()
    kernel = GRAPH.kernels[0]
    for index in range(len(NODES)):
        assert formula(kernel, index)
        assert len(symbol(kernel, index)) <= 7
    assert len(value_names(kernel)) == len(numbers(kernel)) == len(NODES)
    plan = plan_graph(GRAPH, Choices(plan=PlanChoices().changed(preset=preset)))
    verify_plan(plan)
    assert {type(n.instruction) for n in plan.main.kernel.nodes} == set(KINDS)
    assert render_openmp(plan).text
    assert render_cuda(plan).source.text


def test_arithmetic_is_what_is_elementwise():
    assert [kind for kind in KINDS if TRAITS[kind].is_elementwise] == [Arith, Loop]
    assert traits_of(Arith("add")) is TRAITS[Arith]


@pytest.mark.parametrize("kind", [k for k in KINDS if TRAITS[k].is_elementwise], ids=lambda kind: kind.__name__)
def test_what_is_elementwise_costs_something(kind):
    """Else a search would compute it again and again."""
    kernel = plan_graph(GRAPH).main.kernel
    live = live_nodes(kernel)
    estimate = Estimate(kernel, find_margins(kernel, live), live, (), together=False)
    free = {Arith(row.name) for row in OPERATORS.values() if not row.flops}  # such as casts
    local = [i for i, node in enumerate(kernel.nodes) if type(node.instruction) is kind and node.is_local]
    made = [i for i in local if kernel.nodes[i].instruction not in free]
    assert made
    for index in made:
        assert estimate.is_work[index]
        assert weight_of_cell(kernel, index) > 0
        assert operator_weight(kernel, index) > 0


def test_a_global_that_differs_from_cell_to_cell_is_refused():
    index = next(i for i, node in enumerate(NODES) if isinstance(node.instruction, LoadIndex))
    with pytest.raises(GraphError, match=r"to be Globals, but differ from cell to cell: const int64_t index_x"):
        emit_globals(Scope(1, NODES, frozenset(), {}, {}, CPP), (index,), NameBook(RESERVED))


def with_tangent(region):
    """The same parameters and results, of a body in which tanh of the first parameter is computed too."""
    first = next(i for i, n in enumerate(region.nodes) if isinstance(n.instruction, Load) and n.value_type.is_float)
    tangent = Node(Arith("tanh"), (first,), F64, GLOBAL)
    nodes = (*region.nodes[: first + 1], tangent, *(moved(node, first) for node in region.nodes[first + 1 :]))
    results = tuple(result + (result > first) for result in region.results)
    return replace(region, nodes=nodes, results=results)


def moved(node, after):
    return replace(node, operands=tuple(o + (o > after) for o in node.operands))


def added():
    """A sum as a function of two parameters."""
    names = ("x", "y")
    b = KernelBuilder(GLOBAL, [Static(name, "param", F64, GLOBAL) for name in names])
    b.arith("add", b.load("x"), b.load("y"))
    return Region(tuple(Parameter(name, F64) for name in names), b.finish("").nodes, 0.0)


WITH_REGIONS = [kind for kind in KINDS if {"operator", "body"} & set(kind.__dataclass_fields__) and kind is not Arith]


@pytest.mark.parametrize("kind", WITH_REGIONS, ids=lambda kind: kind.__name__)
def test_a_region_that_dd_cannot_compute_is_told_with_its_operator(kind):
    """The program with tanh in each loop body, or in the function by which this kind combines floats."""
    nodes = []
    for node in NODES:
        if type(node.instruction) is kind and node.type is F64:
            name, region = ("body", HALVED) if kind is Loop else ("operator", added())
            node = replace(node, instruction=replace(node.instruction, **{name: with_tangent(region)}))
        nodes.append(node)
    graph = replace(GRAPH, kernels=(replace(GRAPH.kernels[0], nodes=tuple(nodes)),))
    verify(graph)
    told = without_dd(retype_as(graph, Precision({}, every=DD)))
    assert told == (f"{TRAITS[kind].word} with tanh computes in f64, because dd has no such operator",)
