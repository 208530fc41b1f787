"""Convergence: measured orders are the true ones, and the table says so."""

import math
import re

import numpy as np
import pytest

import workbench as wb
from workbench.errors import FieldError, RunError, StencilError
from workbench.run.convergence import Convergence, FieldConvergence

ADVECTION = """\
q = field("q", boundary="periodic")
t = scalar("t")
dx = 1 / size(0)
dt = 0.5 * dx
q.next = q - dt / dx * (q - q[-1])
t.next = t + dt
"""
LEAPFROG = """\
u, v = fields("u v", boundary="periodic")
c = param("c", 1.0)
dx = 1 / size(0)
dt = 0.5 * dx / c
v1 = v + dt * c**2 * laplacian(u, dx)
u.next, v.next = u + dt * v1, v1
"""


def travelling(extents, time):
    return np.sin(2 * np.pi * ((np.arange(extents[0]) + 0.5) / extents[0] - time))


def standing(extents, steps):
    """v is half a step behind u; each step is half a cell."""
    x, dt = (np.arange(extents[0]) + 0.5) / extents[0], 0.5 / extents[0]
    k = 2 * np.pi
    return {
        "u": np.sin(k * x) * np.cos(k * steps * dt),
        "v": -k * np.sin(k * x) * np.sin(k * (steps - 0.5) * dt),
    }


@pytest.mark.parametrize("norm", ["l1", "l2", "max"])
def test_upwind_is_of_first_order(norm):
    measured = wb.trace(ADVECTION, name="upwind").converge(travelling, (64, 128, 256), until=0.5, declared=1, norm=norm)
    assert measured.order == pytest.approx(1, abs=0.05)
    assert measured.passed
    assert "upwind: measured order 0.9" in str(measured)
    assert "declared 1: reached" in str(measured)
    assert [len(f.errors) for f in measured.fields] == [3]


def test_default_is_as_many_steps_as_cells():
    measured = wb.trace(LEAPFROG, name="leapfrog").converge(standing, (16, 32, 64), declared=2, backend="reference")
    assert measured.order == pytest.approx(2, abs=0.05)
    assert [f.name for f in measured.fields] == ["u", "v"]


def test_an_order_that_is_not_reached_is_said():
    measured = wb.trace(ADVECTION, name="upwind").converge(travelling, (32, 64), declared=2)
    assert not measured.passed
    assert "NOT REACHED" in str(measured)


def test_vectors_are_compared_as_one():
    machine = wb.trace('v = vector("v", boundary="periodic")\nv.next = grad(v[0], 1 / size(0))', dim=2)

    def exact(extents, steps):
        x = (np.arange(extents[0]) + 0.5) / extents[0]
        u = np.sin(2 * np.pi * x)[:, None] * np.ones(extents)
        change = 2 * np.pi * np.cos(2 * np.pi * x)[:, None] * np.ones(extents)
        return {"v": np.stack([change, 0 * u] if steps else [u, u])}

    measured = machine.converge(exact, (16, 32, 64), steps=1, shape=lambda n: (n, 4), declared=2)
    assert [f.name for f in measured.fields] == ["v"]
    assert measured.order == pytest.approx(2, abs=0.02)


def test_steps_may_depend_on_the_size_and_params_are_passed_on():
    text = 'u, k, time = field("u"), param("k", 1.0), scalar("time")\n'
    text += "dt = 1 / size(0)\nu.next = u - u * k * dt\ntime.next = time + dt"
    machine = wb.trace(text, name="decay")
    measured = machine.converge(lambda n, time: np.exp(-2 * time) * np.ones(n), (40, 80), steps=lambda n: n // 2, k=2.0)
    assert measured.order == pytest.approx(1, abs=0.05)


def test_an_exact_program_has_no_order_and_no_plot():
    measured = wb.trace('u = field("u")\nu.next = u').converge(lambda extents, time: np.ones(extents), (4, 8))
    assert math.isnan(measured.order)
    assert measured.fields[0].errors == (0.0, 0.0)
    assert " -" in str(measured)
    assert "<svg" not in measured._repr_html_()


def test_html_has_the_figures_of_the_text():
    measured = Convergence("a<b", "l1", (8, 16), (FieldConvergence("u", (4e-2, 1e-2), (2.0,)),), 2)
    page = measured._repr_html_()
    assert "a&lt;b: measured order 2.00, declared 2: reached" in page
    assert re.findall(r"<td>([^<]*)", page) == ["8", "4.000e-02", "-", "16", "1.000e-02", "2.00"]
    line, dashed = re.findall(r'<polyline points="([^"]*)"', page)
    assert line == dashed  # the errors have the declared order
    assert measured == Convergence("a<b", "l1", (8, 16), (FieldConvergence("u", (4e-2, 1e-2), (2.0,)),), 2)


def test_a_field_that_is_exact_does_not_hide_the_order_of_another():
    exact = FieldConvergence("w", (0.0, 0.0), (math.nan,))
    converging = FieldConvergence("u", (4e-2, 1e-2), (2.0,))
    assert Convergence("m", "l1", (8, 16), (exact, converging), 2).passed
    assert not Convergence("m", "l1", (8, 16), (exact, converging), 3).passed


def test_a_run_that_blows_up_fails():
    machine = wb.trace('u = field("u")\nu.next = where(size(0) > 4, u / 0.0, u)')
    measured = machine.converge(lambda extents, time: np.ones(extents), (4, 8), steps=1, backend="reference")
    assert measured.order == -math.inf
    assert not measured.passed


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"sizes": (32,)}, RunError, r"sizes=\(32,\) are not two or more growing"),
        ({"sizes": (64, 32)}, RunError, "are not two or more growing"),
        ({"exact": None}, RunError, "the exact solution is None, which is no function"),
        ({"sizes": (8, 16.5)}, RunError, "are not two or more growing"),
        ({"norm": "l3"}, RunError, "norm='l3' is unknown"),
        ({"until": 1.0, "steps": 4}, RunError, "until= and steps= name two ends"),
        ({"exact": lambda n, t: {"w": np.ones(n)}}, FieldError, "the exact solution gives 'w', which is no field"),
        ({"exact": lambda n, t: {}}, FieldError, "the exact solution gives nothing"),
        ({"exact": lambda n, t: np.ones(n[0] + 1)}, StencilError, "shape"),
    ],
)
def test_bad_measurements_are_refused(arguments, error, message):
    with pytest.raises(error, match=message) as caught:
        wb.trace(ADVECTION, name="upwind").converge(**{"exact": travelling, **arguments})
    assert str(caught.value).splitlines()[-1].endswith(".")


def test_an_array_does_not_say_which_of_two_fields():
    with pytest.raises(FieldError, match="the exact solution of leapfrog names no field, and there are u, v"):
        wb.trace(LEAPFROG, name="leapfrog").converge(travelling)
