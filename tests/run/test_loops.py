"""Loops that each cell makes for itself, as users type them: their meaning, equal bits, and what is no loop."""

import math

import numpy as np
import pytest

import workbench as wb
from tests.kit.backends import WAYS
from tests.kit.bits import assert_same_bits
from workbench import trace
from workbench.errors import TraceError
from workbench.language import generate, iterate, maximum, repeat, scatter
from workbench.planning.choices import Choices, PlanChoices


@wb.collective
def collatz(numbers, limit):
    def body(x, turns):
        return np.where(x % 2 == 0, x // 2, 3 * x + 1), turns + 1

    return iterate(body, while_=lambda x, turns: x > 1, start=(numbers, 0), at_most=limit)


@wb.collective
def roots(a, rounds):
    """Newton's square roots: where a round changes nothing the loop ends, and rounds that are left do not."""

    def body(x, error):
        y = 0.5 * (x + a / x)
        return y, abs(y - x)

    newton = iterate(body, while_=lambda x, error: error > 0, start=(a, math.inf), at_most=50)
    return newton, repeat(rounds, lambda x: 0.5 * (x + a / x), a)


@wb.collective
def nested(a, counts):
    """A loop in a loop, whose turns differ from element to element, between values that are used before and behind."""
    b = np.sqrt(abs(a) + 1)
    outer = repeat(counts, lambda x: repeat(3, lambda y: 0.5 * y + b, x) / b, a)
    twice = iterate(lambda y: y * b, while_=lambda y: y < 100, start=outer + 1.5, at_most=counts + 2)
    return np.sum(twice), twice - b * outer


def every_backend(program, *given):
    found = program(*given, backend="reference")
    for backend, threads in WAYS:
        other = program(*given, backend=backend, threads=threads)
        for mine, bits in zip(other, found, strict=True):
            assert_same_bits(mine, bits)
    return found


@pytest.mark.parametrize("n", [0, 1, 15, 16, 17, 1100])
def test_each_element_turns_for_itself(n):
    numbers = np.arange(1, n + 1)
    ends, turns = every_backend(collatz, numbers, 60)
    for number, end, count in zip(numbers.tolist(), ends.tolist(), turns.tolist(), strict=True):
        expected = 0
        while number > 1 and expected < 60:
            number, expected = number // 2 if number % 2 == 0 else 3 * number + 1, expected + 1
        assert (end, count) == (number, expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_element_that_has_ended_stays(dtype):
    a = np.linspace(0.1, 90, 77).astype(dtype)
    (newton, error), fixed = roots(a, 3, backend="reference")
    assert newton.dtype == error.dtype == fixed.dtype == dtype
    np.testing.assert_allclose(newton, np.sqrt(a), rtol=2 * np.finfo(dtype).eps)
    x = a
    for _ in range(3):
        x = dtype(0.5) * (x + a / x)
    assert_same_bits(fixed, x)
    for backend, threads in WAYS:
        (other, _), again = roots(a, 3, backend=backend, threads=threads)
        assert_same_bits(other, newton)
        assert_same_bits(again, fixed)


@pytest.mark.parametrize("n", [1, 33, 1030])
def test_loops_in_loops_and_between_other_values(n):
    draw = np.random.default_rng(n)
    a, counts = draw.normal(size=n), draw.integers(-1, 5, n)
    _, found = every_backend(nested, a, counts)
    for value, count, result in zip(a.tolist(), counts.tolist(), found.tolist(), strict=True):
        b, outer = math.sqrt(abs(value) + 1), value
        for _ in range(count):
            y = outer
            for _ in range(3):
                y = 0.5 * y + b
            outer = y / b
        twice = outer + 1.5
        for _ in range(count + 2):
            if not twice < 100:
                break
            twice *= b
        assert result == twice - b * outer


CELL = """
u, v = fields("u v", boundary="outflow")
rate = param("rate", 0.25)
calm = abs(laplacian(u, dx=1.0)) < 0.5
grown, steps = iterate(lambda x, n: (x + rate * (v - x), n + 1), while_=lambda x, n: abs(v - x) > 0.01,
                       start=(u, 0), at_most=where(calm, 3, 40))
g = repeat(2, lambda x: x * x, rate)
u.next = grown[+1, 0] + g
v.next = where(calm, v, v * 0.5)
turns = scalar("turns")
turns.next = reduce_sum(steps)
"""


@pytest.mark.parametrize("shape", [(1, 1), (5, 37), (40, 19)])
def test_a_stencil_reads_what_loops_of_its_neighbours_end_with(shape):
    machine = trace(CELL, dim=2, name="loops")
    draw = np.random.default_rng(3)
    given = {"u": draw.normal(size=shape), "v": draw.normal(size=shape)}
    found = []
    for backend, threads in [("reference", 1), *WAYS]:
        sim = machine.simulate(**given, backend=backend, threads=threads)
        sim.run(3)
        found.append((sim["u"], sim["v"], np.asarray(sim["turns"])))
        sim.close()
    for other in found[1:]:
        for mine, bits in zip(other, found[0], strict=True):
            assert_same_bits(mine, bits)
    # Ghost cells of what is computed are computed of ghost cells: one row beyond the last is turned as well.
    u, v = (np.pad(given[name], ((0, 1), (0, 0)), mode="edge") for name in "uv")
    padded = np.pad(given["u"], ((1, 2), (1, 1)), mode="edge")
    calm = abs((padded[2:, 1:-1] + padded[:-2, 1:-1] + padded[1:-1, 2:] + padded[1:-1, :-2]) - 4 * u) < 0.5
    steps = np.zeros(u.shape)
    for cell in np.ndindex(u.shape):
        while steps[cell] < (3 if calm[cell] else 40) and abs(v[cell] - u[cell]) > 0.01:
            u[cell] += 0.25 * (v[cell] - u[cell])
            steps[cell] += 1
    sim = machine.simulate(**given, backend="reference")
    sim.step()
    np.testing.assert_allclose(sim["u"], u[1:] + 0.25**4, rtol=1e-12)
    assert sim["turns"] == steps[:-1].sum()


def test_numbers_alone_turn_once_for_all_cells():
    machine = trace(
        """
u = field("u")
begin = param("begin", 3.0)
x = iterate(lambda x: x / 2, while_=lambda x: x > 1, start=begin, at_most=100)
u.next = u * x
""",
        dim=1,
        name="scaled",
    )
    for backend in ("reference", "openmp", "cuda-sim"):
        sim = machine.simulate(u=np.arange(5.0), begin=20.0, backend=backend)
        sim.step()
        assert sim["u"].tolist() == [0, 0.625, 1.25, 1.875, 2.5]
        sim.close()


def test_a_loop_is_one_loop_without_arrays():
    plan = collatz.machine(np.arange(9), 60).plan("openmp")
    assert len(plan.main.observed.subkernels) == 1
    assert len(plan.array_slots) == 3


def test_axes_of_what_a_body_reads_are_those_of_the_loop():
    @wb.collective
    def outer(x, y):
        return iterate(lambda a: a + y[None, :], while_=lambda a: a < 10, start=x[:, None], at_most=20), repeat(
            2, lambda a: a * y[None, :], 1.0
        )

    x, y = np.array([0.0, 9.5]), np.array([1.0, 2.0, 40.0])
    grown, squares = every_backend(outer, x, y)
    assert grown.tolist() == [[10, 10, 40], [10.5, 11.5, 49.5]]
    assert squares.tolist() == [[1.0, 4.0, 1600.0]]


def test_a_body_may_have_functions_of_their_own_header():
    @wb.collective
    def relaxed(x):
        return repeat(3, lambda a: np.exp(-a), x)

    x = np.linspace(0, 1, 7)
    found = every_backend(relaxed, x)
    assert np.allclose(found, np.exp(-np.exp(-np.exp(-x))), rtol=1e-15)


WRONG = [
    (lambda x: iterate(lambda a: a, start=x, at_most=2.5), "iterate is given 2.5 as its number of iterations"),
    (lambda x: iterate(lambda a: (a, a), start=x, at_most=2), "the body of iterate gives 2 values of 1"),
    (lambda x: repeat(2, lambda a: a > 1, x), "a is f64, but the body of repeat is given bool"),
    (lambda x: repeat(2, lambda a: 0.5, 1), "a is i64, but the body of repeat gives 0.5"),
    (lambda x: iterate(lambda a: a, while_=lambda a: a, start=x, at_most=2), "while_ of iterate gives f64"),
    (lambda x: repeat(2, lambda a: a - np.sum(a), x), "reads other cells or elements of what it carries"),
    (lambda x: repeat(2, lambda a: a[::-1], x), "reads other cells or elements of what it carries"),
    (lambda x: repeat(2, 3.0, x), "repeat is given 3.0 as its body"),
    (lambda x: repeat(2, lambda: 1.0, ()), "repeat carries no value"),
]


@pytest.mark.parametrize(("loop", "message"), WRONG, ids=[message for _, message in WRONG])
def test_what_is_no_loop_is_refused(loop, message):
    with pytest.raises(TraceError) as caught:
        wb.collective(lambda x: loop(x) * maximum(x, 0.0))(np.ones(3))
    assert message in str(caught.value)


def test_loops_of_what_is_sent_and_of_where_it_goes_stand_in_one_text():
    """The lines of one are those of another one, but for names; each is written whole."""

    @wb.collective
    def sent(x, columns, first):
        halved = repeat(3, lambda a: 0.5 * a, x + x[columns])
        place = repeat(3, lambda k: (k + 1) % 7, first)
        is_sent = repeat(3, lambda a: 0.5 * a, x) > 0.1
        return scatter(np.add, generate(7, lambda i: 0.0), place, halved, where=is_sent)

    x, columns, first = np.linspace(0.0, 3.0, 40), np.arange(40)[::-1], np.arange(40)
    expected = np.zeros(7)
    for k in range(40):
        if 0.125 * x[k] > 0.1:
            expected[(first[k] + 3) % 7] += 0.125 * (x[k] + x[columns[k]])
    choices = Choices(plan=PlanChoices().changed(preset="as_delayed"))
    for backend, threads in WAYS:
        found = sent(x, columns, first, backend=backend, threads=threads, choices=choices)
        np.testing.assert_allclose(found, expected, rtol=1e-14)
        assert_same_bits(found, sent(x, columns, first, backend="reference"))
