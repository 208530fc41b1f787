"""Loops of each cell that read elements of arrays known before: their meaning, equal bits, and places outside."""

import inspect
import itertools

import numpy as np
import pytest

import workbench as wb
from tests.kit.backends import WAYS
from tests.kit.bits import assert_same_bits
from workbench import trace
from workbench.errors import OutsideError, RunError, TraceError
from workbench.language import fold_segments, iterate, repeat, while_loop

NUMBERS = itertools.count(10**6)


def search(table, wanted):
    """The place of each number in a sorted table, by halving."""

    def body(low, high):
        middle = (low + high) // 2
        is_below = table[middle] < wanted
        return np.where(is_below, middle + 1, low), np.where(is_below, high, middle)

    nothing = 0 * wanted.astype("i64")
    start = (nothing, nothing + table.shape[0])
    return iterate(body, while_=lambda low, high: low < high, start=start, at_most=64)[0]


def walk(following, first, most):
    """To the end of a list, and the sum of what is passed; a formula of the list is read there too."""
    weights = np.sqrt(2.0 * following + 2)

    def body(place, total):
        return following[place], total + weights[place]

    return iterate(body, while_=lambda place, total: place >= 0, start=(first, 0.0), at_most=most)


def asked(x, first, most):
    """The condition reads an array."""
    return iterate(lambda i: i + 1, while_=lambda i: x[i] > 0, start=first, at_most=most)


def nested(a, first, rounds):
    """A loop in a loop, of a matrix, a formula of it and a view of it, which turn a different number of times."""
    rows = np.sqrt(abs(a)) + 1.0
    turned = a[::-1, 1:]

    def inner(place, total):
        row = (place + first) % a.shape[0]
        return place + 1, total + rows[row, place % a.shape[1]] - turned[row, 0]

    def outer(place, total):
        count, found = iterate(
            inner, while_=lambda k, t: rows[k % a.shape[0], 0] + t < 4, start=(place, total), at_most=rounds
        )
        return count + 1, found * 0.5

    return iterate(outer, while_=lambda place, total: place < 9, start=(first, 0.0), at_most=rounds)


def total(x, first):
    """Sums of three elements each, by a loop in a loop."""

    def outer(i, s):
        k, t = iterate(lambda k, t: (k + 1, t + x[i + k]), while_=lambda k, t: k < 3, start=(0, 0.0), at_most=5)
        return i + k, s + t

    return iterate(outer, while_=lambda i, s: i < 9, start=(first, 0.0), at_most=100)


def made(function):
    """The program of a function, with a number of its own, so that a seeded fault of the text is met."""
    number = next(NUMBERS)

    def program(**given):
        found = function(**given)
        first, *others = found if isinstance(found, tuple) else (found,)
        first = np.where(first > number, 0, first)
        return (first, *others) if others else first

    program.__signature__ = inspect.signature(function)
    return wb.collective(program)


def every_backend(program, *given):
    found = program(*given, backend="reference")
    several = found if isinstance(found, tuple) else (found,)
    for backend, threads in WAYS:
        other = program(*given, backend=backend, threads=threads)
        for mine, bits in zip(other if isinstance(other, tuple) else (other,), several, strict=True):
            assert_same_bits(mine, bits)
    return found


@pytest.mark.parametrize("n", [0, 1, 15, 16, 17, 1100])
@pytest.mark.parametrize("size", [0, 1, 1000])
def test_a_table_is_searched(n, size):
    draw = np.random.default_rng(n)
    table, wanted = np.sort(draw.normal(size=size)), draw.normal(size=n)
    assert every_backend(made(search), table, wanted).tolist() == np.searchsorted(table, wanted).tolist()


@pytest.mark.parametrize("n", [1, 16, 77])
def test_a_list_is_followed(n):
    draw = np.random.default_rng(n)
    following = draw.integers(-1, np.arange(1, 200) - 1, endpoint=True)  # to one before
    following[0] = -1
    first, most = draw.integers(-1, 199, n), draw.integers(-1, 6, n)
    places, totals = every_backend(made(walk), following, first, most)
    for place, count, end, total in zip(first.tolist(), most.tolist(), places.tolist(), totals.tolist(), strict=True):
        expected = 0.0
        for _ in range(count):
            if place < 0:
                break
            expected += np.sqrt(2.0 * following[place] + 2)
            place = following[place]
        assert (end, total) == (place, expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [3, 33])
def test_loops_in_loops_read_arrays_of_any_strides(dtype, n):
    draw = np.random.default_rng(n)
    a = draw.normal(size=(14, 6)).astype(dtype)
    first, rounds = draw.integers(0, 5, n), draw.integers(-1, 5, n)
    program = made(nested)
    _, found = every_backend(program, a, first, rounds)
    assert found.any()
    assert_same_bits(program(np.asfortranarray(a), first, rounds)[1], found)
    for view in (a[::2, ::-1], a[:, 1:], a.T[:5, ::3].T):
        _, expected = every_backend(program, view, first, rounds)
        assert_same_bits(program(view.copy(), first, rounds)[1], expected)


def test_what_loops_with_reads_end_with_goes_where_others_go():
    @wb.collective
    def used(following, first, lengths):
        ends = iterate(lambda i: following[i], while_=lambda i: i > 1, start=first, at_most=100)
        twice = repeat(2, lambda i: following[i], first)
        parts = fold_segments(np.add, twice + ends, lengths)
        return np.cumsum(ends), np.sum(ends * twice), ends[::-1], ends[1:] - ends[:-1], twice[ends], parts

    given = np.array([0, 0, 1, 2, 3]), np.array([1, 2, 3, 4, 0, 4]), np.array([2, 0, 4])
    running, total, back, steps, taken, parts = every_backend(used, *given)
    assert running.tolist() == [1, 2, 3, 4, 4, 5]
    assert (total, back.tolist(), steps.tolist()) == (5, [1, 0, 1, 1, 1, 1], [0, 0, 0, -1, 1])
    assert (taken.tolist(), parts.tolist()) == ([0, 0, 0, 0, 0, 0], [2, 0, 8])


def test_one_number_may_walk():
    @wb.collective
    def last(following, first):
        return iterate(lambda i: following[i], while_=lambda i: i > 1, start=first, at_most=2)

    assert every_backend(last, np.array([0, 0, 1, 2, 3]), 4) == 2
    assert every_backend(last, np.array([0, 0, 1, 2, 3]), 3) == 1


CELL = """
u, v = fields("u v", boundary="outflow")
q = field("q", boundary="periodic")
speed = sqrt(u * u + v * v)

def place(x, n):
    return astype(minimum(maximum(floor(x), 0.0), n - 1.0), "i64")

def step(x, y, turns):
    i, j = place(x, size(0)), place(y, size(1))
    s = gather(speed, i, j) + 0.01
    return x + gather(u, i, j) / s, y + gather(v, i, j) / s, turns + 1

def inside(x, y, turns):
    return (x >= 0) & (y >= 0) & (x < size(0)) & (y < size(1))

x, y, turns = iterate(step, while_=inside, start=(index(0) + 0.5, index(1) + 0.5, 0), at_most=where(q > 0, 50, 7))
around = lambda a, n: (a + gather(extend(q, "periodic"), index(0) + n - 5, index(1) - n), n + 1)
u.next = repeat(3, around, (q, 0))[0]
v.next = v[+1, 0] + astype(turns, "f64")[-1, 0]
q.next = where(q > NUMBER, 0.0, x + y)
"""


@pytest.mark.parametrize("shape", [(1, 1), (5, 37), (40, 19)])
def test_lines_of_a_flow_are_followed_through_fields(shape):
    machine = trace(CELL.replace("NUMBER", str(next(NUMBERS))), dim=2, name="lines")
    draw = np.random.default_rng(3)
    given = {name: draw.normal(size=shape) for name in "uvq"}
    found = []
    for backend, threads in [("reference", 1), *WAYS]:
        sim = machine.simulate(**given, backend=backend, threads=threads)
        sim.run(3)
        found.append([sim[name] for name in "uvq"])
        sim.close()
    for other in found[1:]:
        for mine, bits in zip(other, found[0], strict=True):
            assert_same_bits(mine, bits)
    sim = machine.simulate(**given, backend="reference")
    sim.step()
    u, v, q = given["u"], given["v"], given["q"]
    for cell in np.ndindex(shape):
        x, y, turns, a = cell[0] + 0.5, cell[1] + 0.5, 0, q[cell]
        while turns < (50 if q[cell] > 0 else 7) and 0 <= x < shape[0] and 0 <= y < shape[1]:
            i, j = int(x), int(y)
            s = np.sqrt(u[i, j] * u[i, j] + v[i, j] * v[i, j]) + 0.01
            x, y, turns = x + u[i, j] / s, y + v[i, j] / s, turns + 1
        for n in range(3):
            a += q[(cell[0] + n - 5) % shape[0], (cell[1] - n) % shape[1]]
        assert (sim["q"][cell], sim["u"][cell]) == (x + y, a)


def test_a_loop_over_arrays_reads_what_it_carries_in_loops_of_elements():
    """Of a while_loop; what the loop of each element carries is none of it."""

    @wb.collective
    def jumped(following):
        def body(now, k):
            return repeat(2, lambda i: now[i], now), k + 1

        return while_loop(lambda now, k: k < 2, body, (following, 0), at_most=5)[0]

    following = np.array([1, 2, 3, 4, 5, 6, 7, 8, 9, 9])
    expected = following
    for _ in range(2):
        expected = expected[expected[expected]]
    assert every_backend(jumped, following).tolist() == expected.tolist()


def outside_of(program, *given):
    """What every backend says of the first place outside."""
    found = []
    for backend, threads in [("reference", 1), *WAYS]:
        with pytest.raises(OutsideError) as caught:
            program(*given, backend=backend, threads=threads)
        found.append(str(caught.value).splitlines()[0])
    assert len(set(found)) == 1
    return found[0]


@pytest.mark.parametrize("n", [4, 35])
def test_a_place_outside_is_an_error_that_names_line_index_and_element(n):
    following, first = np.array([1, 2, 3, -1, 9]), np.resize([0, 3, 2, 4], n)
    said = outside_of(wb.collective(walk), following, first, np.full(n, 50))
    assert "following is read at index 9, for element 3, but has 5 elements along axis 0" in said
    once = made(lambda x, first: repeat(1, lambda i: x[i], first))
    for place in (-1, 5):  # just outside
        assert f"x is read at index {place}, for element 2" in outside_of(once, following, np.resize([0, 4, place], n))
    assert said.startswith(f"line {walk.__code__.co_firstlineno + 5}:")


@pytest.mark.parametrize("n", [4, 35])
def test_turns_that_are_not_made_read_nothing(n):
    """Not those behind the most turns, nor the body where the condition does not hold any more."""
    following, first = np.array([1, 2, 3, -1, 9]), np.resize([0, 3, 4, 1], n)
    places, _ = every_backend(made(walk), following, first, np.resize([50, 0, 1, 2], n))
    assert places.tolist() == np.resize([-1, 3, 9, 3], n).tolist()
    outside_of(made(walk), following, first, np.resize([50, 0, 2, 2], n))
    program = made(asked)
    assert every_backend(program, np.array([1.0, 1.0, 0.0]), first % 3, np.full(n, 100)).tolist() == [2] * n
    assert every_backend(program, np.ones(3), first % 4, 3 - first % 4).tolist() == [3] * n
    said = outside_of(program, np.ones(3), np.resize([0, 2], n), np.full(n, 100))
    assert "x is read at index 3, for element 1" in said
    assert every_backend(made(search), np.ones(0), np.ones(n)).tolist() == [0] * n


def test_a_loop_in_a_lane_that_has_ended_notes_nothing():
    first, program = np.resize([0, 2, 9, 30], 20), made(total)
    ends, _ = every_backend(program, np.arange(11.0), first)
    assert ends.tolist() == np.resize([9, 11, 9, 30], 20).tolist()
    said = outside_of(program, np.arange(10.0), first)
    assert "x is read at index 10, for element 1" in said


def test_a_cell_says_which_read_is_outside():
    text = """
u, v = fields("u v", dtype="i64")
w = gather(u, index(0))

def body(a, b):
    c = gather(u, a)
    return c, gather(v, b)

u.next = w + repeat(2, body, (index(0), index(0)))[1] + NUMBER
v.next = v
"""
    machine = trace(text.replace("NUMBER", str(next(NUMBERS))), dim=1, name="far")
    inside, outside = np.array([0, 2, 1]), np.array([0, 1, 7])
    for backend in ("reference", "openmp", "cuda-sim"):
        for given, name, line in [((inside, outside), "v", 7), ((outside, inside), "u", 6)]:
            says = "index 7, for x = 2, but has 3 cells along x" if backend == "reference" else "an index outside of it"
            sim = machine.simulate(**dict(zip("uv", given, strict=True)), backend=backend)
            with pytest.raises(RunError, match=f"{name} is read at {says}") as caught:
                sim.step()
            assert caught.value.line == line
            sim.close()


def test_what_a_loop_carries_is_read_in_its_own_cell_alone():
    program = wb.collective(lambda x, first: repeat(2, lambda a: a[first] + 1, x))
    with pytest.raises(TraceError, match="repeat reads other cells or elements of what it carries") as caught:
        program(np.ones(3), np.array([0, 1, 2]))
    assert "while_loop" in caught.value.advice

    @wb.collective
    def inner(x, first):
        return repeat(2, lambda a: repeat(2, lambda k: a[k % 3] + k, first), x)

    with pytest.raises(TraceError, match="repeat reads other cells or elements of what it carries"):
        inner(np.array([0, 1, 2]), np.array([0, 1, 2]))
