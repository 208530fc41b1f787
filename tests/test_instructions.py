"""The union of instructions: each has a row of traits, and everything that asks for kinds knows it."""

from dataclasses import replace

import pytest

from tests.kit.every_kind import GRAPH, HALVED, KINDS, NODES, OF_KIND
from tests.kit.wider import widened, wider
from workbench.codegen.cpp.render import render_openmp
from workbench.codegen.cuda.render import render_cuda
from workbench.codegen.expressions import emit_globals
from workbench.codegen.names import RESERVED, NameBook
from workbench.codegen.scope import Scope
from workbench.codegen.spelling import CPP
from workbench.errors import GraphError
from workbench.graph import KernelBuilder, Static
from workbench.graph.instructions import (
    PLAIN,
    TRAITS,
    Arith,
    Load,
    LoadIndex,
    Loop,
    Node,
    Parameter,
    Region,
    places_of_arrays,
)
from workbench.graph.naming import formula, value_names
from workbench.graph.operators import OPERATORS
from workbench.graph.parse import parse
from workbench.graph.rewrite import copy, rewrite
from workbench.graph.spaces import GLOBAL
from workbench.graph.types import DD, F64
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


def test_the_program_has_every_instruction_and_each_has_a_row():
    assert set(OF_KIND) == set(KINDS) == set(TRAITS)
    verify(GRAPH)


def test_words_of_the_text_form_are_told_apart():
    assert len({row.word for row in TRAITS.values()}) == len(TRAITS)
    assert all(TRAITS[kind].word == word for word, kind in PLAIN.items())


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_further_field_with_a_default_changes_no_key(kind, monkeypatch):
    """Keys are stored in genomes and choices, which an instruction that learns something must not make unreadable."""
    new = wider(kind)
    monkeypatch.setitem(TRAITS, new, TRAITS[kind])
    found = widened(GRAPH, {kind: new})
    assert "further=False" in repr(found.kernels)
    assert found.kernels[0].keys() == GRAPH.kernels[0].keys()
    assert found.fingerprint() == GRAPH.fingerprint()


def test_kinds_that_look_at_the_domain_only_ask_for_no_margins():
    plan = plan_graph(GRAPH, Choices(plan=PlanChoices().changed(preset="as_manifest")))
    kernel = plan.main
    reached = {kind for kind in KINDS if TRAITS[kind].on_domain}
    for node in kernel.kernel.nodes:
        if type(node.instruction) in reached:
            users = [n for n in kernel.kernel.nodes if node.operands[0] in n.operands]
            if all(type(n.instruction) in reached for n in users):
                assert not any(map(any, kernel.margins[node.operands[0]]))
    nodes = kernel.kernel.nodes
    stored = {kernel.storage[n.operands[k]] for n in nodes for k in places_of_arrays(n.instruction)}
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
