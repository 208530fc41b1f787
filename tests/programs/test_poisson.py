"""Poisson's equation by conjugate gradients: a dense solve of the same equations, order 2, and equal bits."""

import numpy as np
import pytest

from tests.kit.bits import assert_same_bits
from workbench.errors import RunError
from workbench.programs import poisson


def matrix(shape, widths, diagonal):
    """The 5-point operator; `diagonal`: what a wall adds in the cell beside it, -1 for value 0, +1 for no slope."""
    total = np.zeros((np.prod(shape),) * 2)
    for axis, (n, dx) in enumerate(zip(shape, widths, strict=True)):
        one = np.diag(np.full(n, -2.0)) + np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1)
        one[0, 0] += diagonal
        one[-1, -1] += diagonal
        parts = [np.eye(m) for m in shape]
        parts[axis] = one / dx**2
        product = parts[0]
        for part in parts[1:]:
            product = np.kron(product, part)
        total += product
    return total


def test_it_solves_the_equations_of_a_dense_solve_with_equal_bits():
    shape, widths = (7, 6), {"dx0": 0.5, "dx1": 0.25}
    f = np.random.default_rng(7).standard_normal(shape)
    exact = np.linalg.solve(matrix(shape, widths.values(), -1), f.ravel()).reshape(shape)
    found = []
    for backend, threads in (("reference", 0), ("openmp", 3), ("cuda-sim", 0)):
        sim = poisson.machine().simulate(f=f, p=0.0, tol=1e-11, **widths, backend=backend, threads=threads).run(1)
        np.testing.assert_allclose(sim.p, exact, rtol=0, atol=1e-9 * np.abs(exact).max())
        assert 10 < sim.turns <= f.size
        assert sim.residual <= 1e-11 * np.sqrt((f * f).sum()) * (1 + 1e-12)
        found.append(sim.p)
        assert_same_bits(sim.p, found[0], backend)
        assert sim.run(1).turns == 0  # it begins with the solution
        assert_same_bits(sim.p, found[0], backend)


def test_walls_without_a_slope_leave_a_constant_free():
    f = np.random.default_rng(8).standard_normal((5, 9))
    f -= f.mean()
    sim = poisson.machine(boundary="reflect").simulate(f=f, p=0.0, backend="reference").run(1)
    np.testing.assert_allclose(matrix(f.shape, (1, 1), 1) @ np.ravel(sim.p), f.ravel(), atol=1e-7)


def test_errors_go_with_the_square_of_the_width():
    errors = []
    for n in (16, 32):
        x = (np.arange(n) + 0.5) / n
        exact = np.sin(np.pi * x)
        sim = poisson.machine(1).simulate(f=-(np.pi**2) * exact, p=0.0, dx0=1 / n, tol=1e-12, backend="reference")
        errors.append(np.abs(sim.run(1).p - exact).max())
    assert errors[1] / errors[0] == pytest.approx(0.25, rel=0.02)


def test_too_few_turns_are_an_error_and_p_stays():
    f = np.random.default_rng(9).standard_normal((8, 8))
    sim = poisson.machine(at_most=5).simulate(f=f, p=0.0, backend="reference")
    with pytest.raises(RunError, match="the while_loop of poisson did not end within 5 iterations") as caught:
        sim.run(1)
    assert caught.value.origin == "workbench/programs/poisson.py"
    assert not np.any(sim.p)
