"""Functions of arrays that call natives: NumPy's results, by natives and by fallbacks, and what goes wrong in words.

All numbers are whole and small, so that no sum is rounded and a native and its fallback give the same bits.
"""

import sys
from typing import NamedTuple

import numpy as np
import pytest

import workbench as wb
from tests.kit.at_the_same_time import at_the_same_time
from tests.kit.bits import assert_same_bits
from tests.kit.fake_cupy import FakeArray, FakeCupy
from workbench.backends import registry
from workbench.backends.cuda import CudaBackend
from workbench.errors import BackendError, FieldError, RunError, ShapeError, TraceError
from workbench.language import branch, fold, iterate, while_loop

WAYS = (("reference", 0), ("openmp", 1), ("openmp", 3), ("cuda-sim", 0))
M = np.random.default_rng(7).integers(-9, 10, (5, 7)).astype(np.float64)
V = np.arange(7.0) - 3


class Native:
    """NumPy's version of a function, and the arguments of its calls."""

    __name__ = "native"

    def __init__(self, compute):
        self.compute, self.given = compute, []

    def __call__(self, *arguments):
        self.given.append(arguments)
        return self.compute(*arguments)


def product(a, b):
    return a @ b


GIVEN = {
    "an argument": lambda m, v: m,
    "its transpose": lambda m, v: m.T,
    "a slice": lambda m, v: m[1:4, ::2],
    "an axis of None": lambda m, v: v[:, None],
    "a row": lambda m, v: m[2],
    "an element": lambda m, v: m[2, 3],
    "computed": lambda m, v: m * v + 1,
    "computed, transposed": lambda m, v: (m * v).T,
    "a sum": lambda m, v: m.sum(),
    "sums of columns": lambda m, v: m.sum(axis=0),
    "reshaped": lambda m, v: m.reshape((m.shape[0] * m.shape[1],)),
    "selected": lambda m, v: v[v > 0],
    "computed of what is selected": lambda m, v: v[v > 0] * 2 - 1,
    "a length": lambda m, v: v.shape[0],
    "a computed length": lambda m, v: m.shape[0] * 2 + v[v > 0].shape[0],
    "a computed number": lambda m, v: v.shape[0] + v.sum(),
}
COMPUTED = {
    "a map": lambda a: a * 3 + 1,
    "two values": lambda a: (a * 2, a.sum()),
    "conditions": lambda a: a > 1,
    "an outer product": lambda a: a[..., None] - a.ravel()[:4],
    "a slice": lambda a: a[1:],
    "a sum": lambda a: 0.0 + a.sum(),
}


@pytest.mark.parametrize("computed", COMPUTED)
@pytest.mark.parametrize("given", GIVEN)
def test_each_kind_of_value_goes_through_a_native(given, computed):
    """What the native sees is what NumPy has at that place, and what it returns goes on as NumPy's would."""
    take, compute = GIVEN[given], COMPUTED[computed]
    if np.ndim(take(M, V)) == 0 and computed in ("an outer product", "a slice"):
        compute = COMPUTED["a map"]
    native = Native(compute)
    call = wb.foreign(native, lambda a: fallback_of(compute, a))

    def after(m, v, use):
        found = use(take(m, v))
        parts = found if isinstance(found, tuple) else (found,)
        return tuple(0.0 + np.where(each, 1, 2).sum() if computed == "conditions" else each * 2 - 5 for each in parts)

    def fallback_of(compute, a):
        return compute(a * 1.0) if "length" in given else compute(a)

    program = wb.collective(lambda m, v: after(m, v, call))
    expected = after(M, V, lambda a: compute(np.float64(a) if "length" in given else a))
    if "length" in given:
        native.compute = lambda a: compute(np.float64(a))
    for backend, threads in WAYS:
        native.given.clear()
        found = program(M, V, backend=backend, threads=threads)
        assert len(native.given) == (backend == "openmp")
        for place, (mine, exact) in enumerate(zip(found, expected, strict=True)):
            assert_same_bits(np.asarray(mine), np.asarray(exact), f"{backend}, value {place}")
        for (seen,) in native.given:
            assert_same_bits(np.asarray(seen), np.asarray(take(M, V)), "given")


def test_natives_and_selections_in_turn():
    """A native of what is selected, a selection of what it returns, and a native of that."""
    double, count = Native(lambda a: a * 2), Native(lambda a, k: a + k)
    first = wb.foreign(double, lambda a: a + a)
    second = wb.foreign(count, lambda a, k: a + k)

    def chained(v, use, then):
        y = use(v[v != 0])
        z = y[y > 2]
        return then(z, z.shape[0]) - v.sum(), z, y.sum() + then(v, 3).sum()

    program = wb.collective(lambda v: chained(v, first, second))
    names = [str(each) for each in program.machines(V)]
    assert len(names) == 3  # the length of z is known before the last one
    assert "program 2 of 3" in names[1]
    assert "reads what tests.test_foreign.native returns in line" in names[1]
    expected = chained(V, lambda a: a * 2, lambda a, k: a + k)
    for backend, threads in WAYS:
        for mine, exact in zip(program(V, backend=backend, threads=threads), expected, strict=True):
            assert_same_bits(np.asarray(mine), np.asarray(exact), backend)
    assert len(double.given) == 2
    assert len(count.given) == 4


def test_what_a_loop_reads_and_what_a_native_is_given_of_a_loop():
    add = wb.foreign(Native(np.add), lambda a, b: a + b)

    def turned(v, use):
        shift = use(v, 1.0)
        _, found = while_loop(lambda k, x: k < 5, lambda k, x: (k + 1, x + shift), (0, v), at_most=9)
        return use(found, shift) * 2

    shift = V + 1
    expected = (V + 5 * shift + shift) * 2
    program = wb.collective(lambda v: turned(v, add))
    for backend, threads in WAYS:
        assert_same_bits(program(V, backend=backend, threads=threads), expected, backend)


def test_the_fallback_may_be_foreign_itself(monkeypatch):
    """The first native of a cascade whose backend it is; on the reference interpreter none."""
    fake = FakeCupy()
    monkeypatch.setitem(sys.modules, "cupy", fake)
    backend, load = CudaBackend(fake, fake.cubins), registry._load
    monkeypatch.setattr(registry, "_load", lambda row: backend if row.name == "cuda" else load(row))
    on_host, simulated = Native(lambda a, b: a @ b), Native(lambda a, b: a @ b)

    def on_gpu(a, b):
        assert isinstance(a, FakeArray)
        assert isinstance(b, FakeArray)
        return fake.asarray(a.get() @ b.get())

    in_turn = wb.foreign(on_host, wb.foreign(simulated, wb.foreign(Native(on_gpu), product, backend="cuda"),
                                             backend="cuda-sim"))  # fmt: skip
    program = wb.collective(lambda m, v: in_turn(m * 2, v) + 1)
    expected = (M * 2) @ V + 1
    for each, calls in (("reference", (0, 0)), ("openmp", (1, 0)), ("cuda-sim", (1, 1)), ("cuda", (1, 1))):
        assert_same_bits(program(M, V, backend=each), expected, each)
        assert (len(on_host.given), len(simulated.given)) == calls
    assert repr(program).endswith("traced for 1 combination of types>")
    program.close()
    fake.pool.free_all_blocks()


class Both(NamedTuple):
    low: object
    high: object


def test_a_named_tuple_of_results_and_constants_of_the_trace():
    seen = []

    def native(a, how, sizes):
        seen.append((how, sizes))
        return a.min(axis=0), a.max(axis=0)

    extremes = wb.foreign(native, lambda a, how, sizes: Both(a.min(axis=0), a.max(axis=0)))

    @wb.collective
    def spread(m):
        found = extremes(m, "both", (1, 2))
        return found.high - found.low

    assert_same_bits(spread(M, backend="openmp"), M.max(axis=0) - M.min(axis=0))
    assert seen == [("both", (1, 2))]


def test_natives_cannot_write_what_they_are_given_and_unused_ones_are_not_called():
    def writes(a):
        a[0] = 1.0
        return a

    unused = Native(np.negative)
    write, negative = wb.foreign(writes, lambda a: a * 1), wb.foreign(unused, lambda a: -a)

    @wb.collective
    def given(v):
        return write(v)

    @wb.collective
    def dropped(v):
        negative(v)
        return v * 2

    before = V.copy()
    with pytest.raises(RunError, match=r"raised ValueError: assignment destination is read-only"):
        given(V, backend="openmp")
    assert_same_bits(V, before)
    assert_same_bits(dropped(V, backend="openmp"), V * 2)
    assert not unused.given


def test_results_are_the_callers_own():
    """Also of a native that returns what it was given, or the same array each time."""
    kept = np.zeros(7)
    same, mine = wb.foreign(lambda a: a, lambda a: a * 1), wb.foreign(lambda a: kept, lambda a: a * 0)

    @wb.collective
    def both(v):
        return same(v), mine(v)

    given = V.copy()
    first, second = both(given, backend="openmp")
    first += 1
    second += 1
    assert_same_bits(given, V)
    assert_same_bits(kept, np.zeros(7))


def raises(*_):
    raise ArithmeticError("singular")


WRONG = {
    "raises": (raises, r"raised ArithmeticError: singular"),
    "type": (
        lambda a: a.astype(np.float32),
        r"returned float32 of shape \(7,\), but its fallback float64 of shape \(7",
    ),
    "shape": (lambda a: a[1:], r"returned float64 of shape \(6,\), but its fallback float64 of shape \(7,\)"),
    "rank": (lambda a: a.sum(), r"returned float64 of shape \(\), but its fallback float64 of shape \(7,\)"),
    "nothing": (lambda a: None, r"returned object of shape \(\)"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_native_that_does_not_what_its_fallback_does(what):
    native, message = WRONG[what]
    call = wb.foreign(native, lambda a: a + 1)

    @wb.collective
    def wrong(v):
        return call(v) * 2

    line = wrong.__wrapped__.__code__.co_firstlineno + 2
    with pytest.raises(RunError, match=message) as caught:
        wrong(V, backend="openmp")
    assert caught.value.line == line
    assert "for call(v)" in str(caught.value)
    assert_same_bits(wrong(V, backend="reference"), (V + 1) * 2)


def test_two_values_in_place_of_one():
    call = wb.foreign(lambda a: a, lambda a: (a, a + 1))

    @wb.collective
    def wrong(v):
        return call(v)[1]

    with pytest.raises(RunError, match=r"returned 1 values, but its fallback 2"):
        wrong(V, backend="openmp")


def misused():
    add = wb.foreign(np.add, lambda a, b: a + b)
    positive = wb.foreign(lambda a: a[a > 0], lambda a: a[a > 0])
    nothing, text = wb.foreign(np.add, lambda a, b: ()), wb.foreign(np.add, lambda a, b: "sum")
    first = wb.foreign(np.add, lambda a, b: a[0])
    return {
        "in a loop": (
            lambda v: while_loop(lambda k, x: k < 3, lambda k, x: (k + 1, add(x, 1)), (0, v), at_most=9)[1],
            "between two programs",
        ),
        "in a branch": (
            lambda v: branch(v.sum() > 0, lambda x: add(x, 1), lambda x: x, (v,)),
            "between two programs",
        ),
        "in iterate": (
            lambda v: iterate(lambda x: add(x, 1), while_=lambda x: x < 3, start=v, at_most=9),
            "this function of iterate, repeat or a branch is part of one",
        ),
        "in iterate, a number": (
            lambda v: v * iterate(lambda k: add(k, 1), while_=lambda k: k < 3, start=v.shape[0] * 0, at_most=9),
            "this function of iterate, repeat or a branch is part of one",
        ),
        "in a fold": (
            lambda v: fold(lambda p, q: add(p, q), v, identity=0.0),
            "but a function of elements is part of one",
        ),
        "a length of values": (lambda v: positive(v) * 2, "how long the result is depends on values"),
        "nothing": (lambda v: nothing(v, v), "the fallback returns nothing"),
        "no array": (lambda v: text(v, v), "returns a str"),
        "a tuple": (lambda v: first((v, v), 1), "a tuple of arrays"),
    }


@pytest.mark.parametrize("what", misused())
def test_misuse_is_told_while_tracing(what):
    function, message = misused()[what]
    for backend in ("reference", "openmp"):
        with pytest.raises(TraceError, match=message):
            wb.collective(function)(V, backend=backend)


def test_it_belongs_to_functions_of_arrays():
    add = wb.foreign(np.add, lambda a, b: a + b)
    with pytest.raises(TraceError, match=r"numpy.add with a fallback is called outside of a function of arrays"):
        add(V, V)
    with pytest.raises(TraceError, match=r"called between two programs, but a cell is part of one"):
        wb.trace('x = array("x", "n")\noutput("y", plus(x, 1))', namespace={"plus": add})
    with pytest.raises(FieldError, match="the native of a foreign function is 3"):
        wb.foreign(3, product)
    with pytest.raises(BackendError, match="calls no natives"):
        wb.foreign(np.add, product, backend="reference")
    with pytest.raises(BackendError, match="did you mean 'openmp'"):
        wb.foreign(np.add, product, backend="openmpi")


def test_lengths_that_the_fallback_joins_are_checked():
    call = wb.foreign(lambda a, b: np.zeros(7), lambda a, b: a + b)
    program = wb.collective(lambda a, b: call(a, b))
    with pytest.raises(ShapeError, match="has 7"):
        program(V[:6], V, backend="openmp")


def test_calls_at_the_same_time_have_values_of_their_own():
    add = wb.foreign(np.add, lambda a, b: a + b)
    program = wb.collective(lambda v, k: add(v * k, v).sum())
    wrong = []

    def work(k):
        for _ in range(50):
            if program(V + 5, k, backend="openmp", threads=1) != (V + 5).sum() * (k + 1):
                wrong.append(k)

    at_the_same_time(work, [0.0, 1.0, 2.0, 3.0])
    assert not wrong
