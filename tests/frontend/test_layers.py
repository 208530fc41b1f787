"""np.stack and its kin: few layers along the last axis are chosen by their number, others are joined."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from workbench.errors import ShapeError
from workbench.graph import Join

DRAW = np.random.default_rng(8)
X, Y, A = DRAW.normal(size=33), DRAW.normal(size=33), DRAW.normal(size=(5, 7))
K = np.arange(33)

PROGRAMS = [
    (lambda x, y: np.stack((x, y, x - y)), (X, Y)),
    (lambda x, y: np.stack((x, 2 * y, x + 1), axis=-1), (X, Y)),
    (lambda x, k: np.stack((x, k)), (X.astype(np.float32), K.astype(np.int8))),
    (lambda x, k: np.stack((x > 0, k > 5), axis=1), (X, K)),
    (lambda x, y: np.column_stack((x, y[::-1])), (X, Y)),
    (lambda x, y: np.vstack((x, y, x)), (X, Y)),
    (lambda a: np.stack((a, a[::-1], a + a[0][None, :]), axis=1), (A,)),
    (lambda a: np.stack((a, a[::-1]))[1, ::-1].T, (A,)),
    (lambda x: np.stack((x[:, None] * x[None, :], x[:, None] - x[None, :]), axis=2), (X,)),
    (lambda x, y: np.stack((np.stack((x, y)), np.stack((y, x)))), (X, Y)),
    (lambda x, y: np.stack((x, y)).sum(axis=0), (X, Y)),
    (lambda x: np.stack((x[0], x[1], 2.0, x.max())), (X,)),
    (lambda x: np.stack((x,)), (X,)),
    (lambda x, y: np.stack((x, y), axis=1), (X[:0], Y[:0])),
    (lambda x: np.stack((x[0] > 0, True)), (X,)),
]


@pytest.mark.parametrize(("function", "given"), PROGRAMS)
def test_layers_lie_as_in_numpy(function, given):
    program, expected = wb.collective(function), function(*given)
    found = program(*given, backend="reference")
    assert_same_bits(found, expected)
    for backend in ("openmp", "cuda-sim"):
        assert_same_bits(program(*given, backend=backend), found, backend)


def joins(function, *given):
    (kernel,) = wb.collective(function).machine(*given).graph.kernels
    return sum(isinstance(node.instruction, Join) for node in kernel.nodes)


def test_few_layers_along_the_last_axis_are_chosen_and_all_others_joined():
    assert joins(lambda x: np.stack([k * x for k in range(16)], -1), X) == 0
    assert joins(lambda x: np.stack([k * x for k in range(17)], -1), X) == 1
    assert joins(lambda x, y: np.stack((x, y)), X, Y) == 1
    assert joins(lambda x, y: np.concatenate((x, y)), X, Y) == 1


def test_a_layer_of_other_shape_is_an_error_of_the_call():
    program = wb.collective(lambda x, a: np.stack((x[:, None], a)), backend="reference")
    with pytest.raises(ShapeError, match="a along axis 1 has 7 elements, where one is needed"):
        program(A[:, 0], A)
    other = wb.collective(lambda x, y: np.stack((x, y)), backend="reference")
    with pytest.raises(ShapeError, match="y along axis 0 has 32 elements, x along axis 0 has 33"):
        other(X, Y[1:])
