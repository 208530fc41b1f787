"""Gas input: bad states, numbers and functions given to the hydrodynamics solver are named, never taken silently."""

import math

import numpy as np
import pytest

from workbench.errors import FieldError, RunError, StencilError
from workbench.language import components, mirror, periodic, reflect
from workbench.solvers import advection, burgers, heat, hydro, shallow_water

BOX = np.ones((4, 3))


def test_primitive_gives_what_conserved_takes():
    generator = np.random.default_rng(0)
    density, pressure = generator.uniform(1, 2, (2, 4, 3))
    velocity = generator.uniform(-1, 1, (2, 4, 3))
    there = hydro.conserved(density, velocity, pressure)
    as_tuple = hydro.conserved(density, tuple(velocity), pressure)
    assert set(there) == {"density", "momentum0", "momentum1", "energy", "gamma"}
    assert all(np.array_equal(there[name], as_tuple[name]) for name in there)
    back = hydro.primitive(there["density"], (there["momentum0"], there["momentum1"]), there["energy"])
    again = hydro.conserved(**back)
    for name, values in there.items():
        np.testing.assert_allclose(again[name], values, rtol=1e-14)  # there and back rounds


def test_velocity_may_be_a_tensor_or_one_array_in_one_dimension():
    line = np.linspace(1, 2, 5)
    assert np.array_equal(hydro.conserved(1.0, line, 1.0)["momentum0"], line)
    assert np.array_equal(hydro.conserved(line, 0.5, 1.0)["momentum0"], 0.5 * line)
    whole = hydro.conserved(2.0, components((BOX, 3 * BOX)), 1.0)
    assert np.array_equal(whole["momentum1"], 6 * BOX)
    stacked = hydro.conserved(2.0, np.stack([BOX, 3 * BOX]), 1.0)
    assert np.array_equal(stacked["momentum1"], 6 * BOX)


def test_the_state_is_a_copy():
    density = BOX.copy()
    hydro.conserved(density, (0.0, 0.0), 1.0)["density"][0, 0] = 7.0
    assert density[0, 0] == 1.0


@pytest.mark.parametrize(
    ("density", "velocity", "pressure", "text"),
    [
        (BOX, BOX, BOX, r"velocity is one array of shape \(4, 3\), but there are 2 axes"),
        (BOX, np.ones((2, 2, 4, 3)), BOX, r"velocity is one array of shape \(2, 2, 4, 3\)"),
        (BOX, (BOX, np.ones((3, 4))), BOX, r"shapes differ: density \(4, 3\), velocity0 \(4, 3\), velocity1 \(3, 4\)"),
        (BOX, (), BOX, "velocity has no components"),
        ("dense", (0.0, 0.0), BOX, "density was given <U5 values"),
        (BOX, (None, 0.0), BOX, "velocity0 was given object values"),
        (BOX + 1j, (0.0, 0.0), BOX, "density was given complex128 values"),
        ([[1.0], [2.0, 3.0]], (0.0, 0.0), BOX, "density is no array"),
        (BOX, (0.0, math.inf), BOX, r"velocity1 is inf in cell \(\), but must be finite"),
        (-BOX, (0.0, 0.0), BOX, r"density is -1.0 in cell \(0, 0\), but must be positive and finite"),
    ],
)
def test_states_of_the_wrong_kind_are_named(density, velocity, pressure, text):
    with pytest.raises(StencilError, match=text):
        hydro.conserved(density, velocity, pressure)


@pytest.mark.parametrize("gamma", [1, 0.5, math.nan, math.inf, "1.4", BOX, True, None])
def test_gamma_is_one_finite_number_above_1(gamma):
    with pytest.raises(FieldError, match="an ideal gas has more than 1"):
        hydro.conserved(BOX, (0.0, 0.0), BOX, gamma=gamma)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"dim": 0}, "dim=0 is no number of dimensions"),
        ({"dim": "2"}, "dim='2' is no number of dimensions"),
        ({"dim": None}, "dim=None is no number of dimensions"),
        ({"dim": 2.0}, "dim=2.0 is no number of dimensions"),
        ({"cfl": "0.5"}, "cfl='0.5' is no Courant number"),
        ({"cfl": math.nan}, "cfl=nan is no Courant number"),
        ({"order": "weird"}, "order='weird' is unknown"),
        ({"order": (1, 2, 2)}, r"order=\(1, 2, 2\) is unknown"),
        ({"manifest": "flux"}, "'flux' cannot be stored"),
        ({"reconstruction": "minmod"}, "reconstruction='minmod' is no function"),
        ({"riemann": None}, "riemann=None is no function"),
        ({"reconstruction": lambda v, axis: v}, "reconstruction <lambda> gives one value, not a pair"),
        ({"reconstruction": lambda v, axis: (v, v, v)}, "gives 3 values, not a pair"),
        ({"riemann": lambda left, right, axis: left.density}, "riemann solver <lambda> gives one value"),
        ({"riemann": lambda left, right, axis: (left.density,) * 3}, "3 values of another kind"),
        ({"riemann": lambda left, right, axis: None}, "gives None"),
        ({"riemann": lambda left, right, axis: (1.0, (0.0, 0.0), 2.0)}, "gives 3 values of another kind"),
        ({"riemann": lambda left, right, axis: (left.density, left.velocity[:1], left.energy)}, "3 values of another"),
        ({"riemann": lambda left, right: left}, r"riemann solver <lambda> does not take \(left, right, axis\)"),
    ],
)
def test_options_that_make_no_sense_are_named(options, text):
    with pytest.raises(StencilError, match=text):
        hydro.machine(**options)


@pytest.mark.parametrize("solver", [hydro, advection, burgers, shallow_water])
@pytest.mark.parametrize(
    ("reconstruction", "text"),
    [
        (lambda v: (v, v), r"reconstruction <lambda> does not take \(variable, axis\)"),
        (lambda v, axis: v, "reconstruction <lambda> gives one value, not a pair"),
        (lambda v, axis: (v, None), "gives 2 values of another kind, not a pair"),
        (lambda v, axis: (1.0, 2.0), "gives 2 values of another kind, not a pair"),
    ],
)
def test_every_solver_names_a_reconstruction_that_gives_no_faces(solver, reconstruction, text):
    with pytest.raises(StencilError, match=text):
        solver.machine(2, reconstruction=reconstruction)


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_what_is_carried_has_a_finite_velocity(value):
    with pytest.raises(FieldError, match=f"velocity0 is {value}, but must be above -inf"):
        advection.machine(1).simulate(u=np.ones(4), velocity0=value, backend="reference")


@pytest.mark.parametrize(
    ("outside", "text"),
    [
        (lambda x: 1.0, r"boundary <lambda> does not take \(x, y, time\)"),
        (lambda x, y, time: 1.0, r"gives one value, not \(density, \(2 velocities\), pressure\)"),
        (lambda x, y, time: (1.0, 0.0, 1.0), "3 values of another kind"),
        (lambda x, y, time: (1.0, (0.0,), 1.0), "3 values of another kind"),
        (lambda x, y, time: (1.0, (0.0, 0.0)), "gives 2 values"),
        (lambda x, y, time: (-1.0, (0.0, 0.0), 1.0), "gives density -1.0, but it must be positive and finite"),
        (lambda x, y, time: (1.0, (0.0, 0.0), math.nan), "gives pressure nan"),
    ],
)
def test_gas_outside_that_is_none_is_named(outside, text):
    with pytest.raises(StencilError, match=text):
        hydro.machine(2, boundary=outside)


def test_rules_that_are_functions_are_no_gas_outside():
    for rule, name in ((periodic, "periodic"), (reflect, "reflect"), (mirror, "mirror")):
        assert hydro.machine(1, boundary=rule).graph == hydro.machine(1, boundary=name).graph


def test_a_card_names_the_gas_outside():
    def wind(x, time):
        return 1.0, (2.0,), 1.0

    assert hydro.machine(1, boundary=wind).graph.fields[0].boundary == "analytic(wind)"


def test_one_name_is_a_collection_of_names():
    one, other = hydro.machine(1, manifest="riemann"), hydro.machine(1, manifest=("riemann",))
    assert one.graph == other.graph


def test_fluxes_of_a_plain_tuple_and_a_single_velocity_outside_are_taken():
    mine = hydro.machine(
        1,
        riemann=lambda left, right, axis: tuple(hydro.hlle(left, right, axis)),
        boundary=lambda x, time: (1.0, 0.5, 1.0),
    )
    other = hydro.machine(1, riemann=hydro.hlle, boundary=lambda x, time: (1.0, (0.5,), 1.0))
    assert mine.graph == other.graph


def test_an_end_that_is_no_time_is_refused():
    for machine, start in (
        (hydro.machine(1), hydro.conserved(np.ones(8), 0.1, 1.0)),
        (heat.machine(1), {"u": np.ones(8)}),
    ):
        with pytest.raises(FieldError, match="until is nan"):
            machine.simulate(**start, until=math.nan, backend="reference")
        simulation = machine.simulate(**start, backend="reference")
        with pytest.raises(RunError, match=r"run\(until=inf\) never ends"):
            simulation.run(until=math.inf, time="time")
        with pytest.raises(RunError, match=r"has no scalar 't'\nPass time=\"time\""):
            simulation.run(until=1.0)
        assert simulation.run(until=math.inf, time="time", at_most=3).steps == 3
