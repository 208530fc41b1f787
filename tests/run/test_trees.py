"""Sums by a tree: the walk that semantics §3 describes, equal bits, and how far they are from all pairs."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.backends import WAYS
from tests.kit.bits import assert_same_bits
from tests.kit.walked import walked

NAMES = "xyz"
SOFT = 1e-4
CELL = """
xi = targets("x", dim={dim}{dtype})[0]
xj = sources("x", dim={dim}{dtype})[0]
m, = sources("m"{dtype})
theta, soft = param("theta", 0.5), param("soft", 1e-4)
a, = totals("a", dim={dim}{dtype}{tree})
p, = totals("p"{dtype}{tree})
d = xj - xi
inverse = 1 / sqrt(dot(d, d) + soft)
a += m * (inverse * inverse * inverse) * d
p -= m * inverse
"""
TREE = ', tree=theta, positions="x", weights="m"'


def machine(dim, dtype="", tree=TREE):
    return wb.trace(
        CELL.format(dim=dim, dtype=f', dtype="{dtype}"' if dtype else "", tree=tree),
        name=f"gravity{dim}{dtype}{'' if tree else '_of_all'}",
    )


def drawn(n, dim, seed=0):
    draw = np.random.default_rng(seed)
    return {"x": draw.random((dim, n)), "m": draw.random(n) + 0.5}


def plummer(n, seed=0):
    """Plummer's sphere (1911) without its farthest hundredth: (3, n), equal masses."""
    draw = np.random.default_rng(seed)
    radius = 1 / np.sqrt((0.99 * draw.random(n)) ** (-2 / 3) - 1)
    along = draw.normal(size=(3, n))
    return {"x": radius * along / np.linalg.norm(along, axis=0), "m": np.full(n, 1 / n)}


def formula(d, w):
    inverse = 1 / np.sqrt((d * d).sum(axis=0) + SOFT)
    return (w * inverse**3 * d).sum(axis=1)


def everywhere(machine, given, ways=WAYS, **options):
    """The results of the reference, which all backends have to the bit."""
    expected = machine(**given, **options, backend="reference")
    for backend, threads in ways:
        found = machine(**given, **options, backend=backend, threads=threads)
        for name, values in found.items():
            assert_same_bits(values, expected[name], f"{name} on {backend}, {threads}")
    return expected


def check_walk(given, found, theta, rtol=1e-11):
    some = slice(None, None, 1 + given["x"].shape[1] // 64)
    expected = walked(given["x"], given["m"], given["x"][:, some], theta, formula)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(found["a"][:, some], expected, rtol=rtol, atol=rtol * scale)


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_the_walk_is_the_one_that_is_described(dim):
    given = drawn(300, dim)
    check_walk(given, everywhere(machine(dim), given, WAYS if dim == 2 else (), theta=0.8), 0.8)


@pytest.mark.parametrize("dim", [2, 3])
def test_no_node_acts_on_a_target_inside_of_it(dim):
    given = drawn(300, dim)
    check_walk(given, machine(dim)(**given, theta=50.0), 50.0)


@pytest.mark.parametrize("n", [0, 1, 2, 16, 17, 33])
@pytest.mark.parametrize("dim", [2, 3])
def test_few_sources(dim, n):
    given = drawn(n, dim, n)
    found = everywhere(machine(dim), given, WAYS[1:], theta=0.8)
    assert found["a"].shape == (dim, n)
    if n:
        check_walk(given, found, 0.8)


@pytest.mark.parametrize("n", [15, 1023, 1024, 1025])
def test_sizes_about_those_of_chunks(n):
    given = drawn(n, 2, n)
    found, other = (machine(2)(**given, theta=1.0, backend="openmp", threads=threads) for threads in (1, 3))
    assert_same_bits(found["a"], other["a"], "threads")
    check_walk(given, found, 1.0)


def places(case, n=60):
    draw, one = np.random.default_rng(5), np.ones(3)
    return {
        "together": np.zeros((3, n)),
        "in two places": np.arange(n) % 2 * one[:, None],
        "on a line": draw.random(n) * one[:, None],
        "in a plane": draw.random((3, n)) * [[1], [1], [0]],
        "on a lattice": np.array(np.meshgrid(*[np.arange(4.0)] * 3)).reshape(3, -1)[:, :n],
        "far apart": draw.random((3, n)) * 1e-6 + np.where(np.arange(n) < n / 2, 0, 1e6),
        "one far away": np.where(np.arange(n) < n - 1, draw.random((3, n)), 1e9),
    }[case]


@pytest.mark.parametrize(
    "case", ["together", "in two places", "on a line", "in a plane", "on a lattice", "far apart", "one far away"]
)
def test_sources_lie_anyhow(case):
    x = places(case)
    given = {"x": x, "m": np.linspace(1, 2, x.shape[1])}
    check_walk(given, everywhere(machine(3), given, WAYS[1:2], theta=0.83), 0.83, rtol=1e-9)


def test_what_is_no_number_stays_where_it_is():
    given = drawn(100, 2)
    given["x"][0, 7] = np.nan
    found, every = (machine(2, tree=tree)(**given, backend="openmp") for tree in (TREE, ""))
    assert np.isnan(found["a"]).all()
    assert np.isnan(every["a"]).all()
    given = drawn(100, 2)
    given["m"][3] = np.inf
    assert not np.isfinite(machine(2)(**given, backend="openmp")["p"]).any()


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_an_angle_of_nothing_gives_the_sum_over_all_pairs(dim):
    given = drawn(250, dim)
    every = machine(dim, tree="")(**given, backend="reference")
    for tree, options in ((TREE, {"theta": 0.0}), (TREE.replace("theta", "0"), {})):
        found = machine(dim, tree=tree)(**given, **options, backend="reference")
        np.testing.assert_allclose(found["a"], every["a"], rtol=1e-12, atol=1e-12 * np.abs(every["a"]).max())
        np.testing.assert_allclose(found["p"], every["p"], rtol=1e-13)


@pytest.mark.parametrize(("dtype", "rtol"), [("f32", 1e-3), ("dd", 1e-11)])
def test_positions_have_any_float_type(dtype, rtol):
    given = drawn(150, 3)
    kind = np.float32 if dtype == "f32" else float
    given = {name: values.astype(kind) for name, values in given.items()}
    found = everywhere(machine(3, dtype), given, WAYS[1:2], theta=0.8)
    a = found["a"]["hi"] if dtype == "dd" else found["a"]
    assert found["a"].dtype == (np.float32 if dtype == "f32" else found["a"].dtype)
    expected = walked(*(given[name].astype(float) for name in ("x", "m", "x")), 0.8, formula)
    np.testing.assert_allclose(a, expected, rtol=rtol, atol=rtol * np.abs(expected).max())


def test_positions_of_many_digits_keep_them():
    """Without nodes that act, sums of dd are those over all pairs to far more digits than f64 has."""
    given = drawn(60, 2)
    given["x"] = given["x"] * 1e-18 + 1  # one in f64, told apart in dd only by what is added below
    text = CELL.format(dim=2, dtype=', dtype="dd"', tree=TREE).replace("xj - xi", "(xj - xi) + 0 * xi")
    found, every = (
        wb.trace(each, name="digits")(**given, theta=0.0, backend="reference")
        for each in (text, text.replace(TREE, ""))
    )
    np.testing.assert_allclose(found["p"]["hi"], every["p"]["hi"], rtol=1e-15)


def test_targets_lie_outside_of_the_sources():
    sources, draw = drawn(500, 2), np.random.default_rng(9)
    targets = {"x": np.concatenate([4 * draw.random((2, 90)) - 2, [[0.5, 1e9, np.nan], [0.5, -1e9, 0]]], axis=1)}
    expected = machine(2)(targets=targets, sources=sources, backend="reference", theta=0.7)
    for backend, threads in WAYS[1:]:
        found = machine(2)(targets=targets, sources=sources, backend=backend, threads=threads, theta=0.7)
        assert_same_bits(found["a"], expected["a"], backend)
    sums = walked(sources["x"], sources["m"], targets["x"][:, :-1], 0.7, formula)
    np.testing.assert_allclose(expected["a"][:, :-1], sums, rtol=1e-11, atol=1e-9)
    nothing = machine(2)(targets=targets, sources=drawn(0, 2))
    assert_same_bits(nothing["p"], np.full(93, -0.0))


ANGLES = (0.8, 0.4)


def errors(given, theta):
    """The root mean square error of the accelerations, relative to their own."""
    found, every = machine(3)(**given, theta=theta)["a"], machine(3, tree="")(**given)["a"]
    return np.sqrt((((found - every) ** 2).sum(axis=0)).mean() / (every**2).sum(axis=0).mean())


@pytest.mark.parametrize(("of", "most"), [("sphere", (5e-3, 3e-4)), ("cube", (7e-3, 3.3e-4))])
def test_the_error_falls_with_the_angle_as_that_of_a_quadrupole_does(of, most):
    """Third moments are left out, theta**3 of a node's force, of either sign; without second ones it falls slower."""
    given = plummer(3000) if of == "sphere" else drawn(3000, 3)
    coarse, fine = (errors(given, theta) for theta in ANGLES)
    assert coarse < most[0]
    assert fine < most[1]
    assert coarse > 12 * fine


def test_sums_of_any_formula_are_those_of_their_moments():
    """A polynomial of second degree in the position: all moments are exact, whichever nodes act."""
    text = """
x, y = targets("x y")
xj, yj, m = sources("x y m")
t, u = totals("t u", tree=5.0, positions="x y", weights="m")
t += 3 * m
u += m * (xj * xj + 2 * xj * yj - yj + x) / 2
"""
    draw = np.random.default_rng(2)
    x, y, m = draw.random((3, 700))
    found = wb.trace(text, name="moments")(x=x, y=y, m=m, backend="reference")
    np.testing.assert_allclose(found["t"], 3 * m.sum(), rtol=1e-13)
    np.testing.assert_allclose(found["u"], (m * (x * x + 2 * x * y - y)).sum() / 2 + m.sum() * x / 2, rtol=1e-12)


def test_charges_of_both_signs_are_two_sums():
    text = """
x, = particles("x", dim=2)
q, u = particles("q u")
d = x.source - x


def of(charge):
    return reduce_sum(charge.source / sqrt(dot(d, d) + 0.01), over="source", tree=0.5, positions=x, weights=charge)


u.next = of(maximum(q, 0)) + of(minimum(q, 0))
"""
    given = {"x": drawn(400, 2)["x"], "q": np.arange(400) % 2 - 0.5, "u": 0.0}
    found, every = (
        wb.trace(each, name="charges").simulate(**given, backend="reference").run(1).u
        for each in (text, text.replace("0.5", "0"))
    )
    np.testing.assert_allclose(found, every, atol=2e-3 * 200 * 0.5)


def test_weights_of_one_sign_act_together_and_others_one_by_one():
    given = drawn(400, 2)
    above = machine(2)(**given, theta=0.9)
    below = machine(2)(**{**given, "m": -given["m"]}, theta=0.9)
    np.testing.assert_allclose(below["a"], -above["a"], rtol=1e-12)
    given["m"][given["x"][0] > 0.4] *= -1
    given["m"][given["x"][1] > 0.8] = 0
    check_walk(given, everywhere(machine(2), given, WAYS[1:2], theta=0.9), 0.9)


BODIES = """
x, v = particles("x v", dim=3)
m, = particles("m")
soft, dt = param("soft", 1e-2), param("dt", 0.02)
d = x.source - x
pull = reduce_sum(m.source * d / sqrt(dot(d, d) + soft)**3, over="source", tree=0.6, positions=x, weights=m)
v1 = v + dt * pull
x.next, v.next = x + dt * v1, v1
"""


def moving():
    """Bodies at the start: places, velocities, masses."""
    start = plummer(200)
    return start | {"v": 0.3 * np.random.default_rng(3).normal(size=start["x"].shape)}


@pytest.mark.parametrize("backend", ["openmp", "cuda-sim"])
def test_bodies_have_the_bits_of_the_reference_after_steps(backend):
    bodies, given = wb.trace(BODIES, name="bodies"), moving()
    found, expected = (bodies.simulate(**given, backend=each).run(2) for each in (backend, "reference"))
    assert_same_bits(found.x, expected.x, backend)


def test_bodies_keep_their_energy():
    given, m = moving(), plummer(200)["m"]
    sim = wb.trace(BODIES, name="bodies").simulate(**given, backend="openmp", threads=1).run(1)

    def energy():  # velocities are half a step before the places, as leapfrog has them
        x = np.asarray(sim.x)
        d = x[:, None] - x[:, :, None]
        inverse = 1 / np.sqrt((d * d).sum(axis=0) + 1e-2)
        v = np.asarray(sim.v) + 0.01 * (m * d * inverse**3).sum(axis=2)
        return 0.5 * np.sum(m * (v * v).sum(axis=0)) - 0.5 * m @ inverse @ m

    before = energy()
    sim.run(100)  # a body crosses the sphere
    assert abs(energy() - before) < 1e-4 * abs(before)  # what the steps in time lose of all pairs, too


def test_a_walk_may_stand_in_a_loop_and_between_other_sums():
    text = """
x, m = particles("x m")
d = x.source - x
u = reduce_sum(m.source / (d * d + 0.1), over="source", tree=0.5, positions=x, weights=m)
w = reduce_sum(m.source * u.source / (1 + d * d), over="source")
y, _ = while_loop(lambda y, k: k < 2, lambda y, k: (y + 0.1 * u, k + 1), (x, 0), at_most=5)
z = while_loop(lambda z: reduce_max(z) < 50, lambda z: reduce_sum(
    m.source * d * z, over="source", tree=0.5, positions=x, weights=m) + 60, x, at_most=3)
x.next, m.next = y + w + z, m
"""
    given, outcomes = {"x": np.random.default_rng(1).random(120), "m": 1.0}, []
    for backend, threads in (("reference", 1), ("openmp", 2)):
        outcomes.append(
            np.array(wb.trace(text, name="inside").simulate(**given, backend=backend, threads=threads).run(2).x)
        )
    assert_same_bits(outcomes[0], outcomes[1])
    every = wb.trace(text.replace("tree=0.5", "tree=0"), name="inside0").simulate(**given).run(2).x
    np.testing.assert_allclose(outcomes[0], every, rtol=1e-3)
