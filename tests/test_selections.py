"""What functions of arrays compute with elements that conditions select: NumPy's results, and equal bits everywhere.

How many elements are selected is known between two programs, so these functions are sequences of programs. Whole
numbers in floats make folds exact, so that NumPy's own results are the oracle; 0.0 is added to sums, as that of nothing
is -0.0 here.
"""

import signal

import numpy as np
import pytest

import workbench as wb
from tests.kit import array_oracle
from tests.kit.array_programs import program_of
from tests.kit.bits import assert_same_bits
from tests.kit.compiled_together import compiled_together
from workbench import language
from workbench.errors import RunError, ShapeError, TraceError
from workbench.run import one_call
from workbench.run.prepared import Prepared
from workbench.views.plan.messages import notes_of

WAYS = (("reference", 0), ("openmp", 1), ("openmp", 2), ("openmp", 3), ("cuda-sim", 0))
SIZES = (0, 1, 2, 33, 5000)


def whole(n, seed=0, type_=np.float64):
    """Whole numbers from -9 to 9, so that no sum is rounded."""
    return np.random.default_rng([n, seed]).integers(-9, 10, n).astype(type_)


def assert_is_numpy(function, *given, ways=WAYS):
    """The results of the function itself, on plain arrays of NumPy, to the bit on every backend."""
    with np.errstate(all="ignore"):
        expected = function(*given)
    expected = expected if isinstance(expected, tuple) else (expected,)
    for backend, threads in ways:
        found = program_of(function)(*given, backend=backend, threads=threads)
        found = found if isinstance(found, tuple) else (found,)
        for place, (mine, exact) in enumerate(zip(found, expected, strict=True)):
            assert_same_bits(mine, exact, f"{backend}, {threads} threads, result {place}")


def folds_and_maps(x):
    y = x[x > 0]
    return 0.0 + np.sqrt(y * y).sum(), 0.0 + y.sum(), y * 2, y[1:] - y[:-1], y, y.size, 1 + y[::-1]


@pytest.mark.parametrize("n", SIZES)
def test_maps_and_folds_of_what_is_selected(n):
    assert_is_numpy(folds_and_maps, whole(n))


def test_it_is_two_programs():
    first, second = program_of(folds_and_maps).machines(whole(5))
    assert first.name == "folds_and_maps_1"
    assert "program 1 of 2; finds j, the length of x[x > 0] in line" in str(first)
    assert "program 2 of 2; with j, the length of x[x > 0] in line" in str(second)
    assert second.graph.fields[0].name == "selected1"
    line = folds_and_maps.__code__.co_firstlineno + 1
    said = f"program 2 of 2; with j, the length of x[x > 0] in line {line}"
    assert f"\n{said}\n" in str(second.plan())
    assert second.plan().explain("y").endswith(f"This is {said}.")
    assert notes_of(second.view("plan").summary)[0] == f"It is {said}."


def several(x, z):
    positive, negative = x[x > 0], x[x < 0]
    both = z[x > 0]
    return positive.sum() - negative.sum(), positive * both + 1, negative.size, np.concatenate((negative, positive))


def of_selections(x):
    y = x[x > -5]
    z = y[y < 5]
    return z * 2, 0.0 + y.sum() + z.sum(), z[z != 0] - z.sum(), x.sum() * z


def values_of_before(x, z):
    total, running = x.sum(), np.cumsum(x)
    dear = x * x * x - 3 * x * x + z
    y = x[dear > total]
    return (
        0.0 + (y - total).sum(),
        running[x > 0] + total,
        (dear[:, None] * y[None, :]).sum(axis=0),
        (running * 2).sum() + y,
    )


def squares(x):
    return positive_of(x) ** 2


@wb.collective
def positive_of(x):
    return x[x > 0]


def by_functions(x):
    y = squares(x)
    return 0.0 + y.sum(), y + x[x > 0]


def places(a, x):
    rows, columns = np.nonzero(a > 2)
    where = np.flatnonzero(x)
    (again,) = np.where(x > 3)
    return (
        a[rows, columns] + rows,
        columns * 2,
        x[where] - where,
        again + 1,
        np.argwhere(a > 2),
        np.extract(x > 0, x) + 1,
    )


def of_more_axes(a, x):
    rows = a[x > 0]
    return a[a > 3] + 1, rows * 2, 0.0 + rows.sum(axis=0), rows @ rows.T, a[x < 0].shape[0], rows[:, 1]


def with_loops(x):
    words = array_oracle if isinstance(x, np.ndarray) else language
    y = x[x > 0]

    def body(k, v):
        return k + 1, v[::-1] + x.max()

    count, turned = words.while_loop(lambda k, v: k < 3, body, (0, y), at_most=9)
    later = turned[turned > 12]
    total, _ = words.while_loop(lambda t, k: k < 2, lambda t, k: (t + later.sum(), k + 1), (x.sum(), 0), at_most=9)
    return count, turned, total, later


def lengths_alone(x):
    y = x[x > 0]
    return y.shape[0], np.zeros_like(y), 3 * x


OF_ONE, OF_TWO, OF_MATRICES = (of_selections, by_functions), (several, values_of_before), (places, of_more_axes)
LONG, WIDE = whole(5), np.ones((5, 3))


@pytest.fixture(scope="module", autouse=True)
def compiled():
    """The programs of these functions on all compiled backends."""
    of_one = (folds_and_maps, *OF_ONE, with_loops, lengths_alone)
    calls = [(each, LONG) for each in of_one] + [(each, LONG, LONG) for each in OF_TWO]
    calls += [(each, WIDE, LONG) for each in OF_MATRICES]
    machines = [machine for function, *given in calls for machine in program_of(function).machines(*given)]
    with compiled_together("openmp", machines, "1"), compiled_together("cuda-sim", machines, "1"):
        yield


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("function", OF_TWO)
def test_of_two_arrays(function, n):
    assert_is_numpy(function, whole(n), whole(n, 1))


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("function", OF_ONE)
def test_of_one_array(function, n):
    assert_is_numpy(function, whole(n))


@pytest.mark.parametrize("function", [with_loops, lengths_alone])
def test_of_arrays_with_elements(function):
    for n in SIZES[2:]:
        assert_is_numpy(function, whole(n))


@pytest.mark.parametrize("shape", [(0, 3), (1, 3), (7, 3), (200, 33)])
@pytest.mark.parametrize("function", OF_MATRICES)
def test_of_matrices(function, shape):
    draw = np.random.default_rng(shape)
    assert_is_numpy(function, draw.integers(-9, 10, shape).astype(np.float64), whole(shape[0]))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x[None, :][np.array([True])] + 1,
        lambda x: x[None, :][x[:1] < 3] + 1,
        lambda x: x[None, :, None][x[None, :] < 2] + 1,
        lambda x: x[:1, None][x.sum(keepdims=True) > 0] + 1,
        lambda x: x.sum(keepdims=True)[x[:1] < 9] + 1,
    ],
)
def test_conditions_on_axes_of_one_element(function):
    assert_is_numpy(function, whole(5), ways=WAYS[::2])


@pytest.mark.parametrize(
    ("function", "fits"),
    [
        (lambda x, c: x[None, :][c] + 1, 1),
        (lambda x, c: x.sum(keepdims=True)[c] + 1, 1),
        (lambda x, c: np.stack([x, x])[c] + 1, 2),
        (lambda x, c: np.stack([c, c], 1)[x[:3].sum(keepdims=True) < 99] + 1, 1),
    ],
)
def test_conditions_have_the_length_of_the_array_also_where_one_is_1(function, fits):
    for count in (1, 2, 3):
        condition = np.arange(count) % 2 == 0
        if count == fits:
            assert_is_numpy(function, whole(5), condition, ways=WAYS[::2])
            continue
        with pytest.raises(IndexError):
            function(whole(5), condition)
        with pytest.raises(ShapeError, match=r"has \d elements?"):
            program_of(function)(whole(5), condition, backend="reference")


def test_arrays_of_one_condition_meet_and_those_of_others_if_their_lengths_are_equal():
    def of_others(x, z):
        small, large = x[x < 3], z[z > 3]
        return small + large

    program = program_of(of_others)
    x, z = np.array([1.0, 5.0, 2.0]), np.array([4.0, 0.0, 9.0])
    for backend in ("reference", "openmp", "cuda-sim"):
        assert_same_bits(program(x, z, backend=backend), of_others(x, z))
        with pytest.raises(ShapeError) as caught:
            program(x, x, backend=backend)
        line = of_others.__code__.co_firstlineno
        assert f"z[z > 3] in line {line + 1} has 1 element, x[x < 3] in line {line + 1} has 2" in str(caught.value)
        assert f"line {line + 2}, small + large" in str(caught.value)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            lambda x: language.while_loop(lambda v: v.sum() > 0, lambda v: v[v > 0], x, at_most=3),
            r"becomes known between two programs(.*\n)*Select before or after it",
        ),
        (
            lambda x: language.branch(x.sum() > 0, lambda v: (v * v[v > 0].sum(),), lambda v: (v,), (x,)),
            "becomes known between two programs",
        ),
        (
            lambda x: language.iterate(lambda v: v + x[v > 0].sum(), while_=lambda v: v < 3, start=x, at_most=9),
            "becomes known between two programs, and this function of iterate, repeat or a branch is part of one",
        ),
        (lambda x: x[x[:, None] > 0], "a condition of 2 axes on an array of 1"),
        (lambda x: x[(x > 0).sum() > 1], "a condition of 0 axes on an array of 1"),
        (lambda x: np.nonzero(x.sum()), "a number has no places"),
        (lambda x: x[:, None][:, x > 0], r"an index is bool(.*\n)*.*x\[:, np\.flatnonzero\(condition\)\]"),
        (lambda x: x + 0 if x[x > 0].size else x, "needs one true or false"),
    ],
)
def test_what_is_refused(function, message):
    with pytest.raises(TraceError, match=message):
        wb.collective(function)(np.ones(3), backend="reference")


def test_what_a_cell_compresses_is_an_output_alone():
    with pytest.raises(TraceError, match="cannot be computed with") as caught:
        wb.trace('xs = array("xs", "n")\noutput("kept", compress(xs, xs > 2) + 1)')
    assert caught.value.line == 2


def test_an_index_outside_of_what_is_selected_is_told_in_the_functions_words():
    def outside(x):
        y = x[x > 0]
        return y[(y * 2).astype("i64")]

    for backend in ("reference", "openmp"):
        with pytest.raises(
            RunError, match=r"x\[x > 0\] is read at index 6, for element 1, but has 2 elements"
        ) as caught:
            wb.collective(outside)(np.array([0.0, 0.5, -1.0, 3.0]), backend=backend)
        assert caught.value.line == outside.__code__.co_firstlineno + 2


def test_a_later_call_traces_plans_and_compiles_nothing(monkeypatch):
    program = wb.collective(folds_and_maps)
    x = whole(100)
    program(x, backend="openmp")
    for name in ("trace_collective", "compile_graph"):
        monkeypatch.setattr(f"workbench.array_function.{name}", None)
    for mine, exact in zip(program(x, backend="openmp"), folds_and_maps(x), strict=True):
        assert_same_bits(mine, exact)
    assert_same_bits(program(-x[::-1].copy() * 0 + x, backend="openmp")[4], x[x > 0])


def test_the_next_program_works_on_the_arrays_of_the_one_before(monkeypatch):
    given = []
    give = one_call._Lending.give_whole
    monkeypatch.setattr(
        one_call._Lending, "give_whole", lambda call, arrays: (given.extend(arrays), give(call, arrays))
    )
    x = whole(100)
    assert_same_bits(program_of(positive_halves)(x, backend="openmp"), positive_halves(x))
    read, selected = given
    assert read is x
    assert selected.base.shape == x.shape
    assert selected.flags.c_contiguous


def positive_halves(x):
    return x[x > 0] / 2


def test_ctrl_c_ends_a_call_between_two_programs(monkeypatch):
    program, x = wb.collective(positive_halves), whole(50)
    run = Prepared.run

    def interrupted(prepared, arguments, **options):
        found = run(prepared, arguments, **options)
        signal.raise_signal(signal.SIGINT)
        return found

    with monkeypatch.context() as patch:
        patch.setattr(Prepared, "run", interrupted)
        with pytest.raises(KeyboardInterrupt):
            program(x, backend="openmp")
    assert_same_bits(program(x, backend="openmp"), positive_halves(x))


def test_memory_of_many_lengths_is_given_up():
    program = wb.collective(positive_halves)
    for n in range(40):
        program(np.r_[np.ones(n), -np.ones(40 - n)], backend="openmp")
    (sequence,) = program._prepared.values()
    assert [len(step.known) for step in sequence._steps] == [1, 4]
    program.close()
    assert not any(prepared._idle for step in sequence._steps for prepared in step.known.values())


def test_choices_of_precision_hold_in_all_programs():
    def rounded(x):
        y = x[x > 1]
        third = language.compute_in(y / 3, "f32")
        return third, y

    x = np.arange(5.0)
    third, y = wb.collective(rounded)(x, backend="openmp")
    assert_same_bits(y, x[x > 1])
    assert third.dtype == np.float32
    assert_same_bits(third, (y.astype(np.float32) / np.float32(3)))
