"""Loop times: what each loop of a candidate took is kept in the study's file, and told of the best."""

import numpy as np
import pytest

import workbench as wb
from workbench.tuning.loop_times import loops_text
from workbench.tuning.study import Study
from workbench.views.study.view import open_study_view


@pytest.fixture
def quick_studies():
    """None: seconds of loops are looked at beside samples, so there are as many as in a user's study."""


def test_seconds_of_loops_are_kept_and_told(tmp_path):
    """By names of loops; those of a step make up its time."""
    text = 'u = field("u", boundary="periodic")\nmean = 0.5 * (u[-1] + u[+1])\nu.next = 0.5 * (mean[-1] + mean[+1])'
    machine = wb.trace(text, name="two").annotate("mean", "manifest").with_choices(schedule="stepwise")
    options = {"only": ["storage"], "budget": 4, "strategy": "exhaustive", "threads": 1}
    study = machine.tune(u=np.sin(np.arange(50_000.0)), path=tmp_path / "s.sqlite", backend="openmp", **options)
    individuals = study.wait(300).individuals
    names = {len(one.outcome.loops): [name for name, _ in one.outcome.loops] for one in individuals}
    assert set(names) >= {1, 2}
    for one in individuals:
        seconds = sum(seconds for _, seconds in one.outcome.loops)
        assert 0.2 * min(one.outcome.samples) < seconds < 5 * max(one.outcome.samples)
    assert [one.outcome.loops for one in Study.attach(study.path).individuals] == [o.outcome.loops for o in individuals]
    assert "loops of the best, a step: " in str(open_study_view(study))


def test_words_of_loops():
    assert loops_text((), ()) == ""
    assert loops_text((("a", 1e-3),), ()) == "loops of the best, a step: a 1 ms"
    said = loops_text((("b", 1e-3), ("c", 3e-3)), (("b", 1e-3), ("a", 2e-3), ("b", 1e-3)))
    assert said == (
        "loops of the best, a step: c 3 ms (no loop at the start), b 1 ms (2 ms at the start); "
        "1 of the start's 2 are no loops any more"
    )
