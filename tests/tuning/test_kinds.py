"""Kinds of programs that are tuned: particles that see each other, beside grids; what runs once says that it is not."""

import numpy as np
import pytest

import workbench as wb
from workbench.errors import TuningError
from workbench.programs.black_scholes import prices

GRAVITY = """
x, v = particles("x v", dim=2)
(m,) = particles("m")
dt = param("dt", 1 / 64)
d = x.source - x
closeness = 1 / (dot(d, d) + 0.01)
v1 = v + dt * reduce_sum(m.source * closeness * d, over="source")
x.next, v.next = x + dt * v1, v1
"""
PAIRS = """
xi, e2 = targets("x e2")
xj, m = sources("x m")
(phi,) = totals("phi")
phi += m / sqrt((xj - xi)**2 + e2)
"""


def test_particles_that_see_each_other_are_tuned(tmp_path):
    machine = wb.trace(GRAVITY, name="gravity")
    stars = {"x": np.random.default_rng(1).normal(size=(2, 100)), "v": np.zeros((2, 100)), "m": np.full(100, 0.01)}
    asked = {"backend": "openmp", "threads": 1, "only": ["vector_width", "storage"], "budget": 2}
    study = machine.tune(**stars, **asked, path=tmp_path / "s.sqlite").wait(300)
    assert [one.outcome.status for one in study.individuals] == ["success"] * 2
    assert study.about["extents"] == [100, 100]
    assert {"storage of step.closeness", "vector_width"} <= set(study.about["tunables"])
    chosen = machine.with_choices(study.best.choices)
    ends = [one.simulate(**stars, backend="openmp", threads=1).run(3).x for one in (machine, chosen)]
    assert np.array_equal(*ends)


@pytest.mark.parametrize("kind", ["an array program", "targets and sources"])
def test_what_runs_once_says_why_it_is_not_tuned(kind, tmp_path):
    """What the advice says works: the machine of other choices is called, and gives the same bits."""
    draw = np.random.default_rng(2)
    if kind == "an array program":
        given = dict(zip(("price", "strike", "years"), draw.random((3, 50)) + 0.5, strict=True))
        machine = prices.machine(*given.values())
    else:
        given = {"x": draw.random(50), "m": draw.random(50), "e2": 0.01}
        machine = wb.trace(PAIRS, name="pairs")
    with pytest.raises(TuningError, match="has no steps to be timed over") as raised:
        machine.tune(**given, path=tmp_path / "s.sqlite")
    assert "machine.with_choices(tile=64)" in str(raised.value)
    assert not (tmp_path / "s.sqlite").exists()
    found, other = machine(**given), machine.with_choices(tile=64)(**given)
    assert all(np.array_equal(found[name], other[name]) for name in found)
