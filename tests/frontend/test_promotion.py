"""Types that meet, constants, powers: what semantics §2 decides."""

import numpy as np
import pytest

import workbench as wb
from tests.frontend.traced import kernel_of, operators
from tests.kit.bits import assert_same_bits
from workbench.frontend import operations
from workbench.frontend.cell import trace_cell
from workbench.graph import (
    Arith,
    storage_type,
)
from workbench.graph.types import BOOL, F32, F64, I64, U8
from workbench.programs import black_scholes, canny, mandelbrot


@pytest.mark.parametrize(
    ("declared", "expression", "type_"),
    [
        ('a = field("a", "f32")\ng = param("g", 1)', "a * g", F32),  # a Global never widens a Local
        ('a = field("a", "f32")', "a * 0.1", F32),
        ('a = field("a", "f32")', "a / 3", F32),
        ('a = field("a", "f32")\nb = field("b")', "a * b", F64),
        ('a = field("a", "i32")\ng = param("g", 1)', "a * g", F64),  # an integer Local with a float Global
        ('a = field("a", "i32")', "a / 2", F64),
        ('a = field("a", "i32")', "a * 0.5", F64),
        ('a = field("a", "i32")', "a // 2", storage_type("i32")),
        ('a = field("a", "i32")\nb = field("b", "f32")', "a * b", F32),
        ('a = field("a", "u8")', "a + size(0)", U8),
        ('a = field("a", "u8")', "a + index(0)", I64),
        ('a = field("a", "u64")', "a + size(0)", storage_type("u64")),
        ('a = field("a", "u8")\nb = field("b", "i8")', "a + b", storage_type("i16")),
        ('a = field("a", "u8")', "a > 3", BOOL),
        ('a = field("a", "u8")', "where(a > 3, 1, a)", U8),
        ('a = field("a", "u8")', "where(a > 3, 1.0, 0.0)", F64),
        ("", "2 * pi / size(0)", F64),
        ("", "1 / size(0)", F64),
        ('a = field("a", "f32")', "reduce_sum(a)", F64),
        ('a = field("a", "f32")', "reduce_max(a)", F64),
        ('a = field("a", "u8")', "reduce_sum(a)", I64),
        ('a = field("a", "u8")', "reduce_max(a)", U8),
    ],
)
def test_promotion(declared, expression, type_):
    static = 'scalar("s", dtype="bool")' if "reduce" in expression else 'field("s", "bool")'
    kernel = kernel_of(f"{declared}\nx = {expression}\ns = {static}\ns.next = x == x")
    assert kernel.nodes[kernel.find("x")].type == type_


def test_machine_float_type_is_a_choice():
    text = 'i = field("i", "i32")\nx = i / 2\nu = field("u")\nu.next = x'
    graph = trace_cell(text, dtype="f32").graph
    assert graph.static("u").type == F32
    assert graph.kernels[0].nodes[graph.kernels[0].find("x")].type == F32


def test_globals_are_cast_before_they_are_broadcast():
    kernel = kernel_of('u = field("u", "f32")\nc = param("c", 1)\nu.next = c * u')
    names = [getattr(n.instruction, "operator", type(n.instruction).__name__) for n in kernel.nodes]
    assert names.index("cast") < names.index("Broadcast")


def test_promotions_are_told_with_their_line():
    text = 'a = field("a", "f32")\nb = field("b")\na.next = a * b'
    assert trace_cell(text).promotions == (
        "line 3: f32 and f64 meet in a * b: computed in f64",
        "line 3: a.next rounds f64 to f32",
    )


def test_integer_zero_is_dropped_and_float_zero_kept():
    u = 'u = field("u")\n'
    assert operators(kernel_of(u + "u.next = sum([u, u])")) == ["add"]
    assert operators(kernel_of(u + "u.next = 0.0 + u")) == ["add"]


@pytest.mark.parametrize(("n", "multiplications"), [(1, 0), (2, 1), (3, 2), (4, 2), (6, 3), (-2, 1)])
def test_power_squares_and_multiplies(n, multiplications):
    kernel = kernel_of(f'u = field("u")\nu.next = u**{n}')
    assert operators(kernel).count("multiply") == multiplications
    assert operators(kernel).count("divide") == (n < 0)
    assert "power" in operators(kernel_of('u = field("u")\nu.next = u**2.5'))


@pytest.mark.parametrize("dtype", ["f32", "f64", "dd"])
@pytest.mark.parametrize(
    ("exponent", "instead"),
    [("0.5", "sqrt(u)"), ("2.0", "u * u"), ("-1.0", "1 / u"), ("1.0", "u"), ("0.0", None)],
)
def test_float_exponents_that_numpy_takes_apart(dtype, exponent, instead):
    """As of an array: u**0.5 is the square root, -0.0 and minus infinity included."""
    found = kernel_of(f'u = field("u", dtype="{dtype}")\nu.next = u**{exponent}')
    assert "power" not in operators(found)
    if instead is None:
        return
    values = [4.0, 2.0, 0.3, -0.0, float("inf"), float("-inf")]
    cells = [f'u = field("u", dtype="{dtype}")\nu.next = {formula}' for formula in (f"u**{exponent}", instead)]
    one, other = (wb.trace(cell, name="each").simulate(u=values, backend="reference").run(1).u for cell in cells)
    assert_same_bits(one, other)


def test_other_powers_are_the_operator():
    assert "power" in operators(kernel_of('u = field("u")\nu.next = u**-0.5'))
    assert "power" in operators(kernel_of('k = field("k", dtype="i64")\nu = field("u")\nu.next = u + k**0.5'))


def test_power_order_is_left_to_right():
    kernel = kernel_of('u = field("u")\nu.next = u**6')
    assert [n.operands for n in kernel.nodes if isinstance(n.instruction, Arith)] == [(0, 0), (1, 0), (2, 2)]


def graphs_of_programs():
    """Traced anew: of cells, and of functions of arrays with numbers, conditions and whole numbers."""
    texts = (HALF, WHOLE)
    functions = (black_scholes.prices, canny.edges, mandelbrot.escape_times)
    given = (
        (np.ones(3), np.ones(3), np.ones(3), 0.02, 0.3),
        (np.ones((4, 5)), 40.0, 90.0),
        (-0.5, 0.0, 3.0, 30, (15, 20)),
    )
    calls = zip(functions, given, strict=True)
    machines = [wb.collective(each.__wrapped__).machine(*values) for each, values in calls]
    return [str(trace_cell(text).graph) for text in texts] + [str(machine.graph) for machine in machines]


HALF = """\
u, v = fields("u v", "f32", boundary="outflow")
g, n = param("g", 2.5), param("n", 3)
w = 0.5 * (u[+1] + v) * g + where(u > v, 1.0, v) - where(g > 2, u, v) / n
u.next, v.next = w * index(0), where((u > 0) & (v < g), w, 2 * w)
"""
WHOLE = """\
k = field("k", "i32", boundary="periodic")
flag = (k > 3) | (k == 7)
k.next = where(flag, (k + 5) * 2 - k // 3, k[-1] % 3)
"""


def test_operands_that_meet_as_they_are_make_the_nodes_that_all_others_make(monkeypatch):
    short, asked = graphs_of_programs(), []
    monkeypatch.setattr(operations, "alike", lambda trace, operands: asked.append(operands))
    assert graphs_of_programs() == short
    assert len(asked) > 100
