"""Loops over whole arrays inside of one another: what they compute, how each ends, and where a broken one goes on."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.backends import WAYS
from tests.kit.bits import assert_same_bits
from workbench.backends.base import MarchRequest
from workbench.backends.registry import select_backend
from workbench.errors import RunError, StencilError, TraceError
from workbench.graph.parse import parse
from workbench.language import branch, generate, while_loop
from workbench.pipeline import build, plan_for
from workbench.planning import Choices

BACKENDS = (("reference", 0), *WAYS)

NEWTON = """
f, u = field("f"), field("u", boundary=constant(0.0))
tol = param("tol", 1e-10)
newton_turns, gradient_turns = scalar("newton_turns", 0, "i64"), scalar("gradient_turns", 0, "i64")
zero = constant(0.0)
largest = reduce_sum(f * f)
def operator(u):
    return 4 * u - u[+1, 0] - u[-1, 0] - u[0, +1] - u[0, -1]
def newton(u, r, rr, count, inner):
    diagonal = 3 * u * u
    def gradient(x, s, d, ss, n):
        q = operator(d) + diagonal * d
        alpha = ss / reduce_sum(d * q)
        s_next = s - alpha * q
        ss_next = reduce_sum(s_next * s_next)
        return x + alpha * d, s_next, s_next + ss_next / ss * d, ss_next, n + 1
    more = lambda x, s, d, ss, n: (ss > 1e-4 * rr) & (ss > 1e-24 * largest)
    x, _, _, _, n = while_loop(more, gradient, (0 * r, r, r, rr, 0), at_most={inner})
    u = extend(u + x, zero)
    r = f - operator(u) - u * u * u
    return u, r, reduce_sum(r * r), count + 1, inner + n
first = f - operator(u) - u * u * u
start = u, extend(first, zero), reduce_sum(first * first), 0, 0
more = lambda u, r, rr, count, inner: rr > tol * tol * largest
u.next, _, _, newton_turns.next, gradient_turns.next = while_loop(more, newton, start, at_most={outer})
"""
SOURCE = 8 * (np.random.default_rng(19520909).random((11, 9)) - 0.3)


def operator(u):
    around = np.pad(u, 1)
    return 4 * u - around[2:, 1:-1] - around[:-2, 1:-1] - around[1:-1, 2:] - around[1:-1, :-2]


def newton(f, u, tol):
    """The same in NumPy, but for the order of sums."""
    turns = inner = 0
    while np.sum((r := f - operator(u) - u**3) ** 2) > tol**2 * np.sum(f * f):
        x, s, d, rr = 0 * r, r, r, np.sum(r * r)
        while np.sum(s * s) > max(1e-4 * rr, 1e-24 * np.sum(f * f)):
            q, ss = operator(d) + 3 * u * u * d, np.sum(s * s)
            alpha = ss / np.sum(d * q)
            x, s = x + alpha * d, s - alpha * q
            d, inner = s + np.sum(s * s) / ss * d, inner + 1
        u, turns = u + x, turns + 1
    return u, turns, inner


def test_newton_with_conjugate_gradients_inside_solves_a_nonlinear_equation():
    """laplacian(u) = u^3 - f on a grid with u = 0 around it; the equation of each iteration is solved roughly."""
    machine, found = wb.trace(NEWTON.format(inner=99, outer=20), 2, name="newton"), []
    for backend, threads in BACKENDS:
        with machine.simulate(f=SOURCE, u=0.0, backend=backend, threads=threads) as sim:
            sim.run(1)
            found.append(sim.u)
            assert_same_bits(sim.u, found[0], backend)
            counts = sim.newton_turns, sim.gradient_turns
            sim.run(1)  # begins with a solution
            assert (sim.newton_turns, sim.gradient_turns) == (0, 0)
    expected, *turns = newton(SOURCE, np.zeros_like(SOURCE), 1e-10)
    assert counts == tuple(turns)
    assert turns[1] > 3 * turns[0] > 9
    np.testing.assert_allclose(found[0], expected, rtol=1e-9)  # sums in another order
    residual = SOURCE - operator(found[0]) - found[0] ** 3
    assert np.sqrt(np.sum(residual**2)) < 1e-9 * np.sqrt(np.sum(SOURCE**2))


@pytest.mark.parametrize(("inner", "outer", "line", "most"), [(3, 20, 18, 3), (99, 2, 25, 2)])
def test_each_loop_has_its_own_bound(inner, outer, line, most):
    machine = wb.trace(NEWTON.format(inner=inner, outer=outer), 2, name="newton")
    for backend in ("reference", "openmp", "cuda-sim"):
        sim = machine.simulate(f=SOURCE, u=0.0, backend=backend)
        with pytest.raises(RunError, match=rf"the while_loop of newton did not end within {most} iterations") as caught:
            sim.run(1)
        assert caught.value.line == line
        assert not sim.u.any()  # the step is not done
    enough = NEWTON.format(inner="3, at_most_ok=True", outer="2, at_most_ok=True")
    sim = wb.trace(enough, 2).simulate(f=SOURCE, u=0.0, backend="openmp").run(1)
    assert (sim.newton_turns, sim.gradient_turns) == (2, 6)


@pytest.mark.parametrize(("backend", "threads"), [("reference", 0), ("openmp", 2)])
def test_a_step_that_is_broken_off_inside_goes_on_there(backend, threads):
    graph = wb.trace(NEWTON.format(inner=99, outer=20), 2).graph
    program = build(plan_for(graph, Choices(), backend), select_backend(backend))
    whole, parts = (program.instantiate(SOURCE.shape, threads) for _ in range(2))
    for instance in (whole, parts):
        instance.write_field("f", SOURCE)
        instance.write_global("tol", 1e-10)
    whole.march(MarchRequest("step", 1))
    asked = 0
    while not parts.march(MarchRequest("step", 1, seconds=0.0)).steps:
        asked += 1
    ends = whole.read_global("newton_turns")  # a turn of the outer loop is made together with the next one inside
    assert asked >= whole.read_global("gradient_turns") - ends
    assert_same_bits(parts.read_field("u"), whole.read_field("u"))
    for instance in (whole, parts):
        instance.write_field("u", np.zeros_like(SOURCE))
    for _ in range(9):  # into the second iteration of Newton's method
        assert parts.march(MarchRequest("step", 1, seconds=0.0)).steps == 0
    for instance in (whole, parts):
        instance.write_field("f", SOURCE / 2)
        instance.march(MarchRequest("step", 1))
    assert_same_bits(parts.read_field("u"), whole.read_field("u"))


def test_numbers_of_before_the_outer_loop_are_reduced_once():
    graph = wb.trace(NEWTON.format(inner=99, outer=20), 2).graph
    outer, inner = graph.loops
    assert (outer.before, inner.before) == ("step", outer.turn)
    reduced = {name: 0 for name in (outer.begin, outer.turn, inner.begin, inner.turn)}
    for name in reduced:
        reduced[name] = sum(type(node.instruction).__name__ == "Reduce" for node in graph.kernel(name).nodes)
    assert reduced == {outer.begin: 2, outer.turn: 1, inner.begin: 0, inner.turn: 2}
    kept = [static.name for static in graph.statics if static.name.startswith("while_")]
    assert kept == ["while_step_turn_1_2", "while_step_1", "while_step_1_1", "while_step_1_2"]
    assert parse(str(graph)) == graph


def powers(a, count):
    """The largest eigenvalues of a symmetric matrix, each by iterations of its own, and how many they took."""

    def next_pair(found, a, k, turns):
        def turn(v, old, new, n):
            w = a @ v
            return w / np.sqrt(np.sum(w * w)), new, np.sum(v * w), n + 1

        start = (a[:, 0] * 0 + 1) / np.sqrt(1.0 * a.shape[0]), -1.0, 0.0, 0
        v, _, value, n = while_loop(lambda v, old, new, n: new - old > 1e-12, turn, start, at_most=2000)
        at = generate(found.shape, lambda i: i)
        return np.where(at == k, value, found), a - value * v[:, None] * v[None, :], k + 1, turns + n

    start = np.zeros_like(a[0, :4]), a, 0, 0
    found, _, _, turns = while_loop(lambda f, a, k, n: k < count, next_pair, start, at_most=4)
    return found, turns


def test_a_function_of_arrays_finds_eigenvalues_one_after_the_other():
    basis, _ = np.linalg.qr(np.random.default_rng(9).random((6, 6)))
    matrix = (basis * [9.0, 5.0, 2.0, 1.0, 0.5, 0.25]) @ basis.T
    program = wb.collective(powers)
    found, turns = program(matrix, 3, backend="reference")
    np.testing.assert_allclose(found, [9, 5, 2, 0], rtol=1e-9, atol=1e-9)
    for backend, threads in WAYS:
        again, same = program(matrix, 3, backend=backend, threads=threads)
        assert_same_bits(again, found, backend)
        assert same == turns > 20


def sifted(x, limit):
    """A branch in a loop, a branch in a branch, and a loop in a branch; the first read is outside where x is short."""

    def turn(u, n):
        def slow(u, n):
            u, m = while_loop(lambda u, m: np.max(u) > limit, lambda u, m: (u / 2, m + 1), (u, 0), at_most=60)
            return branch(m > 2, lambda u, n: (u + x, n + 10 * m), lambda u, n: (u - 1, n + 1), (u, n))

        return branch(np.sum(u) > 3 * limit, slow, lambda u, n: (u + 1 + np.sum(x[9:10]), n + 100), (u, n))

    return while_loop(lambda u, n: n < 250, turn, (x, 0), at_most=99)


def sifted_in_numpy(x, limit):
    u, n = x, 0
    while n < 250:
        if u.sum() <= 3 * limit:
            u, n = u + 1 + x[9:10].sum(), n + 100
            continue
        m = 0
        while u.max() > limit:
            u, m = u / 2, m + 1
        u, n = (u + x, n + 10 * m) if m > 2 else (u - 1, n + 1)
    return u, n


def test_branches_and_loops_stand_inside_of_one_another():
    program = wb.collective(sifted)
    for x, limit in ((np.arange(12.0), 2.0), (np.arange(12.0) ** 3, 5.0), (np.ones(12), 100.0)):
        u, n = sifted_in_numpy(x, limit)
        for backend, threads in BACKENDS:
            found, count = program(x, limit, backend=backend, threads=threads)
            assert_same_bits(found, u, backend)
            assert count == n


@pytest.mark.parametrize("backend", ["reference", "openmp", "cuda-sim"])
def test_a_function_that_is_not_chosen_in_a_turn_does_not_run(backend):
    """It would read an element that is not there, at places that no turn changes."""

    def body(x, places, least):
        def turn(u, n):
            return branch(n > least, lambda u: u + np.sum(x[places]), None, u), n + 1

        return while_loop(lambda u, n: n < 3, turn, (x, 0), at_most=3)[0]

    program, outside = wb.collective(body), np.array([0, 7])
    assert program(np.ones(3), outside, 5, backend=backend).tolist() == [1, 1, 1]
    with pytest.raises(RunError, match="x is read at index 7"):
        program(np.ones(3), outside, 1, backend=backend)


def test_the_axes_of_values_are_found_for_both_loops():
    """The number that the outer loop begins with becomes an array, and that of the inner one with it."""

    def body(x):
        def turn(total, n):
            part, _ = while_loop(lambda p, m: m < 2, lambda p, m: (p + x + total, m + 1), (0.0, 0), at_most=2)
            return total + part, n + 1

        return while_loop(lambda total, n: n < 3, turn, (0.0, 0), at_most=3)[0]

    x, total = np.arange(5.0), np.zeros(5)
    for _ in range(3):
        part = np.zeros(5)
        for _ in range(2):
            part = part + x + total
        total = total + part
    for backend in ("reference", "openmp", "cuda-sim"):
        assert_same_bits(wb.collective(body)(x, backend=backend), total)


def in_condition(x):
    def asked(u):
        return while_loop(lambda v: v > 1, lambda v: v / 2, np.max(u), at_most=9) > 0.6

    return while_loop(asked, lambda u: u / 3, x, at_most=9)


def leaked(x):
    kept = []

    def turn(u):
        kept.append(while_loop(lambda v: np.max(v) > 1, lambda v: v / 2, u, at_most=9))
        return u / 3

    u = while_loop(lambda u: np.max(u) > 1, turn, x, at_most=9)
    return u + kept[0]


@pytest.mark.parametrize(
    ("body", "what", "advice"),
    [
        (in_condition, "a while_loop stands in the condition of a while_loop", "carry what the condition needs"),
        (leaked, "v is made by the while_loop in line .* in each iteration of the one in line", "Return the value"),
    ],
    ids=["condition", "leaked"],
)
def test_mistakes_say_what_to_write(body, what, advice):
    with pytest.raises(TraceError, match=what) as caught:
        wb.collective(body)(np.array([2.0, 3.0, 5.0]))
    assert advice in caught.value.advice


def test_a_store_inside_of_the_inner_loop_is_refused():
    cell = """
u = field("u")
outer = u
def store(v):
    outer.next = v
    return v
inner = lambda v: while_loop(lambda w: reduce_any(w > 1), store, v, at_most=3)
u.next = while_loop(lambda v: reduce_any(v > 1), inner, u, at_most=3)
"""
    with pytest.raises(StencilError, match=r"u\.next is assigned inside") as caught:
        wb.trace(cell)
    assert caught.value.line in (5, 7)
