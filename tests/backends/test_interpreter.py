"""The interpreter against the per-cell oracle: every rule, operator, type and reduction, and random programs."""

import itertools
import math

import numpy as np
import pytest

from tests.kit.bits import assert_same_bits
from tests.kit.oracle import OF_SEVERAL, UNARY, oracle_step
from tests.kit.random_kernels import EXACT
from tests.kit.random_programs import initial_state, random_array, random_program
from workbench.backends import interpreter
from workbench.backends.interpreter import interpret
from workbench.frontend.cell import trace_cell
from workbench.graph import (
    GLOBAL,
    OPERATORS,
    REDUCTIONS,
    TYPES,
    Fixed,
    Graph,
    KernelBuilder,
    Mirror,
    Neumann,
    Outflow,
    Periodic,
    Prescribed,
    Reflect,
    Static,
    Wall,
    grid_space,
)
from workbench.graph.elementary import SEQUENCES
from workbench.graph.operators import accepts
from workbench.graph.side_rules import ValueRule
from workbench.graph.types import BOOL, F32, F64, I8, I32, I64, U8

ONE_SIDED = (
    Outflow(),
    Reflect(),
    Reflect(-1),
    Mirror(),
    Mirror(-1),
    Wall(),
    Wall(-1),
    Prescribed(1),
    Fixed(1),
    Neumann(1),
)
PAIRS = ((Periodic(), Periodic()), *itertools.product(ONE_SIDED, repeat=2))


def one_kernel(space, statics, build):
    b = KernelBuilder(space, statics)
    build(b)
    return Graph("g", space, tuple(statics), (b.finish("step"),))


def agree(graph, extents, state, what=""):
    found = interpret(graph, "step", extents, state)
    expected = oracle_step(graph, "step", extents, state)
    for name in state:
        assert_same_bits(found[name], expected[name], f"{what} {name}")
    return found


# -- the outside ------------------------------------------------------------------------------------------------------


def read_around(space, type_, sides, offsets):
    """One output field for each offset at which the extended u is read."""
    statics = [Static("u", "field", type_, space)]
    statics += [Static(f"o{i}", "field", type_, space) for i in range(len(offsets))]

    def build(b):
        position = b.cast(b.index(0), type_)
        for axis in range(1, space.rank):
            ten = b.imm(10, type_, space) if not type_.is_float else b.imm(10.0, type_, space)
            position = b.arith("add", b.arith("multiply", position, ten), b.cast(b.index(axis), type_))
        used = any(isinstance(rule, ValueRule) for pair in sides for rule in pair)
        extended = b.extend(b.load("u"), sides, [position] if used else [])
        for i, offset in enumerate(offsets):
            b.store(f"o{i}", b.shift(extended, offset))

    return one_kernel(space, statics, build)


@pytest.mark.parametrize("n", [1, 2, 3, 8])
@pytest.mark.parametrize("type_", [F64, I8], ids=str)
def test_every_pair_of_rules_with_reach_7(n, type_):
    generator = np.random.default_rng(n)
    offsets = [(o,) for o in range(-7, 8)]
    for pair in PAIRS:
        graph = read_around(grid_space(1), type_, [pair], offsets)
        arrays = {f.name: random_array(generator, type_, (n,), False) for f in graph.fields}
        agree(graph, (n,), arrays, str(pair))


@pytest.mark.parametrize("extents", [(1, 1), (2, 3), (3, 2)])
def test_rules_of_two_axes_meet_in_the_corners(extents):
    generator = np.random.default_rng(7)
    offsets = [(-7, 7), (7, 1), (-2, -7), (3, 4), (0, -1), (2, 0)]
    rules = [PAIRS[i] for i in generator.permutation(len(PAIRS))]
    for first, second in zip(rules, rules[1:] + rules[:1], strict=True):
        graph = read_around(grid_space(2), F32, [first, second], offsets)
        arrays = {f.name: random_array(generator, F32, extents, False) for f in graph.fields}
        agree(graph, extents, arrays, f"{first} {second}")


def test_rules_of_three_axes():
    generator = np.random.default_rng(8)
    for _ in range(60):
        sides = [PAIRS[i] for i in generator.integers(0, len(PAIRS), 3)]
        extents = tuple(int(n) for n in generator.integers(1, 4, 3))
        graph = read_around(grid_space(3), F64, sides, [(-7, 5, 3), (1, -2, 7), (0, 4, -1)])
        arrays = {f.name: random_array(generator, F64, extents, False) for f in graph.fields}
        agree(graph, extents, arrays, str(sides))


@pytest.mark.parametrize(
    ("sides", "ghosts"),
    [
        ((Periodic(), Periodic()), [[2, 3], [1, 2]]),
        ((Outflow(), Outflow()), [[1, 1], [3, 3]]),
        ((Reflect(), Reflect(-1)), [[2, 1], [-3, -2]]),
        ((Mirror(-1), Mirror()), [[-3, -2], [2, 1]]),
        ((Wall(-1), Wall(-1)), [[-3, -2], [0, -3]]),
        ((Wall(1), Wall(1)), [[3, 2], [3, 3]]),
        ((Prescribed(1), Prescribed(1)), [[9, 9], [9, 9]]),
        ((Fixed(1), Fixed(1)), [[16, 17], [15, 16]]),
        ((Neumann(1), Neumann(1)), [[-17, -8], [12, 21]]),
    ],
    ids=lambda x: type(x[0]).__name__ if isinstance(x, tuple) else "",
)
def test_rules_in_figures(sides, ghosts):
    """u = 1, 2, 3 and boundary value 9: cells -2, -1 and 3, 4, counted by hand."""
    line = grid_space(1)
    statics = [Static("u", "field", F64, line), *(Static(f"o{i}", "field", F64, line) for i in range(2))]

    def build(b):
        operands = [b.imm(9.0, F64, line)] if hasattr(sides[0], "operand") else []
        extended = b.extend(b.load("u"), [sides], operands)
        b.store("o0", b.shift(extended, (2,)))
        b.store("o1", b.shift(extended, (-2,)))

    graph = one_kernel(line, statics, build)
    zero = np.zeros(3)
    found = agree(graph, (3,), {"u": np.array([1.0, 2.0, 3.0]), "o0": zero, "o1": zero})
    assert [found["o0"][:2].tolist(), found["o1"][1:].tolist()] == ghosts


def test_a_computed_value_continues_by_its_formula():
    line = grid_space(1)
    statics = [Static("u", "field", F64, line)]

    def build(b):
        u = b.extend(b.load("u"), [(Outflow(), Outflow())])
        index = b.cast(b.index(0), F64)
        b.store("u", b.shift(b.arith("add", u, index), (1,)))

    found = agree(one_kernel(line, statics, build), (3,), {"u": np.array([5.0, 6.0, 7.0])})
    assert found["u"].tolist() == [4.0, 5.0, 7.0]


# -- operators --------------------------------------------------------------------------------------------------------


def edges(type_):
    if type_ == BOOL:
        return [False, True]
    if type_.is_float:
        tiny = float(np.finfo(type_.numpy).smallest_subnormal)
        most = float(np.finfo(type_.numpy).max)
        powers = [2.0**31, -(2.0**31), 2.0**53 + 2, 2.0**63, -(2.0**63), 2.0**64, 127.5, -128.5, 255.9, -0.9]
        plain = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, 7.0, 0.1]
        numbers = [*plain, *powers, tiny, -tiny, most, -most, math.inf, -math.inf, math.nan]
        return [type_.numpy.type(x).item() for x in numbers]
    info = np.iinfo(type_.numpy)
    numbers = {0, 1, 2, 3, 7, 8, 31, 63, 64, -1, -2, -7, 2**24 + 1, 2**53 + 1, 2**62 + 2**38 + 1}
    return sorted({x for x in numbers if info.min <= x <= info.max} | {int(info.min), int(info.max), int(info.max) - 1})


def rows_of_edges(type_, arity):
    """All combinations; of three values all pairs, each with three numbers that differ from pair to pair."""
    numbers = edges(type_)
    if arity < 3:
        return list(itertools.product(numbers, repeat=arity))
    pairs = enumerate(itertools.product(numbers, repeat=2))
    return [(*pair, numbers[(7 * i + 11 * k) % len(numbers)]) for i, pair in pairs for k in range(3)]


def test_the_oracle_knows_every_exact_operator():
    assert {row.name for row in EXACT} == {*UNARY, *OF_SEVERAL, *SEQUENCES, "cast", "select"}


@pytest.mark.parametrize("row", EXACT, ids=lambda row: row.name)
def test_operators_on_edge_values(row):
    line = grid_space(1)
    looked_at = 0
    for type_ in TYPES:
        if not accepts(row, type_):
            continue
        results = {"cast": TYPES, "bool": (BOOL,)}.get(row.rule, (type_,))
        arity = 2 if row.rule == "select" else row.arity
        cells = np.array(rows_of_edges(type_, arity), type_.numpy).T
        statics = [Static(f"a{i}", "field", type_, line) for i in range(arity)]
        statics += [Static(f"r{i}", "field", t, line) for i, t in enumerate(results)]

        def build(b, arity=arity, results=results):
            operands = [b.load(f"a{i}") for i in range(arity)]
            for i, result in enumerate(results):
                if row.rule == "cast":
                    value = b.cast(operands[0], result)
                elif row.rule == "select":
                    value = b.arith("select", b.arith("less", operands[1], operands[0]), *operands)
                else:
                    value = b.arith(row.name, *operands)
                b.store(f"r{i}", value)

        graph = one_kernel(line, statics, build)
        state = {f"a{i}": cells[i].copy() for i in range(arity)}
        state |= {f"r{i}": np.zeros(cells.shape[1], t.numpy) for i, t in enumerate(results)}
        agree(graph, (cells.shape[1],), state, f"{row.name} of {type_}")
        looked_at += cells.shape[1] * len(results)
    assert looked_at >= 2


def test_global_arithmetic_is_of_the_same_types():
    line = grid_space(1)
    statics = [Static("u", "field", F32, line), Static("s", "scalar", F32, GLOBAL), Static("n", "scalar", U8, GLOBAL)]
    statics += [Static("p", "param", F32, GLOBAL), Static("q", "param", U8, GLOBAL)]

    def build(b):
        third = b.arith("divide", b.load("p"), b.imm(3.0, F32))
        b.store("s", b.arith("add", third, b.cast(b.size(0), F32)))
        b.store("n", b.arith("multiply", b.load("q"), b.imm(7, U8)))
        b.store("u", b.arith("multiply", b.broadcast(third), b.cast(b.index(0), F32)))

    state = {
        "u": np.zeros(5, np.float32),
        "s": np.float32(0),
        "n": np.uint8(0),
        "p": np.float32(0.1),
        "q": np.uint8(99),
    }
    found = agree(one_kernel(line, statics, build), (5,), {k: np.asarray(v) for k, v in state.items()})
    assert found["n"] == 99 * 7 % 256
    assert found["s"] == np.float32(np.float32(0.1) / np.float32(3)) + np.float32(5)


# -- reductions -------------------------------------------------------------------------------------------------------


LENGTHS = tuple((n,) for n in (1, 15, 16, 17, 33, 1023, 1024, 1025, 1040, 2049, 5121))


@pytest.mark.parametrize(
    "extents",
    [*LENGTHS, (3, 17), (5, 1030), (7, 1), (2, 3, 5), (3, 5, 18)],
    ids=str,
)
def test_reductions_of_many_sizes(extents):
    space = grid_space(len(extents))
    generator = np.random.default_rng(sum(extents))
    for type_, special in ((F64, False), (F32, False), (F32, True), (I32, False), (BOOL, False)):
        names = [r.name for r in REDUCTIONS.values() if accepts(OPERATORS[r.operator], type_)]
        statics = [Static("u", "field", type_, space), *(Static(n, "scalar", type_, GLOBAL) for n in names)]

        def build(b, names=names):
            for name in names:
                b.store(name, b.reduce(name, b.load("u")))

        state = {"u": random_array(generator, type_, extents, special)}
        state |= {name: np.asarray(type_.numpy.type(0)) for name in names}
        agree(one_kernel(space, statics, build), extents, state, f"{type_} {extents}")


def test_a_sum_of_negative_zeros_keeps_its_sign_and_index_sums_are_exact():
    line = grid_space(1)
    statics = [Static("u", "field", F64, line), Static("s", "scalar", F64, GLOBAL), Static("n", "scalar", I64, GLOBAL)]

    def build(b):
        b.store("s", b.reduce("sum", b.load("u")))
        b.store("n", b.reduce("sum", b.index(0)))

    state = {"u": np.full(20, -0.0), "s": np.asarray(0.0), "n": np.asarray(np.int64(0))}
    found = agree(one_kernel(line, statics, build), (20,), state)
    assert math.copysign(1.0, found["s"]) == -1.0
    assert found["n"] == 190


def test_a_long_formula_is_computed_without_deep_recursion():
    def build(builder):
        value = builder.load("u")
        half = builder.imm(0.5, F64, builder.space)
        for k in range(2000):
            number = builder.imm(float(k), F64, builder.space)
            value = builder.arith("add", builder.arith("multiply", value, half), number)
        builder.store("u", value)

    line = grid_space(1)
    graph = one_kernel(line, [Static("u", "field", F64, line)], build)
    u = np.array([1.0, -3.0])
    found = interpret(graph, "step", (2,), {"u": u}, 2)  # the second step frees what the first one has counted
    for _ in range(2):
        for k in range(2000):
            u = u * 0.5 + k
    assert_same_bits(found["u"], u)


TURNS = {
    "neighbours": "v = 0.5 * (v[+1] + v[-1])",
    "ghost cells": 'v = extend(v + v[-1], "outflow")[+1]',
    "conditions": "v = where(v[+1] > v, v, v[+1])",
    "sums": "k = k * 0.5 + reduce_sum(v)\n    v = v + k",
    "loops": "v = iterate(lambda z: 0.5 * z, start=v, at_most=2)",
    "computed places": 'v = gather(extend(v, "periodic"), index(0)) + 1',
}


@pytest.mark.parametrize("turn", TURNS.values(), ids=TURNS)
def test_values_of_many_stages_are_computed_without_deep_recursion(turn):
    """A hundred smoothings in a cell were too many once, where each reads beside its cell."""
    lines = 'u = field("u", boundary="periodic")\nv, k = u, reduce_sum(u)\nfor _ in range(150):\n    {}\nu.next = v\n'
    graph = trace_cell(lines.format(turn), name="deep", dim=1).graph
    assert len(graph.kernels[0].nodes) > 150
    u = np.array([1.0, -3.0, 2.0, 0.5])
    interpret(graph, "step", (4,), {"u": u}, 2)  # the second step frees what the first one has counted


def test_what_values_are_made_of_is_known_ahead(monkeypatch):
    monkeypatch.setattr(interpreter, "_DEEP", 2)
    check_random(range(60))


# -- random programs --------------------------------------------------------------------------------------------------


def check_random(seeds):
    for seed in seeds:
        graph, extents, arrays, params = random_program(seed, cells=60)
        state = initial_state(graph, extents, arrays, params)
        for kernel in graph.kernels:
            found = interpret(graph, kernel.name, extents, state)
            expected = oracle_step(graph, kernel.name, extents, state)
            for name in state:
                assert_same_bits(found[name], expected[name], f"seed {seed}, kernel {kernel.name}, {name}")


def test_random_programs():
    check_random(range(300))


@pytest.mark.proof(seeds=range(300, 10_000), batch=400, sample=200)
def test_many_random_programs(proof_seeds):
    check_random(proof_seeds)


def test_later_steps_free_arrays_without_changing_results():
    for seed in range(40):
        graph, extents, arrays, params = random_program(seed, cells=60)
        state = initial_state(graph, extents, arrays, params)
        expected = state
        for _ in range(3):
            expected = interpret(graph, "step", extents, expected)
        found = interpret(graph, "step", extents, state, 3)
        for name in state:
            assert_same_bits(found[name], expected[name], f"seed {seed} {name}")
