"""NumPy names: what a NumPy function means for tensors, and which ones are refused because they would mean another."""

import numpy as np
import pytest

import workbench as wb
from workbench.errors import TraceError
from workbench.language import components


def test_numpy_functions_of_tensors_and_values_go_by_component():
    generator = np.random.default_rng(0)
    x, s = generator.uniform(0.5, 2.0, (2, 4, 4)), generator.uniform(0.5, 2.0, (4, 4))
    cell = 'v, s = vector("v"), field("s")\nv.next = np.where(s > 1, v, (0.5, -s)) + np.maximum(s, v)\ns.next = s'
    sim = wb.trace(cell, dim=2, namespace={"np": np}).simulate(v=x, s=s, backend="reference").run(1)
    assert np.array_equal(sim["v"], np.where(s > 1, x, np.stack([0 * s + 0.5, -s])) + np.maximum(s, x))


@pytest.mark.parametrize(
    ("call", "advice"),
    [
        (lambda a, m: np.dot(a, a), r"dot\(a, b\)"),
        (lambda a, m: np.linalg.norm(a), r"np.sqrt\(dot\(v, v\)\)"),
        (lambda a, m: np.transpose(m), r"T\[b, a\]"),
        (lambda a, m: np.trace(m), r"contract\(T\)"),
        (lambda a, m: np.einsum("a,a", a, a), "einsum without np"),
        (lambda a, m: np.cross(a, a), "components"),
        (lambda a, m: np.stack([a, a]), "components"),
        (lambda a, m: np.matmul(m, a), r"dot\(a, b\) or einsum"),
        (lambda a, m: np.prod(a), r"v\[0\] \* v\[1\] \* ... for its components, v.map\(np.prod\)"),
        (lambda a, m: np.add.reduce(a), "np.add.reduce has no meaning"),
        (lambda a, m: np.add(a, 1, dtype="f4"), "dtype= has no meaning"),
    ],
)
def test_numpy_functions_that_would_mean_something_else_are_refused(call, advice):
    """By component they would give numbers, but not those of the name."""
    with pytest.raises(TraceError, match=advice):
        call(components((1.0, 2.0, 3.0)), components(np.arange(9.0).reshape(3, 3), 2))


def test_an_array_is_not_filled_by_one_component_after_the_other():
    total = np.zeros(4)
    with pytest.raises(TraceError, match="out= has no meaning for tensors"):
        total += components(np.ones((2, 4)))
    assert not total.any()
