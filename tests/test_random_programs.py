"""The random programs: well formed, repeatable, and between them they hold everything that a program can."""

from collections import Counter

from hypothesis import given, settings

from tests.kit.random_kernels import EXACT
from tests.kit.random_programs import coverage, initial_state, programs, random_program
from workbench.graph import REDUCTIONS, Load, Store
from workbench.graph.instructions import Instruction
from workbench.graph.parse import parse
from workbench.graph.rewrite import copy, live_nodes, rewrite
from workbench.graph.side_rules import INDEX_MAPS, VALUE_RULES, Mirror, Reflect, Undefined, Wall
from workbench.graph.verify import verify

SEEDS = range(300)


def test_everything_occurs():
    found = Counter()
    rotations = others = 0
    for seed in SEEDS:
        graph = random_program(seed)[0]
        found += coverage(graph)
        others += len(graph.kernels) > 1
        for kernel in graph.kernels:
            stored = [kernel.nodes[v].instruction for _, v in kernel.stores()]
            rotations += any(isinstance(i, Load) for i in stored)
    print(f"{len(SEEDS)} programs, {rotations} rotations, {others} with two kernels")
    for name, count in sorted(found.items()):
        print(f"{count:6d} {name}")
    expected = {kind.__name__ for kind in Instruction.__args__}
    expected |= {f"operator {row.name}" for row in EXACT}
    expected |= {f"reduction {name}" for name in (*REDUCTIONS, "region")}
    expected |= {f"rule {kind.__name__}" for kind in (*INDEX_MAPS, *VALUE_RULES, Undefined)}
    expected |= {f"rule {kind.__name__} negative" for kind in (Reflect, Mirror, Wall)}
    assert not expected - set(found)
    assert min(found[name] for name in expected) >= 3
    assert rotations > 20
    assert others > 20


def test_every_value_reaches_a_result():
    for seed in SEEDS:
        for kernel in random_program(seed)[0].kernels:
            assert live_nodes(kernel) == tuple(range(len(kernel.nodes)))
            assert any(isinstance(node.instruction, Store) for node in kernel.nodes)


def test_the_same_seed_gives_the_same_program_and_sizes_are_bounded():
    for seed in range(30):
        first, second = random_program(seed, cells=100), random_program(seed, cells=100)
        assert first[0] == second[0]
        assert first[1] == second[1]
        assert all(first[2][name].tobytes() == second[2][name].tobytes() for name in first[2])
        cells = 1
        for extent in first[1]:
            cells *= extent
        assert cells <= 100
        assert max(len(kernel.nodes) for kernel in first[0].kernels) <= 80


@settings(max_examples=150, deadline=None)
@given(programs())
def test_the_text_gives_the_graph_back(program):
    graph = program[0]
    verify(graph)
    text = str(graph)
    assert parse(text) == graph
    assert str(parse(text)) == text


@settings(max_examples=60, deadline=None)
@given(programs())
def test_rewriting_with_the_rule_that_changes_nothing(program):
    graph = rewrite(program[0], copy)
    verify(graph)
    assert graph.fingerprint() == program[0].fingerprint()
    assert graph.kernels == program[0].kernels


def test_the_initial_state_has_every_static_in_its_type():
    graph, extents, arrays, params = random_program(5)
    state = initial_state(graph, extents, arrays, params)
    assert [state[s.name].dtype for s in graph.statics] == [s.type.numpy for s in graph.statics]
    assert all(state[f.name].shape == f.space.extents_in(graph.space, extents) for f in graph.fields)
