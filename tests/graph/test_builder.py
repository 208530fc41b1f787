"""The builder shares equal nodes, checks types and spaces, and never confuses constants that differ in a bit."""

import math

import numpy as np
import pytest

from tests.kit.bits import assert_same_bits
from workbench.errors import GraphError
from workbench.graph import (
    GLOBAL,
    OPERATORS,
    Hint,
    Imm,
    KernelBuilder,
    Outflow,
    Periodic,
    Prescribed,
    Shift,
    Span,
    Static,
    grid_space,
    storage_type,
)
from workbench.graph.operators import COMMUTATIVE, accepts
from workbench.graph.types import BOOL, F32, F64, I32, I64

SPACE = grid_space(2)
FIELD = Static("u", "field", F64, SPACE)
SCALAR = Static("total", "scalar", F64, GLOBAL, default=0.0)
PARAM = Static("c", "param", F64, GLOBAL, default=1.0)


@pytest.fixture
def builder():
    return KernelBuilder(SPACE, (FIELD, SCALAR, PARAM))


def test_equal_nodes_are_one(builder):
    first = builder.arith("add", builder.load("u"), builder.load("u"))
    assert builder.arith("add", builder.load("u"), builder.load("u")) == first


def test_operands_in_the_other_order_are_one_node_where_no_bit_differs(builder):
    u = builder.load("u")
    v = builder.arith("negative", u)
    for row in OPERATORS.values():
        if row.arity == 2 and accepts(row, F64) and row.rule in ("same", "bool"):
            is_one = builder.arith(row.name, u, v) == builder.arith(row.name, v, u)
            assert is_one == (row.name in ("add", "multiply", "equal", "not_equal")), row.name


@pytest.mark.parametrize("name", sorted(COMMUTATIVE))
def test_rows_that_commute_have_equal_bits_in_both_orders(name):
    row = OPERATORS[name]
    corners = [0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan, 1e308, 5e-324]
    for type_ in (F64, F32, storage_type("i32"), storage_type("u8"), BOOL):
        if accepts(row, type_):
            given = corners if type_.is_float else [0, 1, 7, 255] if type_ != BOOL else [True, False]
            with np.errstate(all="ignore"):
                values = np.array(given).astype(type_.numpy)
                a, b = np.meshgrid(values, values)
                assert_same_bits(row.meaning(a, b), row.meaning(b, a))


def test_constants_that_differ_in_the_sign_of_zero_stay_apart(builder):
    assert builder.imm(0.0, F64) != builder.imm(-0.0, F64)


def test_every_nan_constant_is_one_node(builder):
    assert builder.imm(math.nan, F64) == builder.imm(-math.nan, F64)


def test_true_and_one_are_different_constants(builder):
    assert Imm(True) != Imm(1)
    assert builder.imm(True, BOOL) != builder.imm(1, I64)


def test_a_constant_is_rounded_to_its_type(builder):
    assert builder.node(builder.imm(0.1, F32)).instruction == Imm(0.10000000149011612)


def test_shifts_of_shifts_collapse_and_opposite_ones_vanish(builder):
    u = builder.load("u")
    shifted = builder.shift(builder.shift(u, (1, 0)), (0, -2))
    assert builder.node(shifted).instruction == Shift((1, -2))
    assert builder.shift(shifted, (-1, 2)) == u


def test_a_broadcast_constant_is_a_local_constant(builder):
    node = builder.node(builder.broadcast(builder.imm(2.0, F64)))
    assert node.instruction == Imm(2.0)
    assert node.space == SPACE


def test_extending_an_extended_value_starts_from_its_domain(builder):
    u = builder.load("u")
    inner = builder.extend(u, [(Periodic(), Periodic())] * 2)
    outer = builder.extend(inner, [(Outflow(), Outflow())] * 2)
    assert builder.node(outer).operands == (u,)


def test_names_spans_and_hints_gather_on_a_shared_node(builder):
    u = builder.load("u")
    builder.annotate(u, name="a", span=Span(1), hint=Hint("manifest", line=1))
    builder.annotate(u, name="b", span=Span(2), hint=Hint(sync_before=True, line=2))
    node = builder.node(u)
    assert node.names == ("a", "b")
    assert node.spans == (Span(1), Span(2))
    assert node.hint == Hint("manifest", sync_before=True, line=2)


@pytest.mark.parametrize(
    ("act", "text"),
    [
        (lambda b: b.arith("add", b.load("u"), b.load("c")), "add mixes a Global and a Local"),
        (lambda b: b.arith("add", b.load("c"), b.imm(1, I32)), "add does not take f64, i32"),
        (lambda b: b.arith("sqrt", b.imm(1, I32)), "sqrt does not take i32"),
        (lambda b: b.arith("sqrt", b.load("c"), b.load("c")), "sqrt takes 1 operands, not 2"),
        (lambda b: b.arith("frobnicate", b.load("c")), "unknown operator 'frobnicate'"),
        (lambda b: b.arith("select", b.load("c"), b.load("c"), b.load("c")), "select needs a bool condition"),
        (lambda b: b.reduce("mean", b.load("u")), "unknown reduction 'mean'"),
        (lambda b: b.reduce("any", b.load("u")), "reduction 'any' does not take f64"),
        (lambda b: b.reduce("sum", b.load("c")), "Reduce needs a Local"),
        (lambda b: b.broadcast(b.load("u")), "Broadcast needs a Global"),
        (lambda b: b.shift(b.load("u"), (1,)), "Shift by (1,) in a space of rank 2"),
        (lambda b: b.store("c", b.load("c")), "c is a param"),
        (lambda b: b.store("u", b.load("c")), "u is f64 of rank 2"),
        (lambda b: [b.store("u", b.load("u")), b.store("u", b.load("u"))], "u is stored twice"),
        (lambda b: b.load("v"), "no static is called 'v'"),
        (lambda b: b.index(2), "axis 2 of a space of rank 2"),
        (lambda b: b.extend(b.load("u"), [(Periodic(), Periodic())]), "Extend has 1 axes of 2"),
        (
            lambda b: b.extend(b.load("u"), [(Prescribed(1), Prescribed(1))] * 2, [b.index(0)]),
            "a boundary value has another type",
        ),
    ],
)
def test_misuse_is_refused_by_name(builder, act, text):
    with pytest.raises(GraphError) as caught:
        act(builder)
    assert text in str(caught.value)
    assert str(caught.value).splitlines()[-1].endswith(".")


def test_keys_ignore_names_and_follow_meaning():
    def keys(name, value):
        b = KernelBuilder(SPACE, (FIELD,))
        u = b.load("u")
        b.annotate(u, name=name)
        b.store("u", b.arith("multiply", u, b.imm(value, F64, SPACE)))
        return b.finish("step").keys()

    assert keys("a", 2.0) == keys("b", 2.0)
    assert keys("a", 2.0)[:1] == keys("a", 3.0)[:1]
    assert keys("a", 2.0)[2:] != keys("a", 3.0)[2:]
