"""Arrays with strides of their own: slices with steps, parts of rows and transposed ones are read where they lie."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from workbench.backends.openmp import OpenmpBackend
from workbench.backends.registry import select_backend
from workbench.language import fold_segments, scan, scatter, while_loop, windows
from workbench.pipeline import Compiled
from workbench.planning.kernel_plan import StridedField
from workbench.planning.strided import strided_fields
from workbench.run import calling
from workbench.run.one_call import open_call, step_of

DRAW = np.random.default_rng(7)
X = DRAW.standard_normal(5002)
A = DRAW.standard_normal((37, 61))
C = DRAW.standard_normal((7, 12, 19))
K = DRAW.integers(0, 50, 1000)


def steps(x):
    return x[::2] - x[1::2], x[::-1] + x, x[::3] * 2, x[10:2000:7] - x[2000:10:-7], x[1:] - x[:-1]


def steps_of_rows(a):
    around = a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:]
    roots = np.sqrt(abs(a)).T[::-1, 1:]
    return around - 4 * a[1:-1, 1:-1], a[::2] + 1, a[:, ::-1] * a, a[::-1, 1::2] - a[:, :-1:2], a[:, 3] * 2, roots


def steps_of_planes(c):
    return c[:, ::-1, ::2] * 2, c[1:-1, :, 0] + 1, c[::3, 2:-2, ::-1] - c[-1::-3, 4:, :], c.T * 3 + 1, c[:, 1].sum()


def turned(a):
    return (
        a.T + np.sqrt(abs(a.T)),
        a.T @ a,
        (a.T[::-1] * 2).sum(axis=0),
        a.T.ravel()[::5] + 1.0,
        a[:37, :37] + a[:, :37].T,
    )


def reduced(a, x):
    return (
        a[::2, ::3].sum(axis=0),
        a[::2, ::3].max(axis=1),
        a[:, ::-1].sum(),
        x[::-2].min(),
        np.argmax(x[::-1]),
        np.argmin(a[1:, ::2], axis=1),
        a[:, ::2] @ a[:, ::2].T,
        (x[::2] > 0).sum(),
    )


def combined_along(a, x, k):
    places = k[::2]
    return (
        np.cumsum(a[:, ::-1], axis=1),
        np.cumsum(a[::-1], axis=0),
        scan("maximum", x[::-1], reverse=True),
        scatter("add", np.zeros_like(x[:50]), places, x[:2000:4]),
        fold_segments("add", x[: 2 * 1000 : 2], np.ones_like(k[::-1])),
        x[::-1][places],
        a[::2][k[:9] % 5, 2],
        np.concatenate((x[::-3], x[1::4])),
        np.stack((x[::2], x[::-2]), axis=1),
        windows(lambda w: w[-1] + 2 * w[1], x[::2], "periodic"),
    )


def looping(x):
    return while_loop(lambda v, n: n < 3, lambda v, n: (v + x[::-1], n + 1), (x[::-1], 0), at_most=9)


def same_bits(function, *arguments):
    program = wb.collective(function)
    expected = program(*arguments, backend="reference")
    for backend, threads in (("openmp", 1), ("openmp", 3)):
        for number, (mine, exact) in enumerate(
            zip(program(*arguments, backend=backend, threads=threads), expected, strict=True)
        ):
            assert_same_bits(mine, exact, f"result {number} on {backend}, {threads} threads")
    return expected


def lent_to(program):
    """The call that waits of a program that was called once."""
    (prepared,) = program._prepared.values()
    (call,) = prepared._idle
    return call


def fields(program):
    (prepared,) = program._prepared.values()
    return {each.step for each in prepared._compiled.plan.strided}


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "u1"])
def test_slices_with_steps_have_the_bits_of_the_reference_and_of_numpy(dtype):
    x, a, c = ((20 * each).astype(dtype) for each in (X, A, C))
    for mine, exact in zip(same_bits(steps, x), steps(x), strict=True):
        assert mine.tolist() == exact.tolist()
    same_bits(steps_of_planes, c)
    if dtype[0] == "f":
        same_bits(steps_of_rows, a)


def test_a_device_is_given_dense_copies():
    for mine, exact in zip(wb.collective(steps)(X, backend="cuda-sim"), steps(X), strict=True):
        assert_same_bits(mine, exact)


@pytest.mark.parametrize(("function", "arguments"), [(turned, (A,)), (reduced, (A, X)), (looping, (X,))])
def test_transposed_arrays_reductions_and_loops_read_slices(function, arguments):
    same_bits(function, *arguments)


def test_scans_scatters_segments_gathers_and_joins_read_slices():
    same_bits(combined_along, A, X, K)


def of_all(a, b):
    return a * b + 1, a.sum(axis=0), a.max(axis=1), (a * b).sum()


WHOLE, LONG = DRAW.standard_normal((50, 80)), DRAW.standard_normal((37, 4))
RECORDS = np.zeros((37, 61), [("a", "f8"), ("b", "f4"), ("c", "f4")])
RECORDS["a"] = A
PACKED = np.zeros((37, 61), [("a", "f8"), ("b", "f4")])
PACKED["a"] = A
GIVEN = {
    "part of rows": WHOLE[3:40, 5:66],
    "backwards": A[::-1, ::-1],
    "every second": np.repeat(A, 2, axis=1)[:, ::2],
    "column order": np.asfortranarray(A),
    "one column again and again": np.broadcast_to(LONG[:, 1:2], (37, 61)),
    "one row again and again": np.broadcast_to(X[:61], (37, 61)),
    "field of records": RECORDS["a"],
    "field of packed records": PACKED["a"],
}


@pytest.mark.parametrize("kind", GIVEN)
def test_strided_arguments_have_the_bits_of_dense_ones(kind):
    given, dense = GIVEN[kind], np.ascontiguousarray(GIVEN[kind])
    expected = wb.collective(of_all)(dense, A, backend="reference")
    for pair in ((given, A), (A, given), (given, given)):
        exact = wb.collective(of_all)(*map(np.ascontiguousarray, pair), backend="reference")
        for threads in (1, 2):
            for mine, each in zip(wb.collective(of_all)(*pair, backend="openmp", threads=threads), exact, strict=True):
                assert_same_bits(mine, each, kind)
    for mine, each in zip(same_bits(of_all, given, A), expected, strict=True):
        assert_same_bits(mine, each, kind)


def test_arrays_of_one_shape_and_several_strides_are_told_apart():
    program = wb.collective(lambda a: a * 2 - 1, backend="openmp")
    for _ in range(2):
        for given in (A, WHOLE[:37, :61], WHOLE[13:, 19:], np.asfortranarray(A), A[::-1], np.repeat(A, 2, 1)[:, ::2]):
            assert_same_bits(program(given), given * 2 - 1)


def test_what_is_read_where_it_lies_is_not_copied():
    program = wb.collective(backend="openmp", threads=1)(lambda x: (x[::2] - x[1::2], x[::-1] + x))
    x = DRAW.standard_normal(200_000)
    program(x)
    call = lent_to(program)
    tracemalloc.start()
    found = program(x)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert not call._copies
    assert peak < sum(each.nbytes for each in found) + 10_000
    assert fields(program) == {2, -1}


def test_elements_that_are_apart_and_read_many_times_are_copied_once():
    program = wb.collective(backend="openmp")(lambda a, b: a[:, ::2] @ b[1:-1, 1:-1])
    b = DRAW.standard_normal((33, 20))
    assert_same_bits(program(A, b), wb.collective(lambda a, b: a @ b)(A[:, ::2].copy(), b[1:-1, 1:-1].copy()))
    (prepared,) = program._prepared.values()
    strided = prepared._compiled.plan.strided
    assert [each.step for each in strided] == [1]  # the rows of b, which are dense
    assert len(lent_to(program)._copies) == 1


def test_misaligned_arrays_of_one_stride_are_copied():
    program = wb.collective(lambda x: x * 3, backend="openmp")
    bytes_ = np.zeros(16 * 501 + 8, np.uint8)
    for shift in (0, 4, 0, 4):
        for x in (bytes_[shift : shift + 16 * 500].view("f8")[::2], bytes_[shift : shift + 16 * 500].view("f8")[::-1]):
            x[:] = X[: len(x)]
            assert_same_bits(program(x), X[: len(x)] * 3)


def test_a_plan_says_which_arrays_are_strided():
    program = wb.collective(backend="openmp")(lambda x: x[::2] - x[1::2] + x[::-2] * 0.5)
    program(X)
    (prepared,) = program._prepared.values()
    plan = prepared._compiled.plan
    assert len({each.name for each in plan.strided}) == 3
    assert all(isinstance(each, StridedField) for each in plan.strided)
    text = str(plan)
    assert text.count("step 2\n") == 2
    assert text.count("step of the call\n") == 1


CELL = """
a, b = array("a", "n", "m"), array("b", "n", "m")
x = array("x", "m")
k = array("k", "n", dtype="i64")
output("both", 2 * a - b * x)
output("columns", b.sum(axis="n"))
output("taken", b[k, k] + 1)
"""
AROUND = DRAW.standard_normal((120, 160))
"""What views lie in the middle of: a wrong stride or start reads another element of it."""
VIEWS = {
    "part of rows": AROUND[50:57, 60:71],
    "every third": AROUND[50:57, 60:93:3],
    "every second": AROUND[50:64:2, 60:82:2],
    "backwards": AROUND[60:53:-1, 80:69:-1],
    "transposed": AROUND[50:61, 60:67].T,
    "one row again and again": np.broadcast_to(AROUND[50, 60:71], (7, 11)),
}
PLACES = np.array([6, 0, 3, 3, 1, 5, 2])


def of_the_cell(view):
    return {"a": view, "b": AROUND[20:27, 30:41], "x": AROUND[100:111, 5], "k": np.repeat(PLACES, 2)[::2]}


@pytest.mark.parametrize("kind", VIEWS)
def test_a_program_reads_views_by_their_own_strides(kind):
    machine, given = wb.trace(CELL, name="cell"), of_the_cell(VIEWS[kind])
    (kernel,) = machine.graph.kernels
    plan = machine.plan("openmp")
    steps = {name: step_of(machine.graph.static(name), values) for name, values in given.items()}
    plan = replace(plan, strided=strided_fields(plan, {name: step for name, step in steps.items() if step is not None}))
    assert {"a", "b"} <= {each.name for each in plan.strided}
    program = OpenmpBackend().compile(plan)  # by text, not by plan
    results = [machine.graph.static(name) for name, _ in kernel.stores()]
    call = open_call(Compiled(plan.graph, plan, program, select_backend("openmp")), (7, 11), 1, tuple(results))
    for name, values in given.items():
        call.give(machine.graph.static(name), values)
    call.run()
    expected = machine(backend="reference", **given)
    for static in results:
        assert_same_bits(call.result(static), expected[static.name], static.name)


@pytest.mark.parametrize("kind", VIEWS)
@pytest.mark.parametrize("backend", ["openmp", "cuda-sim"])
def test_machines_are_called_with_views(kind, backend):
    machine, given = wb.trace(CELL, name="cell"), of_the_cell(VIEWS[kind])
    expected = machine(backend="reference", **given)
    for values in (given, {name: np.ascontiguousarray(each) for name, each in given.items()}, given):
        for name, found in machine(backend=backend, **values).items():
            assert_same_bits(found, expected[name], name)


def test_machines_copy_no_view_that_they_read_once():
    machine = wb.trace('x, y = array("x", "n"), array("y", "n")\noutput("z", x - y)', name="difference")
    dense, views = (X[:2501], X[1:2502]), (X[::2], X[2500::-1])
    for x, y in (dense, views, dense, views):
        assert_same_bits(machine(x=x, y=y, backend="openmp")["z"], x - y)
    calls = [call for graph, _, call in calling._instances.values() if graph is machine.graph]
    assert len(calls) == 2
    assert not any(call._copies for call in calls)
