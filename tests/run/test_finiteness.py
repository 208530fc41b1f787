"""Finiteness: the first value that is infinite or not a number is found, and the node, cell and step that made it."""

import warnings

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from tests.kit.capabilities import backends_here
from workbench.errors import NonFiniteError, RunError
from workbench.run.finiteness import NonFiniteWarning
from workbench.solvers import hydro

DRAIN = """\
u, w = fields("u w", boundary="periodic")
total = scalar("total")
slope = param("slope", 0.25)
lower = u - slope * index(0)
root = sqrt(lower)
again = extend(root, "periodic")
u.next = lower + 0 * again[-1]
w.next = w + 1
total.next = reduce_sum(u)
"""


def failing(machine, steps=50, backend="reference", **values):
    simulation = machine.simulate(**values, backend=backend)
    with pytest.raises(NonFiniteError) as caught:
        simulation.run(steps, finite=True)
    return caught.value, simulation


@pytest.mark.parametrize("backend", backends_here())
def test_field_cell_step_and_node_are_named_and_the_state_is_the_last_good_one(backend):
    """u falls by 0, 0.25, 0.5, 0.75 a step: cell 3 is below 0 first, and the next cell, cell 0, reads its root."""
    machine = wb.trace(DRAIN, name="drain")
    error, simulation = failing(machine, u=np.array([2.0, 2.0, 2.0, 2.0]), w=0.0, backend=backend)
    assert (error.field, error.cell, error.step) == ("u", (0,), 3)
    assert "sqrt" in str(machine.graph.kernel("step").nodes[error.node].instruction)
    text = str(error)
    assert text.startswith("line 5: u becomes nan in cell (0,) at step 3 of drain: first made by sqrt of -0.25 in root")
    assert "in root, in cell (3,)" in text.splitlines()[0]
    assert text.splitlines()[-1].startswith("Look at the state before")
    assert simulation.steps == 2
    assert_same_bits(simulation.u, np.array([2.0, 1.5, 1.0, 0.5]))
    assert_same_bits(simulation.w, np.full(4, 2.0))
    assert simulation.total == 6.5  # of u after the first step, without a warning


def test_a_run_without_watching_goes_on():
    simulation = wb.trace(DRAIN).simulate(u=np.full(4, 2.0), w=0.0, backend="reference").run(10)
    assert simulation.steps == 10
    assert np.isnan(simulation.u).any()


def test_watching_changes_no_bit():
    start = {"u": np.full(4, 1e6), "w": 0.0}
    one, other = (wb.trace(DRAIN).simulate(**start, backend="openmp").run(500, finite=f) for f in (False, True))
    for name, value in one.to_dict().items():
        assert_same_bits(np.asarray(other[name]), np.asarray(value), name)


CASES = {  # formula of u.next, what is said of the node, u
    "division": ("1 / (u - 1)", "divide of 1, 0", [2.0, 1.0]),
    "overflow": ("exp(u)", "exp of 1000", [1.0, 1000.0]),
    "logarithm": ("log(u)", "log of -1", [1.0, -1.0]),
    "difference of infinities": ("exp(u) - exp(u + 1)", "exp of ", [1.0, 1000.0]),
    "the branch taken": ("where(u > 0, sqrt(-u), 1 / (u * 0))", "sqrt of -2", [2.0, 2.0]),
    "a reduction": ("u / reduce_min(sqrt(u))", "sqrt of -4, in cell (1,)", [1.0, -4.0]),
    "a ghost cell": ("g[+1] + u", "log of -1 on the way to g, in cell (2,)", [1.0, 1.0]),
    "a param": ("u * far * 0", "far, which is inf", [1.0, 1.0]),
    "an infinite bound": ("minimum(far, sqrt(u))", "sqrt of -1", [1.0, -1.0]),
    "single precision": ('astype(astype(u, "f32"), "f64")', "cast of 1e+300", [1.0, 1e300]),
}


@pytest.mark.parametrize("case", CASES)
def test_the_node_that_first_made_it(case):
    formula, text, start = CASES[case]
    cell = f"""\
u = field("u", boundary="outflow")
far = param("far", inf)
g = extend(u, analytic(lambda i: log(1.0 - i)))
u.next = {formula}
"""
    error, simulation = failing(wb.trace(cell), 1, u=np.array(start))
    assert error.step == 1
    assert f"first made by {text}" in str(error)
    assert str(error).startswith("line ")
    assert simulation.steps == 0
    assert_same_bits(simulation.u, np.array(start))


@pytest.mark.parametrize(
    ("rule", "reads", "cell"),
    [
        ('"periodic"', "u[-2, 0]", (2, 1)),
        ('"outflow"', "u[-2, 0]", (0, 1)),
        ('"reflect"', "u[-2, 0]", (1, 1)),
        ('"mirror"', "u[-2, 0]", (2, 1)),
        ("fixed(1.0)", "u[-2, 0]", (1, 1)),
        ("neumann(1.0, 1.0)", "u[-2, 0]", (0, 1)),
        ('"reflect"', "u[0, +2]", (0, 1)),
        ('"periodic"', "u[+5, -3]", (1, 1)),
    ],
)
def test_a_ghost_cell_is_followed_to_the_cell_it_mirrors(rule, reads, cell):
    """One cell of `bad` is infinite by a division; it is seen where the rule carries it."""
    text = f"""\
u = field("u")
v = field("v")
bad = 1 / u
v.next = extend(bad, {rule}){reads[1:]}
u.next = u
"""
    u = np.ones((4, 3))
    u[cell] = 0.0
    error, _ = failing(wb.trace(text), u=u, v=0.0)
    assert f"first made by divide of 1, 0 in bad, in cell {cell}" in str(error)


def test_a_bad_start_is_named_before_the_run():
    error, simulation = failing(wb.trace(DRAIN), u=np.array([1.0, np.inf]), w=0.0)
    assert str(error).startswith("u is inf in cell (1,) at step 0, before the run begins")
    assert simulation.steps == 0


def test_background_runs_watch_too_and_records_end_with_the_good_steps():
    simulation = wb.trace(DRAIN).simulate(u=np.full(4, 30.0), w=0.0, backend="openmp")
    record, fields = simulation.record("total"), simulation.record("w", every=4)
    simulation.start(1000, finite=True)
    with pytest.raises(NonFiniteError, match="at step 41"):
        simulation.wait(60)
    assert simulation.steps == 40
    assert record.steps.tolist() == list(range(1, 41))
    assert fields.steps.tolist() == list(range(4, 41, 4))


def test_a_time_that_is_not_a_number_ends_the_run():
    machine = wb.trace(
        'u = field("u")\nt = scalar("t")\nt.next = t + reduce_min(sqrt(u))\nu.next = u - 1', name="clock"
    )
    simulation = machine.simulate(u=np.full(3, 2.0), backend="openmp")
    with pytest.raises(RunError, match=r"t is nan at step .* of clock, so that t >= 100 never holds"):
        simulation.run(until=100.0)


def test_a_scalar_that_ceases_to_be_a_number_is_warned_of_once():
    simulation = wb.trace(DRAIN).simulate(u=np.full(4, 2.0), w=0.0, backend="openmp")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        simulation.run(2)
    with pytest.warns(NonFiniteWarning, match=r"total became nan between step 2 and step 22"):
        simulation.run(20)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        simulation.run(20)


def test_gas_that_breaks_down_is_located():
    """Momentum whose square is beyond all floats."""
    machine = hydro.machine(dim=2)
    start = hydro.conserved(np.ones((6, 6)), (0.0, 0.0), 1.0)
    simulation = machine.simulate(**start, backend="openmp").run(3, finite=True)
    simulation.set(momentum0=1e200)
    with pytest.raises(NonFiniteError) as caught:
        simulation.run(3, finite=True)
    assert caught.value.step in (4, 5, 6)
    assert "first made by" in str(caught.value)
