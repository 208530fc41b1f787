"""Simplification changes no bit, and removes what it says."""

from dataclasses import replace

import pytest

import workbench
from tests.planning.numbers import step_in_numbers
from tests.planning.random_graphs import random_graph
from workbench.errors import StencilError
from workbench.graph import GLOBAL, Arith, Extend, Graph, Imm, KernelBuilder, Load, Periodic, Shift, Static, grid_space
from workbench.graph.types import F64, I32
from workbench.planning import Storage
from workbench.planning import simplify as rewriting
from workbench.planning.simplify import simplify

LINE = grid_space(1)
STATICS = (
    Static("u", "field", F64, LINE),
    Static("v", "field", F64, LINE),
    Static("n", "field", I32, LINE),
    Static("p", "param", F64, GLOBAL, 1.0),
)
PERIODIC = ((Periodic(), Periodic()),)


def simplified(build):
    """The only kernel of a program after simplification."""
    b = KernelBuilder(LINE, STATICS)
    build(b)
    return simplify(Graph("g", LINE, STATICS, (b.finish("step"),))).kernels[0]


def stored(build_value, field="u"):
    """The instruction and the constant or field that is stored in the end."""
    kernel = simplified(lambda b: b.store(field, build_value(b)))
    return kernel.nodes[kernel.stores()[0][1]].instruction


def imm(b, value, type_=F64):
    return b.imm(value, type_, LINE)


@pytest.mark.parametrize("batch", range(8))
def test_random_programs_keep_every_bit(batch):
    for seed in range(batch * 25, batch * 25 + 25):
        graph = random_graph(seed, constants=True)
        simpler = simplify(graph)
        for before, after in zip(graph.kernels, simpler.kernels, strict=True):
            extents = (1 + seed % 4,) * graph.dim
            assert step_in_numbers(graph, before, extents, seed) == step_in_numbers(graph, after, extents, seed), seed


def test_a_second_time_changes_nothing():
    for seed in range(60):
        once = simplify(random_graph(seed, constants=True))
        assert simplify(once) == once


def test_it_never_grows_and_settles_in_a_few_rounds(monkeypatch):
    """Neither values nor operations become more, in any graph; each round but the last removes some."""
    rounds, first = [0], rewriting.REWRITES[0]

    def counted(graph):
        rounds[0] += 1
        return first.run(graph)

    monkeypatch.setattr(rewriting, "REWRITES", (rewriting.Rewrite(first.name, counted), *rewriting.REWRITES[1:]))
    most = 0
    for seed in range(200):
        graph = random_graph(seed, constants=True)
        rounds[0] = 0
        simpler = simplify(graph)
        most = max(most, rounds[0])
        for before, after in zip(graph.kernels, simpler.kernels, strict=True):
            assert len(after.nodes) <= len(before.nodes), seed
            assert operations(after) <= operations(before), seed
    assert 2 <= most < rewriting._MOST_ROUNDS


def operations(kernel):
    return sum(isinstance(node.instruction, Arith) for node in kernel.nodes)


@pytest.mark.parametrize(
    ("operator", "constant", "side"),
    [("multiply", 1.0, 1), ("multiply", 1.0, 0), ("divide", 1.0, 1), ("subtract", 0.0, 1), ("add", -0.0, 1)],
)
def test_neutral_constants_vanish(operator, constant, side):
    def value(b):
        pair = [b.load("v"), imm(b, constant)]
        return b.arith(operator, *(pair if side else pair[::-1]))

    assert stored(value) == Load("v")


@pytest.mark.parametrize(("operator", "constant"), [("add", 0.0), ("subtract", -0.0), ("multiply", 0.0)])
def test_what_would_change_a_zero_or_nan_stays(operator, constant):
    assert stored(lambda b: b.arith(operator, b.load("v"), imm(b, constant))) != Load("v")
    kernel = simplified(lambda b: b.store("u", b.arith(operator, b.load("v"), imm(b, constant))))
    assert len(kernel.nodes) == 4


def test_integers_have_one_zero():
    assert stored(lambda b: b.arith("add", b.load("n"), imm(b, 0, I32)), "n") == Load("n")
    assert stored(lambda b: b.arith("multiply", b.load("n"), imm(b, 0, I32)), "n") == Imm(0)


def test_exact_operators_on_constants_fold_and_others_do_not():
    assert stored(lambda b: b.arith("divide", imm(b, 1.0), imm(b, 4.0))) == Imm(0.25)
    assert stored(lambda b: b.arith("sqrt", imm(b, -1.0))) == Imm(float("nan"))
    assert stored(lambda b: b.arith("sin", imm(b, 1.0))) != Imm(0.8414709848078965)


def test_equal_values_become_one():
    def build(b):
        p = b.broadcast(b.load("p"))
        b.store("u", b.arith("multiply", b.load("u"), p))
        b.store("v", b.arith("multiply", b.load("u"), b.arith("multiply", p, imm(b, 1.0))))

    kernel = simplified(build)
    assert kernel.stores()[0][1] == kernel.stores()[1][1]


def test_the_same_number_in_every_cell_is_computed_once():
    kernel = simplified(
        lambda b: b.store(
            "u", b.arith("multiply", b.load("u"), b.arith("divide", imm(b, 1.0), b.broadcast(b.load("p"))))
        )
    )
    assert sum(n.is_local for n in kernel.nodes) == 3  # u, the broadcast quotient, the product


def test_an_extend_that_nobody_needs_outside_goes():
    def build(b):
        u = b.extend(b.load("u"), PERIODIC)
        b.store("v", b.arith("add", u, u))

    assert not any(isinstance(n.instruction, Extend) for n in simplified(build).nodes)


def test_an_extend_stays_where_its_sum_is_needed_outside():
    def build(b):
        u = b.extend(b.load("u"), PERIODIC)
        b.store("v", b.shift(b.arith("add", u, u), (1,)))

    kernel = simplified(build)
    assert [type(n.instruction) for n in kernel.nodes[:2]] == [Load, Extend]


def test_store_and_extend_see_the_bare_field():
    assert stored(lambda b: b.extend(b.load("v"), PERIODIC)) == Load("v")


def test_a_shifted_constant_is_the_constant():
    assert stored(lambda b: b.shift(imm(b, 2.0), (1,))) == Imm(2.0)
    assert not isinstance(stored(lambda b: b.shift(b.broadcast(b.load("p")), (1,))), Shift)


def test_names_follow_the_values():
    def build(b):
        product = b.arith("multiply", b.load("v"), imm(b, 1.0))
        b.annotate(product, name="w")
        b.store("u", product)

    assert simplified(build).nodes[0].names == ("w",)


def test_hints_that_contradict_once_values_are_one_are_an_error_with_both_lines():
    text = """u = field("u", boundary="periodic")
a = manifest(u[+1] + u * u)
b = delayed(u[+1] + (u * 1.0) * u)
u.next = a[+1] + b[-1] + a + b"""
    with pytest.raises(StencilError) as error:
        workbench.trace(text)
    assert str(error.value).splitlines() == [
        "line 3: the value a or b is marked delayed here and manifest in line 2, "
        "but the two are one value once simplified",
        "Keep one of the two hints.",
    ]
    agreed = workbench.trace(text.replace("delayed", "manifest"))
    kernel = agreed.plan().main
    assert kernel.storage[kernel.kernel.find("a")] is Storage.MANIFEST
    assert kernel.kernel.find("a") == kernel.kernel.find("b")


def test_what_was_simplified_is_returned_as_it_is():
    graph = simplify(random_graph(3))
    assert simplify(graph) is graph
    alike = replace(graph)
    assert simplify(alike) == graph
