"""A run until a time ends: where the time ceases to grow, with an error that says so, on every backend."""

from math import inf

import numpy as np
import pytest

import workbench as wb
from tests.kit.capabilities import backends_here
from workbench.errors import RunError
from workbench.run.until import PATIENCE

CLOCK = """\
u, t, dt = field("u"), scalar("t"), param("dt", 1.0)
t.next = t + dt
u.next = {u}
"""


def clock(u="u"):
    return wb.trace(CLOCK.format(u=u), name="clock")


def refused(simulation, until, **options):
    with pytest.raises(RunError) as caught:
        simulation.run(until=until, **options)
    what, *_, advice = str(caught.value).splitlines()
    assert advice.startswith("Look for what makes the steps short")
    return what


@pytest.mark.parametrize("backend", backends_here())
@pytest.mark.parametrize("dt", [0.0, 1e-17, -1e-18])
def test_a_time_that_stands_ends_the_run(backend, dt):
    with clock().simulate(u=np.array([3.0, -1.0]), t=0.5, dt=dt, backend=backend) as simulation:
        what = refused(simulation, 1.0)
        assert what.startswith("t stands at 0.5 in ")
        assert f"up to step {simulation.steps} of clock" in what
        assert what.endswith("t >= 1 is never reached; u is between -1 and 3")
        assert simulation.steps >= PATIENCE


@pytest.mark.parametrize("backend", backends_here())
@pytest.mark.parametrize(("dt", "pace"), [(1e-14, "1e-14"), (-0.25, "-0.25")])
def test_a_time_that_never_gets_there_ends_the_run(backend, dt, pace):
    with clock().simulate(u=np.zeros(2), dt=dt, backend=backend) as simulation:
        assert f"and changes by {pace} a step in " in refused(simulation, 1.0)


@pytest.mark.parametrize("backend", backends_here())
def test_a_time_below_all_numbers_ends_the_run_at_once(backend):
    with clock().simulate(u=np.zeros(2), dt=-inf, backend=backend) as simulation:
        assert refused(simulation, 1.0).startswith("t is -inf at step ")


def test_the_cell_that_is_not_finite_is_named():
    with clock("sqrt(u)").simulate(u=np.array([1.0, -1.0]), dt=0.0, backend="reference") as simulation:
        assert refused(simulation, 1.0).endswith("t >= 1 is never reached; u is nan in cell (1,)")


@pytest.mark.parametrize("backend", backends_here())
def test_a_time_may_rest_for_a_while(backend):
    """It grows in one of 500 steps."""
    cell = """\
u, t, n = field("u"), scalar("t"), scalar("n", dtype="i64")
n.next = n + 1
t.next = t + where(n % 500 == 499, 1.0, 0.0)
u.next = u
"""
    with wb.trace(cell).simulate(u=np.zeros(1), backend=backend) as simulation:
        assert simulation.run(until=3.0).n == 1500


def test_a_run_without_an_end_goes_on_while_time_grows():
    with clock().simulate(u=np.zeros(2), dt=1e-3, backend="openmp") as simulation:
        assert simulation.run(until=inf, at_most=5000).steps == 5000


def test_a_condition_lets_a_time_rest():
    with clock().simulate(u=np.zeros(2), dt=0.0, backend="openmp") as simulation:
        assert simulation.run(until=lambda s: s.t >= 1, at_most=5000).steps == 5000


def test_a_background_run_ends_too():
    with clock().simulate(u=np.zeros(2), dt=0.0, backend="openmp") as simulation:
        simulation.start(until=1.0)
        with pytest.raises(RunError, match=r"t stands at 0\.0"):
            simulation.wait(60)


def test_time_in_single_precision_reaches_an_end_that_it_cannot_hold():
    """0.7 in single precision is below 0.7 in double precision; the last step is cut to the end."""
    cell = """\
u, t = field("u", dtype="f32"), scalar("t", dtype="f32")
t.next = t + minimum(0.25, param("until", inf, dtype="f32") - t)
u.next = u
"""
    with wb.trace(cell).simulate(u=np.zeros(2, np.float32), backend="openmp") as simulation:
        assert simulation.run(until=0.7).steps == 3
        assert simulation.t == np.float32(0.7)
