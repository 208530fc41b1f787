"""What a study says of itself before it has a result, and after a budget that was too short."""

import numpy as np
import pytest

import workbench as wb
from workbench.errors import TuningError
from workbench.tuning.sandbox import Sandbox
from workbench.tuning.trials import Outcome

START = np.sin(np.arange(4096.0))


@pytest.fixture(scope="module")
def mean():
    return wb.trace('u = field("u", boundary="periodic")\nu.next = 0.5 * (u[-1] + u[+1])', dim=1, name="mean")


def test_budget_that_ends_at_once_gives_the_start(mean, tmp_path):
    """What a study says before the first result, and when no time was left for another one."""
    study = mean.tune(u=START, budget="0.01 s", path=tmp_path / "s.sqlite", backend="openmp")
    before = repr(study)
    assert before.startswith("<Study mean running: 0 tried, the reference and the start come first, ")
    assert before.endswith(("the budget has ended>", "about 1 s left>"))
    assert study.wait(300).best.individual.birth == "start"
    assert repr(study).startswith("<Study mean done: 1 tried, best ")
    assert repr(study).endswith(" cells/s, 1.00 x the start, the budget ended with that>")
    assert study.races == ()


def test_study_that_fails_says_why(mean, tmp_path, monkeypatch):
    monkeypatch.setattr(Sandbox, "_ask", lambda self, request: Outcome("runtime", tail="no room"))
    study = mean.tune(u=START, budget=2, path=tmp_path / "s.sqlite", backend="openmp")
    with pytest.raises(TuningError):
        study.wait(300)
    assert repr(study) == "<Study mean failed: 0 tried, the reference does not run: no room>"
