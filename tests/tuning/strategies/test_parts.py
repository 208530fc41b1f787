"""Parts: launch numbers of several loops are searched in the same evaluations, by what each loop costs."""

import random
from pathlib import Path
from statistics import median

import pytest

from workbench.tuning.replay import read_landscape, replay
from workbench.tuning.search import Search, Told
from workbench.tuning.search_space import SearchSpace, TuningParameter
from workbench.tuning.strategies.independence import Independence
from workbench.tuning.strategies.parts import Parts
from workbench.tuning.strategies.portfolio import Portfolio
from workbench.tuning.strategies.sweep import CoordinateSweep

LANDSCAPES = Path(__file__).parent.parent / "landscapes"
SEEDS = range(10)
BUDGET = 400
COUNT = 6


class Loops:
    """A program of six loops, each with two launch numbers and the costs of another slice of jac3d."""

    def __init__(self, shared=False):
        landscape = read_landscape(LANDSCAPES / "jac3d.npz")
        names = [parameter.name for parameter in landscape.space.parameters]
        axes = names.index("by"), names.index("bz")
        slices = {}
        for point, cost in landscape.costs.items():
            rest = tuple(at for axis, at in enumerate(point) if axis not in axes)
            slices.setdefault(rest, {})[point[axes[0]], point[axes[1]]] = cost
        full = max(map(len, slices.values()))
        whole = [one for _, one in sorted(slices.items()) if len(one) == full]
        self.slices = random.Random(5).sample(whole, COUNT)
        pair = [landscape.space.parameters[axis] for axis in axes]
        parameters = [
            TuningParameter(f"{each.name} of {loop}", each.values, True) for loop in range(COUNT) for each in pair
        ]
        parts = tuple((2 * loop, 2 * loop + 1) for loop in range(COUNT))
        self.shared = shared
        if shared:
            parameters.append(TuningParameter("flags", ("a", "b"), rank=1))
        self.space = SearchSpace(tuple(parameters), self.legal, parts=parts)
        self.apart = SearchSpace(tuple(parameters), self.legal)
        self.best = sum(min(one.values()) for one in self.slices) * (0.9 if shared else 1.0)

    def own(self, point):
        return [one.get(point[2 * loop : 2 * loop + 2]) for loop, one in enumerate(self.slices)]

    def legal(self, point):
        return None not in self.own(point)

    def parts(self, point):
        factor = 0.9 if self.shared and point[-1] else 1.0
        return tuple(factor * cost for cost in self.own(point))

    def cost(self, point):
        return sum(self.parts(point))


def needed(loops, space, strategy):
    """Evaluations to within 1 % of the best, one a seed, in order; the budget where it was not found."""
    found = []
    for seed in SEEDS:
        parts = loops.parts if space.parts else lambda point: ()
        run = replay(strategy(space, (), seed), loops.cost, BUDGET, lambda cost: cost <= 1.01 * loops.best, parts)
        found.append(run.solved_after or BUDGET)
    return sorted(found)


@pytest.mark.parametrize("strategy", [CoordinateSweep, Independence])
@pytest.mark.parametrize("shared", [False, True])
def test_loops_are_searched_in_the_same_evaluations(strategy, shared):
    """Of 49 combinations of one loop; six loops take little more than it, and apart up to all of the budget."""
    loops = Loops(shared)
    together, apart = needed(loops, loops.space, strategy), needed(loops, loops.apart, strategy)
    assert together[-1] <= 80
    assert median(together) <= 0.4 * median(apart)


@pytest.mark.proof
def test_portfolio_is_led_by_them():
    loops = Loops()
    together, apart = needed(loops, loops.space, Portfolio), needed(loops, loops.apart, Portfolio)
    assert median(together) <= 0.7 * median(apart)


@pytest.mark.parametrize("strategy", [CoordinateSweep, Independence])
def test_parts_that_depend_on_each_other_are_noticed(strategy):
    """Each loop says that it is fastest with numbers by which the others are slow; the best is found all the same."""
    space = SearchSpace(tuple(TuningParameter(name, tuple("0123")) for name in "abc"), parts=((0,), (1,), (2,)))

    def parts(point):
        rest = sum(point)
        return tuple(1.0 + 3.0 * (rest - own) + (3 - own) for own in point)

    def cost(point):
        return sum(parts(point))

    best = min(map(cost, space))
    for seed in SEEDS:
        run = replay(strategy(space, (), seed), cost, 64, lambda value: value == best, parts)
        assert run.solved_after is not None


@pytest.mark.parametrize("strategy", [CoordinateSweep, Independence])
def test_numbers_that_fail_do_not_hide_those_of_other_loops(strategy):
    """A block that cannot be launched fails for all loops of its evaluation."""
    space = SearchSpace(
        tuple(TuningParameter(name, tuple("01234567")) for name in "abcd"), parts=((0,), (1,), (2,), (3,))
    )

    def parts(point):
        return tuple(1.0 + abs(own - 4 - at % 2) for at, own in enumerate(point))

    def cost(point):
        return None if 7 in point or 2 in point[:2] else sum(parts(point))

    for seed in SEEDS:
        run = replay(strategy(space, ((0, 0, 0, 0),), seed), cost, 60, lambda value: value == 4.0, parts)
        assert run.solved_after is not None
        assert run.solved_after <= 30


def test_loops_without_times_are_searched_as_everything_else():
    """The third loop is never timed, the others only where the first parameter is 0, as where schedules change."""
    space = SearchSpace(tuple(TuningParameter(name, tuple("0123")) for name in "sabc"), parts=((1,), (2,), (3,)))

    def cost(point):
        return 10.0 - point[0] + sum(abs(own - 2) for own in point[1:])

    def parts(point):
        return () if point[0] else (1.0 + abs(point[1] - 2), 1.0 + abs(point[2] - 2), None)

    for strategy in (CoordinateSweep, Independence):
        for seed in SEEDS:
            run = replay(strategy(space, (), seed), cost, 60, lambda value: value == 7.0, parts)
            assert run.solved_after is not None


def test_a_search_with_parts_goes_on_in_the_state_in_which_it_was():
    loops = Loops(shared=True)

    def driven(history):
        rows = list(history)
        search = Search(CoordinateSweep(loops.space, (), 3))
        search.go_on(rows)
        while len(rows) < 60 and (begun := search.begin()) is not None:
            costs, score = loops.parts(begun.point), 1.0 / loops.cost(begun.point)
            rows.append(Told(begun.point, score, begun.asked, begun.after, costs))
            search.end(begun, score, costs)
        return rows

    whole = driven(())
    for kept in (1, 13, 40):
        assert driven(whole[:kept]) == whole


def test_the_least_of_several_costs_counts():
    parts = Parts(SearchSpace((TuningParameter("a", ("0", "1")), TuningParameter("b", ("0", "1"))), parts=((0,), (1,))))
    assert parts.axes((0, 0)) == frozenset()
    for costs in ((2.0, None), (1.0, None), (3.0, None)):
        parts.note((0, 0), costs)
    assert parts.axes((0, 1)) == {0}
    assert parts._around((0, 0))[0] == {(0,): 1.0}
