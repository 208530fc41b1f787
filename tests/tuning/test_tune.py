"""Tune: what a user may pass, beside what test_study.py has."""

import numpy as np
import pytest

import workbench as wb
from workbench.errors import TuningError
from workbench.planning.choices import Choices, PlanChoices
from workbench.tuning.given_starts import given_starts
from workbench.tuning.machine_space import machine_space

START = np.sin(np.arange(4096.0))
MEAN_OF_3 = wb.trace('u = field("u", boundary="periodic")\nu.next = (u[-1] + u + u[+1]) / 3', dim=1, name="other")
FOREIGN = PlanChoices().changed(manifest=frozenset({"step/0123"}))


@pytest.fixture(scope="module")
def mean():
    return wb.trace('u = field("u", boundary="periodic")\nu.next = 0.5 * (u[-1] + u[+1])', dim=1, name="mean")


@pytest.mark.parametrize(
    ("wrong", "cause"),
    [
        ({"start": 3}, "start=3 is no list of choices"),
        ({"start": ["tile"]}, "start=['tile'] is no list of choices"),
        ({"start": [MEAN_OF_3]}, "start[0] is a machine of another program, other in 1-D"),
        ({"start": [Choices(plan=FOREIGN)]}, "start[0] cannot be tried: no value of mean has the key step/0123"),
        ({"only": ["tiles"]}, "there is nothing to tune that is called 'tiles'; did you mean 'tile'?"),
        ({"tree": "{tiles}"}, "or one of: schedule, depth, width along x, threads, tile, "),
        ({"fixed": {"tile": 64}}, "fixed={'tile': 64} is no list of names, and its values would not count"),
        ({"only": {"tile": 64}}, "only={'tile': 64} is no list of names"),
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


def test_births_are_mixed_as_asked(mean, tmp_path):
    """Only crossovers; what is there already becomes a mutation. Another mix is another search in the same file."""
    asked = {"u": START, "path": tmp_path / "s.sqlite", "backend": "openmp", "strategy": "paraiso"}
    study = mean.tune(budget=14, births={"crossover": 1}, **asked).wait(300)
    births = [one.birth for one in study.individuals]
    assert "crossover" in births
    assert "triangulation" not in births
    further = mean.tune(budget=1, births={"triangulation": 1}, **asked).wait(300)
    assert further.individuals[-1].base == len(births)


def test_numbers_of_numpy_are_whole_numbers(mean, tmp_path):
    """As they come out of a loop over np.arange."""
    asked = {"u": START, "path": tmp_path / "s.sqlite", "backend": "openmp", "only": ["tile"]}
    study = mean.tune(budget=np.int64(1), seed=np.int64(3), workers=np.int32(1), **asked).wait(300)
    assert len(study.individuals) == 1
    with pytest.raises(TuningError, match="budget=True is neither"):
        mean.tune(budget=True, **asked)


STAGES = """
u = field("u", boundary="periodic")
a = u[-1, 0] + u[+1, 0]
b = a[0, -1] * a[0, +1]
u.next = 0.25 * (b[-1, 0] + b[+1, 0]) / (1 + u * u)
"""


def stored(machine, start, **options):
    """The names of the values that are stored at the points of these starts."""
    asked = {"only": ["storage"], **options}
    space = machine_space(machine.graph, machine.choices, "openmp", **asked)
    points = given_starts(space, machine.graph, start, lambda graph, choices: choices)
    texts = [space.space.texts(point) for point in points]
    return [{name.rpartition(".")[2] for name, value in one.items() if value == "manifest"} for one in texts]


def test_starts_are_what_presets_and_hints_make_of_them():
    """A hand annotation is a start as it runs; before, what was not decided one by one was left as at the start."""
    bare = wb.trace(STAGES, dim=2, name="stages")
    by_hand = wb.trace(STAGES.replace("b = a[0, -1] * a[0, +1]", "b = manifest(a[0, -1] * a[0, +1])"), dim=2)
    start = [bare.with_choices(preset="as_delayed"), bare.with_choices(preset="as_manifest"), by_hand]
    nothing, everything, one = stored(bare, start)
    assert nothing == set()
    assert everything > {"a", "b"}
    assert "b" in one
    assert "a" not in one
    assert stored(bare, [start[1].choices]) == [everything]
    again = machine_space(bare.graph, bare.choices, "openmp", only=["storage"])
    (point,) = given_starts(again, bare.graph, [again.choices(again.start)], lambda graph, choices: choices)
    assert point == again.start
