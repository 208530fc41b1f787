"""The whole numbers by which one asks for a solver: all solvers take the same ones and name all others."""

import re

import numpy as np
import pytest

from workbench.errors import StencilError
from workbench.solvers import advection, burgers, gray_scott, heat, hydro, maxwell, shallow_water, wave

ANY_DIM = [hydro, wave, heat, advection, burgers, gray_scott]
CENTRED, RECONSTRUCTED = [wave, heat, gray_scott], [hydro, advection, burgers, shallow_water]
NONSENSE = [None, True, "2", 2.0, [2], np.array([1, 2]), float("nan")]


@pytest.mark.parametrize("dim", NONSENSE, ids=repr)
@pytest.mark.parametrize("solver", [*ANY_DIM, maxwell, shallow_water])
def test_no_whole_number_of_dimensions_is_named(solver, dim):
    with pytest.raises(StencilError, match=f"^dim={re.escape(repr(dim))} is no number of dimensions\nUse dim 1"):
        solver.machine(dim)


@pytest.mark.parametrize("dim", [0, -1, 17])
@pytest.mark.parametrize("solver", [*ANY_DIM, maxwell, shallow_water])
def test_numbers_that_are_no_dimension_are_named(solver, dim):
    with pytest.raises(StencilError, match=f"^dim={dim}"):
        solver.machine(dim)


@pytest.mark.parametrize("order", [*NONSENSE, 0, -2, 3, 34, 10**6], ids=repr)
@pytest.mark.parametrize("solver", CENTRED)
def test_centred_differences_have_even_orders(solver, order):
    with pytest.raises(StencilError, match=f"^order={re.escape(repr(order))} is no order of centred differences"):
        solver.machine(1, order)


@pytest.mark.parametrize("order", [*NONSENSE, 0, 3], ids=repr)
@pytest.mark.parametrize("solver", RECONSTRUCTED)
def test_reconstructed_faces_have_order_1_or_2(solver, order):
    with pytest.raises(StencilError, match=f"^order={re.escape(repr(order))} is unknown"):
        solver.machine(1, order)


@pytest.mark.parametrize("solver", [*CENTRED, *RECONSTRUCTED])
def test_whole_numbers_of_numpy_are_taken(solver):
    assert solver.machine(np.int64(1), np.int32(2)).graph == solver.machine(1, 2).graph


@pytest.mark.parametrize(
    ("solver", "options", "text"),
    [
        (hydro, {"order": (1, 2.0)}, "order=2.0 is unknown"),
        (hydro, {"manifest": 5}, "5 cannot be stored"),
        (hydro, {"cfl": True}, "cfl=True is no Courant number"),
        (maxwell, {"mode": ["te"]}, r"mode=\['te'\] is unknown in 2"),
        (maxwell, {"mode": ""}, "mode='' is unknown in 2"),
    ],
)
def test_settings_of_another_kind_are_named(solver, options, text):
    with pytest.raises(StencilError, match=f"^{text}"):
        solver.machine(2, **options)
