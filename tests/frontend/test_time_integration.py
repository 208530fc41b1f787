"""Time integration: the order of each rule, stages and their outside, steps by reduction, the same bits everywhere."""

from collections import namedtuple

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from tests.kit.capabilities import backends_here
from tests.kit.proofs import combinations
from workbench.errors import TraceError
from workbench.frontend.time_integration import leapfrog, midpoint, ssp_rk2, ssp_rk3

RULES = {midpoint: 2, ssp_rk2: 2, ssp_rk3: 3}


def order(error, sizes):
    coarse, fine = (error(n) for n in sizes)
    return np.log2(coarse / fine)


@pytest.mark.parametrize(("rule", "declared"), RULES.items())
def test_order_on_plain_numbers_with_a_rate_that_depends_on_time(rule, declared):
    def error(steps):
        """u' = -2 t u**2, u(0) = 1, so u = 1 / (1 + t**2)."""
        u, dt = 1.0, 1.5 / steps
        for k in range(steps):
            u = rule(u, lambda u, t: -2 * t * u**2, dt, time=k * dt)
        return abs(u - 1 / (1 + 1.5**2))

    assert abs(order(error, (64, 128)) - declared) < 0.1


@pytest.mark.parametrize(("rule", "declared"), RULES.items())
def test_a_tuple_is_a_state_and_keeps_its_kind(rule, declared):
    pair = namedtuple("pair", "x v")

    def error(steps):
        state = pair(1.0, 0.0)
        for _ in range(steps):
            state = rule(state, lambda x, v: (v, -x), 2.0 / steps)
        assert isinstance(state, pair)
        return np.hypot(state.x - np.cos(2.0), state.v + np.sin(2.0))

    assert abs(order(error, (32, 64)) - declared) < 0.1


ADVECTION = """\
u = field("u", boundary="periodic")
t = scalar("t")
dx = 2 * pi / size(0)
dt = 0.5 * dx
u.next = {rule}(u, lambda u: -derivative(u, 0, dx, accuracy=8), dt{boundary})
t.next = t + dt
"""


@pytest.mark.parametrize(("rule", "declared"), RULES.items())
def test_order_of_a_program_in_time(rule, declared):
    """With differences of order 8 in space what is left is the error in time."""
    machine = wb.trace(ADVECTION.format(rule=rule.__name__, boundary=""))

    def exact(extents, time):
        return np.sin(np.arange(extents[0]) * 2 * np.pi / extents[0] - time)

    found = machine.converge(exact, (32, 64, 128), until=np.pi, declared=declared)
    print(found)
    assert abs(found.order - declared) < 0.1


@pytest.mark.parametrize("rule", RULES)
def test_stages_that_take_the_rule_again_are_the_same_where_it_is_periodic(rule):
    start = np.random.default_rng(1).standard_normal(13)
    texts = [ADVECTION.format(rule=rule.__name__, boundary=b) for b in ("", ', "periodic"')]
    one, other = (wb.trace(t).simulate(u=start, backend="reference").run(5).u for t in texts)
    assert_same_bits(one, other)


INFLOW = """\
t = scalar("t")
dx = 1 / size(0)
dt = 0.4 * dx
def wave(t):
    return analytic(lambda i: sin(2 * pi * ((i + 0.5) * dx - t)))
u = field("u", boundary=wave(t))
u.next = {rule}(u, lambda u, t: -derivative(u, 0, dx, accuracy=4), dt, {boundary}, time=t)
t.next = t + dt
"""


@pytest.mark.parametrize("rule", RULES)
def test_exact_values_in_time_outside_each_stage_keep_order_2(rule):
    machine = wb.trace(INFLOW.format(rule=rule.__name__, boundary="wave"))

    def exact(extents, time):
        return np.sin(2 * np.pi * ((np.arange(extents[0]) + 0.5) / extents[0] - time))

    found = machine.converge(exact, (64, 128, 256), until=0.7, norm="max")
    print(found)
    assert found.order > 1.9


@pytest.mark.parametrize("rule", [midpoint, ssp_rk3])
def test_the_time_of_the_stage_matters(rule):
    """The same program whose stages see the boundary of the step's beginning is of order 1 only."""
    machine = wb.trace(INFLOW.format(rule=rule.__name__, boundary="lambda now: wave(t)"))

    def exact(extents, time):
        return np.sin(2 * np.pi * ((np.arange(extents[0]) + 0.5) / extents[0] - time))

    assert machine.converge(exact, (64, 128, 256), until=0.7, norm="max").order < 1.6


@pytest.mark.parametrize("rule", RULES)
def test_what_rests_stays_to_the_bit(rule):
    u = 0.1 + np.arange(9.0) / 7
    assert_same_bits(rule(u, lambda u: 0 * u, 0.3), u)


PLANE = """\
q = field("q", boundary="reflect")
m = vector("m", boundary="reflect")
t = scalar("t")
dx = 1 / size(0)
dt = courant_step((1 + absolute(m[0]), 1 + absolute(m[1])), (dx, dx), 0.4)
q.next, m.next = {rule}((q, m), lambda q, m: (-div(m, dx), -grad(q, dx)), dt, "reflect")
t.next = t + dt
"""


@pytest.mark.parametrize(
    ("rule", "backend"),
    combinations(
        lambda rule, backend: backend != "cuda-sim" or rule is ssp_rk3,
        RULES,
        [b for b in backends_here() if b != "reference"],
    ),
)
def test_vectors_between_walls_have_the_same_bits_on_every_backend(rule, backend):
    generator = np.random.default_rng(2)
    start = {"q": generator.standard_normal((7, 9)), "m": generator.standard_normal((2, 7, 9))}
    machine = wb.trace(PLANE.format(rule=rule.__name__))
    one, other = (machine.simulate(**start, backend=b).run(3) for b in ("reference", backend))
    for name in ("q", "m0", "m1", "t"):
        assert_same_bits(other[name], one[name], name)


LEAPFROG = """\
x, v = fields("x v")
t = scalar("t")
dt = 2 * pi / size(0)
x.next, v.next = leapfrog(x, v, lambda x: -sin(x), {dt})
t.next = t + {dt}
"""


def pendulum(dt, steps, x=1.0, v=0.0):
    for _ in range(steps):
        x, v = leapfrog(x, v, lambda x: -np.sin(x), dt)
    return x, v


def test_leapfrog_has_order_2_goes_back_and_keeps_the_energy():
    exact = pendulum(0.001, 3000)[0]
    assert abs(order(lambda n: abs(pendulum(3.0 / n, n)[0] - exact), (30, 60)) - 2) < 0.1
    np.testing.assert_allclose(pendulum(-0.1, 500, *pendulum(0.1, 500)), (1.0, 0.0), atol=1e-11)
    energies = []
    x, v = 1.0, 0.0
    for _ in range(2000):
        x, v = pendulum(0.1, 1, x, v)
        energies.append(0.5 * v**2 - np.cos(x))
    assert np.ptp(energies) < 2e-3
    assert abs(np.mean(energies[:200]) - np.mean(energies[-200:])) < 1e-4


def test_leapfrog_in_a_cell_is_the_one_on_arrays():
    x, v = np.linspace(-2, 2, 8), np.linspace(0, 1, 8)
    simulation = wb.trace(LEAPFROG.format(dt="dt")).simulate(x=x, v=v, backend="reference").run(3)
    for _ in range(3):
        x, v = leapfrog(x, v, lambda x: -np.sin(x), 2 * np.pi / 8)
    np.testing.assert_allclose(simulation.x, x, rtol=1e-15)
    np.testing.assert_allclose(simulation.v, v, rtol=1e-14)


def test_leapfrog_with_a_drift_of_its_own():
    """dx/dt = v**3, dv/dt = -x has the energy x**2 / 2 + v**4 / 4."""

    def error(steps):
        x, v = 1.0, 0.2
        for _ in range(steps):
            x, v = leapfrog(x, v, lambda x: -x, 4.0 / steps, drift=lambda v: v**3)
        return abs(0.5 * x**2 + 0.25 * v**4 - (0.5 + 0.25 * 0.2**4))

    assert error(400) < 1e-5


STEP = """\
u = field("u")
dt = scalar("dt")
dx = param("dx", 0.5)
speed = param("speed", 2.0)
dt.next = courant_step({speed}, (dx, 2 * dx), 0.8)
u.next = u[0, 0]
"""


@pytest.mark.parametrize("backend", backends_here())
@pytest.mark.parametrize(
    ("speed", "expected"),
    [
        ("u", lambda u: 0.8 / (np.abs(u) / 0.5 + np.abs(u) / 1.0).max()),
        ("(u, speed)", lambda u: 0.8 / (np.abs(u) / 0.5 + 2.0).max()),
        ("-speed", lambda u: 0.8 / 6.0),
        ("0 * u", lambda u: 0.8 / 1e-300),
    ],
)
def test_step_is_reduced_over_the_cells(speed, expected, backend):
    u = np.random.default_rng(3).standard_normal((5, 7))
    simulation = wb.trace(STEP.format(speed=speed)).simulate(u=u, backend=backend).run(1)
    assert simulation.dt == pytest.approx(expected(u), rel=1e-14)


def test_many_steps_of_reduced_length_are_one_march():
    """No step needs the host: all are one request to the backend."""
    machine = wb.trace(PLANE.format(rule="ssp_rk2"))
    simulation = machine.simulate(q=np.ones((6, 6)), m=0.0, backend="openmp")
    instance, requests = simulation._state.instance, []
    march = instance.march

    class Counted:
        def __getattr__(self, name):
            return getattr(instance, name)

        def march(self, request):
            requests.append(request)
            return march(request)

    simulation._state._instance = Counted()
    simulation.run(20)
    assert [request.steps for request in requests] == [20]
    assert simulation.t > 0


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (
            "u.next, v.next = ssp_rk2((u, v), lambda u, v: u, 0.1)",
            "has 2 values, but its rates are one value",
        ),
        ("u.next, v.next = ssp_rk2((u, v), lambda u, v: (u,), 0.1)", "its rates are 1 values"),
        ("u.next, v.next = ssp_rk2((u, v), lambda s: s, 0.1)", r"rhs\(s\) is called with 2 values"),
        ("u.next = v.next = midpoint(u, lambda u: -v, 0.1, time=0.0)", "is called with 2 values: those of .* the time"),
        ('u.next, v.next = ssp_rk3((u, v), lambda u, v: (v, u), 0.1, ("outflow",))', "1 rules for a state of 2"),
        ("u.next = v.next = u * courant_step((u, u), (1.0,), 0.5)", "2 speeds for 1 distance"),
        ('u.next = v.next = extend(u, "reflect", location="face")', "'face' is no location"),
    ],
)
def test_mistakes_are_named(line, text):
    with pytest.raises(TraceError, match=text) as caught:
        wb.trace(f'u, v = fields("u v")\n{line}')
    assert caught.value.line == 2


@pytest.mark.parametrize(
    ("rates", "text"),
    [
        ("lambda q, m: (q, q)", "the rate of the vector m is one value"),
        ("lambda q, m: (m, m)", "the rate of one value is the vector m"),
        ("lambda q, m: (q, (q, q, q))", "has 3 components for an index"),
    ],
)
def test_rates_of_another_kind_are_not_spread_over_components(rates, text):
    with pytest.raises(TraceError, match=text):
        wb.trace(f'q, m = field("q"), vector("m")\nq.next, m.next = midpoint((q, m), {rates}, 0.1)', dim=2)


def test_rates_of_a_vector_may_be_a_tuple():
    text = 'm = vector("m")\nm.next = ssp_rk3(m, lambda m: {}, 0.1)'
    one, other = (wb.trace(text.format(r), dim=2).graph for r in ("(m[1], -m[0])", "components((m[1], -m[0]))"))
    assert one.fingerprint() == other.fingerprint()


def test_stages_on_faces_act_about_the_wall():
    text = """\
f = field("f", boundary=reflect(sign=-1), location=("face", 0))
f.next = midpoint(f, lambda f: f[+1] - f[-1], 1.0, reflect(sign=-1), location=("face", 0))
"""
    f = np.array([0.0, 3.0, -2.0, 5.0])

    # Faces -2 .. 6: odd about face 0 and face 4, both on walls.
    def walled(f):
        return np.array([-f[1], *f, 0.0])

    middle = f + 0.5 * (walled(f)[2:] - walled(f)[:-2])
    expected = f + (walled(middle)[2:] - walled(middle)[:-2])
    assert np.array_equal(wb.trace(text).simulate(f=f, backend="reference").run(1).f, expected)
