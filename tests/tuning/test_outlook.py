"""Outlook: points that it calls one program are, and searches that it guides need few evaluations."""

import random
from dataclasses import replace

import pytest

from workbench.pipeline import plan_for
from workbench.planning.choices import Choices
from workbench.solvers import gray_scott, hydro
from workbench.tuning.machine_space import machine_space
from workbench.tuning.replay import replay
from workbench.tuning.search import Search
from workbench.tuning.search_space import SearchSpace, TuningParameter
from workbench.tuning.strategies.registry import make_strategy


def space_of(solver, **plan):
    values = replace(Choices().plan.values, preset="as_delayed", hints=False)
    return machine_space(
        solver.graph, Choices(plan=replace(Choices().plan.changed(**plan), values=values)), "openmp", fixed=["tiling"]
    )


def test_points_of_one_key_are_one_plain_step():
    """Of random points that differ from another one in storage and barriers: equal keys if and only if equal steps."""
    found = space_of(gray_scott.machine(), loops="apart")
    outlook, draw = found.space.outlook, random.Random(3)
    steps, keys = set(), set()
    for _ in range(12):
        base = list(found.start)
        for axis in draw.sample(outlook.axes, 3):
            base[axis] = 1 - base[axis]
        for _ in range(4):
            near = list(base)
            near[draw.choice(outlook.axes)] = 1
            plan = plan_for(found.graph, found.choices(tuple(near)), "openmp")
            key = outlook.key(tuple(near))
            steps.add((key, plan.main.storage, plan.main.plain))
            keys.add(key)
    assert 10 < len(keys) < 48
    assert len(steps) == len(keys)


def test_a_search_measures_one_program_once():
    class Halves:
        axes = (0,)

        def of(self, point):
            return (float(point[0] // 2),)

        def key(self, point):
            return point[0] // 2

    space = SearchSpace((TuningParameter("x", tuple("012345")),), outlook=Halves())
    asked = []
    replay(
        make_strategy("exhaustive", space, (), 0), lambda point: asked.append(point) or 1.0, 10, outlook=space.outlook
    )
    assert asked == [(0,), (2,), (4,)]
    strategy = make_strategy("exhaustive", space, (), 0)
    search = Search(strategy, {(1,): 5.0}, outlook=space.outlook)
    assert search.begin().point == (2,)


def test_parents_are_points_that_were_measured():
    """A point of a program that was measured as another one is no individual of a study, which needs its number."""

    class Sums:
        axes = (0, 1)

        def of(self, point):
            return (float(sum(point)),)

        def key(self, point):
            return sum(point)

    space = SearchSpace(
        (TuningParameter("x", tuple(map(str, range(30)))), TuningParameter("y", tuple("012345"))), outlook=Sums()
    )
    search, measured, children = Search(make_strategy("paraiso", space, ((0, 0),), 0), outlook=space.outlook), set(), 0
    while (begun := search.begin()) is not None:
        assert measured.issuperset(begun.origin.parents)
        children += len(begun.origin.parents) > 0
        measured.add(begun.point)
        search.end(begun, 1.0 + sum(begun.point))
    assert len(measured) == 35
    assert children > 20


@pytest.fixture(scope="module")
def modelled():
    """Two-dimensional hydrodynamics from everything Delayed, and what a step costs by its bytes and work alone."""
    found = space_of(hydro.machine())

    def cost(point):
        bytes_moved, work, _, longest, _ = (2.0**number - 1.0 for number in found.space.outlook.of(point))
        return 0.3 * bytes_moved + work * max(1.0, longest / 5000)

    return found, cost


@pytest.mark.parametrize(("strategy", "most"), [("surrogate", 5), ("portfolio", 30)])
def test_from_everything_delayed_few_evaluations_halve_the_time(modelled, strategy, most):
    """With as many evaluations the default without an outlook is at its threads and tiles, which do not matter here."""
    found, cost = modelled
    goal = 0.55 * cost(found.start)

    def needed(space, seed):
        search = make_strategy(strategy, space, (found.start,), seed)
        return replay(search, cost, most, lambda value: value <= goal, outlook=space.outlook).solved_after

    assert all(needed(found.space, seed) is not None for seed in range(2))
    assert needed(replace(found.space, outlook=None), 0) is None


def test_all_programs_of_a_small_space_are_found():
    """Six values in two parameters, of which two are one program each: the model goes on until none is left."""

    class Pairs:
        axes = (0,)

        def of(self, point):
            return (1.0,)

        def key(self, point):
            return (point[0] // 2, point[1])

    space = SearchSpace(
        (TuningParameter("x", tuple("012345")), TuningParameter("y", tuple("abcdef"), ordered=True)), outlook=Pairs()
    )
    run = replay(make_strategy("surrogate", space, ((0, 0),), 0), lambda p: 1.0 + p[0] + p[1], 40, outlook=Pairs())
    assert len(run.costs) == 18
