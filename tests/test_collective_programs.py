"""Programs of workbench/programs: an independent reference at two sizes, equal bits, and one loop without arrays."""

import math
import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from tests.kit.array_programs import same_bits as same_bits_on
from tests.kit.bits import assert_same_bits
from tests.kit.compiled_together import compiled_together
from workbench import programs
from workbench.errors import RunError

WAYS = (("openmp", 1), ("openmp", 3), ("cuda-sim", 0))
same_bits = partial(same_bits_on, backends=WAYS)
SLOW = pytest.mark.proof(group="large sizes on the simulated device", sample=1)
LINE, PLANE, PLACES = np.ones(1), np.ones((1, 1)), np.ones(1, np.int64)
MANDELBROTS = (programs.mandelbrot.escape_times, programs.mandelbrot.escape_times_f64)
VIEWS = [((5, 7), (-0.5, 0.0, 3.0)), ((37, 50), (-0.745, 0.11, 0.12))]


@pytest.fixture(scope="module", autouse=True)
def simulated():
    """The programs of this file on the simulated device, but for those that proofs alone call."""
    f32, i32 = LINE.astype(np.float32), PLACES.astype(np.int32)
    calls = [
        (programs.dot_product.dot_product, LINE, LINE),
        (programs.dot_product.dot_product, f32, f32),
        (programs.matrix_product.matrix_product, PLANE, PLANE),
        (programs.black_scholes.prices, LINE, LINE, LINE),
        (programs.n_body.accelerations, (LINE, LINE, LINE), LINE),
        (programs.sparse_product.sparse_product, PLACES, PLACES, LINE, LINE),
        (programs.sparse_product.sparse_product, i32, i32, LINE, LINE),
        (programs.histogram.histogram, f32, 0.0, 1.0, PLACES),
        *((each, -0.5, 0.0, 3.0, 60, VIEWS[0][0]) for each in MANDELBROTS),
    ]
    machines = [program.machine(*given) for program, *given in calls]
    with compiled_together("cuda-sim", [*machines, programs.n_body.machine()]):
        yield


def draw(seed, *shapes):
    generator = np.random.default_rng(seed)
    return [generator.random(shape) for shape in shapes]


def one_loop(machine, arrays):
    """The program runs in one loop, and its plan stores nothing but what is given and returned."""
    plan = machine.plan("openmp")
    (kernel,) = plan.kernels
    assert len(kernel.observed.subkernels) == 1
    assert len(plan.array_slots) == arrays


@pytest.mark.parametrize("n", [7, 5000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dot_product(n, dtype):
    xs, ys = (values.astype(dtype) for values in draw(n, n, n))
    program = programs.dot_product.dot_product
    found = same_bits(program, xs, ys)
    exact = math.fsum(float(x) * float(y) for x, y in zip(xs, ys, strict=True))
    assert found.dtype == dtype
    assert abs(found - exact) <= n * np.finfo(dtype).eps * exact
    one_loop(program.machine(xs, ys), arrays=2)


@pytest.mark.parametrize("shape", [(3, 4, 5), (65, 1030, 17)])
def test_matrix_product(shape):
    m, k, n = shape
    a, b = np.floor(9 * draw(1, (m, k))[0]), np.floor(9 * draw(2, (k, n))[0])
    program = programs.matrix_product.matrix_product
    found = program(a, b, backend="openmp")
    assert (found == a.astype(np.int64) @ b.astype(np.int64)).all()  # exact, as all are small whole numbers
    a, b = draw(3, (m, k), (k, n))
    np.testing.assert_allclose(same_bits(program, a, b), a @ b, rtol=1e-12)
    one_loop(program.machine(a, b), arrays=3)


def exact_prices(price, strike, years, rate, volatility):
    """By the error function, one option after the other."""
    rows = []
    for s, k, t in zip(price, strike, years, strict=True):
        root = volatility * math.sqrt(t)
        up = (math.log(s / k) + (rate + volatility**2 / 2) * t) / root
        below = [(1 + math.erf(d / math.sqrt(2))) / 2 for d in (up, up - root)]
        call = s * below[0] - k * math.exp(-rate * t) * below[1]
        rows.append((call, call - s + k * math.exp(-rate * t)))  # by parity
    return np.transpose(rows)


@pytest.mark.parametrize(("n", "rate", "volatility"), [(9, 0.02, 0.3), (2000, 0.05, 0.1)])
def test_black_scholes(n, rate, volatility):
    price, strike, years = draw(n, n, n, n)
    given = 5 + 25 * price, 1 + 99 * strike, 0.25 + 9.75 * years
    program = programs.black_scholes.prices
    found = same_bits(program, *given, rate, volatility)
    exact = exact_prices(*given, rate, volatility)
    np.testing.assert_allclose(found, exact, atol=1e-5)  # of prices up to 100, by the polynomial's 7.5e-8
    one_loop(program.machine(*given), arrays=5)


@pytest.mark.parametrize(
    ("n", "ways"),
    [(5, WAYS), (1100, WAYS[:2]), pytest.param(1100, WAYS[2:], marks=SLOW)],
    ids=["small", "large", "large-cuda-sim"],
)
def test_n_body(n, ways):
    *position, mass = draw(n, n, n, n, n)
    program, cell = programs.n_body.accelerations, programs.n_body.machine()
    found = same_bits_on(program, tuple(position), mass, backends=ways)
    x, chosen = np.stack(position), [0, n // 2, n - 1]
    for i in chosen:  # some bodies, each with all others in longer numbers
        away = x.astype(np.longdouble) - x[:, [i]]
        pull = (mass * away / np.sqrt(np.sum(away**2, axis=0) + 1e-4) ** 3).sum(axis=1)
        np.testing.assert_allclose([a[i] for a in found], pull.astype(float), rtol=1e-11, atol=1e-9)
    np.testing.assert_allclose([np.sum(mass * a) / np.sum(mass * abs(a)) for a in found], 0, atol=1e-13)  # momentum
    for backend, threads in ways:
        pairs = cell(x=position[0], y=position[1], z=position[2], m=mass, backend=backend, threads=threads)
        for mine, name in zip(found, ("ax", "ay", "az"), strict=True):
            assert_same_bits(pairs[name], mine, f"{name}, {backend}, {threads} threads")
    one_loop(program.machine(tuple(position), mass), arrays=10)
    one_loop(cell, arrays=10)


def test_n_body_by_a_tree():
    x, y, z, mass = np.random.default_rng(6).random((4, 500))
    exact = np.array(programs.n_body.accelerations((x, y, z), mass, backend="reference"))
    tree, errors = programs.n_body.machine(tree=True), []
    for options in ({"theta": 0}, {"theta": 0.3}, {"theta": 0.6}):
        found = tree(x=x, y=y, z=z, m=mass, **options, backend="reference")
        away = np.array([found[name] for name in ("ax", "ay", "az")]) - exact
        errors.append(np.sqrt((away**2).mean() / (exact**2).mean()))
    assert errors[0] < 1e-14
    assert 10 * errors[1] < errors[2] < 2e-3


@pytest.mark.parametrize(
    ("rows", "columns", "ways"),
    [(5, 3, WAYS), (400, 900, WAYS[:2]), pytest.param(400, 900, WAYS[2:], marks=SLOW)],
    ids=["small", "large", "large-cuda-sim"],
)
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_sparse_product(rows, columns, ways, index):
    dense, x = draw(5, (rows, columns), columns)
    dense[draw(6, (rows, columns))[0] > 0.1] = 0.0
    dense[1] = 0.0  # a row of no elements
    lengths, where, values = (
        (dense != 0).sum(axis=1).astype(index),
        np.nonzero(dense)[1].astype(index),
        dense[dense != 0],
    )
    program = programs.sparse_product.sparse_product
    found = same_bits_on(program, lengths, where, values, x, backends=ways)
    np.testing.assert_allclose(found, dense @ x, rtol=1e-12, atol=1e-14)
    plan = program.machine(lengths, where, values, x).plan("openmp")
    assert len(plan.main.observed.subkernels) == 2  # where rows begin, and all else
    assert len(plan.array_slots) == 6  # four that are given, the result, and where rows begin
    where[-1] = columns
    with pytest.raises(RunError, match=rf"x is read at index {columns}"):
        program(lengths, where, values, x, backend="openmp")


@pytest.mark.parametrize(("n", "bins"), [(50, 4), (30000, 64)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_histogram(n, bins, dtype):
    values = (draw(n, n)[0] * 1.5 - 0.25).astype(dtype)
    values[:4] = [0.0, 1.0, np.nan, np.nextafter(dtype(1), dtype(2))]  # both borders count, NaN and beyond do not
    program, before = programs.histogram.histogram, np.arange(bins)
    found = same_bits(program, values, 0.0, 1.0, before)
    assert found.tolist() == (before + np.histogram(values, bins, (0, 1))[0]).tolist()  # borders of bins are exact here
    one_loop(program.machine(values, 0.0, 1.0, before), arrays=3)


def escaped(x, y, width, limit, shape, dtype):
    """Point by point, as a person writes it."""
    rows, columns = shape
    turns = np.zeros(shape, np.int64)
    step = dtype(width) / dtype(columns)
    for row, column in np.ndindex(shape):
        a = dtype(x) + dtype(column + 0.5 - columns / 2) * step
        b = dtype(y) + dtype(rows / 2 - 0.5 - row) * step
        u, v = a, b
        while turns[row, column] < limit and u * u + v * v <= 4:
            u, v = u * u - v * v + a, dtype(2) * u * v + b
            turns[row, column] += 1
    return turns


@pytest.mark.parametrize(("shape", "view"), VIEWS)
def test_mandelbrot(shape, view):
    mandelbrot = programs.mandelbrot
    for program, dtype in zip(MANDELBROTS, (np.float32, np.float64), strict=True):
        found = same_bits(program, *view, 60, shape)
        assert (found == escaped(*view, 60, shape, dtype)).all()
        one_loop(program.machine(*view, 60, shape), arrays=1)
    assert (mandelbrot.unrolled(20)(*view, shape) == mandelbrot.escape_times(*view, 20, shape)).all()


def test_another_part_of_the_plane_compiles_nothing(monkeypatch):
    program = programs.mandelbrot.escape_times
    first = program(-0.5, 0.0, 3.0, 20, (6, 8))
    monkeypatch.setattr("workbench.array_function.compile_graph", None)  # which nobody can call
    for width, limit in ((1.0, 50), (0.1, 20)):
        assert (program(-0.745, 0.1, width, limit, (6, 8)) != first).any()
    with pytest.raises(TypeError):
        program(-0.5, 0.0, 3.0, 20, (8, 6))  # a shape is known while it is traced


def test_every_program_is_listed_and_described():
    modules = {path.stem for path in Path(programs.__file__).parent.glob("*.py")} - {"__init__"}
    assert modules == set(programs.NAMES), "add these to NAMES and to the docstring of workbench/programs"
    assert {name for name in programs.NAMES if f"`{name}`" not in programs.__doc__} == set()


def test_every_program_has_a_test():
    texts = "\n".join(path.read_text(encoding="utf-8") for path in sorted(Path(__file__).parent.rglob("test_*.py")))
    used = set(re.findall(r"\bprograms\.(\w+)", texts))
    for line in re.findall(r"^from workbench\.programs import (.*)$", texts, re.MULTILINE):
        used |= set(re.findall(r"\w+", line))
    assert set(programs.NAMES) - used == set(), "compare these with an independent computation at two sizes"


def test_programs_are_a_room_of_their_own():
    assert set(programs.NAMES) <= set(dir(wb.programs))
    with pytest.raises(AttributeError, match="it has black_scholes"):
        programs.chess  # noqa: B018
