"""Each problem is one computation, however it is written: as a cell, as whole arrays, for other systems."""

import numpy as np
import pytest

from workbench.commands.bench.contenders import CONTENDERS, Ours, absence
from workbench.commands.bench.peers.arrays import NumpyMarch
from workbench.commands.bench.problems import PROBLEMS
from workbench.commands.bench.worker import build
from workbench.graph.types import storage_type
from workbench.run.progress import silent

EXTENTS = {2: (18, 21), 3: (17, 18, 19)}  # odd ones: vectors and blocks have remainders
STEPS = 4
ROUNDING = {"f32": 3e-6, "f64": 1e-13}  # of the largest value: same formulas, other orders of operations
OTHERS = [row.name for row in CONTENDERS if not isinstance(row.runs, Ours) and row.name != "numpy"]


def arrays_of(problem, dtype):
    kind = storage_type(dtype).numpy
    return tuple(np.ascontiguousarray(a, kind) for a in problem.start(EXTENTS[problem.dim]))


def by_numpy(problem, dtype):
    march = NumpyMarch(problem, EXTENTS[problem.dim], dtype, arrays_of(problem, dtype))
    march.advance(STEPS)
    return march.fields()


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)
def test_the_cell_says_what_the_arrays_say(problem):
    dtype = problem.dtype
    machine = problem.machine(dtype)
    names = [static.name for static in machine.graph.fields]
    start = arrays_of(problem, dtype)
    sim = machine.simulate(backend="reference", **dict(zip(names, start, strict=True)))
    sim.run(STEPS, progress=silent)
    for name, first, wanted in zip(names, start, by_numpy(problem, dtype), strict=True):
        found = np.asarray(sim[name])
        assert found.dtype == wanted.dtype == first.dtype
        if problem.name.startswith("euler"):
            assert abs(found - wanted).max() <= ROUNDING[dtype] * max(abs(wanted).max(), 1.0)
        else:
            assert np.array_equal(found, wanted)
        assert not np.array_equal(first, wanted)


@pytest.mark.parametrize("other", OTHERS)
def test_another_system_computes_the_same(other):
    row = next(row for row in CONTENDERS if row.name == other)
    if absence(row) is not None:
        pytest.skip(f"no system to compare with: {other}")
    for problem in PROBLEMS:
        march = build(problem, other, problem.dtype, arrays_of(problem, problem.dtype), 2)
        march.advance(1)
        march.advance(STEPS - 1)
        for found, wanted in zip(march.fields(), by_numpy(problem, problem.dtype), strict=True):
            assert found.shape == wanted.shape
            assert abs(found - wanted).max() <= ROUNDING[problem.dtype] * max(abs(wanted).max(), 1.0), problem.name
