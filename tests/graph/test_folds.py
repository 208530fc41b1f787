"""Folds over some axes and values of several spaces: the interpreter against the oracle, and the text form."""

from dataclasses import replace

import numpy as np
import pytest

from tests.kit.bits import assert_same_bits
from tests.kit.oracle import oracle_step
from workbench.backends.interpreter import interpret
from workbench.errors import GraphError
from workbench.graph import GLOBAL, Fold, Graph, KernelBuilder, Outflow, Periodic, Replicate, Static, grid_space
from workbench.graph.parse import parse
from workbench.graph.reduction import fold_canonically
from workbench.graph.types import F32, F64, I64
from workbench.graph.verify import reductions_are_closed, verify

SPACE = grid_space(3)
X, Z, XZ = SPACE.without((1, 2)), SPACE.without((0, 1)), SPACE.without((1,))


def program():
    """Sums over y, a maximum of them over z, and both again in the field's space, read at neighbours outside."""
    statics = (
        Static("u", "field", F64, SPACE),
        Static("profile", "field", F64, X),
        Static("plane", "field", F32, XZ),
        Static("top", "scalar", F64, GLOBAL, 0.0),
    )
    b = KernelBuilder(SPACE, statics)
    rule = ((Periodic(), Periodic()), (Outflow(), Outflow()), (Periodic(), Periodic()))
    u = b.extend(b.load("u"), rule)
    sums = b.fold("sum", u, (1,))
    highest = b.fold("max", sums, (1,))
    place = b.cast(b.index(0, X), F64)
    slope = b.arith("subtract", b.shift(highest, (-1,)), b.shift(highest, (2,)))
    wrapped = b.shift(b.extend(b.arith("multiply", highest, place), (rule[0],)), (-3,))
    spread = b.arith("add", b.replicate(slope, SPACE), b.replicate(sums, SPACE))
    b.store("u", b.arith("subtract", b.load("u"), b.arith("multiply", spread, b.imm(0.25, F64, SPACE))))
    b.store("profile", b.arith("add", b.arith("add", b.load("profile"), wrapped), slope))
    b.store("plane", b.cast(b.arith("add", b.replicate(wrapped, XZ), sums), F32))
    b.store("top", b.reduce("max", highest))
    graph = Graph("folds", SPACE, statics, (b.finish("step"),))
    verify(graph)
    return graph


def state_of(graph, extents, seed):
    draw = np.random.default_rng(seed)
    shapes = {s.name: s.space.extents_in(graph.space, extents) for s in graph.statics}
    return {s.name: draw.normal(size=shapes[s.name]).astype(s.type.numpy) for s in graph.statics}


@pytest.mark.parametrize("extents", [(3, 4, 2), (1, 1, 1), (2, 5, 3), (4, 1, 7)])
def test_the_interpreter_agrees_with_the_oracle(extents):
    graph = program()
    before = state_of(graph, extents, 7)
    found, expected = interpret(graph, "step", extents, before), oracle_step(graph, "step", extents, before)
    assert found["profile"].shape == (extents[0],)
    for name in expected:
        assert_same_bits(found[name], expected[name], name)


@pytest.mark.parametrize("length", [1, 2, 3, 1023, 1024, 1025, 5000])
@pytest.mark.parametrize("axes", [(0,), (0, 1)])
def test_a_fold_has_the_order_of_chunks_and_trees(length, axes):
    """Written from the semantics: one lane a chunk of 1024, a tree over chunks, then a tree along each further axis."""
    values = np.random.default_rng(length).normal(size=(3, length, 2) if len(axes) > 1 else (length, 2))

    def pairs(numbers):
        numbers = list(numbers)
        while len(numbers) > 1:
            joined = [a + b for a, b in zip(numbers[0::2], numbers[1::2], strict=False)]
            numbers = joined + numbers[len(joined) * 2 :]
        return numbers[0]

    def line(cells):
        lanes = []
        for first in range(0, len(cells), 1024):
            total = -0.0
            for cell in cells[first : first + 1024]:
                total = total + cell
            lanes.append(total)
        return pairs(lanes)

    if len(axes) > 1:
        expected = [pairs(line(values[k, :, kept].tolist()) for k in range(3)) for kept in range(2)]
    else:
        expected = [line(values[:, kept].tolist()) for kept in range(2)]
    assert_same_bits(fold_canonically("sum", values, axes, F64), np.array(expected))


def test_large_operands_are_evaluated_in_slabs(monkeypatch):
    graph = program()
    before = state_of(graph, (5, 4, 3), 1)
    whole = interpret(graph, "step", (5, 4, 3), before)
    monkeypatch.setattr("workbench.backends.interpreter._SLAB", 7)
    for name, values in interpret(graph, "step", (5, 4, 3), before).items():
        assert_same_bits(values, whole[name], name)


def test_the_text_form_names_the_axes_and_is_read_back():
    graph = program()
    text = str(graph)
    assert "fold sum over (1)" in text
    assert ": f64 local(x, z)" in text
    assert "replicate to local" in text
    assert "static profile field : f64 local(x)" in text
    assert parse(text) == graph
    with pytest.raises(GraphError, match="one of the axes x, y, z expected, found w"):
        parse(text.replace("local(x, z)", "local(w)", 1))


def test_spaces_are_the_graphs_own_and_those_of_some_axes():
    assert program().spaces == (SPACE, X, XZ)
    assert XZ.positions_in(SPACE) == (0, 2)
    assert SPACE.positions_in(XZ) is None
    assert XZ.extents_in(SPACE, (4, 5, 6)) == (4, 6)


def test_the_builder_shares_and_collapses():
    b = KernelBuilder(SPACE, (Static("u", "field", F64, SPACE), Static("p", "param", F64, GLOBAL, 1.0)))
    sums = b.fold("sum", b.load("u"), (1, 2))
    assert b.fold("sum", b.load("u"), (2, 1, 1)) == sums
    assert b.node(b.fold("sum", b.load("u"), (0, 1, 2))).is_global
    assert b.replicate(sums, X) == sums
    assert b.replicate(b.replicate(sums, XZ), SPACE) == b.replicate(sums, SPACE)
    number = b.broadcast(b.load("p"), X)
    assert b.replicate(number, SPACE) == b.broadcast(b.load("p"))
    assert b.replicate(b.imm(2.0, F64, X), XZ) == b.imm(2.0, F64, XZ)
    assert isinstance(b.node(sums).instruction, Fold)
    assert isinstance(b.node(b.replicate(sums, SPACE)).instruction, Replicate)


@pytest.mark.parametrize(
    ("build", "what"),
    [
        (lambda b, u: b.fold("sum", u, ()), r"Fold over \(\) of 3 axes"),
        (lambda b, u: b.fold("sum", u, (3,)), r"Fold over \(3,\) of 3 axes"),
        (lambda b, u: b.fold("any", u, (0,)), "does not take f64"),
        (lambda b, u: b.replicate(b.fold("sum", u, (0,)), X), "a value along y, z to x"),
        (lambda b, u: b.arith("add", u, b.fold("sum", u, (0,))), "mixes Locals along x, y, z and along y, z"),
        (lambda b, u: b.shift(b.fold("sum", u, (0,)), (1,)), "space of rank 2"),
        (lambda b, u: b.index(1, Z), "axis 1 of a space of rank 1"),
        (lambda b, u: b.extend(b.fold("sum", u, (0,)), ((Periodic(), Periodic()),)), "1 axes of 2"),
    ],
)
def test_the_builder_refuses(build, what):
    b = KernelBuilder(SPACE, (Static("u", "field", F64, SPACE),))
    with pytest.raises(GraphError, match=what):
        build(b, b.load("u"))


@pytest.mark.parametrize(
    ("check", "word", "change", "what"),
    [
        (reductions_are_closed, "fold", {"space": Z}, "gives another space"),
        (reductions_are_closed, "fold", {"type": I64}, "keeps its type"),
        (verify, "fold", {"instruction": Fold("sum", (1, 0))}, r"Fold over axes \(1, 0\)"),
        (verify, "fold", {"instruction": Fold("sum", (0, 1, 2))}, r"Fold over axes \(0, 1, 2\)"),
        (verify, "replicate", {"instruction": Replicate(XZ)}, "Replicate takes a Local to further axes"),
    ],
)
def test_the_verifier_refuses(check, word, change, what):
    graph = program()
    kernel = graph.kernels[0]
    place = next(i for i, n in enumerate(kernel.nodes) if type(n.instruction).__name__.lower() == word)
    nodes = list(kernel.nodes)
    nodes[place] = replace(nodes[place], **change)
    with pytest.raises(GraphError, match=what):
        check(replace(graph, kernels=(replace(kernel, nodes=tuple(nodes)),)))


def test_keys_tell_spaces_apart_and_names_do_not_matter():
    graph = program()
    keys = graph.kernels[0].keys()
    assert len(set(keys)) == len(keys)
    b = KernelBuilder(SPACE, graph.statics)
    b.store("profile", b.fold("sum", b.load("u"), (1, 2)))
    b.store("plane", b.cast(b.fold("sum", b.load("u"), (1,)), F32))
    assert len(set(b.finish("step").keys())) == 6
