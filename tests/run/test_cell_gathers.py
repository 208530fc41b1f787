"""Gathers in cells: fields at absolute cells on every backend, rules of extend at any distance, and what is refused."""

from itertools import product

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from workbench.errors import PlanError, RunError, TraceError

BACKENDS = [("reference", 0), ("openmp", 1), ("openmp", 3), ("cuda-sim", 0)]
MAPS = ['"outflow"', "reflect(sign=1)", "reflect(sign=-1)", "mirror(sign=1)", "mirror(sign=-1)"]
VALUES = ["constant(0.3)", "fixed(0.7)", "neumann(0.1, 1.5)", "analytic(lambda *i: 0.1 * i[0] - 1.7 * i[-1])"]
FAR, NEAR = (-23, -4, -2, -1, 1, 3, 24), (-1, 1)


def line(rule, location, reaches):
    """Each cell's value so many cells away, found in two ways."""
    names = [f"{way}{k}" for k in range(len(reaches)) for way in "wd"]
    yield f'u, {", ".join(names)} = fields("u {" ".join(names)}")'
    yield f"extended = extend(u, {rule}{location})"
    for k, reach in enumerate(reaches):
        yield f"w{k}.next = extended.at({reach}, 0)"
        yield f"d{k}.next = gather(extended, index(0) + {reach})"


def run(cell, backend="reference", threads=0, steps=1, dim=None, **given):
    return wb.trace(cell, name="gathers", dim=dim).simulate(**given, backend=backend, threads=threads).run(steps)


def rules(location):
    maps = MAPS[:3] if location else MAPS  # reflect and mirror are one about a wall
    for low, high in product(maps, maps):
        yield f'{{"x-": {low}, "x+": {high}}}', FAR
    for sign in () if location else (1, -1):
        yield f"periodic(sign={sign})", FAR
    for value, other in product(VALUES[:2] if location else VALUES, [maps[0], maps[-1], VALUES[1], VALUES[3]]):
        reaches = NEAR if "fixed" in value + other or location else FAR  # a fixed face rounds at each reflection
        yield f'{{"x-": {value}, "x+": {other}}}', reaches
        yield f'{{"x-": {other}, "x+": {value}}}', reaches


@pytest.mark.parametrize("location", ["", ', location=("face", 0)'])
def test_rules_are_those_of_relative_reads(location):
    """A relative read finds a ghost cell by a fill, one reflection after the other; formulas must find its bits."""
    for rule, reaches in rules(location):
        machine = wb.trace("\n".join(line(rule, location, reaches)), name="line")
        start = {f.name: 0 for f in machine.graph.fields if f.name != "u"}
        for n in (1, 2, 5) if reaches is FAR else (2,):
            u = np.random.default_rng(n).normal(size=n)
            sim = machine.simulate(u=u, **start, backend="reference").run(1)
            for k, reach in enumerate(reaches):
                assert_same_bits(sim[f"d{k}"], sim[f"w{k}"], f"{rule}{location} at {reach} of {n}")


PLANE = """
u, near, ghosts = fields("u near ghosts")
extended = extend(u, {sides})
i, j = index(0), index(1)
ghosts.next = extended[{a}, {b}]
near.next = gather(extended, i + {a}, {b} + j)
"""


def corners(draw, far=0):
    """Rules and a reach of two cells; of up to `far` cells, farther than the domain is long, without fixed faces."""
    every = [rule for rule in (*MAPS, *VALUES) if not (far and rule.startswith("fixed"))]
    sides = ", ".join(f'"{side}": {draw.choice(every)}' for side in ("x-", "x+", "y-", "y+"))
    a, b = draw.integers(-far, far + 1, size=2) if far else draw.choice([-2, -1, 1, 2], size=2)
    return PLANE.format(sides=f"{{{sides}}}", a=a, b=b), draw.normal(size=(3, 4))


def test_corners_follow_the_rules_in_their_order():
    draw = np.random.default_rng(5)
    for number in range(24):
        cell, u = corners(draw, 9 if number % 2 else 0)
        for backend in ("reference", "openmp", "cuda-sim") if number < 3 else ("reference",):
            sim = run(cell, backend, 0, u=u, near=0, ghosts=0)
            assert_same_bits(sim.near, sim.ghosts, f"{cell} on {backend}")


@pytest.mark.proof(sample=1)
def test_corners_follow_the_rules_in_their_order_on_all_backends():
    draw = np.random.default_rng(6)
    for number in range(400):
        cell, u = corners(draw, 9 if number % 2 else 0)
        for backend in ("reference", "openmp", "cuda-sim") if number % 10 == 0 else ("reference",):
            sim = run(cell, backend, 0, u=u, near=0, ghosts=0)
            assert_same_bits(sim.near, sim.ghosts, f"{cell} on {backend}")


BILINEAR = """
u = field("u", boundary="periodic")
v = vector("v")
drift = param("drift", 3.37)
x, y = index(0) - drift, index(1) + 0.5 * drift * gather(v[1], size(0) - 1 - index(0), index(1))
i, j = astype(floor(x), "i64"), astype(floor(y), "i64")
p, q = x - i, y - j
w = extend(u * v[0], {"x": "periodic", "y-": reflect(sign=-1), "y+": fixed(0.5)})
around = [gather(extend(u, "periodic"), i + a, j + b) for a in (0, 1) for b in (0, 1)]
u.next = (1 - p) * (1 - q) * around[0] + (1 - p) * q * around[1] + p * (1 - q) * around[2] + p * q * around[3]
turned = gather(v, index(0), size(1) - 1 - index(1))
v.next = turned + 0.01 * gather(w, 2 * i, j % 3 - 1)
"""


@pytest.mark.parametrize(("backend", "threads"), BACKENDS[1:])
def test_steps_have_the_bits_of_the_reference(backend, threads):
    draw = np.random.default_rng(1)
    given = {"u": draw.normal(size=(9, 37)), "v": draw.normal(size=(2, 9, 37))}
    first, other = (run(BILINEAR, b, t, steps=4, **given) for b, t in (("reference", 0), (backend, threads)))
    for name in ("u", "v"):
        assert_same_bits(other[name], first[name], name)


def test_a_semi_lagrangian_step_moves_by_whole_cells_exactly():
    cell = BILINEAR.splitlines()
    cell = "\n".join(line for line in cell if not line.startswith(("v", "w", "turned", "x,")))
    cell = cell.replace("i, j =", "x, y = index(0) - drift, index(1) - 2.0\ni, j =", 1)
    u = np.random.default_rng(2).normal(size=(6, 8))
    sim = run(cell, "openmp", 2, steps=3, u=u, drift=5.0)
    assert_same_bits(sim.u, np.roll(u, (15, 6), (0, 1)), "u")


OUTSIDE = 'u, i = field("u"), field("i", dtype="i32")\nu.next = 2 * gather(u, i, index(1))'


@pytest.mark.parametrize(("backend", "threads"), BACKENDS)
@pytest.mark.parametrize("wrong", [-1, 4, 2**31 - 1])
def test_a_cell_outside_is_an_error_with_value_and_line(backend, threads, wrong):
    i = np.zeros((4, 50), np.int32)
    i[2, 31] = wrong
    with pytest.raises(RunError, match=r"line 2: u is read at (an )?index") as caught:
        run(OUTSIDE, backend, threads, u=np.ones((4, 50)), i=i)
    if backend == "reference":
        where = f"line 2: u is read at index {wrong}, for x = 2, y = 31, but has 4 cells along x"
        assert str(caught.value).startswith(where)


@pytest.mark.parametrize("rule", ["constant(2.5)", "analytic(lambda i: 2.5)"])
def test_values_outside_are_no_read_outside(rule):
    sim = run(f'u = field("u")\nu.next = gather(extend(u, {rule}), index(0) - 100)', "openmp", u=np.ones(5))
    assert_same_bits(sim.u, np.full(5, 2.5), "u")


def test_the_rule_of_a_field_is_not_followed_unless_it_is_written():
    with pytest.raises(RunError, match="line 2: u is read at index -1, for x = 0"):
        run('u = field("u", boundary="periodic")\nu.next = gather(u, index(0) - 1)', u=np.arange(3.0))


def test_constant_indices_and_values_of_fewer_axes():
    sim = run(
        """
u, v = fields("u v")
sums = reduce_sum(u, axis=1)
u.next = gather(sums, size(0) - 1 - index(0)) + gather(u, 1, 0)
v.next = gather(sums, index(0)) * gather(extend(u, "outflow"), 99, -99)
""",
        "openmp",
        u=np.array([[1.0, 2.0, 4.0], [8.0, 16.0, 32.0]]),
        v=0,
    )
    assert_same_bits(sim.u, np.array([[64.0] * 3, [15.0] * 3]), "u")
    assert_same_bits(sim.v, np.array([[56.0] * 3, [448.0] * 3]), "v")


def test_tiles_refuse_the_line_that_reads_at_computed_places():
    cell = 'u = field("u", boundary="periodic")\nw = u[+1, 0] + u[0, -1]\nu.next = w + gather(u, index(1) % size(0), 0)'
    machine = wb.trace(cell, name="tiles")
    with pytest.raises(PlanError, match=r"line 3: schedule 'diamond' .*: u is read at computed places"):
        machine.simulate(u=np.ones((8, 8)), schedule="diamond", backend="openmp")


@pytest.mark.parametrize(
    ("value", "message", "advice"),
    [
        ("gather(u, 1)", "gather(u, 1) has 1 index, but the value has 2 dimensions", "gather(u, i, j)"),
        ("gather(u, u, 0)", "gather(u, u, 0): index 0 is f64, not whole numbers", "floor"),
        ("gather(u, u > 0, 0)", "gather(u, u > 0, 0): index 0 is bool, not whole numbers", "where(condition, 1, 0)"),
        ("gather(u, 0, 1.5)", "gather(u, 0, 1.5): index 1 is 1.5", "Give a whole number or an index value"),
        ("gather(p, 0, 1)", "gather(p, 0, 1) reads one number, which is the same for all cells", "Leave gather out"),
    ],
)
def test_what_is_no_gather_is_said(value, message, advice):
    with pytest.raises(TraceError) as caught:
        wb.trace(f'u, p = field("u"), param("p", 1.0)\nu.next = u[+1, 0] + {value}', name="bad", boundary="outflow")
    assert str(caught.value).startswith(f"line 2: {message}")
    assert advice in str(caught.value)
