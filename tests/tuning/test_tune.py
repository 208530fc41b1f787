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
        ({"births": {"mutation": 1}}, "strategy='portfolio' takes no births"),
        ({"strategy": "paraiso", "births": {"birth": 1}}, "births={'birth': 1} gives no weights of mutation"),
        ({"strategy": "paraiso", "births": {"mutation": -1, "crossover": 2}}, "gives no weights"),
        ({"strategy": "paraiso", "births": {"mutation": 0}}, "gives no weights"),
        ({"strategy": "paraiso", "births": "370"}, "births='370' gives no weights"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_runs(mean, tmp_path, wrong, cause):
    with pytest.raises(TuningError) as caught:
        mean.tune(**{"u": START, "budget": 1, "path": tmp_path / "s.sqlite", "backend": "openmp", **wrong})
    assert cause in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("short_races")
def test_births_are_mixed_as_asked(mean, tmp_path):
    """Only crossovers; what is there already becomes a mutation. Another mix is another search in the same file."""
    asked = {"u": START, "path": tmp_path / "s.sqlite", "backend": "openmp", "strategy": "paraiso"}
    study = mean.tune(budget=14, births={"crossover": 1}, **asked).wait(300)
    births = [one.birth for one in study.individuals]
    assert "crossover" in births
    assert "triangulation" not in births
    further = mean.tune(budget=1, births={"triangulation": 1}, **asked).wait(300)
    assert further.individuals[-1].base == len(births)
