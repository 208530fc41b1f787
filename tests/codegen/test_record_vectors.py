"""Folds of records are vectorised, and every product and every sum in them is rounded."""

import itertools

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from tests.kit.capabilities import backends_here
from workbench.backends.compile_pool import Unit
from workbench.backends.openmp import OpenmpBackend
from workbench.backends.vectorisation import inner_loops
from workbench.language import fold
from workbench.pipeline import plan_for

TYPES = {"f32": np.float32, "f64": np.float64}


def complex_product(p, q):
    return p[0] * q[0] - p[1] * q[1], p[0] * q[1] + p[1] * q[0]


def three_parts(p, q):
    """The last part is a difference and the first a sum, so that those of neighbours look like a product of two."""
    return p[0] * q[0] + p[1] * q[1], p[0] * q[2] - p[2] * q[0], p[1] * q[2] - p[2] * q[1]


def quaternion_product(p, q):
    return (
        p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
        p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
        p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
        p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0],
    )


COMBINED = {2: complex_product, 3: three_parts, 4: quaternion_product}
NUMBERS = itertools.count()


def products(count, axis):
    """A function of `count` arrays: the product of their records along an axis. Its program is always a new one."""
    identity = (1.0, *[0.0] * (count - 1))

    @wb.collective(name=f"folded_{next(NUMBERS)}")
    def folded(parts):
        return fold(COMBINED[count], parts, axis=axis, identity=identity)

    return folded


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("count", COMBINED)
@pytest.mark.parametrize(("shape", "axis"), [((5, 301), 0), ((43, 40), 1), ((3000,), 0)])
def test_all_parts_round_twice(shape, axis, count, dtype):
    rng = np.random.default_rng(count)
    given = rng.standard_normal((count, *shape))
    parts = tuple((given / np.sqrt((given * given).sum(axis=0))).astype(TYPES[dtype]))  # products neither grow nor fade
    function = products(count, axis)
    expected = function(parts, backend="reference")
    for backend in backends_here():
        for found, wanted in zip(function(parts, backend=backend), expected, strict=True):
            assert_same_bits(found, wanted)


def test_the_reference_rounds_twice():
    (a, b), (c, d) = np.random.default_rng(0).uniform(0.5, 0.9, (2, 2, 50)).astype(np.float32)
    real, imaginary = products(2, 0)((np.stack([a, c]), np.stack([b, d])), backend="reference")
    assert_same_bits(real, a * c - b * d)
    assert_same_bits(imaginary, a * d + b * c)


@pytest.mark.parametrize("count", COMBINED)
def test_loops_over_kept_cells_have_vectors(count):
    """Each part of a record lies by itself while it is folded."""
    machine = products(count, 0).machine(tuple(np.ones((count, 5, 300))))
    program = OpenmpBackend().compile(plan_for(machine.graph, machine.choices, "openmp"))
    report, file = program.built.report, Unit(program.built.name, "").file_name
    loops, lines = inner_loops(program.source, report, file), program.source.text.splitlines()
    folding = [each for each in loops if "lane < width" in lines[each.line - 1]]
    assert folding
    assert all(each.vectors for each in folding)
