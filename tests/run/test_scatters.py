"""Scatters as users type them: contributions in the order of the senders, on every backend, and what is refused."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from workbench.errors import RunError, TraceError
from workbench.graph import Scatter
from workbench.graph.scatters import scatter_in_order
from workbench.graph.types import F64
from workbench.language import add, generate, maximum, minimum, multiply, scatter

SIZES = (0, 1, 31, 32, 33, 1023, 1024, 1025, 6000)
BINS = 7


def sent(defaults, bins, w):
    counts = scatter(add, generate(7, lambda _: 0), bins, 1)
    sums = scatter(add, defaults, bins, w)
    last = scatter(None, defaults, bins, w, where=w > 0)
    mixed = scatter(lambda new, old: 2 * old - new, defaults, bins, w, where=w < 1)
    table = scatter(maximum, generate((7, 3), lambda i, j: 1.0 * i - j), (bins, bins % 3), w * w)
    taken = scatter(minimum, w, generate(w.shape, lambda i: i // 2), w[generate(w.shape, lambda i: i // 3)])
    return counts, sums, last, mixed, table, taken, scatter(np.subtract, defaults, bins, defaults[bins])


def one_by_one(defaults, bins, w):
    """The same from the semantics, sender by sender."""
    counts, table = np.zeros(BINS, np.int64), np.subtract.outer(np.arange(7.0), np.arange(3.0))
    sums, last, mixed, differences, taken = (x.copy() for x in (defaults, defaults, defaults, defaults, w))
    for i, (b, x) in enumerate(zip(bins, w, strict=True)):
        counts[b] += 1
        sums[b] = x + sums[b]
        last[b] = x if x > 0 else last[b]
        mixed[b] = 2 * mixed[b] - x if x < 1 else mixed[b]
        table[b, b % 3] = max(x * x, table[b, b % 3])
        taken[i // 2] = min(w[i // 3], taken[i // 2])
        differences[b] = defaults[b] - differences[b]
    return counts, sums, last, mixed, table, taken, differences


def given(n):
    draw = np.random.default_rng(n)
    bins = draw.integers(0, BINS, n) if n % 2 else np.sort(draw.integers(0, BINS - 2, n))
    return draw.normal(size=BINS), bins, draw.normal(size=n) * 10.0 ** draw.integers(-3, 4, n)


@pytest.fixture(scope="module")
def program():
    return wb.collective(sent)


def test_elements_of_other_arrays_are_in_what_is_sent_selected_and_joined():
    def body(x, y, bins):
        joined = np.concatenate((x + y[0], bins + y[1], (x[2] + y[2])[None]))
        return scatter(add, x[:, None] + y[1], (bins, 0 * bins), y), (x + y[0])[x > y[2]], joined

    x, y, bins = np.arange(5.0), np.array([0.5, 2.0, 1.0]), np.array([4, 0, 4])
    for backend in ("reference", "openmp"):
        sums, kept, joined = wb.collective(body)(x, y, bins, backend=backend)
        expected = x + y[1]
        np.add.at(expected, bins, y)
        assert_same_bits(sums[:, 0], expected)
        assert_same_bits(kept, (x + y[0])[x > y[2]])
        assert_same_bits(joined, np.concatenate((x + y[0], bins + y[1], x[2:3] + y[2])))


@pytest.mark.parametrize("n", [*SIZES, pytest.param(10**6 + 1, marks=pytest.mark.proof)])
def test_bits_are_those_of_one_sender_after_the_other(program, n):
    with np.errstate(over="ignore", invalid="ignore"):
        exact = one_by_one(*given(n))
    for backend, teams in (("reference", (0,)), ("openmp", (1, 2, 3)), ("cuda-sim", (0,))):
        for threads in teams:
            found = program(*given(n), backend=backend, threads=threads)
            for place, (mine, bits) in enumerate(zip(found, exact, strict=True)):
                assert_same_bits(mine, np.asarray(bits), f"{backend} {threads} {n} {place}")


def test_a_histogram_is_one_loop_that_reads_the_indices_only(program):
    machine = wb.trace(
        'zeros = array("zeros", "bins", dtype="i64")\nx = array("x", "n")\n'
        'output("counts", scatter(add, zeros, astype(x * 10, "i64"), 1))',
        name="histogram",
    )
    (loop,) = machine.plan("openmp").main.plain.subkernels
    nodes = machine.plan("openmp").main.kernel.nodes
    assert isinstance(nodes[loop.alone].instruction, Scatter)
    assert {nodes[read.node].instruction.name for read in loop.reads} == {"zeros", "x"}
    x = np.random.default_rng(3).random(5000)
    for backend in ("reference", "openmp", "cuda-sim"):
        counts = machine(zeros=np.zeros(10, np.int64), x=x, backend=backend)["counts"]
        assert counts.tolist() == np.bincount((x * 10).astype(int), minlength=10).tolist()


def test_no_destinations_and_no_senders():
    program = wb.collective(lambda defaults, where, w: scatter(multiply, defaults, where, w))
    for backend in ("reference", "openmp", "cuda-sim"):
        assert program(np.zeros(0), np.zeros(0, np.int64), np.zeros(0), backend=backend).shape == (0,)
        assert program(np.ones(3), np.zeros(0, np.int64), np.zeros(0), backend=backend).tolist() == [1, 1, 1]
        with pytest.raises(RunError, match="scatter sends to index 0, for element 0, but the result has 0 elements"):
            program(np.zeros(0), np.zeros(1, np.int64), np.ones(1), backend=backend)


@pytest.mark.parametrize("backend", ["reference", "openmp", "cuda-sim"])
@pytest.mark.parametrize("index", [-1, 7, 2**40])
def test_an_index_outside_is_an_error_unless_it_is_not_sent(backend, index):
    program = wb.collective(
        lambda defaults, bins, wanted: scatter(add, defaults, bins, 1.0, where=wanted), name=f"outside_{backend[:3]}"
    )
    bins, wanted = np.array([3, index, 3]), np.array([True, False, True])
    expected = [0, 0, 0, 2, 0, 0, 0]
    assert program(np.zeros(BINS), bins, wanted, backend=backend).tolist() == expected
    with pytest.raises(RunError) as caught:
        program(np.zeros(BINS), bins, np.ones(3, np.bool_), backend=backend)
    message = f"scatter sends to index {index}, for element 1, but the result has 7 elements along axis 0"
    assert message in str(caught.value)
    assert str(caught.value).startswith("line ")
    assert str(caught.value).endswith("Give indices from 0 to 6, or leave these out: where=.")


@pytest.mark.parametrize("place", [0, 39999])
def test_an_index_outside_is_an_error_where_senders_are_shared_out(place):
    program = wb.collective(lambda zeros, bins: scatter(add, zeros, bins, 1))
    bins = np.arange(40000) % BINS
    assert program(np.zeros(BINS, int), bins, backend="openmp", threads=2).tolist() == np.bincount(bins).tolist()
    bins[place] = BINS
    with pytest.raises(RunError, match=f"scatter sends to index 7, for element {place}, but the result has 7 elements"):
        program(np.zeros(BINS, int), bins, backend="openmp", threads=2)


def test_what_is_sent_has_the_type_of_the_defaults():
    program = wb.collective(lambda zeros, bins, w: scatter(add, zeros, bins, w))
    found = program(np.zeros(2, np.float32), np.array([0, 1, 0], np.uint8), np.array([0.1, 1e300, 0.2]))
    assert found.dtype == np.float32
    assert found.tolist() == [float(np.float32(np.float32(0.2) + np.float32(0.1))), np.inf]
    with pytest.raises(TraceError, match=r"the result is i64, but .* is given f64"):
        program(np.zeros(2, np.int64), np.zeros(3, np.int64), np.ones(3))


ARRAYS = 'z = array("z", "m")\nA = array("A", "m", "k")\nx = array("x", "n")\ni = array("i", "n", dtype="i32")\n'


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("scatter(add, 0.0, i, x)", "the defaults are one number"),
        ("scatter(add, z, x, 1)", "index 0 is f64, not whole numbers from 0"),
        ("scatter(add, z, -1, x)", "index 0 is -1, not whole numbers from 0"),
        ("scatter(add, A, i, x)", "has 1 index for 2 axes of the defaults"),
        ("scatter(add, z, (i, i), x)", "has 2 indices for 1 axes of the defaults"),
        ("scatter(add, z, i, x, where=x)", "where is f64, not true or false"),
        ("scatter(add, z, 0, 1)", "sends one number"),
        ('scatter("plus", z, i, x)', "scatter by 'plus'"),
        ('scatter("logical_or", z, i, x)', "scatter by logical_or does not take f64"),
        ("scatter(add, z, i, x > 0)", "the result is f64, but scatter(add, z, i, x > 0) is given bool"),
    ],
)
def test_what_cannot_be_sent_is_said(value, message):
    with pytest.raises(TraceError) as caught:
        wb.trace(f'{ARRAYS}output("y", {value})', name="wrong")
    assert message in str(caught.value)
    assert "line 5" in str(caught.value)


def test_defaults_that_are_an_index_take_what_is_sent():
    defaults = np.broadcast_to(np.arange(3.0), (4, 3))  # strides of 0 along the first axis
    places = (np.array([1, 1, 3]), np.array([0, 0, 2]))
    found = scatter_in_order("sum", defaults, places, np.array([5.0, 6.0, 7.0]), F64)
    assert found.tolist() == [[0, 1, 2], [11, 1, 2], [0, 1, 2], [0, 1, 9]]


def of_three(new, old):
    """An order that nothing may change: what is sent last counts most."""
    return old[0] * 3 + new[0], max_of(new[1], old[1] - new[2]), new[2] - old[2]


def max_of(a, b):
    return np.where(a > b, a, b)


@pytest.mark.parametrize("places", [1, 7])
@pytest.mark.parametrize(
    ("n", "ways"),
    [
        (20_000, [("openmp", 1), ("openmp", 2), ("openmp", 3)]),
        pytest.param(10**7, [("openmp", 1), ("openmp", 2)], marks=pytest.mark.proof),
        pytest.param(3000, [("cuda-sim", 0)], marks=pytest.mark.proof),
    ],
)
def test_records_that_all_go_to_few_places_are_combined_in_their_order(n, ways, places):
    """The thesis takes a lock for a tuple; here each destination has one owner, and neither waits for the other."""
    draw = np.random.default_rng(n)
    count, x, bins = draw.integers(0, 9, n), draw.integers(-9, 9, n), draw.integers(0, places, n)
    program = wb.collective(
        lambda first, second, third, bins, a, b: scatter(of_three, (first, second, third), bins, (a, b, a + b))
    )
    start = np.zeros((3, places), np.int64)
    expected = [list(each) for each in start.tolist()]
    if n <= 20_000:
        for place, a, b in zip(bins.tolist(), count.tolist(), x.tolist(), strict=True):
            u, v, w = (each[place] for each in expected)
            found = (u * 3 + a, max(b, v - (a + b)), a + b - w)
            for each, value in zip(expected, found, strict=True):
                each[place] = (value + 2**63) % 2**64 - 2**63
    for backend, threads in ways:
        found = program(*start, bins, count, x, backend=backend, threads=threads)
        if n > 20_000:
            expected = [each.tolist() for each in found] if threads == 1 else expected
        assert [each.tolist() for each in found] == expected, (backend, threads)
