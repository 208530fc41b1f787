"""Tune: what a user may pass, beside what test_study.py has."""

import numpy as np
import pytest

import workbench as wb
from workbench.errors import TuningError

START = np.sin(np.arange(4096.0))


@pytest.fixture(scope="module")
def mean():
    return wb.trace('u = field("u", boundary="periodic")\nu.next = 0.5 * (u[-1] + u[+1])', dim=1, name="mean")


@pytest.mark.parametrize(
    ("wrong", "cause"),
    [
        ({"start": 3}, "start=3 is no list of choices"),
        ({"start": ["tile"]}, "start=['tile'] is no list of choices"),
        ({"seed": None}, "seed=None is no whole number"),
        ({"seed": "a"}, "seed='a' is no whole number"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_runs(mean, tmp_path, wrong, cause):
    with pytest.raises(TuningError) as caught:
        mean.tune(**{"u": START, "budget": 1, "path": tmp_path / "s.sqlite", "backend": "openmp", **wrong})
    assert cause in str(caught.value)
    assert list(tmp_path.iterdir()) == []
