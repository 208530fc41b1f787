"""Shapes of arrays in functions and cells: reshape, replicate, zip_with, windows, compute; and mistakes."""

import os
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from tests.kit.lent import Watched
from workbench.errors import RunError, ShapeError, TraceError
from workbench.language import add, compute, constant, fold, maximum, multiply, replicate, windows, zip_with
from workbench.pipeline import counters


def draw(*shapes):
    generator = np.random.default_rng(11)
    return [generator.normal(size=shape) for shape in shapes]


def loops(program, *given):
    """How many loops the plan has, and how many arrays beside those that are given and returned."""
    machine = program.machine(*given)
    plan, statics = machine.plan("openmp"), machine.graph.fields
    (kernel,) = plan.kernels
    return len(kernel.observed.subkernels), len(plan.array_slots) - len(statics)


def on_all_backends(program, *given, backends=("openmp",)):
    """What the reference computes, and the same bits elsewhere."""
    expected = program(*given, backend="reference")
    parts = expected if isinstance(expected, tuple) else (expected,)
    for backend in backends:
        for threads in (1, 3) if backend == "openmp" else (0,):
            found = program(*given, backend=backend, threads=threads)
            for mine, bits in zip(found if isinstance(expected, tuple) else (found,), parts, strict=True):
                assert_same_bits(mine, bits)
    return expected


def reshapes(A, x, B):
    return (
        (2 * A).reshape(-1) + x,
        x.reshape(4, 3) @ A,
        A.T.reshape(2, 6),
        np.reshape(A.sum(axis=1), (1, 3)),
        np.cumsum(A, axis=1).ravel(),
        A.reshape(A.shape[1], -1),
        (A * A.sum(axis=1)[:, None]).reshape(x.shape[0]),
        B.reshape(5, -1, 4),
        B.transpose(2, 0, 1).reshape(2, -1),
        np.transpose(B, (1, 2, 0)),
        x.reshape((3, 4)).reshape(2, 2, 3)[::-1, :, 1],
    )


def test_reshaped_arrays_are_numpy_s():
    given = draw((3, 4), 12, (4, 5, 2))
    found = on_all_backends(wb.collective(reshapes), *given)
    for mine, exact in zip(found, reshapes(*given), strict=True):
        assert mine.shape == exact.shape
        np.testing.assert_allclose(mine, exact, rtol=1e-12)


def test_an_argument_is_reshaped_without_a_loop():
    program = wb.collective(lambda A, x: np.sum((A + 1).reshape(-1) * x))
    A, x = draw((30, 40), 1200)
    assert loops(program, A, x) == (1, 0)
    np.testing.assert_allclose(program(A, x), np.sum((A + 1).ravel() * x), rtol=1e-12)
    strided = np.asfortranarray(A)
    assert program(strided, x) == program(A, x)


def test_one_trace_serves_all_lengths():
    program = wb.collective(lambda x, y: x.reshape(2, -1) @ y, backend="reference")
    assert program(np.arange(6.0), np.ones(3)).tolist() == [3.0, 12.0]
    assert program(np.arange(8.0), np.ones(4)).tolist() == [6.0, 22.0]
    assert len(program._traced) == 1


def pairs_of(x, y, A, C, k):
    return (
        zip_with(lambda a, b: a * b, x, y),
        zip_with(lambda a, b: a - b, A, C),
        fold(add, zip_with(multiply, 2 * x, y)),
        zip_with(lambda a, b, c: np.maximum(a, b) + c, np.cumsum(x), y, x[1:]),
        zip_with(lambda a, b: a * b, np.sqrt(abs(x)), k),
        zip_with(lambda a, b: a * b, x, y)[::-1],
    )


def test_lengths_that_differ_meet_in_the_shortest():
    x, y, A, C = draw(9, 5, (3, 4), (2, 7))
    found = on_all_backends(wb.collective(pairs_of), x, y, A, C, 3.0)
    exact = (
        x[:5] * y,
        A[:2] - C[:, :4],
        np.sum(2 * x[:5] * y),
        np.maximum(np.cumsum(x)[:5], y) + x[1:6],
        np.sqrt(abs(x)) * 3.0,
        (x[:5] * y)[::-1],
    )
    for mine, expected in zip(found, exact, strict=True):
        assert mine.shape == np.shape(expected)
        np.testing.assert_allclose(mine, expected, rtol=1e-12)
    longer = wb.collective(lambda x, y: zip_with(lambda a, b: a * b, x, y))
    for n in (0, 1, 4, 12):
        assert longer(x, np.ones(n), backend="openmp").tolist() == x[:n].tolist()
    assert loops(longer, x, y) == (1, 0)


def test_the_shortest_length_meets_that_of_another_array():
    x, y, z = draw(9, 5, 5)
    program = wb.collective(lambda z, x, y: zip_with(lambda a, b: a - b, x, y) * z)
    for backend in ("reference", "openmp"):
        assert_same_bits(program(z, x, y, backend=backend), (x[:5] - y) * z)
    with pytest.raises(ShapeError, match="the shortest of x along axis 0 and y along axis 0 has 4 elements"):
        program(z, x, y[:4])


def test_replicated_arrays_make_no_array():
    def outer(x, y):
        return replicate(x, y.shape[0], axis=1) * replicate(y, x.shape[0]), fold(add, replicate(x, 3) + 1, axis=0)

    x, y = draw(4, 6)
    product, sums = on_all_backends(wb.collective(outer), x, y)
    assert product.tolist() == (x[:, None] * y[None, :]).tolist()
    np.testing.assert_allclose(sums, 3 * (x + 1), rtol=1e-15)
    assert loops(wb.collective(outer), x, y)[1] == 0
    assert wb.collective(lambda x: replicate(x, axis=-1))(x).shape == (4, 1)


RULES = {"outflow": "edge", "periodic": "wrap", "reflect": "symmetric", "mirror": "reflect"}


@pytest.mark.parametrize("rule", RULES)
def test_windows_have_the_boundary_rules_of_fields(rule):
    @wb.collective
    def neighbours(x, A):
        return (
            windows(lambda w: w[-2] + 2 * w[0] + 3 * w[+3], x, boundary=rule),
            windows(lambda w: w[-1, +2] - w[+1, 0] * w[0, -1], A, boundary=(rule, "outflow")),
        )

    x, A = draw(7, (4, 5))
    line, plane = on_all_backends(
        neighbours, x, A, backends=("openmp", "cuda-sim") if rule == "mirror" else ("openmp",)
    )
    wide = np.pad(x, 3, RULES[rule])
    assert line.tolist() == (wide[1:-5] + 2 * x + 3 * wide[6:]).tolist()
    wide = np.pad(np.pad(A, ((2, 2), (0, 0)), RULES[rule]), ((0, 0), (2, 2)), "edge")
    assert plane.tolist() == (wide[1:-3, 4:] - wide[3:-1, 2:-2] * wide[2:-2, 1:-3]).tolist()
    for n in (1, 2, 3):  # an axis that is shorter than the reach: as fields have it
        u = f'u = field("u", boundary="{rule}")\nu.next = u[-2] + 2 * u + 3 * u[+3]'
        sim = wb.trace(u).simulate(u=x[:n], backend="reference")
        sim.run(1)
        assert neighbours(x[:n], A, backend="openmp")[0].tolist() == sim.u.tolist()


SIGNED = [
    "fixed(0.5)",
    "neumann(2.0, 0.25)",
    "analytic(lambda i: 3.0 * i)",
    "reflect(sign=-1)",
    "mirror(sign=-1)",
    "periodic(sign=-1)",
    '{"x-": fixed(1.0), "x+": "outflow"}',
    '{"x-": "mirror", "x+": constant(4.0)}',
]


@pytest.mark.parametrize("rule", SIGNED)
def test_windows_have_what_the_ghost_cells_of_fields_have(rule):
    """One axis. Rules that map an index by one reflection need an axis as long as the reach."""
    boundary = eval(rule, vars(wb.language))  # texts of this file
    given = (tuple(boundary.values()),) if isinstance(boundary, dict) else boundary

    @wb.collective
    def neighbours(x):
        return windows(lambda w: w[-4] + 2 * w[-1] + 5 * w[+1] + 7 * w[+3], x, boundary=given)

    draw_of = np.random.default_rng(5)
    for n in (5, 9) if rule in (SIGNED[0], SIGNED[-1]) else (1, 2, 9):
        x = draw_of.integers(-9, 9, n).astype(float)
        cell = f'u = field("u", boundary={rule})\nu.next = u[-4] + 2 * u[-1] + 5 * u[+1] + 7 * u[+3]'
        sim = wb.trace(cell).simulate(u=x, backend="reference")
        sim.run(1)
        assert neighbours(x, backend="reference").tolist() == sim.u.tolist()
    if rule in SIGNED[:2]:
        assert_same_bits(neighbours(x, backend="openmp"), neighbours(x, backend="reference"))


@pytest.mark.parametrize("rule", [*RULES, 5.0])
def test_windows_see_one_element_along_an_axis_of_none(rule):
    given = constant(rule) if isinstance(rule, float) else rule

    def of_arrays(row, sums, column):
        return (
            windows(lambda w: w[-2, +1] + 2 * w[0, 0] + 3 * w[+3, -1], row, boundary=given),
            windows(lambda w: w[+1, +1] - w[-1, 0], sums, boundary=(given, "outflow")),
            windows(lambda v, w: v[0, +1] * w[+1, 0], (column, 2 * column), boundary=given),
        )

    @wb.collective
    def of_none(x, A):
        return of_arrays(x[None, :], np.sum(A, axis=0, keepdims=True) + replicate(x, 1, axis=0), x[:, None])

    x, A = draw(5, (3, 5))
    sums = np.sum(A, axis=0, keepdims=True) + x
    expected = wb.collective(of_arrays)(x[None, :], sums, x[:, None], backend="reference")
    found = on_all_backends(of_none, x, A, backends=("openmp",))
    assert [each.shape for each in found] == [(1, 5), (1, 5), (5, 1)]
    for each, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(each, wanted, rtol=1e-14)


def test_windows_of_constants_of_several_arrays_and_without_a_rule():
    @wb.collective
    def neighbours(A, B, edge):
        return (
            windows(lambda w: w[+1, -1], A, boundary=constant(7.0)),
            windows(lambda a, b: a[0, +1] * b[-1, 0] + b[0, 0], (2 * A, B), boundary=("periodic", constant(edge))),
            windows(lambda w: w[0, 0] + 1, A),
            windows(lambda w: 3.0, A),
        )

    A, B = draw((3, 4), (3, 4))
    found = on_all_backends(neighbours, A, B, -1.0)
    assert found[0].tolist() == np.pad(A, 1, constant_values=7)[2:, :-2].tolist()
    right = np.pad(2 * A, ((0, 0), (0, 1)), constant_values=-1)[:, 1:]
    assert found[1].tolist() == (right * np.roll(B, 1, axis=0) + B).tolist()
    assert found[2].tolist() == (A + 1).tolist()
    assert found[3].tolist() == np.full((3, 4), 3.0).tolist()
    symmetric = wb.collective(lambda S: windows(lambda a, b: a[+1, 0] - b[0, -1], (S, S.T), boundary="outflow"))
    S = draw((5, 5))[0]
    assert (
        on_all_backends(symmetric, S).tolist()
        == (np.pad(S, 1, "edge")[2:, 1:-1] - np.pad(S.T, 1, "edge")[1:-1, :-2]).tolist()
    )


def test_what_a_window_sees_is_stored_and_what_compute_asks_for_too():
    x, c = draw(50)[0], np.arange(50)[::-1].copy()
    smooth = wb.collective(lambda x: windows(lambda w: w[-1] + w[+1], x * x, boundary="periodic"))
    assert loops(smooth, x) == (2, 1)
    fused = wb.collective(lambda x, c: (x + 1)[c] * 2)
    stored = wb.collective(lambda x, c: compute(x + 1)[c] * 2)
    assert loops(fused, x, c) == (1, 0)
    assert loops(stored, x, c) == (2, 1)
    assert_same_bits(fused(x, c), stored(x, c))
    dear = wb.collective(lambda x, c: np.sqrt(abs(x))[c])
    assert loops(dear, x, c) == (2, 1)
    assert loops(wb.collective(lambda x: np.sum(compute(x + 1))), x) == (2, 1)


def test_an_index_outside_of_a_formula_is_an_error_that_names_the_array():
    program = wb.collective(lambda x, c: (x + 1)[c])
    for backend in ("reference", "openmp"):
        with pytest.raises(RunError, match="x is read at index 9"):
            program(np.ones(3), np.array([0, 9]), backend=backend)
    counted = wb.collective(lambda x, c: x + wb.language.generate(4, lambda i: 2 * i)[c])
    with pytest.raises(RunError, match="index 4"):
        counted(np.ones(2), np.array([0, 4]), backend="openmp")


def test_cells_have_these_words_by_the_names_of_axes():
    cell = """
A = array("A", "rows", "columns")
x = array("x", "columns")
output("turned", windows(lambda w: w[0, -1] + w[+1, 0], A, boundary=("periodic", constant(0.0))))
output("product", fold(add, zip_with(multiply, A, compute(2 * x))))
output("wide", replicate(x, axis="rows"))
"""
    A, x = draw((3, 4), 4)
    machine = wb.trace(cell)
    found, bits = machine(A=A, x=x, backend="openmp"), machine(A=A, x=x, backend="reference")
    for name, values in found.items():
        assert_same_bits(values, bits[name], name)
    assert found["turned"].tolist() == (np.pad(A, ((0, 0), (1, 0)))[:, :-1] + np.roll(A, -1, axis=0)).tolist()
    np.testing.assert_allclose(found["product"], A @ (2 * x), rtol=1e-12)
    assert found["wide"].tolist() == [x.tolist()] * 3


ERRORS = [
    (lambda x: x.reshape(5, 2), (np.ones(12),), ShapeError, r"shape \(12,\) has 12 elements, but \(5, 2\) needs 10"),
    (lambda x: x.reshape(5, -1), (np.ones(12),), ShapeError, r"but \(5, 2\) needs 10(.*\n)*.*x\.reshape\(5, -1\)"),
    (lambda x: x.reshape(-1, -1), (np.ones(12),), TraceError, r"the shape is \(-1, -1\)"),
    (lambda x: x.reshape(1.5, 8), (np.ones(12),), TraceError, "1.5 is no length"),
    (lambda x, n: x.reshape(n, -1), (np.ones(12), 3), TraceError, "given at the call"),
    (
        lambda x: windows(lambda w: w[+1], x),
        (np.ones(3),),
        RunError,
        "x is read at index 3, for element 2, but has 3 elements along axis 0",
    ),
    (lambda x: windows(lambda w: w[0.5], x), (np.ones(3),), TraceError, r"w\[0.5\] is no neighbour"),
    (lambda x: windows(lambda w: w[x[0]], x), (np.ones(3),), TraceError, "needs one number"),
    (
        lambda x: windows(lambda w: w[1], x, boundary=(("periodic", "mirror"),)),
        (np.ones(3),),
        TraceError,
        "for one axis",
    ),
    (lambda x: windows(lambda w: w[1], x, boundary="wrap"), (np.ones(3),), TraceError, "'wrap' is no boundary rule"),
    (lambda x: windows(lambda w: w[1], x, boundary=("mirror",) * 2), (np.ones(3),), TraceError, "2 rules for 1 axes"),
    (
        lambda x, A: windows(lambda v, w: v[1, 0] + w[0, 0], (x[None], A), boundary="mirror"),
        (np.ones(3), np.ones((2, 3))),
        TraceError,
        "None made an axis of one element, along which another array has more",
    ),
    (lambda x: windows(x, x), (np.ones(3),), TraceError, "no function is given"),
    (lambda x: windows(maximum, 3.0) + x, (np.ones(3),), TraceError, "no array is given"),
    (lambda x: replicate(x, 2, axis=3), (np.ones(3),), TraceError, "axis 3 of 2 axes"),
    (lambda x: replicate(2.0, 3) * x, (np.ones(3),), TraceError, "2.0 is one number"),
    (
        lambda x, A: zip_with(add, x, A),
        (np.ones(3), np.ones((3, 3))),
        TraceError,
        "1 axis cannot be combined with one of 2",
    ),
]


@pytest.mark.parametrize(("function", "given", "error", "what"), ERRORS)
def test_bad_shapes_are_refused_with_words_that_help(function, given, error, what):
    with pytest.raises(error, match=what):
        wb.collective(function)(*given, backend="reference")


def resident_bytes():
    """The memory of this process that lies in RAM, where the system says so."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def called_often(times, n):
    """A result that is fed back, and an array that is given twice, are read where they lie."""

    @wb.collective(backend="openmp")
    def step(u, v):
        return 0.5 * (u + v)

    u = step(np.ones(n), np.ones(n))
    before, (prepared,) = counters(), step._prepared.values()
    memory = list(prepared._idle)
    watched = Watched(memory[0])
    again = step(u, u)
    assert [values is u for name, values in watched.seen if name in "uv"] == [True, True]
    watched.leave()
    u = again
    for _ in range(times // 10):
        u = step(u, u)
    begin = resident_bytes()
    for _ in range(times):
        u = step(u, u)
    assert resident_bytes() - begin < 2 * 8 * n + 2**20
    assert counters() == before
    assert len(step._prepared) == 1
    assert prepared._idle == memory
    assert u.tolist() == [1.0] * n


def test_a_call_that_is_made_often_copies_and_keeps_nothing():
    called_often(300, 10**5)


@pytest.mark.proof
def test_memory_is_flat_over_ten_thousand_calls():
    called_often(10**4, 10**5)


def test_the_shape_of_an_array_in_a_cell_has_its_lengths():
    cell = 'A = array("A", "rows", "columns")\noutput("mean", fold(add, A) / A.shape[1])\noutput("rows", A.shape[0])'
    found = wb.trace(cell, name="means")(A=[[1.0, 2.0, 6.0], [3.0, 3.0, 0.0]])
    assert found["mean"].tolist() == [3.0, 2.0]
    assert found["rows"] == 2


@pytest.mark.parametrize("backend", ["reference", "openmp", "cuda-sim"])
def test_an_array_may_be_there_for_the_lengths_of_its_axes(backend):
    cell = 'A, x = array("A", "rows", "columns"), array("x", "columns")\n'
    cell += 'output("y", generate("rows", lambda i: i * A.shape[1]))\noutput("z", 2 * x)'
    found = wb.trace(cell, name="lengths")(A=np.ones((3, 4)), x=np.ones(4), backend=backend)
    assert found["y"].tolist() == [0, 4, 8]
    with pytest.raises(TraceError, match="array A is neither read nor stored"):
        wb.trace('x, A = array("x", "n"), array("A", "n")\noutput("y", x)', name="spare")
