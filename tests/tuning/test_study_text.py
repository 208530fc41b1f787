"""What a study says of itself before it has a result, and after a budget that was too short."""

import numpy as np
import pytest

import workbench as wb
from workbench.errors import TuningError
from workbench.tuning.sandbox import Sandbox
from workbench.tuning.study import Best
from workbench.tuning.trials import Individual, Outcome

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


def test_best_names_its_first_changes_only():
    """One of an evolution from everything Delayed had a thousand, 60,000 characters."""
    changes = ", ".join(f"storage of step.v{number} = manifest" for number in range(1000))
    one = Individual(7, (0,), "", changes, "paraiso", "random", (), Outcome("success", (0.5,)), 2.0, 0, 0.0)
    text = repr(Best(one, 2.0, 1.5))
    assert text.startswith("<best of the study: 2 cells/s, 1.50 x the start, by storage of step.v0 = manifest, ")
    assert text.endswith("storage of step.v5 = manifest and 994 more (individual 7, paraiso)>")
