"""Each problem is one computation, however it is written: as a cell, as whole arrays, for other systems."""

import numpy as np
import pytest

from workbench.commands.bench.contenders import CONTENDERS, Ours, absence
from workbench.commands.bench.peers.arrays import NumpyMarch
from workbench.commands.bench.problems import PROBLEMS, problem_named
from workbench.commands.bench.worker import OurMarch, build
from workbench.errors import PlanError
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


def test_towers_compute_the_same():
    """By the simulator, where there is no device for the contender."""
    problem = problem_named("wave3d")
    march = OurMarch(problem, Ours("cuda-sim", "diamondtorre"), "f32", arrays_of(problem, "f32"), 1)
    assert march.figures["schedule"] == "diamondtorre"
    march.advance(STEPS)
    for found, wanted in zip(march.fields(), by_numpy(problem, "f32"), strict=True):
        assert np.array_equal(found, wanted)


@pytest.mark.parametrize(("name", "why"), [("wave3d-8", ""), ("heat2d", "2 axes"), ("maxwell3d", "loops")])
def test_towers_take_waves_and_say_why_they_do_not_take_others(name, why):
    problem = problem_named(name)
    machine = problem.machine(problem.dtype).with_choices(schedule="diamondtorre")
    if not why:
        assert machine.plan("cuda").schedule == "diamondtorre"
        return
    with pytest.raises(PlanError, match=f"schedule 'diamondtorre' cannot run several steps together.*{why}"):
        machine.plan("cuda")


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
