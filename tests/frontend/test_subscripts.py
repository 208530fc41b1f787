"""Subscripts of arrays in functions: what NumPy selects, with equal bits; formulas are sliced, dear values are read."""

from inspect import signature

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from tests.kit.capabilities import backends_here
from workbench.errors import RunError, ShapeError, TraceError
from workbench.frontend import collective
from workbench.frontend.positions import FunctionPositions
from workbench.language import compute, generate, repeat, replicate, zip_with


def slices(x, A):
    y = x * x
    return (
        x[1:] - x[:-1],
        x[::-1],
        y[1:-1] + y[:-2] - 2 * y[2:],
        x[1:][::2][-2:],
        A[-2:, ::3],
        A.T[2:][::-1, None],
        (A[1:] * np.sum(A, axis=0)[None, :])[:, 1:],
        x[2:].shape[0],
        x[-100:],
        x[5:2],
        A[::-2, ::-1],
        x[10:0:-3],
    )


def elements(x, A):
    return x[3], x[-1] * x, A[1], A[:, 2], A[0, 1] * A, x[0] - x[1], A[..., 0].sum(), A[1:, -1][0]


def without_axes(x, A):
    B = A[:, :, None] * x[None, None, :3]
    outer = x[:, None] * A[1][None, :]
    return (
        A[2, 1] * x,
        x[3][None] + x,
        B[:, 1].T - A[None, 0, :3].T,
        B[1, ::-1, 2],
        B[:, 1][2][1] * x,
        outer[0],
        outer[:, 2][::-1],
        (2 * outer)[1, 2],
        np.where(x > x[0], (A[0] < A[1])[2], A[1, 1] > 0.5),
        A[1][0] * x.astype(np.float32),
        A[:, None][1:, 0],
        A[..., None][2, :, -1],
    )


def gathers(x, A, c, r):
    return (
        x[c],
        A[c],
        A[:, c],
        A[c, c],
        A[r, c[None, :2]],
        A[c][:, c],
        A[:, r],
        A[r, 2],
        x[c[0]],
        A.sum(axis=0)[c],
        A[:, :3].T[:, c],
        np.where(x[c] > 0.5, c, 0),
    )


def lists(x, A):
    return x[[0, 2, -1]], x[[3]], A[[1, 0, 1]], A[:, [2, -7]], (A + 1)[[4], 1:], A[1:, [0, 3]].sum(axis=0)


def dear(x, A, c):
    e, rows = np.exp(x) / (x + 1), A @ A.T
    return e[1:] - e[:-1], e[c], rows[1:, :2], rows[::-1], rows[c, c], e[-1]


def given(n=12, shape=(5, 7), seed=3):
    draw = np.random.default_rng(seed)
    return draw.random(n), draw.random(shape), np.array([3, 1, 1, 0]), np.array([[0, 4], [2, 1]], np.int32)


x, A, c, r = given()
PROGRAMS = [
    (slices, (x, A)),
    (elements, (x, A)),
    (lists, (x, A)),
    (without_axes, (x, A)),
    (gathers, (x, A, c, r)),
    (dear, (x, A, c)),
]


@pytest.mark.parametrize(("function", "values"), PROGRAMS)
def test_a_subscript_selects_what_numpy_does(function, values):
    program, expected = wb.collective(function), function(*values)
    found = program(*values, backend="reference")
    for place, (mine, exact) in enumerate(zip(found, expected, strict=True)):
        assert mine.shape == np.shape(exact), place
        np.testing.assert_allclose(mine, exact, rtol=1e-13, err_msg=str(place))
    if function is dear:  # exp has a bound on each backend
        return
    for threads in (1, 3):
        for place, bits in enumerate(program(*values, backend="openmp", threads=threads)):
            assert_same_bits(bits, found[place], f"{place} on {threads} threads")


def test_a_whole_number_takes_its_axis_away():
    """The axis had one element inside, and the sum of a column had the order of a Fold, not that of its copy."""
    tall = np.random.default_rng(8).random((3000, 3))
    column, copied = wb.collective(lambda x: x[:, 1].sum()), wb.collective(lambda x: x.sum())
    assert_same_bits(column(tall, backend="reference"), copied(tall[:, 1].copy(), backend="reference"))
    assert column.machine(tall).graph.space.rank == 1
    scaled = wb.collective(lambda x, A: A[2, 1] * x).machine(x, A)
    assert scaled.graph.static("result").space.rank == 1
    with pytest.raises(ShapeError, match="x along axis 1 has 3 elements, none at 3"):
        wb.collective(lambda x: x[:, 3].sum())(tall)


def test_elements_are_numbers_of_loops_and_of_generated_arrays():
    def numbers(x, A):
        made = generate((4, 3), lambda i, j: i + 2 * j)
        turned = repeat(3, lambda a, b: (a + x[2], b * a), (x[0], A[1, 1]))
        return made[1], made[3, 1] * x, turned[1] + x, repeat(2, lambda y: y * x[1] + x, x[0])

    a, b = x[0], A[1, 1]
    for _ in range(3):
        a, b = a + x[2], b * a
    expected = [1 + 2 * np.arange(3), 5 * x, b + x, (x[0] * x[1] + x) * x[1] + x]
    for backend in ("reference", "openmp"):
        for mine, exact in zip(wb.collective(numbers)(x, A, backend=backend), expected, strict=True):
            assert_same_bits(mine, exact, backend)


@pytest.mark.proof
def test_equal_bits_on_a_device():
    program = wb.collective(lambda x, A, c: (x[::-1][c] * A[1:5, 2], A[:, c][0]))
    for mine, bits in zip(program(x, A, c, backend="cuda-sim"), program(x, A, c, backend="reference"), strict=True):
        assert_same_bits(mine, bits)


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_slices_of_any_length(n):
    program = wb.collective(lambda x: (x[1:], x[-2:], x[:-1:2] * 2, x[::-1]))
    values = np.arange(float(n))
    for mine, exact in zip(
        program(values, backend="openmp"), (values[1:], values[-2:], values[:-1:2] * 2, values[::-1]), strict=True
    ):
        assert mine.tolist() == exact.tolist()


def test_slices_of_a_formula_need_no_array():
    plan = wb.collective(lambda x: np.sum((2 * x)[1:] * (x + 1)[:-1])).machine(x).plan("openmp")
    (kernel,) = plan.kernels
    assert len(kernel.observed.subkernels) == 1
    assert len(plan.array_slots) == 2  # both readings of x


def paths(steps, stores=False):
    """Shortest paths by way of the first nodes: a row and a column of what the last step made."""

    def shortest(d):
        for k in range(steps):
            d = np.minimum(d, d[:, k][:, None] + d[k, :][None, :])
            d = compute(d) if stores and not isinstance(d, np.ndarray) else d
        return d

    return shortest


def halves(steps):
    """Slices of slices of slices, whose lengths become fewer from both sides."""

    def halved(x):
        for _ in range(steps):
            x = 0.5 * (x[1:] + x[:-1])
        return x

    return halved


def met(a, b, c, d):
    return a[0] + b[1:] * c[:-1] - d[2:3][0] + (a + b + c + d)[::-1][1:], np.concatenate((a[:, None], d[:, None]), 1)


TRACED_ONCE = [(paths(8), 12), (paths(8, stores=True), 12), (halves(20), 24)]


@pytest.mark.parametrize(("function", "n", "most"), [*((f, n, 1) for f, n in TRACED_ONCE), (met, 9, 2)])
def test_programs_of_many_cuts_are_traced_twice_at_most(monkeypatch, function, n, most):
    """Once where all lengths are known to be equal, once more where many of them are found to be."""
    attempts = []

    def counted(*given):
        attempts.append(given)
        return FunctionPositions(*given)

    monkeypatch.setattr(collective, "FunctionPositions", counted)
    shape = (n, n) if function.__name__ == "shortest" else (n,)
    values = np.random.default_rng(7).random((len(signature(function).parameters), *shape))
    found = wb.collective(function)(*values, backend="reference")
    assert len(attempts) == most
    expected = function(*values)
    for mine, exact in zip(found, expected, strict=True) if most > 1 else [(found, expected)]:
        assert_same_bits(mine, exact)


@pytest.mark.parametrize("function", [paths, halves])
def test_graphs_of_many_cuts_grow_as_the_steps(function):
    values = np.ones((99, 99) if function is paths else 99)
    few, many = (wb.collective(function(steps)).machine(values).graph.kernels[0] for steps in (15, 30))
    assert len(many.nodes) < 2.2 * len(few.nodes)
    ranks = [max(node.space.rank for node in kernel.nodes if node.space) for kernel in (few, many)]
    assert ranks[0] == ranks[1]  # what x[3] leaves of axes is not gathered


@pytest.mark.parametrize(
    ("function", "error", "what"),
    [
        (
            lambda x, c: x[c],
            RunError,
            r"line \d+: x is read at index 3, for element 0, but has 3 elements along axis 0",
        ),
        (lambda x, c: x[7] + x, ShapeError, "x along axis 0 has 3 elements, none at 7"),
        (lambda x, c: x[[0, 3]], ShapeError, "x along axis 0 has 3 elements, none at 3"),
        (lambda x, c: x[-4] + x, ShapeError, "x along axis 0 has 3 elements, none at -4"),
        (lambda x, c: x[1:] + x, ShapeError, r"sliced by \[1:\], has 2 elements, x along axis 0 has 3"),
        (lambda x, c: x[:, None][x > 0, 0], TraceError, "an index is bool"),
        (lambda x, c: x[x], TraceError, "an index is f64"),
        (lambda x, c: x[[0.5, 1]], TraceError, r"list is no part of(.*\n)*Write an array of whole numbers"),
        (lambda x, c: x[np.array([0.5, 1])], TraceError, "an index is f64"),
        (lambda x, c: x["a"], TraceError, "str is no part of a subscript"),
        (lambda x, c: x[::0], TraceError, "bounds of a slice"),
        (lambda x, c: x[: c[0]], TraceError, "bounds of a slice"),
        (lambda x, c: x[0, 0], TraceError, "names 2 axes of 1"),
        (lambda x, c: x[:, None][:, 1], TraceError, "an axis made by None"),
    ],
)
@pytest.mark.parametrize("backend", ["reference", "openmp"])
def test_what_is_no_subscript(function, error, what, backend):
    with pytest.raises(error, match=what):
        wb.collective(function)(x[:3], c, backend=backend)


def test_indices_apart_are_refused():
    with pytest.raises(TraceError, match="stand at axes 0 and 2"):
        wb.collective(lambda B, c: B[c, :, c])(np.ones((4, 4, 4)), c)


def test_an_axis_made_by_none_meets_others_with_its_one_element():
    """In zip_with, whose results are as long as the shortest array."""

    def zipped(A, y):
        one = repeat(2, lambda now: now * 2 + 1, replicate(y, 1, 0))
        found = [zip_with(lambda a, b: a - 2 * b, *pair) for pair in ((y[None, :], A), (A, y[None, :]), (one, A))]
        return *found, *(each[1:] for each in found)

    program, y = wb.collective(zipped), np.array([0.5, 2.0, -1.0])
    for A in (np.arange(12.0).reshape(4, 3), np.ones((1, 3)), np.ones((0, 3))):
        once, first = y[None, :][: len(A)], A[:1]
        exact = [once - 2 * first, first - 2 * once, 4 * once + 3 - 2 * first]
        for backend in backends_here():
            found = program(A, y, backend=backend)
            for mine, expected in zip(found, [*exact, *(each[1:] for each in exact)], strict=True):
                assert_same_bits(mine, expected)
