"""Every small expression keeps its bits when graphs are simplified: all operators, awkward constants and operands.

A rule that holds for numbers only, such as x - x = 0, is wrong for infinities, NaN, -0.0 or integers that wrap; random
programs hardly ever have both the pattern and the operand. Here each pattern of at most two operators meets them all.
"""

import itertools
import math

import numpy as np
import pytest

from tests.kit.bits import assert_same_bits
from workbench.backends.interpreter import interpret
from workbench.graph import OPERATORS, Graph, KernelBuilder, Static, grid_space
from workbench.graph.operators import accepts
from workbench.graph.types import BOOL, F32, F64, I8, I32, I64, TYPES, U8, U64
from workbench.planning.simplify import simplify

LINE = grid_space(1)
SAME = [row for row in OPERATORS.values() if row.rule in ("same", "bool") and not row.ulp]
CONSTANTS = {"float": (0.0, -0.0, 1.0, -1.0, 2.0, 0.5, math.inf, math.nan), "bool": (False, True)}
INTEGERS = (0, 1, 2, 7, 31, 32)
_BATCH = 250  # results a graph


def constants_of(type_):
    if type_.kind in CONSTANTS:
        return CONSTANTS[type_.kind]
    info = np.iinfo(type_.numpy)
    return tuple(dict.fromkeys((*INTEGERS, int(info.min), int(info.max), *((-1, -2) if info.min else ()))))


def operands_of(type_):
    """All pairs of the awkward constants and of a few ordinary numbers, as two arrays."""
    more = {"float": (3.25, -7.5, 1e30, 5e-324), "bool": ()}.get(type_.kind, (3, 100, 127))
    values = np.array([*constants_of(type_), *more], type_.numpy)
    return (np.array(each) for each in zip(*itertools.product(values, values), strict=True))


def of_one_operator(type_):
    """(operator, operands) of each operator on x, y and constants; operands are "x", "y" or a constant."""
    leaves = ("x", "y", *constants_of(type_))
    for row in SAME:
        if accepts(row, type_):
            yield from ((row.name, *given) for given in itertools.product(leaves, repeat=row.arity))


def of_two_operators(type_):
    """An operator on the results of another one, on x, 0 and 1; selections by comparisons; casts there and back."""
    zero, one = constants_of(type_)[:2] if type_ == BOOL else (0, 1)
    inner = []
    for row in SAME:
        if row.rule == "same" and accepts(row, type_):
            inner += [(row.name, "x", *rest) for rest in itertools.product(("x", "y", zero, one), repeat=row.arity - 1)]
    for row in SAME:
        if not accepts(row, type_):
            continue
        for each in inner:
            others = ("x", "y", zero, one, each)
            for place in range(row.arity):
                for given in itertools.product(others[: 4 if place else 5], repeat=row.arity - 1):
                    yield (row.name, *given[:place], each, *given[place:])
    for row in SAME:
        if row.rule == "bool" and row.arity == 2 and accepts(row, type_):
            for taken in itertools.product(("x", "y", zero, one), repeat=2):
                yield ("select", (row.name, "x", "y"), *taken)
    yield from (("cast", ("cast", "x", other), type_) for other in TYPES if not other.is_record)


def build(b, type_, expression):
    if expression in ("x", "y"):
        return b.load(expression)
    if not isinstance(expression, tuple):
        return b.imm(expression, type_, LINE)
    name, *operands = expression
    if name == "cast":
        return b.cast(build(b, type_, operands[0]), operands[1])
    return b.arith(name, *(build(b, type_, each) for each in operands))


def check(type_, expressions):
    """Compare the results of each expression before and after simplification; return how many became simpler."""
    x, y = operands_of(type_)
    simpler = 0
    for first in range(0, len(expressions), _BATCH):
        b = KernelBuilder(LINE, [Static(name, "field", type_, LINE) for name in "xy"])
        statics, state = [Static(name, "field", type_, LINE) for name in "xy"], {"x": x, "y": y}
        batch = {f"r{n}": each for n, each in enumerate(expressions[first : first + _BATCH])}
        for name, expression in batch.items():
            value = build(b, type_, expression)
            static = Static(name, "field", b.node(value).type, LINE)
            statics.append(static)
            b.declare(static)
            b.store(name, value)
            state[name] = np.zeros(len(x), static.type.numpy)
        graph = Graph("small", LINE, tuple(statics), (b.finish("step"),))
        after = simplify(graph)
        simpler += len(graph.kernels[0].nodes) - len(after.kernels[0].nodes)
        expected, found = (interpret(g, "step", (len(x),), state, 1) for g in (graph, after))
        for name, expression in batch.items():
            assert_same_bits(found[name], expected[name], f"{expression} of {type_}")
    return simpler


@pytest.mark.parametrize("type_", [BOOL, I8, U64, F32, F64], ids=str)
def test_one_operator(type_):
    expressions = list(of_one_operator(type_))
    simpler = check(type_, expressions)
    print(f"{len(expressions)} expressions, {simpler} nodes less")
    assert simpler > 0


@pytest.mark.proof
@pytest.mark.parametrize("type_", [BOOL, I8, I32, I64, U8, U64, F32, F64], ids=str)
def test_two_operators(type_):
    expressions = list(of_two_operators(type_))
    simpler = check(type_, expressions)
    print(f"{len(expressions)} expressions, {simpler} nodes less")
    assert simpler > 0
