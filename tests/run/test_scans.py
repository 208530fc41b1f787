"""Scans as users type them: the canonical order on every backend, all axes and ways, starts, and what is no scan."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.backends import WAYS
from tests.kit.bits import assert_same_bits
from tests.kit.capabilities import backends_here
from tests.kit.oracle_orders import fold_pairs, scanned
from workbench.backends.interpreter import interpret
from workbench.errors import TraceError
from workbench.graph import GLOBAL, Graph, KernelBuilder, Parameter, Region, Scan, Static, grid_space
from workbench.graph.instructions import Arith, Load, Node
from workbench.graph.scans import scan_canonically
from workbench.graph.types import F64, I64
from workbench.language import scan

LINE = """
xs = array("xs", "n")
output("up_to", scan(add, xs * 1.25))
output("before", scan(add, xs, exclusive=True, start=0.5))
output("from_behind", scan(add, xs, reverse=True))
output("behind", scan(minimum, xs, reverse=True, exclusive=True))
"""
WHOLE = """
xs = array("xs", "n", dtype="i64")
output("up_to", scan(add, xs * 3))
output("before", scan(add, xs, exclusive=True, start=5))
output("from_behind", scan(maximum, xs, reverse=True))
output("behind", scan(multiply, xs, reverse=True, exclusive=True))
"""
PLANE = """
A = array("A", "rows", "columns")
output("down", scan(add, A, axis="rows"))
output("up", scan(add, A * A, axis=0, reverse=True, exclusive=True))
output("right", scan(multiply, 1 + A / 64, axis=1))
output("left", scan(add, A, reverse=True, start=2.0))
"""


def in_order(values, reverse=False, exclusive=False, combine=lambda a, b: a + b, identity=-0.0):
    """One line, from the text of the semantics; the oracle has it cell by cell."""
    results, chunks, runs, run, last, before = values.tolist(), [], [], None, None, []
    cells, found = range(len(values))[:: -1 if reverse else 1], identity
    for i in cells:
        value = values[i].item()
        if last is not None and i // 32 != last // 32:
            runs, run = [*runs, run], None
            if i // 1024 != last // 1024:
                chunks, runs = [*chunks, fold_pairs(combine, runs)], []
            before = [fold_pairs(combine, each) for each in (chunks, runs) if each]
        run = value if run is None else combine(run, value)
        inclusive = run
        if before:
            inclusive = combine(combine(*before) if len(before) > 1 else before[0], run)
        results[i], found, last = found if exclusive else inclusive, inclusive, i
    return np.array(results)


@pytest.mark.parametrize("n", [1, 31, 1024, 1025, 20000])
def test_whole_numbers_are_scanned_as_numpy_does(n):
    xs, machine = np.random.default_rng(n).integers(-(2**62), 2**62, n), wb.trace(WHOLE, name="whole")
    with np.errstate(over="ignore"):
        before = np.cumsum(xs) - xs + 5
        behind = np.append(np.cumprod(xs[:0:-1])[::-1], 1)
        expected = {"up_to": np.cumsum(3 * xs), "before": before, "behind": behind}
    expected["from_behind"] = np.maximum.accumulate(xs[::-1])[::-1]
    for backend, threads in (("reference", 0), *WAYS):
        found = machine(xs=xs, backend=backend, threads=threads)
        assert {name: values.tolist() for name, values in found.items()} == {k: v.tolist() for k, v in expected.items()}


@pytest.mark.parametrize("n", [1, 31, 32, 33, 1023, 1024, 1025, 2050])
def test_a_line_has_the_bits_of_the_written_order_on_every_backend(n):
    xs, machine = np.random.default_rng(n).normal(size=n), wb.trace(LINE, name="line")
    expected = {
        "up_to": in_order(xs * 1.25),
        "before": 0.5 + in_order(xs, exclusive=True),
        "from_behind": in_order(xs, reverse=True),
        "behind": in_order(xs, True, True, lambda a, b: a if a < b or a != a else b, np.inf),
    }
    ways = [("reference", 0), *WAYS]
    for backend, threads in ways:
        found = machine(xs=xs, backend=backend, threads=threads)
        for name, values in expected.items():
            assert_same_bits(found[name], values, f"{name} on {backend}, {threads} threads")
    assert machine(xs=np.zeros(0))["up_to"].shape == (0,)


@pytest.mark.parametrize("shape", [(3, 5), (1100, 2), (2, 1100), (1, 1)])
def test_scans_along_any_axis_agree_with_the_reference_and_nearly_with_numpy(shape):
    A, machine = np.random.default_rng(7).normal(size=shape), wb.trace(PLANE, name="plane")
    expected = machine(A=A, backend="reference")
    np.testing.assert_allclose(expected["down"], np.cumsum(A, axis=0), rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(expected["right"], np.cumprod(1 + A / 64, axis=1), rtol=1e-11)
    np.testing.assert_allclose(expected["left"], 2 + np.cumsum(A[:, ::-1], axis=1)[:, ::-1], rtol=1e-11, atol=1e-11)
    for backend, threads in [("openmp", 1), ("openmp", 3), ("cuda-sim", 0)]:
        found = machine(A=A, backend=backend, threads=threads)
        for name, values in expected.items():
            assert_same_bits(found[name], values, f"{name} on {backend}")


def mixing():
    """Not commutative and not associative: every change of order shows."""
    nodes = (
        Node(Load("a"), (), I64, GLOBAL),
        Node(Load("b"), (), I64, GLOBAL),
        Node(Arith("add"), (0, 0), I64, GLOBAL),
        Node(Arith("subtract"), (2, 1), I64, GLOBAL),
    )
    return Region((Parameter("a", I64), Parameter("b", I64)), nodes, 0)


@pytest.mark.parametrize("n", [1, 33, 1025, 3100])
@pytest.mark.parametrize("reverse", [False, True])
def test_an_operator_that_shows_its_order(n, reverse):
    values = np.random.default_rng(n).integers(-9, 9, n)
    found = scan_canonically(mixing(), values, 0, I64, reverse=reverse, exclusive=False)
    wrap = lambda a, b: (2 * a - b + 2**63) % 2**64 - 2**63  # noqa: E731  # 64 bits
    assert_same_bits(found, in_order(values, reverse, False, wrap, 0), "region")


@pytest.mark.parametrize("n", [1, 40, 70])
@pytest.mark.parametrize("way", [(False, False), (False, True), (True, False), (True, True)])
def test_the_oracle_has_the_same_order(n, way):
    values = np.random.default_rng(n).normal(size=n)
    by_cell = [scanned(lambda a, b: a + b, -0.0, values.tolist(), i, Scan("", 0, *way)) for i in range(n)]
    assert_same_bits(np.array(by_cell), in_order(values, *way), "oracle")


def test_what_a_scan_makes_is_one_loop_that_stores_nothing_else():
    plan = wb.trace('xs = array("xs", "n")\noutput("y", scan(add, 2 * xs + 1))', name="one").plan()
    assert len(plan.subkernels) == 1
    assert [slot.field for slot in plan.slots] == ["xs", "y"]


def test_a_scan_of_a_grid_is_read_beside_the_cell_through_a_rule_only():
    space = grid_space(1)
    statics = (Static("u", "field", F64, space),)
    b = KernelBuilder(space, statics)
    b.store("u", b.arith("subtract", b.scan("sum", b.load("u"), 0), b.load("u")))
    graph = Graph("grid", space, statics, (b.finish("step"),))
    assert_same_bits(interpret(graph, "step", (3,), {"u": np.array([1.0, 2, 4])})["u"], np.array([0.0, 1, 3]), "u")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("scan(add, 3)", "line 2: scan(add, 3) needs an array, but this is one number"),
        ("scan(abs, xs)", "line 2: scan by abs"),
        ('scan(add, xs, axis="m")', "line 2: scan over axis 'm' of a value with the axes n"),
        ("scan(add, xs > 0)", "line 2: scan by add does not take bool"),
    ],
)
def test_what_is_no_scan_is_said(value, message):
    with pytest.raises(TraceError) as caught:
        wb.trace(f'xs = array("xs", "n")\noutput("y", {value})', name="bad")
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("backend", ["reference", "openmp", "cuda-sim"])
def test_a_python_function_scans_in_its_order(backend):
    cell = """
xs, n = array("xs", "m", dtype="i64"), array("n", "k", dtype="i32")
def last_but(a, b):
    return 2 * a - b
output("line", scan(last_but, xs, identity=0, start=3))
output("parts", fold_segments(last_but, xs, n, identity=0))
"""
    xs, n = np.random.default_rng(5).integers(-9, 9, 40), np.array([3, 0, 37], np.int32)
    found = wb.trace(cell, name="own")(xs=xs, n=n, backend=backend)

    def wrapped(a, b):
        return (2 * a - b + 2**63) % 2**64 - 2**63

    expected = [wrapped(3, value) for value in in_order(xs, False, False, wrapped, 0).tolist()]
    assert_same_bits(found["line"], np.array(expected), "line")
    parts = []
    for cells in (xs[:3], xs[:0], xs[3:]):
        total = 0
        for cell in cells.tolist():
            total = wrapped(total, cell)
        parts.append(total)
    assert_same_bits(found["parts"], np.array(parts), "parts")


def test_the_thesis_vectors():
    """McDonell 2015, §2.4.2; where there a scan is one longer than its array, the total stands at its end."""
    xs = np.array([13, 7, 16, 21, 8, 20, 13, 12])

    @wb.collective
    def scans(x):
        below, total = scan(np.add, x, exclusive=True, total=True)
        behind, whole = scan(np.add, x, exclusive=True, reverse=True, total=True)
        longer = np.concatenate([below, total[None]]), np.concatenate([whole[None], behind])
        return (
            below,
            scan(np.add, x),
            *longer,
            scan(np.add, x, reverse=True),
            scan(np.add, x, exclusive=True, start=100),
        )

    for backend in backends_here():
        exclusive, inclusive, left, right, from_behind, started = (each.tolist() for each in scans(xs, backend=backend))
        assert exclusive == [0, 13, 20, 36, 57, 65, 85, 98]
        assert inclusive == [13, 20, 36, 57, 65, 85, 98, 110]
        assert left == [*exclusive, 110]
        assert right == [110, 97, 90, 74, 53, 45, 25, 12, 0]
        assert from_behind == right[:-1]
        assert started == [100 + each for each in exclusive]
