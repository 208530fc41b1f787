"""Loops over whole arrays: what they compute, how they end, and what stays as it was when one is broken off."""

import threading
import time

import numpy as np
import pytest

import workbench as wb
from tests.kit.backends import WAYS
from tests.kit.bits import assert_same_bits
from workbench.backends.base import MarchRequest
from workbench.backends.registry import select_backend
from workbench.errors import NonFiniteError, PlanError, RunError, StencilError
from workbench.graph.parse import parse
from workbench.pipeline import build, plan_for
from workbench.planning import Choices
from workbench.run.schedules import resolved

BACKENDS = (("reference", 0), *WAYS)

QUICK = (("reference", 0), ("openmp", 2))

POISSON = """
f, p = field("f"), field("p", boundary=constant(0.0))
tol = param("tol", 1e-3)
residual, turns = scalar("residual"), scalar("turns", 0, "i64")
def turn(p, n, r):
    new = 0.25 * (p[+1, 0] + p[-1, 0] + p[0, +1] + p[0, -1] - f)
    return new, n + 1, reduce_max(abs(new - p))
largest = reduce_max(abs(f))
p_end, n, r = while_loop(lambda p, n, r: r > tol * largest, turn, (p, 0, inf), at_most=500)
p.next, residual.next, turns.next = p_end, r, n
"""
SOURCE = np.random.default_rng(20110315).random((11, 9)) - 0.5


def jacobi(f, p, tol):
    """The same in NumPy, in the same order of operations."""
    turns, residual = 0, np.inf
    while residual > tol * np.abs(f).max() and turns < 500:
        outside = np.pad(p, 1)
        new = outside[2:, 1:-1] + outside[:-2, 1:-1] + outside[1:-1, 2:] + outside[1:-1, :-2]
        new = 0.25 * (new - f)
        residual, p, turns = np.abs(new - p).max(), new, turns + 1
    return p, residual, turns


@pytest.mark.parametrize(("backend", "threads"), BACKENDS)
def test_a_poisson_solve_to_a_tolerance_is_that_of_numpy(backend, threads):
    with wb.trace(POISSON, 2).simulate(f=SOURCE, p=0.0, backend=backend, threads=threads) as sim:
        expected = np.zeros_like(SOURCE)
        for _ in range(2):  # the second step begins with a solution
            expected, residual, turns = jacobi(SOURCE, expected, 1e-3)
            sim.run(1)
            assert_same_bits(sim.p, expected, backend)
            assert (sim.residual, sim.turns) == (residual, turns)
        sim.set(tol=1e-4).run(1)
        assert sim.turns == jacobi(SOURCE, expected, 1e-4)[2] > 1


RULES = """
n = scalar("n", 0, "i64")
p = field("p", boundary={{"x": {x}, "y": {y}}})
body = lambda p: p + 0.1 * (p[+1, 0] - 2 * p + p[-1, 0]) - 0.05 * (p[0, +1] - p[0, -2])
"""


@pytest.mark.parametrize(
    ("x", "y"), [('"periodic"', "reflect(-1)"), ("neumann(0.5, 0.1)", '"outflow"'), ("fixed(2.0)", "constant(n + 1.5)")]
)
def test_turns_inside_a_step_are_steps_of_a_field_with_its_boundary(x, y):
    rules, start = RULES.format(x=x, y=y), np.random.default_rng(3).random((5, 4))
    inside = rules + (
        "p.next, n.next = while_loop(lambda p, n: n < 7, lambda p, n: (body(p), n + 1), (p, 0), at_most=7)\n"
    )
    steps = wb.trace(rules + "p.next = body(p)\n", 2).simulate(p=start, n=7, backend="reference").run(14)
    for backend, threads in QUICK:
        sim = wb.trace(inside, 2).simulate(p=start, n=7, backend=backend, threads=threads).run(2)
        assert_same_bits(sim.p, steps.p, backend)
        assert sim.n == 7


def test_a_condition_that_reads_neighbours_asks_values_with_their_outside():
    cell = """
u, n = field("u", boundary="periodic"), scalar("n", 0, "i64")
rough = lambda u, n: reduce_max(abs(u[+1] - u)) > 0.2
u.next, n.next = while_loop(rough, lambda u, n: ((u[-1] + u[+1] + 2 * u) / 4, n + 1), (u, 0), at_most=99)
"""
    u, turns = np.array([0.0, 1.0, 0.25, 3.0, 2.0]), 0
    start = u
    while np.abs(np.roll(u, -1) - u).max() > 0.2:
        u, turns = (np.roll(u, 1) + np.roll(u, -1) + 2 * u) / 4, turns + 1
    for backend, threads in QUICK:
        sim = wb.trace(cell).simulate(u=start, backend=backend, threads=threads).run(1)
        assert_same_bits(sim.u, u, backend)
        assert sim.n == turns > 2


@pytest.mark.parametrize(("backend", "threads"), BACKENDS)
def test_loops_follow_each_other_and_may_stand_in_any_kernel(backend, threads):
    cell = """
u, v, total = field("u"), field("v"), scalar("total")
@kernel
def init():
    u.next = while_loop(lambda u: reduce_max(u) < 100, lambda u: 2 * u, 1.0 + index(0), at_most=20)
a, s = while_loop(lambda a, s: s > 10, lambda a, s: (a / 2, reduce_sum(a / 2)), (u, reduce_sum(u)), at_most=50)
b, _ = while_loop(lambda b, n: n < 3, lambda b, n: (b + a * s, n + 1), (v, 0), at_most=3)
u.next, v.next, total.next = a, b, s
"""
    u = 1.0 + np.arange(4)
    while u.max() < 100:
        u = 2 * u
    sim = wb.trace(cell).simulate(v=1.0, shape=4, backend=backend, threads=threads)
    assert_same_bits(sim.u, u)
    a, s = u, u.sum()
    while s > 10:
        a, s = a / 2, (a / 2).sum()
    b = np.ones(4)
    for _ in range(3):
        b = b + a * s
    sim.run(1)
    assert_same_bits(sim.u, a)
    assert_same_bits(sim.v, b)
    assert sim.total == s
    sim.run(3)  # v begins at what it was
    assert_same_bits(sim.u, a)


def test_no_turn_is_made_where_the_condition_does_not_hold_at_first():
    cell = "u = field('u')\nu.next = while_loop(lambda u: reduce_any(u > 5), lambda u: u - 1, u, at_most=9) + 0.5\n"
    for backend, threads in QUICK:
        sim = wb.trace(cell).simulate(u=[1.0, 2.0], backend=backend, threads=threads).run(1)
        assert sim.u.tolist() == [1.5, 2.5]


ENDLESS = """
u, n = field("u"), scalar("n", 0, "i64")
go = param("go", 5, "i64")
v, m = while_loop(lambda v, m: m < go, lambda v, m: (v + 1, m + 1), (u, 0), at_most={most})
u.next, n.next = v, n + m
"""


@pytest.mark.parametrize(("backend", "threads"), QUICK)
def test_a_loop_that_goes_on_too_long_is_an_error_and_its_step_is_not_done(backend, threads):
    sim = wb.trace(ENDLESS.format(most="8"), name="endless").simulate(u=[1.0, 2.0], backend=backend, threads=threads)
    sim.run(2)
    sim.set(go=9)
    with pytest.raises(RunError) as caught:
        sim.run(1)
    assert (caught.value.line, caught.value.what.split(" did not")[0]) == (4, "the while_loop of endless")
    assert "within 8 iterations" in caught.value.what
    assert "at_most_ok=True" in caught.value.advice
    assert (sim.steps, sim.n, sim.u.tolist()) == (2, 10, [11.0, 12.0])
    assert sim.set(go=8).run(1).n == 18
    enough = wb.trace(ENDLESS.format(most="8, at_most_ok=True")).simulate(u=0.0, shape=2, go=99, backend=backend)
    assert enough.run(2).u.tolist() == [16.0, 16.0]


def test_steps_before_the_one_that_fails_are_counted():
    cell = ENDLESS.format(most="8").replace("m < go", "m < go + n")
    sim = wb.trace(cell).simulate(u=[0.0], go=1)
    with pytest.raises(RunError, match="within 8 iterations"):
        sim.run(10)
    assert (sim.steps, sim.n) == (4, 15)  # 1, 2, 4, 8 and then 16 turns


@pytest.mark.parametrize(("backend", "threads"), BACKENDS)
def test_a_step_that_is_broken_off_goes_on_where_it_was_unless_something_is_written(backend, threads):
    graph = wb.trace(POISSON, 2).graph
    program = build(plan_for(graph, Choices(), backend), select_backend(backend))
    instance = program.instantiate(SOURCE.shape, threads)
    instance.write_field("f", SOURCE)
    instance.write_global("tol", 1e-3)
    expected, _, turns = jacobi(SOURCE, np.zeros_like(SOURCE), 1e-3)
    asked = 0
    while not (result := instance.march(MarchRequest("step", 1, seconds=0.0))).steps:
        assert result.ended == "time"
        assert not instance.read_field("p").any()
        asked += 1
    assert asked >= turns - 1  # one turn each time
    assert_same_bits(instance.read_field("p"), expected)
    instance.write_field("p", np.zeros_like(SOURCE))
    for _ in range(3):
        assert instance.march(MarchRequest("step", 1, seconds=0.0)).steps == 0
    instance.write_field("f", 2 * SOURCE)
    instance.march(MarchRequest("step", 1))
    assert_same_bits(instance.read_field("p"), jacobi(2 * SOURCE, np.zeros_like(SOURCE), 1e-3)[0])


def test_a_run_is_stopped_inside_of_a_loop_and_others_are_served():
    sim = wb.trace(ENDLESS.format(most="10**12")).simulate(u=[1.0], go=10**11)
    sim.start(1)
    time.sleep(0.1)
    assert sim.u.tolist() == [1.0]  # read while the loop runs
    sim.stop()
    assert (sim.steps, sim.u.tolist(), sim.n) == (0, [1.0], 0)
    threading.Timer(0.1, sim.stop).start()
    sim.run(1)
    assert sim.steps == 0
    assert sim.set(go=3).run(1).n == 3


def test_what_a_loop_carries_is_no_state_of_the_simulation(tmp_path):
    machine = wb.trace(POISSON, 2, name="poisson")
    sim = machine.simulate(f=SOURCE, p=0.0).run(1)
    names = {"f", "p", "tol", "residual", "turns"}
    assert set(sim.to_dict()) == names
    sim.save(tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz") as file:
        assert {name.removeprefix("static/") for name in file if name.startswith("static/")} == names
    again = machine.restore(tmp_path / "a.npz")
    assert again.run(1).turns == sim.run(1).turns
    assert_same_bits(again.p, sim.p)
    with pytest.raises(StencilError, match="no value between steps"):
        sim.evaluate("new")
    with pytest.raises(RunError, match="no kernel 'step_turn_1'"):
        sim.call("step_turn_1")
    assert "p_step_1" not in dir(sim)
    other = wb.trace(POISSON.replace("500", "501"), 2)
    assert other.graph.state_fingerprint() == machine.graph.state_fingerprint()
    assert other.graph.fingerprint() != machine.graph.fingerprint()


def test_steps_with_loops_follow_one_another():
    machine = wb.trace(POISSON, 2)
    with pytest.raises(PlanError, match="each step needs the end of a while_loop") as caught:
        machine.simulate(f=SOURCE, p=0.0, backend="openmp", schedule="diamond")
    assert caught.value.line == 9
    choices, why = resolved(machine.graph, Choices(), "openmp", (20000, 12000), 1)
    assert (choices, why) == (Choices(), "one step after the other: each step needs the end of a while_loop, line 9")


def test_numbers_of_before_the_loop_are_reduced_once():
    graph = wb.trace(POISSON, 2).graph
    (loop,) = graph.loops
    words = [str(type(n.instruction).__name__) for n in graph.kernel(loop.turn).nodes]
    assert words.count("Reduce") == 1  # of what changes; largest is reduced by `begin` alone
    assert [static.name for static in graph.statics if static.inner][-1] == "while_step_1_1"


def test_the_text_form_has_loops_and_reads_them_back():
    graph = wb.trace(POISSON, 2).graph
    text = str(graph)
    assert "while step step_begin_1 step_turn_1 while_step_1 500 at 9:" in text
    assert parse(text) == graph
    assert parse(text.replace("500", "500 ok")).loops[0].at_most_ok


def test_the_first_bad_value_of_a_step_with_a_loop_is_found():
    cell = "u = field('u')\nu.next = while_loop(lambda u: reduce_max(u) < 1e9, lambda u: u * u, u, at_most=40) - 1.0\n"
    machine = wb.trace(cell.replace("- 1.0", "* 1e200"))
    for backend in ("reference", "openmp"):
        sim = machine.simulate(u=[2.0, 3.0], backend=backend)
        with pytest.raises(NonFiniteError, match="its step has a while_loop") as caught:
            sim.run(9, finite=True)
        assert (caught.value.field, caught.value.step, sim.steps) == ("u", 2, 1)


def test_what_is_not_built_says_so(tmp_path):
    with pytest.raises(RunError, match="whose errors are not measured"):
        wb.trace(ENDLESS.format(most="8")).precision_report(u=np.ones(3))
    called = wb.trace(CALLED)
    with pytest.raises(RunError, match="only programs without one are exported"):
        called.export(tmp_path)


CALLED = """
xs, total = array("xs", "n"), param("total", 4.0)
ys, n = while_loop(lambda y, n: reduce_sum(y) > total, lambda y, n: (y / 2, n + 1), (xs, 0), at_most=9)
output("ys", ys)
output("n", n)
"""


@pytest.mark.parametrize("backend", ["reference", "openmp", "cuda-sim"])
def test_a_cell_of_arrays_loops_at_each_call(backend):
    machine = wb.trace(CALLED)
    for xs, turns in (([3.0, 5.0, 80.0], 5), ([1.0], 0), ([], 0)):
        found = machine(xs=np.array(xs), backend=backend)
        assert (found["ys"] * 2**turns).tolist() == xs
        assert found["n"] == turns
    with pytest.raises(RunError, match="within 9 iterations"):
        machine(xs=np.array([1e9]), backend=backend)


MISTAKES = [
    ("while_loop(lambda u: u > 1, lambda u: u, u, at_most=3)", "the condition of while_loop has a value in each cell"),
    ("while_loop(lambda u: reduce_sum(u), lambda u: u, u, at_most=3)", "the condition of while_loop gives f64"),
    ("while_loop(lambda u: True, lambda u: u, u, at_most=3)", "the condition of while_loop gives True"),
    ("while_loop(lambda u: reduce_any(u > 1), lambda u: (u, u), u, at_most=3)", "gives 2 values of 1"),
    ("while_loop(lambda u: reduce_any(u > 1), lambda u: u > 1, u, at_most=3)", "u is f64, but the body of while_loop"),
    (
        "while_loop(lambda u: reduce_any(u > 1), lambda u: u, u, at_most=0)",
        "at_most=0 of while_loop is no number of iterations",
    ),
    (
        "while_loop(lambda u: reduce_any(u > 1), lambda u: u, u, at_most=2.0)",
        "at_most=2.0 of while_loop is no number of iterations",
    ),
    ("while_loop(lambda u: reduce_any(u > 1), lambda u: u, (), at_most=2)", "while_loop carries no value"),
    ("while_loop(3, lambda u: u, u, at_most=2)", "while_loop is given 3 as its condition"),
    ("while_loop(lambda u: reduce_any(u > 1), lambda u: u, u, at_most=3, at_most_ok=1)", "at_most_ok is 1"),
    ("while_loop(lambda n: n < 2, lambda n: n + 0.5, 0, at_most=3)", "n is i64, but the body of while_loop"),
    ("while_loop(lambda u: reduce_any(u > 1), lambda u: store(u), u, at_most=3)", "u.next is assigned inside"),
]


@pytest.mark.parametrize(("call", "what"), MISTAKES, ids=[what for _, what in MISTAKES])
def test_mistakes_name_the_line(call, what):
    cell = f"""
u = field("u")
outer = u
def store(v):
    outer.next = v
    return v
u.next = {call}
"""
    with pytest.raises(StencilError, match=what) as caught:
        wb.trace(cell)
    assert caught.value.line in (5, 7)
    assert caught.value.advice


def test_what_a_loop_ends_with_belongs_to_its_kernel():
    cell = """
u = field("u")
v = while_loop(lambda v: reduce_max(v) < 9, lambda v: v + 1, u, at_most=9)
u.next = v
@kernel
def init():
    u.next = v + 1
"""
    with pytest.raises(StencilError, match="kernel init reads v, which the while_loop in line 3 makes for kernel step"):
        wb.trace(cell)


def test_a_neighbour_of_a_value_without_a_rule_is_refused():
    cell = "u = field('u')\nu.next = while_loop(lambda v: reduce_any(v > 1), lambda v: v[+1], 2 * u, at_most=3)\n"
    with pytest.raises(StencilError, match="is read 1 cell outside"):
        wb.trace(cell).plan()
    ruled = cell.replace("2 * u", "extend(2 * u, 'periodic')")
    assert wb.trace(ruled).simulate(u=[0.0, 0.1], backend="reference").run(1).u.tolist() == [0.0, 0.2]
    ruled = wb.trace(cell, boundary="periodic")
    assert ruled.simulate(u=[0.0, 0.1], backend="reference").run(1).u.tolist() == [0.0, 0.2]
