"""Joins: arrays one after another are NumPy's on every backend, made in one loop with what they are made of."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.array_plans import loops
from tests.kit.bits import assert_same_bits
from tests.kit.symbolic import run_symbolically
from workbench.errors import ShapeError
from workbench.graph.parse import parse
from workbench.planning import Choices, PlanChoices, plan_graph
from workbench.run.creation import create_simulation

BACKENDS = [("reference", 0), ("openmp", 1), ("openmp", 2), ("openmp", 3), ("cuda-sim", 0)]
TYPES = [np.float64, np.float32, np.int16, np.bool_]


def of(shape, seed=0, dtype=np.float64):
    return np.random.default_rng(seed).integers(0, 100, shape).astype(dtype)


def is_numpy(function, *given):
    """On every backend, with its elements where NumPy has them."""
    program, expected = wb.collective(function), function(*given)
    for backend, threads in BACKENDS:
        found = program(*given, backend=backend, threads=threads)
        assert_same_bits(found, expected, (backend, threads))
        assert found.flags.c_contiguous


LINES = [*(((3, 5), dtype) for dtype in TYPES), ((1, 1), np.float64), ((1024, 1), np.float32)]


@pytest.mark.parametrize(("lengths", "dtype"), [*LINES, ((700, 1, 2000, 5), np.float64), ((1,) * 8, np.float64)])
def test_lines_are_numpys(lengths, dtype):
    is_numpy(lambda xs: np.concatenate(xs), tuple(of(n, k, dtype) for k, n in enumerate(lengths)))


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("shape", [(3, 4, 5), (1, 1, 1), (2, 1, 40)])
def test_arrays_of_three_axes_are_numpys(shape, axis):
    longer = list(shape)
    longer[axis] += 2
    is_numpy(lambda x, y, z: np.concatenate((x, y, z), axis), of(shape, 1), of(longer, 2), of(shape, 3))


@pytest.mark.parametrize("n", [0, 1, 4])
def test_one_of_the_arrays_may_be_empty(n):
    is_numpy(lambda x, y: np.concatenate((x, y, x)), of(n), of(3, 1))
    is_numpy(lambda x, y: np.concatenate((y, x)), of((n, 2)), of((1, 2), 1))


SQUARES = [
    lambda x: np.concatenate((x, x.T)),
    lambda x: np.concatenate((x.T, x), 1),
    lambda x: np.concatenate((x, x.T, x + x.T)),
    lambda x: np.concatenate((np.concatenate((x, x), 1), np.concatenate((x.T, x), 1))),
]


@pytest.mark.parametrize("function", SQUARES)
def test_a_square_and_its_transpose_are_told_apart(function):
    """Both axes of the second one are of the length of the first one's: its diagonal was sent."""
    is_numpy(function, of((3, 3)))


STACKS = [
    lambda x, y: np.stack((x, y)),
    lambda x, y: np.stack((x, y, x), 1),
    lambda x, y: np.stack((x, 2 * y), -1),
    lambda x, y: np.stack([x] * 20, -1),
    lambda x, y: np.stack((x.sum(0), y.sum(0))),
    lambda x, y: np.vstack((x, y, x[0])),
    lambda x, y: np.hstack((x, y)),
    lambda x, y: np.append(x, y),
    lambda x, y: np.concatenate((x[:1], y[None, 1], x.sum(0, keepdims=True))),
    lambda x, y: np.concatenate((x[:, :1] + y[:, :1], x, y[:, 2][:, None]), axis=1),
    lambda x, y: np.concatenate((x.T, y.T)),
]


@pytest.mark.parametrize("function", STACKS)
def test_layers_are_numpys(function):
    is_numpy(function, of((3, 4), 1), of((3, 4), 2))


def test_what_makes_the_arrays_and_the_arrays_are_one_loop():
    x, y = of(5), of(7, 1)
    assert loops(lambda x, y: np.concatenate((x * 2 + 1, y, x[::-1])), x, y) == (1, 0)
    assert loops(lambda x, y: np.stack((x * 2, x + 1)), x, y) == (1, 0)
    assert loops(lambda x, y: np.concatenate((np.cumsum(x), y)), x, y) == (2, 1)


def test_what_is_read_outside_is_an_error_there_too():
    @wb.collective
    def function(x, places):
        return np.concatenate((x, x[places] + 1))

    for backend, threads in BACKENDS:
        found = function(of(5), np.array([4, 0]), backend=backend, threads=threads)
        assert_same_bits(found, np.concatenate((of(5), of(5)[[4, 0]] + 1)))
        with pytest.raises(wb.StencilError, match="x is read at index 5"):
            function(of(5), np.array([4, 5]), backend=backend, threads=threads)


ORDERS = """
graph g
axis i array i
axis k array k
axis j array j
static x field : f64 local(i, j)
static y field : f64 local(k, j)
static z field : f64 local(j)
static r field : f64 local(k, j)
static s field : f64 local(i, k)
kernel step
  %0 = load x : f64 local(i, j)
  %1 = load z : f64 local(j)
  %2 = join 0 %0 %1 : f64 local(k, j)
  %3 = store r %2
  %4 = load y : f64 local(k, j)
  %5 = join 0 %4 : f64 local(i, k)
  %6 = store s %5
"""


def simulated(initial, shape, **how):
    return create_simulation(parse(ORDERS), Choices(), initial, shape, **how)


def test_axes_may_stand_in_any_order():
    """y is (k, j), of which j comes first in what it becomes: its rows are columns of that."""
    x, y, z = of((3, 3)), of((4, 3), 1), of(3, 2)
    for backend, threads in BACKENDS:
        sim = simulated({"x": x, "y": y, "z": z, "r": 0.0, "s": 0.0}, (3, 4, 3), backend=backend, threads=threads)
        sim.run(1)
        assert_same_bits(sim["r"], np.concatenate((x, z[None])))
        assert_same_bits(sim["s"], y.T)


def test_an_extent_that_is_no_sum_is_refused():
    with pytest.raises(ShapeError, match="arrays of 4 elements one after another are given 5 along k") as caught:
        simulated(dict.fromkeys("xyzrs", 0.0), (3, 5, 3), backend="reference")
    assert caught.value.advice == "Give k the extent 4."


@pytest.mark.parametrize("preset", ["cost", "as_manifest", "as_delayed"])
def test_plans_mean_the_graph(preset):
    machine = wb.collective(lambda x, y: np.concatenate((x * 2, np.concatenate((y, y + 1)), x)) * 3).machine(
        of(2), of(1)
    )
    sizes = {"x": 2, "y": 1, "y with y": 2}
    plan = plan_graph(machine.graph, Choices(plan=PlanChoices().changed(preset=preset)))
    space = machine.graph.space
    assert len(space.axes) == 1 + len(sizes)
    run_symbolically(plan, (2, 1, 2, 6), steps=2)
