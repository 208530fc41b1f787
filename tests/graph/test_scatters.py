"""Where any order of senders gives the same bits, and what leaves a number as it is there."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.collective_programs import flipping, mixing
from workbench.graph import GLOBAL, Parameter, Region, Scatter
from workbench.graph.instructions import Arith, Load, Node
from workbench.graph.scatters import neutral_number, scatter_in_order
from workbench.graph.types import BOOL, F64, I8, I64, U8, U64
from workbench.language import scatter


def only(operator, type_, operands=(0, 1)):
    loads = tuple(Node(Load(name), (), type_, GLOBAL) for name in "ab")
    return Region(
        (Parameter("a", type_), Parameter("b", type_)), (*loads, Node(Arith(operator), operands, type_, GLOBAL))
    )


ALIKE = [
    *(("sum", type_, 0) for type_ in (I8, I64, U8, U64)),
    *(("product", I64, 1), ("min", I8, 127), ("min", U8, 255), ("max", I8, -128), ("max", U64, 0)),
    *(("any", BOOL, 0), ("all", BOOL, 1)),
    *((only("add", I8), I8, 0), (only("multiply", U8), U8, 1), (only("maximum", I64, (1, 0)), I64, -(2**63))),
    *((only("bitwise_and", I8), I8, -1), (only("bitwise_and", U8), U8, 255), (only("bitwise_or", I8), I8, 0)),
    *((only("logical_and", BOOL), BOOL, 1), (flipping(), I64, 0)),
]


@pytest.mark.parametrize(("operator", "type_", "neutral"), ALIKE, ids=str)
def test_any_order_has_the_same_bits_and_the_neutral_number_changes_none(operator, type_, neutral):
    assert neutral_number(operator, type_) == neutral
    draw = np.random.default_rng(5)
    values = draw.integers(0, 2, 40, np.int64) if type_ == BOOL else draw.integers(-(2**62), 2**62, 40)
    values, places = values.astype(type_.numpy), draw.integers(0, 3, 40)
    begin = values[:3].copy()
    found = scatter_in_order(operator, begin, [places], values, type_)
    order = draw.permutation(40)
    assert scatter_in_order(operator, begin, [places[order]], values[order], type_).tolist() == found.tolist()
    none = np.full(3, neutral, type_.numpy)
    assert scatter_in_order(operator, begin, [np.arange(3)], none, type_).tolist() == begin.tolist()


@pytest.mark.parametrize(
    ("operator", "type_"),
    [
        *(("sum", F64), ("min", F64), (only("add", F64), F64), (mixing(), I64)),
        *((only("subtract", I64), I64), (only("add", I64, (0, 0)), I64)),
    ],
    ids=str,
)
def test_elsewhere_the_order_counts(operator, type_):
    assert neutral_number(operator, type_) is None


def test_functions_of_one_operation_are_seen_in_what_users_write():
    def sent(zeros, bins):
        return scatter(lambda new, old: new ^ old, zeros, bins, bins), scatter(None, zeros, bins, bins)

    program = wb.collective(sent)
    nodes = program.machine(np.zeros(3, np.int64), np.array([1, 2])).graph.kernels[0].nodes
    found = [neutral_number(n.instruction.operator, n.type) for n in nodes if isinstance(n.instruction, Scatter)]
    assert found == [0, None]
