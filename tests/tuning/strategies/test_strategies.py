"""Strategies: what each proposes, that it is a function of its seed, and that failures do not end it."""

import random

import numpy as np
import pytest

from workbench.tuning.replay import replay
from workbench.tuning.search_space import SearchSpace, TuningParameter
from workbench.tuning.strategies.enumeration import Exhaustive, Randomly
from workbench.tuning.strategies.independence import Independence
from workbench.tuning.strategies.paraiso import Paraiso, ScoredPoint, _triangulated, effects
from workbench.tuning.strategies.portfolio import ENGINES, Portfolio
from workbench.tuning.strategies.surrogate import Surrogate
from workbench.tuning.strategies.sweep import CoordinateSweep

ALL = (Exhaustive, Randomly, CoordinateSweep, Paraiso, Independence, Surrogate, Portfolio)
SEARCHES = (CoordinateSweep, Paraiso, Independence, Surrogate, Portfolio)
SPACE = SearchSpace(tuple(TuningParameter(name, tuple("01234")) for name in "abcd"), lambda point: sum(point) % 7 != 0)
POINTS = tuple(SPACE)


def additive(point):
    """Least, 1, at (3, 1, 4, 0)."""
    return 1.0 + sum(abs(value - best) for value, best in zip(point, (3, 1, 4, 0), strict=True))


@pytest.mark.parametrize("strategy", ALL)
def test_same_seed_proposes_the_same(strategy):
    runs = [[] for _ in range(3)]
    for run, seed in zip(runs, (1, 1, 2), strict=True):

        def cost(point, run=run):
            run.append(point)
            return additive(point)

        replay(strategy(SPACE, (), seed), cost, 60)
    assert runs[0] == runs[1]
    assert strategy is Exhaustive or runs[0] != runs[2]
    assert all(SPACE.legal(point) for run in runs for point in run)


@pytest.mark.parametrize("strategy", [Exhaustive, Randomly])
def test_enumerations_propose_every_legal_point_once(strategy):
    asked = []
    replay(strategy(SPACE), lambda point: asked.append(point) or 1.0, 10_000)
    assert sorted(asked) == sorted(POINTS)


@pytest.mark.parametrize("strategy", ALL)
def test_it_begins_where_it_is_told(strategy):
    start = POINTS[-3:]
    asked = []
    replay(strategy(SPACE, start), lambda point: asked.append(point) or 1.0, 3)
    assert tuple(asked) == start


@pytest.mark.parametrize("strategy", SEARCHES)
def test_optimum_of_an_additive_cost_is_found(strategy):
    for seed in range(5):
        run = replay(strategy(SPACE, (), seed), additive, 300, lambda cost: cost == 1.0)
        assert run.solved_after is not None


def test_sweep_of_independent_parameters_takes_one_pass():
    """From a legal start at most 1 + 4 x 4 points, then one pass that changes nothing: all of its points known."""
    free = SearchSpace(SPACE.parameters)
    for seed in range(20):
        run = replay(CoordinateSweep(free, (), seed), additive, 300, lambda cost: cost == 1.0)
        assert run.solved_after <= 17


@pytest.mark.parametrize("strategy", ALL)
def test_failures_do_not_end_a_search(strategy):
    draw = random.Random(3)
    bad = {point for point in POINTS if draw.random() < 0.5} - {(3, 1, 4, 0)}
    found = [
        replay(strategy(SPACE, (), seed), lambda p: None if p in bad else additive(p), 500, lambda cost: cost == 1.0)
        for seed in range(5)
    ]
    assert sum(run.solved_after is not None for run in found) >= 4


@pytest.mark.parametrize("strategy", SEARCHES)
def test_where_nothing_passes_there_is_no_result_and_no_loop(strategy):
    run = replay(strategy(SPACE), lambda point: None, 100)
    assert run.solved_after is None
    assert set(run.costs) <= {None}


def test_paraiso_is_asynchronous():
    """Twenty points are asked for before any score is told, all different; late scores are used."""
    strategy = Paraiso(SPACE, (), 5)
    asked = [strategy.ask() for _ in range(20)]
    assert len(set(asked)) == 20
    for point in reversed(asked):
        strategy.tell(point, 1 / additive(point))
    child = strategy.population[strategy.ask()]
    assert child.birth in ("mutation", "crossover", "triangulation")
    assert all(parent in asked for parent in child.parents)


@pytest.mark.parametrize(
    ("base", "secondary", "primary", "child"),
    [(0, 0, 0, 0), (0, 0, 1, 1), (0, 1, 0, 1), (0, 1, 1, 1), (1, 0, 0, 0), (1, 0, 1, 0), (1, 1, 0, 0), (1, 1, 1, 1)],
)
def test_triangulation_takes_what_the_better_two_changed(base, secondary, primary, child):
    """The table of the paper's section 3.3, bit by bit."""
    scored = ((primary, 3.0), (secondary, 2.0), (base, 1.0))
    parents = [ScoredPoint((bit,), "start", score=score) for bit, score in scored]
    assert _triangulated(random.Random(), SearchSpace((TuningParameter("x", ("0", "1")),)), parents) == (child,)


def test_births_follow_their_weights():
    """Of 56 bred ones 37 or so: what is there already becomes a mutation. By equal weights it is a third of them."""
    space = SearchSpace(tuple(TuningParameter(str(at), ("0", "1")) for at in range(64)))
    crossed = []
    for seed in range(10):
        strategy = Paraiso(space, (), seed, {"crossover": 1.0})
        replay(strategy, lambda point: 1.0 + sum(point), 60)
        kinds = [one.birth for one in strategy.population.values()]
        crossed.append(kinds.count("crossover"))
        assert "triangulation" not in kinds
    assert min(crossed) > 25
    assert sum(crossed) > 340


def test_hot_draws_ignore_differences_and_cold_ones_do_not():
    """At most temperature T each draw prefers the better by exp(-(mu_top - mu) / (T + ...)), never the worse."""
    strategy = Paraiso(SPACE, (), 2)
    for point, score in zip(POINTS[:4], (100.0, 99.9, 50.0, 10.0), strict=True):
        strategy.population[point] = ScoredPoint(point, "start", (), score)
    passed = list(strategy.population.values())
    cold = [strategy._parents(passed, 1, 1.0)[0].score for _ in range(400)]
    hot = [strategy._parents(passed, 1, 1000.0)[0].score for _ in range(400)]
    assert cold.count(99.9) > 100 > cold.count(50.0) == cold.count(10.0) == 0
    assert min(hot.count(score) for score in (100.0, 99.9, 50.0, 10.0)) > 50


@pytest.mark.parametrize("strategy", ALL)
def test_search_goes_on_from_what_is_known_as_if_never_ended(strategy):
    """A strategy has no state of its own in a file: made anew, it is told from memory what was measured."""
    whole, first, second = [], [], []
    replay(strategy(SPACE, (), 7), lambda point: whole.append(point) or additive(point), 40)
    replay(strategy(SPACE, (), 7), lambda point: first.append(point) or additive(point), 23)
    search = strategy(SPACE, (), 7)
    while len(first) + len(second) < 40:
        point = search.ask()
        if point not in (*first, *second):
            second.append(point)
        search.tell(point, 1 / additive(point))
    assert first + second == whole


def test_portfolio_proposes_no_point_twice_and_says_whose_it_is():
    strategy = Portfolio(SPACE, (), 3)
    asked = []
    for _ in range(200):
        point = strategy.ask()
        origin = strategy.origin(point)
        assert origin.strategy in ENGINES
        assert set(origin.parents) <= set(asked)
        asked.append(point)
        strategy.tell(point, 1 / additive(point))
    assert len(set(asked)) == 200
    assert {strategy.origin(point).strategy for point in asked} == set(ENGINES)
    assert {"mutation", "crossover"} <= {strategy.origin(point).birth for point in asked}


def test_portfolio_goes_on_while_scores_are_missing():
    """Points of all searches are under way at once, and late scores reach each of them."""
    strategy = Portfolio(SPACE, (POINTS[0],), 5)
    strategy.tell(strategy.ask(), 1 / additive(POINTS[0]))
    asked = []
    for _ in range(40):
        while (point := strategy.ask()) is not None and len(asked) < 40:
            asked.append(point)
        for point in reversed(asked):
            strategy.tell(point, 1 / additive(point))
    assert len(asked) == len(set(asked)) == 40


def test_every_search_knows_what_others_measured():
    """A point that another search has measured becomes a parent, and a sweep goes on from it."""
    optimum = (3, 1, 4, 0)
    breeding, sweep = Paraiso(SPACE, (), 1), CoordinateSweep(SPACE, (), 1)
    for strategy in (breeding, sweep):
        strategy.tell(optimum, 1.0)
        replay(strategy, additive, 60)
    assert any(optimum in one.parents for one in breeding.population.values())


def test_a_model_is_asked_for_several_points_at_once():
    """Points that are under way count as average ones: none is proposed twice, and they spread."""
    strategy = Surrogate(SPACE, (), 4)
    replay(strategy, additive, 12)
    asked = [strategy.ask() for _ in range(10)]
    assert len(set(asked)) == 10
    assert not set(asked) & set(strategy._known)


def test_a_model_proposes_in_spaces_that_cannot_be_listed():
    """Ten values of each of ten parameters: changes of the best are candidates there."""
    wide = SearchSpace(tuple(TuningParameter(str(at), tuple("0123456789"), ordered=True) for at in range(10)))
    best = []
    for seed in range(3):
        run = replay(Surrogate(wide, (), seed), lambda point: 1.0 + sum(abs(v - 6) for v in point), 80)
        best.append(min(run.costs))
    assert max(best) <= 9.0  # of random points the best of 80 has about 15


def test_what_failed_is_not_proposed_around():
    """Half of the space fails; a model that left failures out would go on proposing there."""
    form = SearchSpace(tuple(TuningParameter(name, tuple("0123456789"), ordered=True) for name in "ab"))
    failed = []
    for seed in range(5):
        run = replay(Surrogate(form, (), seed), lambda p: None if p[0] >= 5 else 2.0 + p[1] - 0.1 * p[0], 40)
        failed.append(sum(cost is None for cost in run.costs))
    assert max(failed) <= 20


BITS = tuple(TuningParameter(str(at), ("0", "1")) for at in range(60))
FAMILIES = tuple(tuple(range(first, first + 10)) for first in range(0, 60, 10))
BEST_OF_FAMILIES = (1, 0, 1, 1, 0, 1)


def of_families(point):
    """Least, 1, where each family is as it should be; a family gains only as a whole."""
    wrong = sum(any(point[axis] != best for axis in tie) for tie, best in zip(FAMILIES, BEST_OF_FAMILIES, strict=True))
    return 1.0 + wrong


@pytest.mark.parametrize("strategy", [CoordinateSweep, Portfolio])
def test_ties_are_changed_together_before_they_are_split(strategy):
    """No single change gains anything, so that a search of single ones never begins to climb."""
    start = ((0,) * 60,)
    tied = replay(strategy(SearchSpace(BITS, ties=FAMILIES), start, 1), of_families, 40, lambda cost: cost == 1.0)
    assert tied.solved_after is not None
    alone = replay(strategy(SearchSpace(BITS), start, 1), of_families, 200, lambda cost: cost == 1.0)
    assert alone.solved_after is None


def test_rules_are_births_of_their_own():
    space = SearchSpace(BITS, ties=FAMILIES)
    strategy = Paraiso(space, ((0,) * 60,), 3)
    replay(strategy, of_families, 300)
    rules = [one for one in strategy.population.values() if one.birth == "rule"]
    assert 5 < len(rules) < 60
    for one in rules:
        (parent,) = one.parents
        assert any(one.point == space.tied(parent, tie, value) for tie in FAMILIES for value in (0, 1))
    free = Paraiso(SearchSpace(BITS), ((0,) * 60,), 3)
    replay(free, of_families, 100)
    assert "rule" not in {one.birth for one in free.population.values()}


def test_mutations_prefer_what_mattered():
    """Six of sixty parameters matter; they are changed more often than the others."""
    strategy = Paraiso(SearchSpace(BITS), (), 5, {"mutation": 1.0})
    replay(strategy, lambda point: 2.0 ** sum(point[:6]), 300)
    late = [one for one in list(strategy.population.values())[150:] if one.birth == "mutation"]
    changed = [[sum(a != b for a, b in zip(one.point[part], one.parents[0][part], strict=True)) for one in late]
               for part in (slice(0, 6), slice(6, 60))]  # fmt: skip
    assert sum(changed[0]) / 6 > 1.5 * sum(changed[1]) / 54


def test_effects_are_shares_of_what_single_parameters_explain():
    draw = random.Random(1)
    points = np.array([[draw.randrange(3) for _ in range(20)] for _ in range(300)])
    found = effects(points, np.array([3.0 * point[4] + 1.0 * point[7] + draw.random() for point in points]))
    assert found[4] == pytest.approx(0.9, abs=0.1)
    assert found[7] == pytest.approx(0.1, abs=0.1)
    assert sum(found) == pytest.approx(1.0)
    assert max(found[:4]) < 0.02
    assert effects(np.array([[0, 1], [1, 1]]), np.array([2.0, 2.0])) == [0.5, 0.5]
