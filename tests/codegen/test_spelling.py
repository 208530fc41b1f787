"""Spelling: every operator compiles and has the interpreter's bits on awkward operands; constants keep theirs."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

from tests.kit.backend_agreement import bits
from tests.kit.hand_plans import plan_by_hand
from workbench.backends.base import MarchRequest
from workbench.backends.openmp import OpenmpBackend
from workbench.backends.reference import ReferenceBackend
from workbench.codegen import spelling
from workbench.codegen.spelling import CPP, CUDA, Text, literal, spell
from workbench.graph import OPERATORS, KernelBuilder, Static
from workbench.graph.graph import Graph
from workbench.graph.operators import accepts
from workbench.graph.spaces import grid_space
from workbench.graph.types import BOOL, F32, F64, I8, I32, I64, TYPES, U8, U64

SPACE = grid_space(1)


def operands(type_, count, seed):
    """Random values among the borders of the type."""
    rng = np.random.default_rng(seed)
    if type_.is_float:
        special = [
            0.0,
            -0.0,
            0.5,
            -0.5,
            1.5,
            -2.5,
            127.5,
            1e10,
            -1e30,
            math.inf,
            -math.inf,
            math.nan,
            2.0**31,
            -(2.0**63),
        ]
        pool = np.array([*special, *rng.normal(size=10)], type_.numpy)
    elif type_.kind == "bool":
        pool = np.array([False, True])
    else:
        info = np.iinfo(type_.numpy)
        near = [0, 1, 2, 3, 5, 7, 8, 15, 31, 33, 63, 64, 100, info.max, info.max - 1, info.min, info.min + 1]
        pool = np.array([*near, *([-1, -2, -3, -7, -100] if type_.kind == "int" else [])], type_.numpy)
    return pool[rng.integers(0, len(pool), count)]


def graph_of_all(type_):
    """One field for each exact operator that takes the type, and for each cast from it."""
    names = ("a", "b", "c")
    statics = [Static(n, "field", type_, SPACE) for n in names]
    statics.append(Static("flag", "field", BOOL, SPACE))
    stores = []
    builder = KernelBuilder(SPACE, statics)
    a, b, c = (builder.load(n) for n in names)
    flag = builder.load("flag")
    for row in OPERATORS.values():
        if row.ulp or not accepts(row, type_):
            continue
        if row.rule == "cast":
            stores += [(f"to_{t}", builder.cast(a, t), t) for t in TYPES if t != type_]
        elif row.rule == "select":
            stores.append((row.name, builder.arith(row.name, flag, a, b), type_))
        else:
            one = builder.arith(row.name, *(a, b, c)[: row.arity])
            stores.append((row.name, one, builder.node(one).type))
    if type_.is_integer:  # arithmetic on arithmetic: narrow types must not keep what overflowed
        twice = builder.arith("multiply", builder.arith("add", a, b), builder.arith("subtract", b, c))
        stores.append(("nested", builder.arith("floor_divide", twice, c), type_))
        stores.append(("compared", builder.arith("less", builder.arith("add", a, b), c), BOOL))
    for name, value, stored in stores:
        static = Static(f"r_{name}", "field", stored, SPACE)
        statics.append(static)
        builder.declare(static)
        builder.store(static.name, value)
    return Graph(f"all_{type_}", SPACE, tuple(statics), (builder.finish("step"),))


def test_exact_operators_have_the_bits_of_the_interpreter():
    plans = [plan_by_hand(graph_of_all(t), 0) for t in TYPES]
    programs = OpenmpBackend().compile_many(plans)
    compared = 0
    for type_, plan, program in zip(TYPES, plans, programs, strict=True):
        instances = program.instantiate((1003,)), ReferenceBackend().compile(plan).instantiate((1003,))
        for instance in instances:
            for seed, name in enumerate("abc"):
                instance.write_field(name, operands(type_, 1003, seed))
            instance.write_field("flag", operands(BOOL, 1003, 9))
            with np.errstate(all="ignore"):
                instance.march(MarchRequest("step", 1))
        for static in plan.graph.fields:
            mine, reference = (i.read_field(static.name) for i in instances)
            assert bits(mine) == bits(reference), f"{type_} {static.name}"
            compared += 1
    print(f"{compared} results compared")
    assert compared > 200


@pytest.mark.parametrize("target", [CPP, CUDA], ids=["c++", "cuda"])
def test_every_operator_has_a_spelling(target):
    for row in OPERATORS.values():
        for type_ in TYPES:
            if accepts(row, type_):
                given = tuple(Text(n) for n in "abc"[: row.arity])
                assert spell(row.name, given, type_, BOOL if row.rule == "bool" else type_, target).text


def test_every_function_of_the_mathematics_library_is_in_the_header_that_names_them():
    header = (Path(spelling.__file__).parent / "runtime" / "stencil_mathematics.h").read_text(encoding="utf-8")
    known = set(re.findall(r"^STENCIL_OF_(?:ONE|TWO|THREE)\((\w+)\)", header, re.MULTILINE))
    called = {}
    for row in OPERATORS.values():
        if accepts(row, F64):
            given = tuple(Text(n) for n in "abc"[: row.arity])
            text = spell(row.name, given, F64, BOOL if row.rule == "bool" else F64, CPP).text
            called |= dict.fromkeys(re.findall(r"\bmath::(\w+)\(", text), row.name)
    assert len(called) > 15
    missing = {name: operator for name, operator in called.items() if name not in known}
    assert not missing, f"add these functions of operators to stencil_mathematics.h: {missing}"


@pytest.mark.parametrize(
    ("value", "type_", "text"),
    [
        (0.5, F64, "0.5"),
        (-2.0, F32, "-2.0f"),
        (-0.0, F64, "-0.0"),
        (0.1, F64, "0x1.999999999999ap-4 /* 0.1 */"),
        (float(np.float32(0.1)), F32, "0x1.99999ap-4f /* 0.10000000149011612 */"),
        (math.inf, F64, "from_bits<double>(uint64_t(0x7ff0000000000000u)) /* infinity */"),
        (math.nan, F32, "from_bits<float>(uint32_t(0x7fc00000u)) /* NaN */"),
        (7, I32, "7"),
        (-7, I64, "int64_t(-7)"),
        (-(2**31), I32, "int32_t(-2147483647 - 1)"),
        (-128, I8, "int8_t(int8_t(-127) - 1)"),
        (255, U8, "uint8_t(255)"),
        (2**64 - 1, U64, "uint64_t(18446744073709551615u)"),
        (True, BOOL, "true"),
    ],
)
def test_constants_are_exact(value, type_, text):
    assert literal(value, type_).text == text


def test_parentheses_follow_the_tree():
    a, b, c = Text("a"), Text("b"), Text("c")

    def minus(x, y):
        return spell("subtract", (x, y), F64, F64, CPP)

    assert minus(minus(a, b), c).text == "a - b - c"
    assert minus(a, minus(b, c)).text == "a - (b - c)"
    assert spell("multiply", (minus(a, b), c), F64, F64, CPP).text == "(a - b) * c"
    assert minus(a, literal(-1.0, F64)).text == "a - -1.0"
    negated = spell("negative", (a,), F64, F64, CPP)
    assert spell("negative", (negated,), F64, F64, CPP).text == "-(-a)"
