"""One computation at different cells is one value; names, hints, lines, bits and the reach stay."""

import random

import pytest

import workbench
from tests.kit.symbolic import run_symbolically
from tests.planning.numbers import step_in_numbers
from tests.planning.random_graphs import random_choices
from workbench.errors import PlanError
from workbench.graph import (
    GLOBAL,
    Arith,
    Extend,
    Fixed,
    Graph,
    KernelBuilder,
    Mirror,
    Neumann,
    Outflow,
    Periodic,
    Prescribed,
    Reflect,
    Shift,
    Static,
    grid_space,
)
from workbench.graph.side_rules import ValueRule
from workbench.graph.types import F64
from workbench.planning import Choices, PlanChoices, Storage, plan_graph
from workbench.planning.displaced import share_displaced
from workbench.planning.reach import find_margins, no_margins, union
from workbench.planning.simplify import simplify

PRESETS = ("as_delayed", "as_manifest", "cost")


def kernel_of(text, **choices):
    """The only kernel of a cell's machine, as simplification leaves it."""
    return workbench.trace(text, **choices).graph.kernels[0]


def count(kernel, operator):
    return sum(n.instruction == Arith(operator) for n in kernel.nodes)


def random_displaced(seed):
    """A program that is full of one formula at different cells; a third of its values has a name."""
    rng = random.Random(seed)
    space = grid_space(rng.choice((1, 2)))
    statics = (*(Static(n, "field", F64, space) for n in "uvw"), Static("s", "scalar", F64, GLOBAL, 0.0))
    b = KernelBuilder(space, statics)
    maps = (Periodic(), Outflow(), Reflect(-1), Mirror(), Prescribed(1), Fixed(1), Neumann(1))

    def extended(value):
        sides = [(Periodic(), Periodic()) if rng.random() < 0.3 else rng.choices(maps[1:], k=2) for _ in space.axes]
        uses = any(isinstance(r, ValueRule) for pair in sides for r in pair)
        place = b.cast(b.index(0), F64)
        return b.extend(value, tuple(map(tuple, sides)), (b.arith("multiply", place, place),) if uses else ())

    def somewhere(value):
        return b.shift(value, [rng.randint(-1, 1) for _ in space.axes])

    values = [extended(b.load(name)) for name in "uvw"] + [b.cast(b.index(0), F64), b.imm(0.5, F64, space)]
    for _ in range(rng.randint(2, 5)):
        operator, one, other = rng.choice(("add", "multiply", "minimum")), rng.choice(values), rng.choice(values)
        gap = [rng.randint(-1, 1) for _ in space.axes]
        for _ in range(rng.randint(1, 3)):
            by = [rng.randint(-2, 2) for _ in space.axes]
            both = b.shift(one, by), b.shift(other, [x + y for x, y in zip(by, gap, strict=True)])
            values.append(b.arith(operator, *both))
            if rng.random() < 0.3:
                b.annotate(values[-1], name=f"n{values[-1]}")
        if rng.random() < 0.2:
            values.append(extended(values[-1]))
    for name in "uvw":
        total = somewhere(values[-1])
        for value in rng.sample(values, 3):
            total = b.arith("add", total, somewhere(value))
        b.store(name, rng.choice((total, values[-1], somewhere(values[-1]))))
    b.store("s", b.reduce("max", rng.choice(values)))
    return Graph("displaced", space, statics, (b.finish("step"),))


def test_copies_at_other_cells_are_reads_beside_the_cell():
    kernel = kernel_of('u = field("u", boundary="periodic")\nu.next = sqrt(u[+1] * 2.0) + sqrt(u[-1] * 2.0)')
    assert (count(kernel, "sqrt"), count(kernel, "multiply")) == (1, 1)
    (root,) = (i for i, n in enumerate(kernel.nodes) if n.instruction == Arith("sqrt"))
    assert {n.instruction.offset for n in kernel.nodes if isinstance(n.instruction, Shift)} == {(-1,), (2,)}
    assert any(isinstance(n.instruction, Shift) and n.operands == (root,) for n in kernel.nodes)


def test_the_copy_nearest_to_its_first_operand_is_kept():
    text = 'u = field("u", boundary="periodic")\nu.next = sqrt(u[+2]) + sqrt(u) * sqrt(u[-1])'
    kernel = kernel_of(text)
    (root,) = (n for n in kernel.nodes if n.instruction == Arith("sqrt"))
    assert isinstance(kernel.nodes[root.operands[0]].instruction, Extend)


def test_operands_at_different_cells_count_by_their_distance():
    text = """u, v = field("u", boundary="periodic"), field("v", boundary="periodic")
u.next = (u[+1] - v) * (u - v[-1])
v.next = (u[+1] - v) / (u - v[+1])"""
    assert count(kernel_of(text), "subtract") == 2


def test_one_copy_is_left_as_it_is():
    text = 'u = field("u", boundary="periodic")\nu.next = sqrt(u[+1] * u[+1]) + u'
    kernel = kernel_of(text)
    (root,) = (n for n in kernel.nodes if n.instruction == Arith("sqrt"))
    product = kernel.nodes[root.operands[0]]
    assert product.instruction == Arith("multiply")
    assert isinstance(kernel.nodes[product.operands[0]].instruction, Shift)


def test_what_has_no_copies_is_the_same_graph():
    graph = workbench.trace('u = field("u", boundary="periodic")\nu.next = 0.5 * (u[+1] + u[-1])').graph
    assert share_displaced(graph) == graph


@pytest.mark.parametrize("seed", range(60))
def test_sharing_keeps_every_bit_reaches_no_farther_and_happens_once(seed):
    graph = random_displaced(seed)
    simpler = simplify(graph)
    before, after = graph.kernels[0], simpler.kernels[0]
    extents = (1 + seed % 4,) * graph.dim
    assert step_in_numbers(graph, before, extents, seed) == step_in_numbers(graph, after, extents, seed)
    assert simplify(simpler) == simpler
    names = {name for node in before.nodes for name in node.names if name in _live_names(before)}
    assert names <= {name for node in after.nodes for name in node.names}
    for field in "uvw":
        assert _box(union(_halo(before, graph.dim, field), _halo(after, graph.dim, field))) == _box(
            _halo(before, graph.dim, field)
        )


def _live_names(kernel):
    live, waiting = set(), [i for i, n in enumerate(kernel.nodes) if n.type is None]
    while waiting:
        index = waiting.pop()
        live.add(index)
        waiting.extend(o for o in kernel.nodes[index].operands if o not in live)
    return {name for i in live for name in kernel.nodes[i].names}


def _halo(kernel, dim, field):
    """How far outside the field's ghost cells are needed."""
    live = frozenset(range(len(kernel.nodes)))
    margins = find_margins(kernel, live)
    found = no_margins(dim)
    load = dict(kernel.loads()).get(field)
    for index, node in enumerate(kernel.nodes):
        if isinstance(node.instruction, Extend) and node.operands[0] == load:
            found = union(found, margins[index])
    return found


def _box(margins):
    return tuple(map(tuple, margins))


@pytest.mark.parametrize("seed", range(60))
def test_plans_of_shared_values_read_what_the_graph_means(seed):
    graph = random_displaced(1000 + seed)
    rng = random.Random(seed)
    extents = tuple(rng.randint(1, 4) for _ in range(graph.dim))
    for preset in PRESETS:
        run_symbolically(plan_graph(graph, Choices(plan=PlanChoices().changed(preset=preset))), extents, seed, steps=2)
    run_symbolically(plan_graph(graph, random_choices(graph, seed)), extents, seed, steps=2)


@pytest.mark.parametrize("seed", range(40))
def test_no_sub_kernel_computes_more(seed, monkeypatch):
    graph = random_displaced(2000 + seed)
    shared = plan_graph(graph, Choices(plan=PlanChoices().changed(preset="as_delayed")))
    monkeypatch.setattr("workbench.planning.simplify.share_displaced", lambda graph: graph)
    plain = plan_graph(graph, Choices(plan=PlanChoices().changed(preset="as_delayed")))
    steps = shared.kernels[0].observed, plain.kernels[0].observed
    assert len(steps[0].subkernels) == len(steps[1].subkernels)
    assert sum(s.cost.flops for s in steps[0].subkernels) <= sum(s.cost.flops for s in steps[1].subkernels)


def test_every_name_can_still_be_stored():
    text = """u = field("u", boundary="periodic")
left = sqrt(u[-1] * 2.0)
right = sqrt(u * 2.0)
u.next = sqrt(u[+1] * 2.0) + left * right"""
    machine = workbench.trace(text)
    kernel = machine.graph.kernels[0]
    assert count(kernel, "sqrt") == 2
    for name in ("left", "right"):
        main = machine.annotate(name, "manifest").plan().main
        assert main.storage[main.kernel.find(name)] is Storage.MANIFEST


def test_a_named_read_keeps_its_name():
    kernel = kernel_of('u = field("u", boundary="periodic")\nbefore = u[-1]\nu.next = sqrt(before) + sqrt(u)')
    assert kernel.find("before") is not None


def test_the_named_copy_is_kept_with_its_neighbours_lines():
    text = """u = field("u", boundary="periodic")
u.next = (
    sqrt(u + 1.0) +
    sqrt(u[-1] + 1.0) * named(sqrt(u[+1] + 1.0), "speed")
)"""
    kernel = kernel_of(text)
    speed = kernel.nodes[kernel.find("speed")]
    assert count(kernel, "sqrt") == 1
    assert speed.instruction == Arith("sqrt")
    assert {3, 4} <= {span.line for span in speed.spans}


def test_a_hint_at_one_copy_stores_the_one_value():
    text = (
        'u = field("u", boundary="periodic")\nu.next = sqrt(u[-1] + 1.0) * manifest(sqrt(u[+1] + 1.0)) + sqrt(u + 1.0)'
    )
    main = workbench.trace(text).plan().main
    assert [main.storage[i] for i, n in enumerate(main.kernel.nodes) if n.instruction == Arith("sqrt")] == [
        Storage.MANIFEST
    ]


@pytest.mark.parametrize("hint", ["delayed({})", "sync({})"])
def test_values_that_are_to_be_apart_stay_apart(hint):
    asked = hint.format("sqrt(u[+1])")
    kernel = kernel_of(f'u = field("u", boundary="periodic")\nu.next = {asked} + sqrt(u)')
    assert count(kernel, "sqrt") == 2


def test_no_copy_waits_for_the_array_of_a_field():
    text = """u, v = field("u", boundary="periodic"), field("v")
u.next = sqrt(u)
v.next = sqrt(u[+1]) * 2.0"""
    machine = workbench.trace(text)
    assert count(machine.graph.kernels[0], "sqrt") == 2
    assert len(machine.plan().main.observed.subkernels) == 1


def test_no_copy_waits_for_an_array_with_ghost_cells_of_its_own():
    text = """u, v = field("u", boundary="periodic"), field("v")
u.next = extend(sqrt(u), "outflow")[+1]
v.next = sqrt(u[+1]) * sqrt(u[-1])"""
    assert count(kernel_of(text), "sqrt") == 2


def test_boundary_values_stay_as_they_are():
    text = """u = field("u", boundary=analytic(lambda i: sqrt(astype(i, "f64"))))
u.next = u[+1] + u[-1] + sqrt(astype(index(0) + 1, "f64"))"""
    kernel = kernel_of(text)
    (extend,) = (n for n in kernel.nodes if isinstance(n.instruction, Extend))
    assert kernel.nodes[extend.operands[1]].instruction == Arith("sqrt")


def test_a_read_without_a_rule_is_still_an_error():
    with pytest.raises(PlanError, match="no boundary rule"):
        workbench.trace('u = field("u")\nu.next = sqrt(u[+1]) + sqrt(u)').plan()
