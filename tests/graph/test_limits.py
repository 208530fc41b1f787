"""Limits: what a param may be given, where it is refused, and when it is only warned of."""

import math
import warnings

import numpy as np
import pytest

import workbench as wb
from workbench.errors import FieldError, TraceError
from workbench.graph.limits import NO_LIMITS, Limits
from workbench.run.values import ParamWarning
from workbench.solvers import gray_scott, heat, hydro, maxwell, shallow_water, wave

CELL = """\
u = field("u")
r = param("r", 0.5, above=0, at_most=2, warn_above=1)
n = param("n", 3, dtype="i64", at_least=1)
u.next = u * r + n
"""


@pytest.mark.parametrize(
    ("limits", "allowed", "refused", "words"),
    [
        (Limits(above=0), (1e-300, 5, math.inf), (0, -1, math.nan), "above 0"),
        (Limits(at_least=1), (1, 2), (0.999, math.nan), "at least 1"),
        (Limits(above=0, at_most=1), (1, 0.5), (0, 1.001, math.nan), "above 0 and at most 1"),
        (Limits(warn_above=1), (2, -2), (math.nan,), ""),
        (NO_LIMITS, (math.nan, math.inf), (), ""),
    ],
)
def test_bounds(limits, allowed, refused, words):
    assert [v for v in allowed if not limits.allows(v)] == []
    assert [v for v in refused if limits.allows(v)] == []
    assert str(limits) == words


def test_a_bad_value_is_refused_by_simulate_and_by_set():
    machine = wb.trace(CELL)
    for values, text in (
        ({"r": -1.0}, "r is -1.0, but must be above 0 and at most 2"),
        ({"r": math.nan}, "r is nan, but must be above 0 and at most 2"),
        ({"n": 0}, "n is 0, but must be at least 1"),
    ):
        with pytest.raises(FieldError) as caught:
            machine.simulate(u=np.ones(3), **values)
        assert text in str(caught.value)
        assert "is the default" in str(caught.value)
        simulation = machine.simulate(u=np.ones(3), backend="reference")
        with pytest.raises(FieldError):
            simulation.set(u=0.0, **values)
        assert (simulation.u.tolist(), simulation.r, simulation.n) == ([1.0] * 3, 0.5, 3)


@pytest.mark.parametrize("bound", ["above=0", "at_least=0", "warn_above=2"])
def test_infinity_is_refused_by_a_param_with_limits_unless_that_is_its_default(bound):
    text = (
        'u = field("u")\nr, s, t = param("r", 1.0, {0}), param("s", inf, {0}), param("t", 1.0)\nu.next = u * r + s + t'
    )
    machine = wb.trace(text.format(bound))
    with pytest.raises(
        FieldError, match=r"^r is inf, but must be .*finite\nPass a number .*finite: r=1.0 is the default"
    ):
        machine.simulate(u=np.ones(3), r=math.inf)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ParamWarning)
        simulation = machine.simulate(u=np.ones(3), s=math.inf, t=-math.inf, backend="reference")
    assert (simulation.s, simulation.t) == (math.inf, -math.inf)


@pytest.mark.parametrize("name", ["gamma", "dx0", "density_floor", "pressure_floor"])
def test_gas_takes_no_infinite_param(name):
    start = {**hydro.conserved(np.ones(4), 0.0, 1.0), name: math.inf}
    with pytest.raises(FieldError, match=f"^{name} is inf, but must be above [01] and finite"):
        hydro.machine(1).simulate(**start, backend="reference")


def test_an_unwise_value_is_warned_of():
    machine = wb.trace(CELL)
    with pytest.warns(ParamWarning, match=r"r=1.5 is above 1, up to which it is known to work") as told:
        machine.simulate(u=np.ones(3), r=1.5, backend="reference")
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        machine.simulate(u=np.ones(3), r=1.0, backend="reference")


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ('r = param("r", 0.0, above=0)', "the default of param 'r' is 0.0, but must be above 0"),
        ('r = param("r", 1.0, above="x")', "above='x' of param 'r' is no number"),
    ],
)
def test_limits_that_make_no_sense_are_refused(line, text):
    with pytest.raises(TraceError, match="line 2") as caught:
        wb.trace(f'u = field("u")\n{line}\nu.next = u * r')
    assert text in str(caught.value)


@pytest.mark.parametrize("solver", [gray_scott, heat, hydro, maxwell, shallow_water, wave])
def test_solvers_name_a_bad_courant_number_and_a_bad_cell(solver):
    machine = solver.machine(dim=2)
    fields = {f.name: 1.0 for f in machine.graph.fields}
    for name in ("cfl", "dx1"):
        for bad in (0.0, -0.5, math.nan):
            with pytest.raises(FieldError, match=f"{name} is {bad}, but must be above 0"):
                machine.simulate(**fields, shape=(4, 4), **{name: bad})
    unwise = 0.9 if solver is hydro else 1.5  # which refuses what is above 1
    with pytest.warns(ParamWarning, match=f"cfl={unwise} is above"):
        machine.simulate(**fields, shape=(4, 4), cfl=unwise, backend="reference")


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_gas_takes_no_courant_number_above_1(dim):
    machine = hydro.machine(dim=dim)
    start = hydro.conserved(np.ones((4,) * dim), (0.0,) * dim, 1.0)
    for bad in (1.01, 2, math.inf):
        with pytest.raises(FieldError, match=r"cfl is .*, but must be above 0 and at most 1"):
            machine.simulate(**start, cfl=bad, backend="reference")


@pytest.mark.parametrize("dim", [2, 3])
def test_gas_is_warned_of_a_courant_number_above_one_over_the_dimension(dim):
    machine = hydro.machine(dim=dim)
    start = hydro.conserved(np.ones((4,) * dim), (0.0,) * dim, 1.0)
    with pytest.warns(ParamWarning, match="is above"):
        machine.simulate(**start, cfl=1.01 / dim, backend="reference")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        machine.simulate(**start, cfl=1 / dim, backend="reference")
